"""Pipes of batches, and of what is in them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..datapipe import DataChunk, IterDataPipe, functional_datapipe
from .utils import sized

__all__ = ["BatcherIterDataPipe", "UnBatcherIterDataPipe"]


@functional_datapipe("batch")
class BatcherIterDataPipe(IterDataPipe):
    """Samples in batches.

    Args:
        datapipe: the source.
        batch_size: how many a batch has.
        drop_last: whether a last, smaller batch is left out.
        wrapper_class: what a list of samples is made into.
    """

    def __init__(
        self,
        datapipe: Any,
        batch_size: int,
        drop_last: bool = False,
        wrapper_class: Any = DataChunk,
    ) -> None:
        if batch_size <= 0:
            raise AssertionError("Batch size is required to be larger than 0!")
        self.datapipe, self.batch_size = datapipe, batch_size
        self.drop_last, self.wrapper_class = drop_last, wrapper_class

    def __iter__(self) -> Iterator[Any]:
        batch: list[Any] = []
        for sample in self.datapipe:
            batch.append(sample)
            if len(batch) == self.batch_size:
                yield self.wrapper_class(batch)
                batch = []
        if batch and not self.drop_last:
            yield self.wrapper_class(batch)

    def __len__(self) -> int:
        whole, rest = divmod(sized(self.datapipe, self), self.batch_size)
        return whole + (rest > 0 and not self.drop_last)


@functional_datapipe("unbatch")
class UnBatcherIterDataPipe(IterDataPipe):
    """The samples of batches; ``unbatch_level`` batches deep, all levels for -1."""

    def __init__(self, datapipe: Any, unbatch_level: int = 1) -> None:
        self.datapipe, self.unbatch_level = datapipe, unbatch_level

    def __iter__(self) -> Iterator[Any]:
        for each in self.datapipe:
            yield from self._taken_apart(each, self.unbatch_level)

    def _taken_apart(self, element: Any, levels: int) -> Iterator[Any]:
        if levels == 0 or (levels == -1 and not isinstance(element, list)):
            yield element
        elif not isinstance(element, list):
            raise IndexError(
                f"unbatch_level {self.unbatch_level} exceeds the depth of the DataPipe"
            )
        else:
            for each in element:
                yield from self._taken_apart(each, levels if levels == -1 else levels - 1)
