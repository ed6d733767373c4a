"""Autocast and scaling of gradients for CUDA devices, by their names of old."""

from __future__ import annotations

from typing import Any

from ....amp import autocast as _autocast
from ....amp import custom_bwd, custom_fwd
from ....amp.grad_scaler import GradScaler as _GradScaler
from ....values.dtypes import dtype as _dtype
from ....values.dtypes import float16
from ...absent import names_of

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

__getattr__ = names_of(__name__)  # the modules of rows below this one


class autocast(_autocast):
    """`torch.autocast` for CUDA devices; without one it warns and does nothing."""

    def __init__(
        self, enabled: bool = True, dtype: _dtype = float16, cache_enabled: bool = True
    ) -> None:
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(_GradScaler):
    """`torch.amp.GradScaler` for CUDA devices; without one it warns and does nothing."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("cuda", *args, **kwargs)
