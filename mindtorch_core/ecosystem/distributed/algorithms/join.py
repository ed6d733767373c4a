"""``torch.distributed.algorithms.join``: blocks in which processes take different numbers of steps."""

from __future__ import annotations

from ....communication.join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]
