"""Rows of `absent_names` for PyTorch's inner modules, which libraries import to look for something."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ..library.infer import infer_schema
from ..tensors.tensor import Tensor
from ..utils._pytree import tree_flatten, tree_unflatten
from .absent_row import Absent
from .mapped_containers import add_batch_dim, maybe_remove_batch_dim, remove_batch_dim

__all__ = ["INNER"]

_INNER: Final = "it belongs to PyTorch's compiled part"
_TRACED: Final = "mindtorch traces no programs"
_QUANTIZED: Final = "mindtorch has no quantized kernels"
_ALONE: Final = "modules are not copied to several devices here"
_PACKAGE: Final = "use torch.save and torch.load"
_NO_TRITON: Final = "Triton has kernels for GPUs only"
_NO_CUDA: Final = "there is no CUDA here"


def _nothing(*args: Any, **kwargs: Any) -> None:
    """Do nothing: there is nobody who would listen."""


def _no(*args: Any, **kwargs: Any) -> bool:
    """False: there is no such thing here."""
    return False


def _shown(name: str) -> Callable[[Any], Any]:
    """A decorator that has a function or class say that it is of a module."""

    def decorate(value: Any) -> Any:
        value.__module__ = name
        return value

    return decorate


_IS_THERE: Final = {"is_available": _no, "enabled": False}

INNER: Final[dict[str, Absent]] = {
    "_appdirs": Absent(),
    "_compile": Absent(values={"_disable_dynamo": lambda fn=None, recursive=True: fn}),
    "_decomp": Absent(
        _TRACED,
        functions="core_aten_decompositions get_decompositions register_decomposition",
        values={"decomposition_table": {}},
    ),
    "_decomp.decompositions": Absent(_TRACED),
    "_functorch": Absent(),
    "_functorch.vmap": Absent(
        "call torch.vmap",
        functions="_broadcast_to_and_flatten _create_batched_inputs _get_name "
        "_process_batched_inputs _unwrap_batched _validate_and_get_batch_size",
        values={
            "_add_batch_dim": add_batch_dim,
            "_maybe_remove_batch_dim": maybe_remove_batch_dim,
            "_remove_batch_dim": remove_batch_dim,
            "Tensor": Tensor,
            "tree_flatten": tree_flatten,
            "tree_unflatten": tree_unflatten,
        },
    ),
    "_functorch.aot_autograd": Absent(_TRACED, functions="aot_function aot_module"),
    "_guards": Absent(
        _TRACED,
        classes="FakeTensorMode TracingContext",
        values={"active_fake_mode": _nothing, "detect_fake_mode": _nothing},
    ),
    # What is registered is asked for by a compiler that takes programs apart, and there is none.
    "_inductor.decomposition": Absent(
        _TRACED,
        values={"register_decomposition": lambda ops: lambda fn: fn, "decompositions": {}},
    ),
    "_inductor.fx_passes": Absent(_TRACED),
    "_lazy": Absent(_INNER, functions="mark_step sync_multi wait_device_ops"),
    "_library": Absent(),
    "_library.infer_schema": Absent(values={"infer_schema": infer_schema}),
    "_library.utils": Absent(_INNER),
    "_linalg_utils": Absent(_INNER, functions="matmul basis symeig"),
    "_logging": Absent(values={"set_logs": _nothing, "trace_structured": _nothing}),
    "_logging._internal": Absent(values={"set_logs": _nothing, "trace_structured": _nothing}),
    "_meta_registrations": Absent(_INNER),
    "_prims": Absent(_TRACED),
    "_refs": Absent(_TRACED),
    "_subclasses.functional_tensor": Absent(
        _TRACED, classes="FunctionalTensor FunctionalTensorMode"
    ),
    "_subclasses.meta_utils": Absent(_TRACED, classes="MetaConverter"),
    "_weights_only_unpickler": Absent("use torch.load", classes="Unpickler"),
    **{f"backends.{name}": Absent(_INNER, values=_IS_THERE) for name in ("xeon", "xnnpack")},
    "compiler._cache": Absent(_TRACED),
    "cuda._memory_viz": Absent(_NO_CUDA, functions="memory profile_plot trace_plot"),
    "cuda._utils": Absent(_NO_CUDA),
    "cuda.amp.common": Absent(values={"amp_definitely_not_available": lambda: True}),
    "cuda.comm": Absent(
        _NO_CUDA,
        functions="broadcast broadcast_coalesced gather reduce_add reduce_add_coalesced scatter",
    ),
    "cuda.jiterator": Absent(_NO_CUDA),
    "cuda.sparse": Absent(_NO_CUDA),
    "export.experimental": Absent(_TRACED),
    "export.passes": Absent(_TRACED, functions="move_to_device_pass"),
    "fx._utils": Absent(_TRACED),
    "fx.tensor_type": Absent(_TRACED, classes="Dyn TensorType"),
    "jit._recursive": Absent(_TRACED, functions="create_script_module"),
    "jit._serialization": Absent(_TRACED, functions="load save"),
    "jit._state": Absent(values={"disable": _nothing, "enable": _nothing}),
    "jit._async": Absent(_TRACED, functions="fork wait"),
    "jit._freeze": Absent(_TRACED, functions="freeze"),
    "mps.event": Absent("there is no such device", classes="Event"),
    "mps.profiler": Absent("there is no such device", functions="profile start stop"),
    "nested._internal": Absent(),
    "nested._internal.nested_tensor": Absent(
        "mindtorch has no nested tensors", classes="NestedTensor", functions="jagged_from_list"
    ),
    "of_nn.intrinsic.modules": Absent(_QUANTIZED, classes="ConvReLU2d LinearReLU"),
    "of_nn.intrinsic.modules.fused": Absent(
        _QUANTIZED, classes="ConvReLU2d LinearReLU _FusedModule"
    ),
    "of_nn.intrinsic.quantized": Absent(_QUANTIZED, classes="ConvReLU2d LinearReLU"),
    "of_nn.utils": Absent(),
    "of_nn.utils._named_member_accessor": Absent(
        "use torch.func.functional_call", classes="NamedMemberAccessor", functions="swap_tensor"
    ),
    "of_nn.utils._per_sample_grad": Absent(
        "use torch.func.vmap of torch.func.grad", functions="call_for_per_sample_grads"
    ),
    "of_nn.parallel": Absent(),
    "of_nn.parallel._functions": Absent(_ALONE, classes="Broadcast Gather Scatter"),
    "of_nn.parallel.comm": Absent(_ALONE, functions="broadcast gather reduce_add scatter"),
    "of_nn.parallel.parallel_apply": Absent(_ALONE, functions="get_a_var parallel_apply"),
    "of_nn.parallel.replicate": Absent(_ALONE, functions="replicate"),
    "of_nn.parallel.scatter_gather": Absent(
        _ALONE, functions="gather is_namedtuple scatter scatter_kwargs"
    ),
    "of_nn.qat.modules": Absent(_QUANTIZED, classes="Conv2d Linear"),
    "of_nn.quantized.functional": Absent(_QUANTIZED),
    "of_nn.quantized.modules.conv": Absent(_QUANTIZED, classes="Conv2d"),
    "of_nn.quantized.modules.linear": Absent(_QUANTIZED, classes="Linear"),
    "of_sparse": Absent(),
    "of_sparse._triton_ops": Absent(
        _NO_TRITON, functions="bsr_dense_addmm bsr_dense_mm bsr_scatter_mm broadcast_batch_dims"
    ),
    "of_sparse._triton_ops_meta": Absent(_NO_TRITON, functions="get_meta minimize update"),
    "onnx.ops": Absent(_TRACED, functions="attention rotary_embedding symbolic"),
    "onnx.verification": Absent(_TRACED, functions="verify verify_onnx_program"),
    "package.importer": Absent(_PACKAGE, classes="Importer OrderedImporter"),
    "package.package_exporter": Absent(_PACKAGE, classes="PackageExporter"),
    "package.package_importer": Absent(_PACKAGE, classes="PackageImporter"),
    "profiler._memory_profiler": Absent(_INNER, classes="MemoryProfile"),
    "profiler._utils": Absent(_INNER),
    "profiler.itt": Absent(
        _INNER, functions="mark range range_pop range_push", values={"is_available": _no}
    ),
    "profiler.python_tracer": Absent(_INNER),
    "utilities._exposed_in": Absent(values={"exposed_in": _shown}),
    "utilities._import_utils": Absent(
        values={"dill_available": _no, "check_module_exists": lambda name: _found(name)}
    ),
    "utilities._mode_utils": Absent(_INNER, functions="all_same_mode"),
    "utilities._ordered_set": Absent(_INNER, classes="OrderedSet"),
    "utilities._triton": Absent(
        _INNER, values=dict.fromkeys(("has_triton", "has_triton_package", "has_triton_tma"), _no)
    ),
    "utilities.backcompat": Absent(),
    "utilities.debug_log": Absent(),
    "utilities.backend_registration": Absent(
        "a device comes from the backend that is installed: see docs/backend.md",
        functions="generate_methods_for_privateuse1_backend rename_privateuse1_backend",
    ),
    "utilities.serialization": Absent(),
    "utilities.serialization.config": Absent(),
    "utilities.viz": Absent(_INNER, functions="observe_tensor_cycles warn_tensor_cycles"),
    "utilities.viz._cycles": Absent(_INNER, functions="observe_tensor_cycles warn_tensor_cycles"),
}


def _found(name: str) -> bool:
    """Whether a module is installed."""
    from importlib.util import find_spec

    return find_spec(name) is not None
