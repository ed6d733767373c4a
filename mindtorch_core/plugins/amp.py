"""``torch.<device>.amp``: autocast and scaling of gradients for one type of devices."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

from ..amp import autocast as _autocast
from ..amp import custom_bwd, custom_fwd, is_autocast_available
from ..amp.grad_scaler import GradScaler as _GradScaler
from ..values.dtypes import dtype as _dtype

__all__ = ["amp_of", "is_autocast_available"]


@functools.cache
def amp_of(kind: str) -> ModuleType:
    """What stands under the names that PyTorch has for some types of devices, for any other.

    Args:
        kind: the device type.
    """

    class autocast(_autocast):
        """`torch.autocast` for these devices, in their own lower dtype by default."""

        def __init__(
            self, enabled: bool = True, dtype: _dtype | None = None, cache_enabled: bool = True
        ) -> None:
            super().__init__(kind, enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)

    class GradScaler(_GradScaler):
        """`torch.amp.GradScaler` for these devices."""

        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(kind, *args, **kwargs)

    found = ModuleType(f"torch.{kind}.amp", f"Autocast and scaling of gradients for {kind}.")
    names = {
        "autocast": autocast,
        "GradScaler": GradScaler,
        "custom_fwd": functools.partial(custom_fwd, device_type=kind),
        "custom_bwd": functools.partial(custom_bwd, device_type=kind),
    }
    vars(found).update(names, __all__=[*names])
    return found
