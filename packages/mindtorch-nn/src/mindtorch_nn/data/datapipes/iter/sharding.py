"""Pipes of a part of the samples."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Any

from ..._utils.worker import get_worker_info
from ..datapipe import IterDataPipe, functional_datapipe
from .utils import sized

__all__ = ["SHARDING_PRIORITIES", "ShardingFilterIterDataPipe"]


class SHARDING_PRIORITIES(IntEnum):
    """Who takes shares: those of the whole first, of processes, or of workers within a process's."""

    DEFAULT = 1
    DISTRIBUTED = 2
    MULTIPROCESSING = 3


@functional_datapipe("sharding_filter")
class ShardingFilterIterDataPipe(IterDataPipe):
    """In a worker of a loader the worker's share of the samples, elsewhere all.

    Args:
        source_datapipe: of all samples.
        sharding_group_filter: the only group whose shares count; by default those of all do.
    """

    def __init__(self, source_datapipe: Any, sharding_group_filter: Any = None) -> None:
        self.source_datapipe = source_datapipe
        self.sharding_group_filter = sharding_group_filter
        self.groups: dict[int, tuple[int, int]] = {}
        self.num_of_instances, self.instance_id = 1, 0

    def apply_sharding(
        self,
        num_of_instances: int,
        instance_id: int,
        sharding_group: SHARDING_PRIORITIES = SHARDING_PRIORITIES.DEFAULT,
    ) -> None:
        """Take one share of several, within those of other groups and within a worker's.

        Raises:
            ValueError: if there is no such share.
            RuntimeError: if shares of the whole meet those of processes or workers.
        """
        if instance_id >= num_of_instances:
            raise ValueError(
                f"instance_id({instance_id}) should be smaller than num_of_instances({num_of_instances})"
            )
        default = SHARDING_PRIORITIES.DEFAULT
        if any((each == default) != (sharding_group == default) for each in self.groups):
            raise RuntimeError("ShardingFilter cannot mix DEFAULT and non DEFAULT groups")
        self.groups[sharding_group] = num_of_instances, instance_id
        self.num_of_instances, self.instance_id = 1, 0
        wanted = self.sharding_group_filter
        for group in sorted(self.groups, reverse=True):
            if wanted is not None and group != wanted:
                continue
            many, own = self.groups[group]
            self.instance_id += self.num_of_instances * own
            self.num_of_instances *= many

    def __iter__(self) -> Iterator[Any]:
        worker = get_worker_info()
        many, own = self.num_of_instances, self.instance_id
        if worker is not None:
            many, own = many * worker.num_workers, own + many * worker.id
        return (sample for i, sample in enumerate(self.source_datapipe) if i % many == own)

    def __len__(self) -> int:
        whole, rest = divmod(sized(self.source_datapipe, self), self.num_of_instances)
        return whole + (self.instance_id < rest)
