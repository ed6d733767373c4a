"""Data pipes of streams."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import mindtorch_core as torch

from .._utils.collate import default_collate
from .._utils.worker import get_worker_info
from .datapipe import DataChunk, IterDataPipe, copied, functional_datapipe

__all__ = [
    "Batcher", "Collator", "Concater", "Filter", "IterDataPipe", "IterableWrapper", "Mapper",
    "ShardingFilter", "Shuffler", "UnBatcher", "Zipper",
]  # fmt: skip


class IterableWrapperIterDataPipe(IterDataPipe):
    """Anything that can be iterated as a pipe.

    Args:
        iterable: of samples.
        deepcopy: whether each pass is over a copy.
    """

    def __init__(self, iterable: Any, deepcopy: bool = True) -> None:
        self.iterable, self.deepcopy = iterable, deepcopy

    def __iter__(self) -> Iterator[Any]:
        yield from copied(self.iterable, "iterable") if self.deepcopy else self.iterable

    def __len__(self) -> int:
        return len(self.iterable)


def _sized(datapipe: Any, of: Any) -> int:
    """The length of a pipe's source.

    Raises:
        TypeError: if it has none.
    """
    try:
        return len(datapipe)
    except TypeError:
        raise TypeError(f"{type(of).__name__} instance doesn't have valid length") from None


@functional_datapipe("map")
class MapperIterDataPipe(IterDataPipe):
    """What a function makes of each sample, or of columns of it.

    Args:
        datapipe: the source.
        fn: the function.
        input_col: which column it gets, or a list of them; None: the sample.
        output_col: which column its result replaces; -1 adds one. By default the first input's.
    """

    def __init__(
        self, datapipe: Any, fn: Callable[..., Any], input_col: Any = None, output_col: Any = None
    ) -> None:
        if input_col is None and output_col is not None:
            raise ValueError("`output_col` must be None when `input_col` is None.")
        self.datapipe, self.fn = datapipe, fn
        self.input_col, self.output_col = input_col, output_col

    def _apply(self, sample: Any) -> Any:
        if self.input_col is None:
            return self.fn(sample)
        several = isinstance(self.input_col, list | tuple)
        columns = list(self.input_col) if several else [self.input_col]
        found = self.fn(*(sample[c] for c in columns))
        parts = sample.copy() if isinstance(sample, dict) else list(sample)
        if self.output_col is None:
            parts[columns[0]] = found
            for c in sorted(columns[1:], reverse=True):
                del parts[c]
        elif self.output_col == -1 and isinstance(parts, list):
            parts.append(found)
        else:
            parts[self.output_col] = found
        return tuple(parts) if isinstance(sample, tuple) else parts

    def __iter__(self) -> Iterator[Any]:
        return map(self._apply, self.datapipe)

    def __len__(self) -> int:
        return _sized(self.datapipe, self)


@functional_datapipe("filter")
class FilterIterDataPipe(IterDataPipe):
    """The samples for which a function of them, or of columns, is true."""

    def __init__(self, datapipe: Any, filter_fn: Callable[..., Any], input_col: Any = None) -> None:
        self.datapipe, self.filter_fn, self.input_col = datapipe, filter_fn, input_col

    def __iter__(self) -> Iterator[Any]:
        for sample in self.datapipe:
            if self.input_col is None:
                given = [sample]
            elif isinstance(self.input_col, list | tuple):
                given = [sample[c] for c in self.input_col]
            else:
                given = [sample[self.input_col]]
            if self.filter_fn(*given):
                yield sample


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
        whole, rest = divmod(_sized(self.datapipe, self), self.batch_size)
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


@functional_datapipe("collate")
class CollatorIterDataPipe(MapperIterDataPipe):
    """Batches as what a function makes of their samples, by default as tensors."""

    def __init__(self, datapipe: Any, collate_fn: Callable[[Any], Any] = default_collate) -> None:
        super().__init__(datapipe, collate_fn)


@functional_datapipe("concat")
class ConcaterIterDataPipe(IterDataPipe):
    """Several pipes, one after the other."""

    def __init__(self, *datapipes: Any) -> None:
        if not datapipes:
            raise ValueError("Expected at least one DataPipe, but got nothing")
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        for each in self.datapipes:
            yield from each

    def __len__(self) -> int:
        return sum(_sized(each, self) for each in self.datapipes)


@functional_datapipe("zip")
class ZipperIterDataPipe(IterDataPipe):
    """Tuples of samples of several pipes, to the end of the shortest."""

    def __init__(self, *datapipes: Any) -> None:
        self.datapipes = datapipes

    def __iter__(self) -> Iterator[Any]:
        return zip(*self.datapipes, strict=False)

    def __len__(self) -> int:
        return min(_sized(each, self) for each in self.datapipes)


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
        return _sized(self.datapipe, self)


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
