"""``torch.cuda.amp.grad_scaler``: PyTorch's path of the scaler's name of old."""

from __future__ import annotations

from ....amp.grad_scaler import OptState
from . import GradScaler

__all__ = ["GradScaler", "OptState"]
