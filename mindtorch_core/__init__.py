"""mindtorch: a torch-style tensor framework whose devices are plugins.

``import mindtorch_core as torch`` gives the names PyTorch users know. Functions of ops are made
when they are first used, and backends are loaded when their device is first asked for, so the
import is light.
"""

from __future__ import annotations

import importlib
from math import e, inf, nan, pi
from typing import TYPE_CHECKING, Any

from . import amp, autograd, nn
from . import operators as _operators  # noqa: F401  (defines the ops)
from . import subscript as _subscript  # noqa: F401  (attaches indexing)
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
from .autograd import record as _record
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .autograd.grad_mode import is_inference_mode_enabled
from .autograd.inference import is_inference
from .autograd.methods import detach_  # (its module attaches Tensor's methods)
from .creation import as_tensor, from_numpy, tensor
from .device_methods import ACCELERATORS as _ACCELERATORS
from .devices import device, get_default_device, get_device_module, set_default_device
from .dispatch import pipeline as _pipeline
from .dispatch.keys import DispatchKey, DispatchKeySet
from .dispatch.pipeline import Pipeline, current_pipeline
from .dispatch.pipeline import pipeline_context as pipeline
from .dtypes import (
    bfloat16,
    complex64,
    complex128,
    dtype,
    finfo,
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
from .dtypes import bool_ as bool
from .errors import (
    BackendConflictError,
    BackendUnavailableError,
    NoKernelError,
    OperandTypeError,
    OutOfMemoryError,
    PipelineError,
    SchemaError,
)
from .layouts import layout, strided
from .memory_formats import (
    channels_last,
    channels_last_3d,
    contiguous_format,
    memory_format,
    preserve_format,
)
from .modes import DispatchMode
from .modes import install as _install_modes
from .operators.define import find_packet as _find_packet
from .operators.define import names_in as _names_in
from .operators.overloads import ops
from .operators.tags import Tag
from .plugins import PLUGIN_API
from .plugins import loader as _loader
from .printing import set_printoptions
from .queries import (
    can_cast,
    get_device,
    is_complex,
    is_floating_point,
    is_nonzero,
    is_same_size,
    is_signed,
    is_storage,
    promote_types,
    result_type,
    typename,
)
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
from .serialization import load, save
from .shapes import Size, broadcast_shapes
from .sharing import asarray, from_dlpack, frombuffer, to_dlpack
from .streams import Event, Stream
from .tensor import Tensor, is_tensor, numel
from .tensor_types import (
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
from .threads import get_num_threads, set_num_threads

if TYPE_CHECKING:  # functions of ops, which `__getattr__` below makes when they are first used
    from . import fft, library, linalg, masked, signal, special, testing, utils  # noqa: F401
    from .stubs.functions import *  # noqa: F403

__all__ = [
    "PLUGIN_API",
    "BFloat16Tensor",
    "BackendConflictError",
    "BackendUnavailableError",
    "BoolTensor",
    "ByteTensor",
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
    "Tag",
    "Tensor",
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
    "float16",
    "float32",
    "float64",
    "fork_rng",
    "from_dlpack",
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
    "layout",
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
    "strided",
    "tensor",
    "to_dlpack",
    "typename",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

__version__ = "0.1.0"

half, float, double = float16, float32, float64
short, int, long = int16, int32, int64
cfloat, cdouble = complex64, complex128
newaxis = None

# Submodules that are imported when they are first used.
_LAZY = frozenset({"fft", "library", "linalg", "masked", "signal", "special", "testing", "utils"})

_record.install()
_pipeline.install()
_install_modes()
amp.install()


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return importlib.import_module(f"{__name__}.{name}")
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    packet = _find_packet("torch", name)
    if packet is not None:
        made = packet.function()
        globals()[name] = made
        return made
    if name == "default_generator":
        return _default_generator(device("cpu"))
    if not name.startswith("_"):
        module = _device_module(name)
        if module is not None:
            globals()[name] = module
            return module
        absent = _absent_device(name)  # not kept: a backend may come
        if absent is not None:
            return absent
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _device_module(name: str) -> Any:
    """``torch.<device>``, for devices whose backend is installed."""
    # No builtin that an op shares its name with: `torch.any` would be found first.
    if name in {status.name for status in _loader.backends()}:
        return _loader.load(name).module
    return None


def _absent_device(name: str) -> Any:
    """``torch.<device>`` for a type of devices that PyTorch knows and no backend serves."""
    if name not in (*_ACCELERATORS, "mps"):
        return None
    from .plugins.absent_device import AbsentDevice

    return AbsentDevice(name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_names_in("torch"), *_LAZY})
