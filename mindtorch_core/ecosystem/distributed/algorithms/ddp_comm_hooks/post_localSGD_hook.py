"""``torch.distributed.algorithms.ddp_comm_hooks.post_localSGD_hook``."""

from __future__ import annotations

from .....communication.local_sgd import PostLocalSGDState, post_localSGD_hook

__all__ = ["PostLocalSGDState", "post_localSGD_hook"]
