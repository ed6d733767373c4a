"""``torch.distributed.tensor._utils``."""

from __future__ import annotations

from ....communication.sharded.layouts import part_of
from ...absent import names_of

__all__ = ["compute_local_shape_and_global_offset"]

compute_local_shape_and_global_offset = part_of
__getattr__ = names_of(__name__)
