"""mindtorch: a torch-style tensor framework whose devices are plugins.

``import mindtorch_core as torch`` gives the names PyTorch users know. Functions of ops are made
when they are first used, and backends are loaded when their device is first asked for, so the
import is light.
"""

from __future__ import annotations

import importlib
from math import e, inf, nan, pi
from typing import TYPE_CHECKING, Any

from . import amp, autograd
from . import deferred as _pipeline
from . import operators as _operators  # noqa: F401  (defines the ops)
from .amp import autocast
from .amp.state import (
    autocast_decrement_nesting,
    autocast_increment_nesting,
    clear_autocast_cache,
    get_autocast_dtype,
    is_autocast_cache_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)
from .autograd import (
    enable_grad,
    inference_mode,
    is_grad_enabled,
    no_grad,
    set_grad_enabled,
)
from .autograd.methods import detach_  # (its module attaches Tensor's methods)
from .deferred import Pipeline, current_pipeline
from .deferred import pipeline_context as pipeline
from .dispatch.functions import find_packet as _find_packet
from .dispatch.functions import names_in as _names_in
from .dispatch.functions import names_known as _names_known
from .dispatch.keys import DispatchKey, DispatchKeySet
from .dispatch.nearest import missing as _missing
from .dispatch.overrides import install as _install_overrides
from .frontend import array_standard as _array_standard  # noqa: F401  (attaches its methods)
from .frontend import companion as _companion
from .frontend import complex_parts as _complex_parts  # noqa: F401  (attaches its properties)
from .frontend import indexing as _subscript  # noqa: F401  (attaches indexing)
from .frontend import overriding as _overriding  # noqa: F401  (attaches what classes override)
from .frontend import pickling as _pickling  # noqa: F401  (attaches copies and pickles)
from .frontend import python_values as _values  # noqa: F401  (attaches item, tolist and Python's own)
from .frontend import sparse_methods as _sparse_methods  # noqa: F401  (attaches them)
from .frontend import surroundings as _surroundings
from .frontend.creation import as_tensor, from_numpy, tensor
from .frontend.device_methods import ACCELERATORS as _ACCELERATORS
from .frontend.dispatch_modes import DispatchMode
from .frontend.dispatch_modes import install as _install_modes
from .frontend.foreign_arrays import asarray, from_dlpack, frombuffer, to_dlpack
from .frontend.legacy_constructors import (
    BFloat16Tensor,
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
)
from .frontend.printing import set_printoptions
from .frontend.storage_methods import typed as _typed  # noqa: F401  (attaches storages' methods)
from .frontend.storages import BEFORE_SHARING as _BEFORE_SHARING
from .frontend.storages import UntypedStorage
from .frontend.swapping import swap_tensors as _swap_tensors  # noqa: F401  (attaches module_load)
from .frontend.tensor_memory import from_file
from .frontend.tensor_properties import (
    get_device,
    is_complex,
    is_floating_point,
    is_nonzero,
    is_same_size,
    is_signed,
    is_storage,
    is_tensor,
    numel,
    typename,
)
from .frontend.type_promotion import can_cast, promote_types, result_type
from .gradients import record as _record
from .gradients.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .gradients.grad_mode import is_inference_mode_enabled
from .gradients.inference import is_inference
from .opdefs.namespaces import settle as _settle
from .opdefs.tags import Tag
from .opdefs.torch_ops import ops
from .plugins import PLUGIN_API
from .plugins import loader as _loader
from .plugins import moved as _moved
from .random import (
    Generator,
    fork_rng,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from .random import default_generator as _default_generator
from .streams import Event, Stream
from .tensors.tensor import Tensor
from .values.devices import device, get_default_device, get_device_module, set_default_device
from .values.devices import type_meant as _type_meant
from .values.dtypes import (
    bfloat16,
    complex64,
    complex128,
    dtype,
    finfo,
    float8_e4m3fn,
    float8_e4m3fnuz,
    float8_e5m2,
    float8_e5m2fnuz,
    float8_e8m0fnu,
    float16,
    float32,
    float64,
    get_default_dtype,
    iinfo,
    int8,
    int16,
    int32,
    int64,
    set_default_dtype,
    uint8,
    uint16,
    uint32,
    uint64,
)
from .values.dtypes import bool_ as bool
from .values.errors import (
    BackendConflictError,
    BackendUnavailableError,
    CaptureError,
    NoKernelError,
    OperandTypeError,
    OutOfMemoryError,
    PipelineError,
    SchemaError,
)
from .values.layouts import (
    _mkldnn,  # noqa: F401
    jagged,
    layout,
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)
from .values.memory_formats import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    memory_format,
    preserve_format,
)
from .values.named_only import NAMED_DTYPES as _NAMED_DTYPES
from .values.named_only import QSCHEMES as _QSCHEMES
from .values.named_only import SymBool, SymFloat, SymInt, qscheme
from .values.shapes import Size, broadcast_shapes
from .values.threads import get_num_threads, set_num_threads

if (
    TYPE_CHECKING
):  # what `__getattr__` below finds when it is first used: functions of ops, and others
    from . import nn
    from .frontend.typed_storage import TypedStorage
    from .serialization import load, save
    from .stubs import functions, late
    from .stubs.functions import *  # noqa: F403
    from .stubs.late import *  # noqa: F403

__all__ = [
    "PLUGIN_API",
    "BFloat16Tensor",
    "BackendConflictError",
    "BackendUnavailableError",
    "BoolTensor",
    "ByteTensor",
    "CaptureError",
    "CharTensor",
    "DispatchKey",
    "DispatchKeySet",
    "DispatchMode",
    "DoubleTensor",
    "Event",
    "FloatTensor",
    "Generator",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "NoKernelError",
    "OperandTypeError",
    "OutOfMemoryError",
    "Pipeline",
    "PipelineError",
    "SchemaError",
    "ShortTensor",
    "Size",
    "Stream",
    "SymBool",
    "SymFloat",
    "SymInt",
    "Tag",
    "Tensor",
    "TypedStorage",
    "UntypedStorage",
    "__version__",
    "amp",
    "as_tensor",
    "asarray",
    "autocast",
    "autocast_decrement_nesting",
    "autocast_increment_nesting",
    "autograd",
    "bfloat16",
    "bool",
    "broadcast_shapes",
    "can_cast",
    "cdouble",
    "cfloat",
    "channels_last",
    "channels_last_3d",
    "clear_autocast_cache",
    "complex64",
    "complex128",
    "contiguous_format",
    "current_pipeline",
    "detach_",
    "device",
    "double",
    "dtype",
    "e",
    "enable_grad",
    "finfo",
    "float",
    "float8_e4m3fn",
    "float8_e4m3fnuz",
    "float8_e5m2",
    "float8_e5m2fnuz",
    "float8_e8m0fnu",
    "float16",
    "float32",
    "float64",
    "fork_rng",
    "from_dlpack",
    "from_file",
    "from_numpy",
    "frombuffer",
    "get_autocast_dtype",
    "get_default_device",
    "get_default_dtype",
    "get_device",
    "get_device_module",
    "get_num_threads",
    "get_rng_state",
    "half",
    "iinfo",
    "inf",
    "inference_mode",
    "initial_seed",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled",
    "is_autocast_cache_enabled",
    "is_autocast_enabled",
    "is_complex",
    "is_floating_point",
    "is_grad_enabled",
    "is_inference",
    "is_inference_mode_enabled",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_storage",
    "is_tensor",
    "jagged",
    "layout",
    "legacy_contiguous_format",
    "load",
    "long",
    "manual_seed",
    "memory_format",
    "nan",
    "newaxis",
    "nn",
    "no_grad",
    "numel",
    "ops",
    "pi",
    "pipeline",
    "preserve_format",
    "promote_types",
    "qscheme",
    "result_type",
    "save",
    "seed",
    "set_autocast_cache_enabled",
    "set_autocast_dtype",
    "set_autocast_enabled",
    "set_default_device",
    "set_default_dtype",
    "set_grad_enabled",
    "set_num_threads",
    "set_printoptions",
    "set_rng_state",
    "short",
    "sparse_bsc",
    "sparse_bsr",
    "sparse_coo",
    "sparse_csc",
    "sparse_csr",
    "strided",
    "tensor",
    "to_dlpack",
    "typename",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

if TYPE_CHECKING:  # what a typed package does not list, type checkers take for private
    __all__ += functions.__all__
    __all__ += late.__all__

__version__ = _VERSION = "0.1.0"

half, float, double = float16, float32, float64
short, int, long = int16, int32, int64
cfloat, cdouble = complex64, complex128
newaxis = None
globals().update(_NAMED_DTYPES | _QSCHEMES)
legacy_contiguous_format = contiguous_format

# Submodules that are imported when they are first used.
_LAZY = frozenset(
    {
        "__future__", "fft", "func", "library", "linalg", "masked", "multiprocessing", "nn",
        "overrides", "serialization", "signal", "sparse", "special", "storage", "testing", "utils",
    }
)  # fmt: skip
_OF_NN = frozenset({"distributions", "optim"})  # of the distribution mindtorch-nn
# Names, and the modules that have them, which are imported when they are first used too.
_HOMES = {
    "GradScaler": "amp", "load": "serialization", "save": "serialization",
    "sparse_coo_tensor": "frontend.sparse_creation", "vmap": "func",
    **{
        f"sparse_{kind}_tensor": "frontend.sparse_compressing"
        for kind in ("bsc", "bsr", "compressed", "csc", "csr")
    },
    "dsmm": "sparse:mm", "spmm": "sparse:mm",
    "hspmm": "frontend.sparse_functions", "hsmm": "frontend.sparse_functions:hspmm",
    "smm": "frontend.sparse_functions", "sspaddmm": "frontend.sparse_functions",
}  # fmt: skip

_record.install()
_pipeline.install()
_install_modes()
_install_overrides()
amp.install()
_moved.install()
_companion.install()
_BEFORE_SHARING.append(lambda: importlib.import_module("mindtorch_core.multiprocessing"))
_surroundings.install()


def _capture(fn: Any) -> Any:
    from .ecosystem.captured import capture

    return capture(fn)


vars(pipeline)["capture"] = _capture


def _late(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(f"mindtorch_core.{name}")
    if name in _HOMES:
        home, _, own = _HOMES[name].partition(":")
        found = getattr(importlib.import_module(f"mindtorch_core.{home}"), own or name)
        globals()[name] = found
        return found
    if name in _OF_NN:
        return _companion.module_at(f"mindtorch_core.{name}")
    if name.startswith("__") and not _surroundings.has(name):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    if name.endswith("Storage"):
        from .frontend.typed_storage import CLASSES, TypedStorage

        if name == "Storage":  # whichever the default dtype is at the time
            return CLASSES[f"{get_default_dtype().label}Storage"]
        if name in CLASSES or name == "TypedStorage":
            return CLASSES.get(name, TypedStorage)
    packet = _find_packet("torch", name)
    if packet is not None:
        made = packet.function()
        globals()[name] = made
        _settle(made, __name__)
        return made
    if name == "default_generator":
        return _default_generator(device("cpu"))
    if not name.startswith("_"):
        module = _device_module(name)
        if module is not None:
            globals()[name] = module
            return module
    if _surroundings.has(name):
        found = _surroundings.surrounding(name)
        # Faces of devices are kept too: a backend that comes is seen through them.
        if isinstance(found, type(amp)):
            globals()[name] = found
        return found
    if name in _ACCELERATORS:  # not kept: a backend may come
        from .plugins.absent_device import AbsentDevice

        return AbsentDevice(name)
    raise _missing(
        __name__,
        name,
        lambda: {*globals(), *_names_known("torch"), *_around()},
        version=f" {_VERSION}",
    )


if not TYPE_CHECKING:  # for type checkers a misspelt name would be there too
    __getattr__ = _late


def _device_module(name: str) -> Any:
    """``torch.<device>``, for devices whose backend is installed."""
    # No builtin that an op shares its name with: `torch.any` would be found first.
    if _type_meant(name) != name:  # its module has the names of both, see `mindtorch run`
        return _surroundings.surrounding(name)
    if _loader.is_installed(name):
        return _loader.load(name).module
    return None


def _around() -> set[str]:
    """Names that are no functions of ops, and found when they are asked for."""
    return {*_LAZY, *_HOMES, *_OF_NN, *_surroundings.PUBLIC}


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_names_in("torch"), *_around()})
