"""``torch.distributed.checkpoint.stateful``."""

from __future__ import annotations

from ....communication.checkpoint.flattening import Stateful

__all__ = ["Stateful"]
