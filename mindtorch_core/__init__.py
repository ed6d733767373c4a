"""mindtorch: a torch-style tensor framework whose devices are plugins.

``import mindtorch_core as torch`` gives the names PyTorch users know. Functions of ops are made
when they are first used, and backends are loaded when their device is first asked for, so the
import is light.
"""

from __future__ import annotations

from math import e, inf, nan, pi
from typing import Any

from . import autograd, nn
from . import operators as _operators  # noqa: F401  (defines the ops)
from . import subscript as _subscript  # noqa: F401  (attaches indexing)
from .autograd import enable_grad, is_grad_enabled, no_grad, set_grad_enabled
from .autograd import methods as _methods  # noqa: F401  (attaches Tensor's methods)
from .autograd import record as _record
from .creation import as_tensor, asarray, from_dlpack, from_numpy, tensor
from .devices import device, get_default_device, set_default_device
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
    OutOfMemoryError,
    PipelineError,
    SchemaError,
)
from .operators.define import FUNCTIONS as _FUNCTIONS
from .plugins import PLUGIN_API
from .plugins import loader as _loader
from .printing import set_printoptions
from .promotion import can_cast, promote_types, result_type
from .random import (
    Generator,
    fork_rng,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from .shapes import Size
from .tensor import Tensor, is_tensor, numel

__all__ = [
    "PLUGIN_API",
    "BackendConflictError",
    "BackendUnavailableError",
    "DispatchKey",
    "DispatchKeySet",
    "Generator",
    "NoKernelError",
    "OutOfMemoryError",
    "Pipeline",
    "PipelineError",
    "SchemaError",
    "Size",
    "Tensor",
    "__version__",
    "as_tensor",
    "asarray",
    "autograd",
    "bfloat16",
    "bool",
    "can_cast",
    "cdouble",
    "cfloat",
    "complex64",
    "complex128",
    "contiguous_format",
    "current_pipeline",
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
    "get_default_device",
    "get_default_dtype",
    "get_rng_state",
    "half",
    "iinfo",
    "inf",
    "initial_seed",
    "int",
    "int8",
    "int16",
    "int32",
    "int64",
    "is_grad_enabled",
    "is_tensor",
    "long",
    "manual_seed",
    "nan",
    "newaxis",
    "nn",
    "no_grad",
    "numel",
    "pi",
    "pipeline",
    "preserve_format",
    "promote_types",
    "result_type",
    "seed",
    "set_default_device",
    "set_default_dtype",
    "set_grad_enabled",
    "set_printoptions",
    "set_rng_state",
    "short",
    "strided",
    "tensor",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
]

__version__ = "0.1.0"

half, float, double = float16, float32, float64
short, int, long = int16, int32, int64
cfloat, cdouble = complex64, complex128
strided = "strided"
contiguous_format, preserve_format = "contiguous", None
newaxis = None

_record.install()
_pipeline.install()


def __getattr__(name: str) -> Any:
    packet = _FUNCTIONS["torch"].get(name)
    if packet is not None:
        made = packet.function()
        globals()[name] = made
        return made
    if not name.startswith("_"):
        module = _device_module(name)
        if module is not None:
            globals()[name] = module
            return module
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _device_module(name: str) -> Any:
    """``torch.<device>``, for devices whose backend is installed."""
    # No builtin that an op shares its name with: `torch.any` would be found first.
    if name in {status.name for status in _loader.backends()}:
        return _loader.load(name).module
    return None


def __dir__() -> list[str]:
    return sorted({*globals(), *_FUNCTIONS["torch"]})
