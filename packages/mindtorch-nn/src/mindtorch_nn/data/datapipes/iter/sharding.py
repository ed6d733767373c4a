"""Pipes of a part of the samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..._utils.worker import get_worker_info
from ..datapipe import IterDataPipe, functional_datapipe

__all__ = ["ShardingFilterIterDataPipe"]


@functional_datapipe("sharding_filter")
class ShardingFilterIterDataPipe(IterDataPipe):
    """In a worker of a loader the worker's share of the samples, elsewhere all."""

    def __init__(self, source_datapipe: Any) -> None:
        self.source_datapipe = source_datapipe
        self.num_of_instances, self.instance_id = 1, 0

    def is_shardable(self) -> bool:
        """True."""
        return True

    def apply_sharding(self, num_of_instances: int, instance_id: int) -> None:
        """Take one share of several, within a worker's."""
        self.num_of_instances, self.instance_id = num_of_instances, instance_id

    def __iter__(self) -> Iterator[Any]:
        worker = get_worker_info()
        many, own = self.num_of_instances, self.instance_id
        if worker is not None:
            many, own = many * worker.num_workers, own * worker.num_workers + worker.id
        return (sample for i, sample in enumerate(self.source_datapipe) if i % many == own)
