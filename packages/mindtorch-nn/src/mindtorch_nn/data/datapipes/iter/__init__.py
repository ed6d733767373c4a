"""Data pipes of streams."""

from __future__ import annotations

from ..datapipe import IterDataPipe
from .callable import CollatorIterDataPipe, MapperIterDataPipe
from .combinatorics import ShufflerIterDataPipe
from .combining import ConcaterIterDataPipe, ZipperIterDataPipe
from .grouping import BatcherIterDataPipe, UnBatcherIterDataPipe
from .selecting import FilterIterDataPipe
from .sharding import ShardingFilterIterDataPipe
from .utils import IterableWrapperIterDataPipe

__all__ = [
    "Batcher", "Collator", "Concater", "Filter", "IterDataPipe", "IterableWrapper", "Mapper",
    "ShardingFilter", "Shuffler", "UnBatcher", "Zipper",
]  # fmt: skip

# The names that programs use.
IterableWrapper = IterableWrapperIterDataPipe
Mapper = MapperIterDataPipe
Filter = FilterIterDataPipe
Batcher = BatcherIterDataPipe
UnBatcher = UnBatcherIterDataPipe
Collator = CollatorIterDataPipe
Concater = ConcaterIterDataPipe
Zipper = ZipperIterDataPipe
Shuffler = ShufflerIterDataPipe
ShardingFilter = ShardingFilterIterDataPipe
