"""``torch.distributed.tensor.placement_types``."""

from __future__ import annotations

from ....communication.sharded.placements import Partial, Placement, Replicate, Shard, StridedShard
from ...absent import names_of

__all__ = ["Partial", "Placement", "Replicate", "Shard"]

_StridedShard = StridedShard
__getattr__ = names_of(__name__)
