"""Data pipes of samples by key."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .datapipe import DataChunk, MapDataPipe, copied, functional_datapipe

__all__ = ["Batcher", "Concater", "MapDataPipe", "Mapper", "SequenceWrapper", "Zipper"]


class SequenceWrapperMapDataPipe(MapDataPipe):
    """A sequence or dictionary as a pipe.

    Args:
        sequence: of samples.
        deepcopy: whether to keep a copy.
    """

    def __init__(self, sequence: Any, deepcopy: bool = True) -> None:
        self.sequence = copied(sequence, "sequence") if deepcopy else sequence

    def __getitem__(self, index: Any) -> Any:
        return self.sequence[index]

    def __len__(self) -> int:
        return len(self.sequence)


@functional_datapipe("map")
class MapperMapDataPipe(MapDataPipe):
    """What a function makes of each sample."""

    def __init__(self, datapipe: MapDataPipe, fn: Callable[[Any], Any]) -> None:
        self.datapipe, self.fn = datapipe, fn

    def __getitem__(self, index: Any) -> Any:
        return self.fn(self.datapipe[index])

    def __len__(self) -> int:
        return len(self.datapipe)


@functional_datapipe("batch")
class BatcherMapDataPipe(MapDataPipe):
    """Samples in batches, by the number of the batch."""

    def __init__(self, datapipe: Any, batch_size: int, drop_last: bool = False) -> None:
        self.datapipe, self.batch_size, self.drop_last = datapipe, batch_size, drop_last

    def __getitem__(self, index: int) -> DataChunk:
        if not 0 <= index < len(self):
            raise IndexError(f"Index {index} is out of bound.")
        start = index * self.batch_size
        stop = min(start + self.batch_size, len(self.datapipe))
        return DataChunk(self.datapipe[i] for i in range(start, stop))

    def __len__(self) -> int:
        whole, rest = divmod(len(self.datapipe), self.batch_size)
        return whole + (rest > 0 and not self.drop_last)


@functional_datapipe("concat")
class ConcaterMapDataPipe(MapDataPipe):
    """The samples of several pipes, one pipe after the other."""

    def __init__(self, *datapipes: Any) -> None:
        self.datapipes = datapipes

    def __getitem__(self, index: int) -> Any:
        at = index
        for each in self.datapipes:
            if at < len(each):
                return each[at]
            at -= len(each)
        raise IndexError(f"Index {index} is out of range.")

    def __len__(self) -> int:
        return sum(map(len, self.datapipes))


@functional_datapipe("zip")
class ZipperMapDataPipe(MapDataPipe):
    """Tuples of the samples that several pipes have for a key."""

    def __init__(self, *datapipes: Any) -> None:
        self.datapipes: Sequence[Any] = datapipes

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(each[index] for each in self.datapipes)

    def __len__(self) -> int:
        return min(map(len, self.datapipes))


# The names that programs use.
SequenceWrapper = SequenceWrapperMapDataPipe
Mapper = MapperMapDataPipe
Batcher = BatcherMapDataPipe
Concater = ConcaterMapDataPipe
Zipper = ZipperMapDataPipe
