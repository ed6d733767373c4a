"""The sampler that gives each of several processes a part of its own."""

from __future__ import annotations

import importlib
import math
from collections.abc import Iterator
from typing import Any, TypeVar

import mindtorch_core as torch

from .dataset import Dataset
from .sampler import Sampler

__all__ = ["DistributedSampler"]

T_co = TypeVar("T_co", covariant=True)


def _group() -> Any:
    """The module that knows the process group."""
    try:
        found = importlib.import_module("mindtorch_core.distributed")
    except ModuleNotFoundError:
        raise RuntimeError("Requires distributed package to be available") from None
    if not found.is_available():
        raise RuntimeError("Requires distributed package to be available")
    return found


class DistributedSampler(Sampler[T_co]):
    """Every ``num_replicas``-th sample, another part for each process.

    Call `set_epoch` before each epoch, or the order is the same every time.

    Args:
        dataset: with a length.
        num_replicas: how many processes; None asks the process group.
        rank: which one this is; None asks the process group.
        shuffle: whether the order is random, the same in all processes.
        seed: of that order.
        drop_last: whether the end is left out so that all parts are equal; else the beginning follows it
            once more.

    Raises:
        RuntimeError: if there is no process group to ask.
        ValueError: if ``rank`` is none of them.

    Example:
        >>> kind = torch.utils.data.distributed.DistributedSampler
        >>> sampler = kind(range(4), num_replicas=2, rank=1, shuffle=False)
        >>> list(sampler)
        [1, 3]
    """

    def __init__(
        self,
        dataset: Dataset[Any],
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        num_replicas = _group().get_world_size() if num_replicas is None else num_replicas
        rank = _group().get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(
                f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]"
            )
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        count = len(dataset)  # type: ignore[arg-type]
        self.num_samples = count // num_replicas if drop_last else math.ceil(count / num_replicas)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[Any]:
        count = len(self.dataset)  # type: ignore[arg-type]
        if self.shuffle:
            generator = torch.Generator()
            generator.manual_seed(self.seed + self.epoch)
            order = torch.randperm(count, generator=generator).tolist()
        else:
            order = list(range(count))
        if order and len(order) < self.total_size:
            order *= -(-self.total_size // len(order))
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Let the next order be another one."""
        self.epoch = epoch
