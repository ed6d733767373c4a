"""Settings of PyTorch's compilers, with its defaults, and its counts.

Programs set the former; what goes by them are the limits of recompiling and ``suppress_errors``.
"""

from __future__ import annotations

import importlib
from collections import Counter, defaultdict
from contextlib import ContextDecorator
from types import ModuleType, SimpleNamespace
from typing import Any, Final

from ..values.interrupts import leaving

__all__ = ["COMPILER", "COUNTERS", "DYNAMO", "FUNCTORCH", "INDUCTOR", "DynamoSettings"]

# What PyTorch counts, as far as it has a meaning: a frame is a set of shapes that a compiled function was
# first called with, its graphs are what lies between its breaks.
COUNTERS: Final[defaultdict[str, Counter[str]]] = defaultdict(Counter)

_MISSING: Final = object()
_ROOM: Final = __name__.rpartition(".")[0]


class _Patched(ContextDecorator):
    """Settings that hold while a block, or a function, runs.

    Args:
        module: where they are.
        changes: by name, with dots for those of a section.
    """

    def __init__(self, module: str, changes: dict[str, Any]) -> None:
        self._module, self._changes = module, changes
        self._before: list[dict[str, Any]] = []

    def _place(self, name: str) -> tuple[Any, str]:
        section, _, last = name.rpartition(".")
        at: Any = importlib.import_module(f"{_ROOM}.{self._module}")
        for part in section.split(".") if section else ():
            at = getattr(at, part)
        return at, last

    def __enter__(self) -> None:
        before: dict[str, Any] = {}
        for name in self._changes:
            at, last = self._place(name)
            before[name] = getattr(at, last, _MISSING)
            if before[name] is _MISSING:
                raise AttributeError(f"torch.{self._module}.{name} does not exist")
        self._before += (before,)
        try:
            self._set(self._changes)
        except BaseException:
            self._leave()
            raise

    def _leave(self) -> None:
        self._set(self._before[-1])
        del self._before[-1]

    __exit__ = leaving(_leave)

    def _set(self, values: dict[str, Any]) -> None:
        for name, value in values.items():
            at, last = self._place(name)
            setattr(at, last, value)


class _Patch:
    """``patch`` of a module of settings.

    Args:
        module: its path below ``torch``.
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def __call__(self, arg1: Any = None, arg2: Any = None, **changes: Any) -> _Patched:
        """Set a name, those of a dict or of keywords, while a block or a decorated function runs.

        Raises:
            AssertionError: for other arguments.
            AttributeError: on entry, for a name that there is not.
        """
        if arg2 is not None:
            if not isinstance(arg1, str):
                raise AssertionError(
                    "first argument must be a string when passing 2 positional args to patch"
                )
            arg1 = {arg1: arg2}
        if arg1 is not None:
            if not isinstance(arg1, dict):
                raise AssertionError(
                    "first argument must be a dict when passing a single positional arg to patch"
                )
            if changes:
                raise AssertionError("cannot pass both positional and keyword arguments to patch")
            changes = arg1
        return _Patched(self._module, changes)


class DynamoSettings(ModuleType):
    """``torch._dynamo.config``, two of whose settings have an older name as well."""

    cache_size_limit = property(lambda self: self.recompile_limit)
    accumulated_cache_size_limit = property(lambda self: self.accumulated_recompile_limit)

    def __setattr__(self, name: str, value: Any) -> None:
        super().__setattr__(name.replace("cache_size_limit", "recompile_limit"), value)


def _settings(module: str, values: dict[str, Any], **sections: dict[str, Any]) -> dict[str, Any]:
    made = {name: SimpleNamespace(**inner) for name, inner in sections.items()}
    return {**values, **made, "patch": _Patch(module)}


_DYNAMO: Final[dict[str, Any]] = {
    "accumulated_recompile_limit": 256,
    "allow_rnn": False,
    "allow_unspec_int_on_nn_module": False,
    "assume_static_by_default": True,
    "automatic_dynamic_shapes": True,
    "capture_dynamic_output_shape_ops": False,
    "capture_scalar_outputs": False,
    "compiled_autograd": False,
    "do_not_emit_runtime_asserts": False,
    "dynamic_shapes": True,
    "enable_compiler_collectives": False,
    "error_on_recompile": False,
    "fail_on_recompile_limit_hit": False,
    "force_parameter_static_shapes": True,
    "guard_nn_modules": True,
    "inline_inbuilt_nn_modules": True,
    "optimize_ddp": True,
    "recompile_limit": 8,
    "repro_after": None,
    "skip_fwd_side_effects_in_bwd_under_checkpoint": False,
    "skip_nnmodule_hook_guards": True,
    "specialize_int": False,
    "suppress_errors": False,
    "trace_numpy": True,
    "use_lazy_graph_module": True,
    "verbose": False,
}
_INDUCTOR: Final[dict[str, Any]] = {
    "aggressive_fusion": False,
    "allow_buffer_reuse": True,
    "assert_indirect_indexing": True,
    "autotune_in_subproc": False,
    "benchmark_kernel": False,
    "compile_threads": 1,
    "conv_1x1_as_mm": False,
    "coordinate_descent_check_all_directions": False,
    "coordinate_descent_tuning": False,
    "cpp_wrapper": False,
    "dce": False,
    "debug": False,
    "emulate_precision_casts": False,
    "enable_auto_functionalized_v2": True,
    "epilogue_fusion": True,
    "fallback_random": False,
    "force_fuse_int_mm_with_mul": False,
    "freezing": False,
    "fx_graph_cache": True,
    "fx_graph_remote_cache": None,
    "inplace_buffers": True,
    "joint_custom_pre_pass": None,
    "keep_output_stride": True,
    "layout_optimization": True,
    "max_autotune": False,
    "max_autotune_gemm": False,
    "max_autotune_gemm_backends": "ATEN,TRITON,CPP",
    "max_autotune_pointwise": False,
    "pattern_matcher": True,
    "permute_fusion": False,
    "post_grad_custom_post_pass": None,
    "pre_grad_custom_pass": None,
    "profile_bandwidth": False,
    "realize_reads_threshold": 4,
    "reorder_for_compute_comm_overlap": False,
    "shape_padding": True,
    "size_asserts": True,
    "split_cat_fx_passes": True,
    "static_weight_shapes": True,
    "use_mixed_mm": True,
}
_TRITON: Final[dict[str, Any]] = {
    "cudagraph_skip_dynamic_graphs": False,
    "cudagraph_trees": True,
    "cudagraphs": False,
    "unique_kernel_names": True,
}
_CPP: Final[dict[str, Any]] = {
    "simdlen": None,
    "threads": -1,
}
_TRACE: Final[dict[str, Any]] = {
    "enabled": False,
    "graph_diagram": False,
}

COMPILER: Final = _settings(
    "compiler.config",
    {"cache_key_tag": "", "dynamic_sources": "", "force_disable_caches": False, "job_id": None},
)
DYNAMO: Final = _settings("_dynamo.config", _DYNAMO)
FUNCTORCH: Final = _settings(
    "_functorch.config",
    {
        "activation_memory_budget": 1.0,
        "donated_buffer": True,
        "enable_autograd_cache": True,
        "functionalize_rng_ops": False,
    },
)
INDUCTOR: Final = _settings("_inductor.config", _INDUCTOR, triton=_TRITON, cpp=_CPP, trace=_TRACE)
