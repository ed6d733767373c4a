"""Pipes of samples in another order."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any

import mindtorch_core as torch

from ..datapipe import IterDataPipe, functional_datapipe
from .utils import sized

__all__ = ["ShufflerIterDataPipe"]


@functional_datapipe("shuffle")
class ShufflerIterDataPipe(IterDataPipe):
    """Samples in an order that is drawn: each is taken from a buffer of those that came before.

    Args:
        datapipe: the source.
        buffer_size: how many the buffer holds.
        unbatch_level: batches of how many levels are taken apart first.
    """

    def __init__(self, datapipe: Any, *, buffer_size: int = 10000, unbatch_level: int = 0) -> None:
        self.datapipe = datapipe if not unbatch_level else datapipe.unbatch(unbatch_level)
        self.buffer_size, self._enabled = buffer_size, True
        self._seed: int | None = None
        self._rng = random.Random()

    def set_shuffle(self, shuffle: bool = True) -> ShufflerIterDataPipe:
        """Whether to shuffle from now on."""
        self._enabled = shuffle
        return self

    def set_seed(self, seed: int) -> ShufflerIterDataPipe:
        """The seed of the next pass; else it is drawn from the generator of tensors."""
        self._seed = seed
        return self

    def reset(self) -> None:
        """Begin a pass."""
        if self._enabled:
            seed = self._seed
            if seed is None:
                seed = int(torch.empty((), dtype=torch.int64).random_().item())
            self._rng.seed(seed)
            self._seed = None

    def __iter__(self) -> Iterator[Any]:
        if not self._enabled:
            yield from self.datapipe
            return
        buffer: list[Any] = []
        for sample in self.datapipe:
            if len(buffer) < self.buffer_size:
                buffer.append(sample)
                continue
            at = self._rng.randint(0, len(buffer) - 1)
            sample, buffer[at] = buffer[at], sample
            yield sample
        while buffer:
            yield buffer.pop(self._rng.randint(0, len(buffer) - 1))

    def __len__(self) -> int:
        return sized(self.datapipe, self)
