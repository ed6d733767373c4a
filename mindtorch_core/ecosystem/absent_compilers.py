"""Rows of `absent_names` for what traces, compiles and exports programs."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, Final

from .absent_row import Absent
from .compile_counters import CompileCounter, CompileCounterWithBackend
from .compiled_module import OptimizedModule
from .compiler_backends import list_backends, lookup_backend, register_backend
from .compiler_errors import ERRORS
from .compiler_marks import mark_dynamic, mark_static, mark_static_address
from .compiler_options import list_mode_options, list_options
from .compiler_settings import (
    COMPILER,
    COUNTERS,
    DYNAMO,
    FUNCTORCH,
    INDUCTOR,
    DynamoSettings,
)

__all__ = ["COMPILERS"]

_FX: Final = "graphs come of torch.fx.symbolic_trace, and sizes in them are numbers or values"
_EXPORT: Final = "mindtorch exports no programs; save the state with torch.save or safetensors"
_ONNX: Final = (
    "mindtorch exports no ONNX; save the state, and export it with PyTorch on a machine that has it"
)
_JIT: Final = (
    "mindtorch makes no scripts: what would be one runs as Python; save its state with torch.save"
)
_COMPILE: Final = "mindtorch has no such compiler; functions run op by op"


def _as_it_is(*kinds: str) -> Callable[[Any], Any]:
    """A decorator that gives its function back: no exporter will call it."""
    return lambda fn: fn


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Do nothing: there is no such compiler."""


def _innermost(fn: Any) -> Any:
    """The function that `torch.compile` was given."""
    return getattr(fn, "_torchdynamo_orig_callable", fn)


def _no(*args: Any) -> bool:
    """False: there is no such compiler."""
    return False


@functools.cache
def _warned_once(msg: str, stacklevel: int = 1) -> None:
    """Warn, the first time that a text comes."""
    warnings.warn(msg, stacklevel=stacklevel + 1)


COMPILERS: Final[dict[str, Absent]] = {
    # ---- torch.fx --------------------------------------------------------------------------------
    "fx": Absent(),
    "fx.experimental": Absent(),
    "fx.experimental.symbolic_shapes": Absent(
        _FX,
        classes="ShapeEnv",
        functions="free_symbols free_unbacked_symbols guard_size_oblivious is_concrete_int is_symbolic",
        errors="GuardOnDataDependentSymNode",
        # Sizes are numbers here, so what is asked of them is known.
        values={"guard_or_false": bool, "guard_or_true": bool, "statically_known_true": bool},
    ),
    "fx.experimental.sym_node": Absent(_FX, classes="SymNode"),
    "fx.passes.graph_drawer": Absent(_FX, classes="FxGraphDrawer"),
    "fx.experimental.proxy_tensor": Absent(
        _FX,
        classes="ProxyTorchDispatchMode",
        functions="make_fx",
        values={"get_proxy_mode": lambda: None},
    ),
    "fx.passes": Absent(),
    # ---- torch.export, torch.onnx ----------------------------------------------------------------
    "export": Absent(
        _EXPORT,
        classes="Constraint Dim ExportedProgram ExportGraphSignature FlatArgsAdapter ShapesCollection",
        functions="dims draft_export export load register_dataclass save unflatten",
    ),
    "export._trace": Absent(_EXPORT, functions="_export"),
    "export.decomp_utils": Absent(_EXPORT, classes="CustomDecompTable"),
    "export.dynamic_shapes": Absent(_EXPORT, classes="Dim"),
    "export.graph_signature": Absent(_EXPORT, classes="ExportGraphSignature InputSpec OutputSpec"),
    "export.exported_program": Absent(_EXPORT, classes="ExportedProgram"),
    "export.unflatten": Absent(_EXPORT, classes="UnflattenedModule"),
    "onnx": Absent(
        _ONNX,
        classes="ExportOptions JitScalarType ONNXProgram OnnxExporterError",
        functions="_export dynamo_export export",
        enums={
            "OperatorExportTypes": "ONNX ONNX_ATEN ONNX_FALLTHROUGH ONNX_ATEN_FALLBACK",
            "TrainingMode": "EVAL PRESERVE TRAINING",
            "TensorProtoDataType": "UNDEFINED FLOAT UINT8 INT8 UINT16 INT16 INT32 INT64 STRING BOOL "
            "FLOAT16 DOUBLE UINT32 UINT64 COMPLEX64 COMPLEX128 BFLOAT16",
        },
    ),
    "onnx.errors": Absent(_ONNX, errors="OnnxExporterError UnsupportedOperatorError"),
    "onnx.operators": Absent(_ONNX, functions="reshape_from_tensor_shape shape_as_tensor"),
    "onnx.symbolic_helper": Absent(
        _ONNX,
        functions="_get_tensor_dim_size _get_tensor_sizes _is_none _maybe_get_const "
        "_set_opset_version",
        values={"cast_pytorch_to_onnx": {}, "parse_args": _as_it_is},
    ),
    "onnx._internal": Absent(),
    "onnx._internal.exporter": Absent(_ONNX, classes="ONNXProgram"),
    "onnx.utils": Absent(_ONNX, functions="export model_signature"),
    **{
        f"onnx.symbolic_opset{n}": Absent(
            _ONNX, functions="cast dropout masked_fill select softmax squeeze unsqueeze"
        )
        for n in range(9, 21)
    },
    # ---- torch.jit -------------------------------------------------------------------------------
    "jit": Absent(
        _JIT,
        classes="CompilationUnit Future RecursiveScriptModule ScriptFunction "
        "TopLevelTracedModule TracedModule _IgnoreContextManager",
        functions="_get_trace_graph load run_frozen_optimizations save set_fusion_strategy",
        errors="TracingCheckError",
    ),
    "jit.annotations": Absent(
        _JIT,
        values={
            "BroadcastingList1": list,
            "BroadcastingList2": list,
            "BroadcastingList3": list,
            "Dict": dict,
            "List": list,
        },
    ),
    "jit._script": Absent(_JIT, classes="RecursiveScriptModule"),
    "jit._trace": Absent(_JIT, classes="TopLevelTracedModule"),
    "jit.frontend": Absent(
        _JIT, functions="get_jit_class_def get_jit_def", errors="NotSupportedError"
    ),
    "jit.mobile": Absent(_JIT, functions="_load_for_lite_interpreter"),
    # ---- compilers -------------------------------------------------------------------------------
    "compiler": Absent(
        _COMPILE,
        functions="keep_portable_guards_unsafe keep_tensor_guards_unsafe load_cache_artifacts "
        "load_compiled_function save_cache_artifacts skip_all_guards_unsafe "
        "skip_guard_on_all_nn_modules_unsafe skip_guard_on_globals_unsafe "
        "skip_guard_on_inbuilt_nn_modules_unsafe",
    ),
    "compiler.config": Absent(_COMPILE, values=COMPILER),
    "_dynamo": Absent(
        _COMPILE,
        functions="export replay",
    ),
    "_dynamo.bytecode_debugger": Absent(_COMPILE, functions="breakpoint debug"),
    "_dynamo.exc": Absent(_COMPILE, values=ERRORS),
    "_dynamo.config": Absent(values=DYNAMO, kind=DynamoSettings),
    "_dynamo.eval_frame": Absent(
        _COMPILE,
        functions="optimize set_eval_frame",
        values={
            "OptimizedModule": OptimizedModule,
            "innermost_fn": _innermost,
            "is_dynamo_supported": _no,
        },
    ),
    "_dynamo.backends": Absent(_COMPILE),
    "_dynamo.backends.common": Absent(_COMPILE, functions="aot_autograd"),
    "_dynamo.backends.registry": Absent(
        values={
            "list_backends": list_backends,
            "lookup_backend": lookup_backend,
            "register_backend": register_backend,
        }
    ),
    "_dynamo.callback": Absent(_COMPILE, functions="on_compile_end on_compile_start"),
    "_dynamo.decorators": Absent(
        _COMPILE,
        values={
            "mark_dynamic": mark_dynamic,
            "mark_static": mark_static,
            "mark_static_address": mark_static_address,
        },
    ),
    "_dynamo.trace_rules": Absent(_COMPILE, functions="lookup"),
    "_dynamo.variables": Absent(_COMPILE),
    "_dynamo.utils": Absent(
        _COMPILE,
        functions="clone_inputs compile_times same",
        values={"counters": COUNTERS, "is_compile_supported": _no, "warn_once": _warned_once},
    ),
    "_dynamo.external_utils": Absent(_COMPILE),
    "_dynamo._trace_wrapped_higher_order_op": Absent(
        # A context for indices under vmap, which need no help here.
        values={"TransformGetItemToIndex": nullcontext}
    ),
    "_dynamo.testing": Absent(
        _COMPILE,
        functions="same",
        values={
            "CompileCounter": CompileCounter,
            "CompileCounterWithBackend": CompileCounterWithBackend,
        },
    ),
    "_functorch.config": Absent(values=FUNCTORCH),
    "_inductor": Absent(
        _COMPILE,
        functions="aot_compile aoti_compile_and_package aoti_load_package compile standalone_compile",
        values={
            "cudagraph_mark_step_begin": _nothing,
            "list_mode_options": list_mode_options,
            "list_options": list_options,
        },
    ),
    "_inductor.codecache": Absent(_COMPILE, classes="FxGraphCache PyCodeCache"),
    "_inductor.compile_fx": Absent(_COMPILE, functions="compile_fx compile_fx_inner"),
    "_inductor.config": Absent(values=INDUCTOR),
    "_inductor.metrics": Absent(_COMPILE, values={"reset": _nothing}),
    "_inductor.runtime": Absent(),
    "_inductor.runtime.runtime_utils": Absent(_COMPILE, functions="cache_dir"),
    "_inductor.utils": Absent(
        _COMPILE,
        functions="run_and_get_code",
        values={"fresh_cache": nullcontext, "fresh_inductor_cache": nullcontext, "is_big_gpu": _no},
    ),
}
