"""Settings of a process, and facts of a build, that programs for PyTorch ask ``torch`` itself for."""

from __future__ import annotations

import os
from typing import Any, Final

from ..autograd.anomaly_mode import set_detect_anomaly
from ..values.devices import STANDS_FOR, set_default_device
from ..values.dtypes import set_default_dtype
from ..values.user_warnings import always, warn_user

__all__ = [
    "AcceleratorError",
    "compiled_with_cxx11_abi",
    "get_num_interop_threads",
    "has_lapack",
    "has_mkl",
    "has_openmp",
    "is_vulkan_available",
    "is_warn_always_enabled",
    "set_anomaly_enabled",
    "set_default_tensor_type",
    "set_flush_denormal",
    "set_num_interop_threads",
    "set_warn_always",
]

has_lapack: Final = True
has_mkl = has_openmp = False
_interop = [os.cpu_count() or 1]
set_anomaly_enabled = set_detect_anomaly


class AcceleratorError(RuntimeError):
    """An error of an accelerator, by PyTorch's name; backends raise their own."""


def set_default_tensor_type(t: Any) -> None:
    """Set the default floating type by a class such as ``torch.DoubleTensor``, or by its name.

    One of a device that stands for CUDA, ``torch.cuda.FloatTensor``, makes that device the default too.

    Raises:
        TypeError: if it is no class of tensors, none of floating point, or one of a device that is not there.
        AttributeError: if there is none of that name.
    """
    import mindtorch_core

    warn_user(
        "torch.set_default_tensor_type() is deprecated. Use torch.set_default_dtype() and "
        "torch.set_default_device()"
    )
    if isinstance(t, str):
        path = t.split(".")
        if len(path) == 3 and path[1] not in STANDS_FOR:
            raise TypeError(_elsewhere(t))
        home = mindtorch_core if len(path) < 3 else getattr(mindtorch_core, path[1])
        t = getattr(home, path[-1])
    on = vars(t).get("on") if isinstance(t, type) else None
    if on != "cpu" and on not in STANDS_FOR:
        where = getattr(t, "__module__", "")
        if isinstance(t, type) and where.rpartition(".")[0] == "torch":  # as torch.cuda's are
            raise TypeError(_elsewhere(f"{where}.{t.__name__}"))
        raise TypeError(
            "invalid type object: only floating-point types are supported as the default type"
        )
    set_default_dtype(t.dtype)
    set_default_device(None if on == "cpu" else on)


def _elsewhere(name: str) -> str:
    return (
        f"type {name} not available: use torch.set_default_dtype, and torch.set_default_device for "
        f"another device"
    )


def set_flush_denormal(mode: bool) -> bool:
    """False: numbers below the normal range are kept as they are."""
    return False


def get_num_interop_threads() -> int:
    """What `set_num_interop_threads` was told last; the number of cores at first."""
    return _interop[0]


def set_num_interop_threads(count: int) -> None:
    """Say how many ops may run at once. It is remembered: ops of a thread run one after another.

    Raises:
        RuntimeError: if it is not positive.
    """
    if count < 1:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    _interop[0] = count


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` was told last."""
    return always()


def set_warn_always(b: bool) -> None:
    """Say whether warnings that come once in a process come each time; Python's filters say which are shown.

    Raises:
        RuntimeError: if it is no bool.
    """
    if not isinstance(b, bool):
        raise RuntimeError(f"setWarnOnlyOnce expects a bool, but got {type(b).__name__}")
    always(b)


def compiled_with_cxx11_abi() -> bool:
    """True, as of all builds of PyTorch's; nothing here is compiled against it."""
    return True


def is_vulkan_available() -> bool:
    """False: there is no such backend."""
    return False
