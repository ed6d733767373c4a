"""Autocast and scaling of gradients for CUDA devices, by their names of old."""

from __future__ import annotations

import functools

from ....amp import custom_bwd as _custom_bwd
from ....amp import custom_fwd as _custom_fwd
from ....amp.of_device import AutocastOf, GradScalerOf
from ....values.dtypes import float16
from ...absent import names_of

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd"]

__getattr__ = names_of(__name__)  # the modules of rows below this one

custom_fwd = functools.partial(_custom_fwd, device_type="cuda")
custom_bwd = functools.partial(_custom_bwd, device_type="cuda")


class autocast(AutocastOf):
    """`torch.autocast` for CUDA devices; without one it warns and does nothing."""

    kind, lower = "cuda", float16


class GradScaler(GradScalerOf):
    """`torch.amp.GradScaler` for CUDA devices; without one it warns and does nothing."""

    kind = "cuda"
