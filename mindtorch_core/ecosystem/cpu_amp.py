"""``torch.cpu.amp``: autocast and scaling of gradients for the CPU, by their names of old."""

from __future__ import annotations

from ..amp.of_device import AutocastOf, GradScalerOf
from ..values.dtypes import bfloat16

__all__ = ["GradScaler", "autocast"]


class autocast(AutocastOf):
    """`torch.autocast` for the CPU."""

    kind, lower, old = "cpu", bfloat16, True


class GradScaler(GradScalerOf):
    """`torch.amp.GradScaler` for the CPU."""

    kind, old = "cpu", True
