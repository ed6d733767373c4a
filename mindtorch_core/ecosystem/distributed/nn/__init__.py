"""``torch.distributed.nn``: collective operations with gradients."""

from __future__ import annotations

from .functional import all_gather, all_reduce, all_to_all, broadcast, reduce_scatter

__all__ = ["all_gather", "all_reduce", "all_to_all", "broadcast", "reduce_scatter"]
