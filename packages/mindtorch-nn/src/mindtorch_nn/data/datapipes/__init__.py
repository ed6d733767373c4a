"""Data sets that are made of others step by step, as ``torch.utils.data.datapipes`` has them."""

from __future__ import annotations

from . import iter, map
from .datapipe import DataChunk, IterDataPipe, MapDataPipe, functional_datapipe

__all__ = ["DataChunk", "IterDataPipe", "MapDataPipe", "functional_datapipe", "iter", "map"]
