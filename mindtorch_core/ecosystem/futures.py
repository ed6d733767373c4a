"""``torch.futures``: values that come later."""

from __future__ import annotations

from ..communication.futures import Future, collect_all, wait_all

__all__ = ["Future", "collect_all", "wait_all"]
