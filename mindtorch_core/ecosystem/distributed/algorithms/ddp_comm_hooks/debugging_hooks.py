"""``torch.distributed.algorithms.ddp_comm_hooks.debugging_hooks``."""

from __future__ import annotations

from .....communication.hooks import noop_hook

__all__ = ["noop_hook"]
