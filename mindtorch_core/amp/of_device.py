"""Autocast and scaling of gradients for one type of devices: what stands in ``torch.<device>.amp``."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any, ClassVar

from ..values.dtypes import dtype as _dtype
from ..values.user_warnings import warn_user
from .autocast_mode import autocast, custom_bwd, custom_fwd
from .grad_scaler import GradScaler

__all__ = ["AutocastOf", "GradScalerOf", "amp_of"]


def _warn(old: str, new: str) -> None:
    """Warn at the line that makes an object by a name of old."""
    warn_user(
        f"`torch.{old}(args...)` is deprecated. Please use `torch.{new}` instead.",
        FutureWarning,
    )


class AutocastOf(autocast):
    """`torch.autocast` for the devices of a subclass.

    Attributes:
        kind: their type.
        lower: the dtype if none is given; that of `torch.get_autocast_dtype` if it is None.
        old: whether PyTorch warns that another name should be used.
    """

    kind: ClassVar[str]
    lower: ClassVar[_dtype | None] = None
    old: ClassVar[bool] = False

    def __init__(
        self, enabled: bool = True, dtype: _dtype | None = None, cache_enabled: bool = True
    ) -> None:
        if self.old:
            _warn(f"{self.kind}.amp.autocast", f"amp.autocast('{self.kind}', args...)")
        lower = self.lower if dtype is None else dtype
        super().__init__(self.kind, enabled=enabled, dtype=lower, cache_enabled=cache_enabled)


class GradScalerOf(GradScaler):
    """`torch.amp.GradScaler` for the devices of a subclass, with the attributes of `AutocastOf`."""

    kind: ClassVar[str]
    old: ClassVar[bool] = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if self.old:
            _warn(f"{self.kind}.amp.GradScaler", f"amp.GradScaler('{self.kind}', args...)")
        super().__init__(self.kind, *args, **kwargs)


@functools.cache
def amp_of(kind: str) -> ModuleType:
    """The module of a device type that has none of its own under the name.

    Args:
        kind: the device type.
    """
    found = ModuleType(f"torch.{kind}.amp", f"Autocast and scaling of gradients for {kind}.")
    body = {"kind": kind, "__module__": found.__name__}
    names = {
        "autocast": type("autocast", (AutocastOf,), body),
        "GradScaler": type("GradScaler", (GradScalerOf,), body),
        "custom_fwd": functools.partial(custom_fwd, device_type=kind),
        "custom_bwd": functools.partial(custom_bwd, device_type=kind),
    }
    vars(found).update(names, __all__=[*names])
    return found
