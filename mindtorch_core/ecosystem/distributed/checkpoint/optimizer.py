"""``torch.distributed.checkpoint.optimizer``."""

from __future__ import annotations

from ....communication.checkpoint.optimizers import load_sharded_optimizer_state_dict

__all__ = ["load_sharded_optimizer_state_dict"]
