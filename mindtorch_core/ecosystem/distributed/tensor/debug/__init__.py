"""``torch.distributed.tensor.debug``: what is sent for DTensors, and where their parts lie."""

from __future__ import annotations

from .comm_mode import CommDebugMode
from .sharding_table import visualize_sharding

__all__ = ["CommDebugMode", "visualize_sharding"]
