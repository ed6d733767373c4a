"""Autocast and scaling of gradients for CUDA devices, by their names of old."""

from __future__ import annotations

from typing import Any

from ....amp import custom_bwd as _custom_bwd
from ....amp import custom_fwd as _custom_fwd
from ....amp.of_device import AutocastOf, GradScalerOf
from ....values.dtypes import dtype, float16
from ....values.user_warnings import warn_user
from ...absent import names_of

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

__getattr__ = names_of(__name__)  # the modules of rows below this one

_OLD = (
    "`torch.cuda.amp.{0}(args...)` is deprecated. "
    "Please use `torch.amp.{0}(args..., device_type='cuda')` instead."
)


def custom_fwd(fwd: Any = None, *, cast_inputs: dtype | None = None) -> Any:
    """`torch.amp.custom_fwd` for CUDA devices, by its name of old: it warns."""
    warn_user(_OLD.format("custom_fwd"), FutureWarning)
    return _custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any = None) -> Any:
    """`torch.amp.custom_bwd` for CUDA devices, by its name of old: it warns."""
    warn_user(_OLD.format("custom_bwd"), FutureWarning)
    return _custom_bwd(bwd, device_type="cuda")


class autocast(AutocastOf):
    """`torch.autocast` for CUDA devices; without one it warns and does nothing."""

    kind, lower, old = "cuda", float16, True


class GradScaler(GradScalerOf):
    """`torch.amp.GradScaler` for CUDA devices; without one it warns and does nothing."""

    kind, old = "cuda", True
