"""``torch.cpu.amp``: autocast and scaling of gradients for the CPU, by their names of old."""

from __future__ import annotations

from typing import Any

from ..amp import autocast as _autocast
from ..amp.grad_scaler import GradScaler as _GradScaler
from ..values.dtypes import bfloat16
from ..values.dtypes import dtype as _dtype

__all__ = ["GradScaler", "autocast"]


class autocast(_autocast):
    """`torch.autocast` for the CPU."""

    def __init__(
        self, enabled: bool = True, dtype: _dtype = bfloat16, cache_enabled: bool = True
    ) -> None:
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(_GradScaler):
    """`torch.amp.GradScaler` for the CPU."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__("cpu", *args, **kwargs)
