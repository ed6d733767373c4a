"""``torch.cuda.amp.autocast_mode``: PyTorch's path of autocast's names of old."""

from __future__ import annotations

from ....amp.autocast_mode import _cast as _cast
from . import autocast, custom_bwd, custom_fwd

__all__ = ["autocast", "custom_bwd", "custom_fwd"]
