"""Data sets: what gives samples by index, or one after the other."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.utils._constructed import Constructed
from mindtorch_core.utils._own_frames import warn_user

__all__ = [
    "ChainDataset",
    "ConcatDataset",
    "Dataset",
    "IterableDataset",
    "StackDataset",
    "Subset",
    "TensorDataset",
    "random_split",
]

T_co = TypeVar("T_co", covariant=True)


class Dataset(Constructed, Generic[T_co]):
    """Base of data sets that give a sample for a key.

    A subclass defines ``__getitem__``; ``__len__`` for samplers, and ``__getitems__`` where the samples of
    a list of keys are had more cheaply together.

    Args:
        *args: those of the subclass.
        **kwargs: likewise.

    Example:
        >>> class Squares(torch.utils.data.Dataset):
        ...     def __len__(self):
        ...         return 3
        ...     def __getitem__(self, i):
        ...         return i * i
        >>> [batch.tolist() for batch in torch.utils.data.DataLoader(Squares(), batch_size=2)]
        [[0, 1], [4]]
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other: Dataset[T_co]) -> Dataset[T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Base of data sets that are streams: a subclass defines ``__iter__``.

    Each worker of a loader has a copy of its own: `get_worker_info` tells which part is its.

    Args:
        *args: those of the subclass.
        **kwargs: likewise.

    Example:
        >>> class Count(torch.utils.data.IterableDataset):
        ...     def __iter__(self):
        ...         return iter(range(3))
        >>> [batch.tolist() for batch in torch.utils.data.DataLoader(Count(), batch_size=2)]
        [[0, 1], [2]]
    """

    def __add__(self, other: Dataset[T_co]) -> Dataset[T_co]:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Tensor, ...]]):
    """Samples that are the parts of tensors along their first dimension.

    Args:
        *tensors: of one size there.

    Raises:
        AssertionError: if they differ.

    Example:
        >>> data = torch.utils.data.TensorDataset(torch.arange(3.0), torch.tensor([5, 6, 7]))
        >>> len(data), data[1]
        (3, (tensor(1.), tensor(6)))
    """

    def __init__(self, *tensors: Tensor) -> None:
        for i, t in enumerate(tensors):
            if not hasattr(t, "size"):
                raise AttributeError(
                    f"TensorDataset() takes tensors, and argument {i} is a {type(t).__name__}: make one of "
                    f"it by torch.tensor()"
                )
        if any(t.size(0) != tensors[0].size(0) for t in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Tensor, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return int(self.tensors[0].size(0))


class StackDataset(Dataset[Any]):
    """Samples of several data sets together: tuples, or dicts where the data sets have names.

    Args:
        *args: data sets of one length.
        **kwargs: or the same with names.

    Raises:
        ValueError: if both are given, or none, or lengths differ.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if args and kwargs:
            raise ValueError(
                "Supported either ``tuple``- (via ``args``) or``dict``- (via ``kwargs``) like "
                "input/output, but both types are given."
            )
        if not (args or kwargs):
            raise ValueError("At least one dataset should be passed")
        self.datasets: Any = args or kwargs
        parts = self._parts()
        self._length = len(parts[0])
        if any(len(part) != self._length for part in parts):
            raise ValueError("Size mismatch between datasets")

    def _parts(self) -> list[Any]:
        found = self.datasets
        return list(found.values() if isinstance(found, dict) else found)

    def _joined(self, values: Iterable[Any]) -> Any:
        if isinstance(self.datasets, dict):
            return dict(zip(self.datasets, values, strict=True))
        return tuple(values)

    def __getitem__(self, index: Any) -> Any:
        return self._joined(part[index] for part in self._parts())

    def __getitems__(self, indices: list[Any]) -> list[Any]:
        columns = []
        for part in self._parts():
            many = getattr(part, "__getitems__", None)
            items = many(indices) if callable(many) else [part[i] for i in indices]
            if len(items) != len(indices):
                raise ValueError(
                    f"Nested dataset's output size mismatch. Expected {len(indices)}, got {len(items)}"
                )
            columns.append(items)
        return [self._joined(row) for row in zip(*columns, strict=True)]

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Data sets one after the other.

    Args:
        datasets: with lengths.

    Attributes:
        cumulative_sizes: where each ends.

    Raises:
        AssertionError: if there are none, or one is a stream.

    Example:
        >>> both = torch.utils.data.ConcatDataset([[1, 2], [3]])
        >>> len(both), both[2]
        (3, 3)
    """

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError("ConcatDataset does not support IterableDataset")
        self.cumulative_sizes = self.cumsum(self.datasets)

    @staticmethod
    def cumsum(sequence: Iterable[Any]) -> list[int]:
        """Where each data set ends."""
        return list(itertools.accumulate(len(each) for each in sequence))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: Any) -> Any:
        if idx < 0:
            if -idx > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            idx += len(self)
        at = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[at][idx - (self.cumulative_sizes[at - 1] if at else 0)]

    @property
    def cummulative_sizes(self) -> list[int]:
        """An older spelling of ``cumulative_sizes``."""
        warn_user(
            "`cummulative_sizes` attribute is renamed to `cumulative_sizes`",
            FutureWarning,
        )
        return self.cumulative_sizes


class ChainDataset(IterableDataset[T_co]):
    """Streams one after the other.

    Args:
        datasets: the streams.
    """

    def __init__(self, datasets: Iterable[Dataset[Any]]) -> None:
        self.datasets = datasets

    def _streams(self) -> Iterator[Any]:
        for d in self.datasets:
            if not isinstance(d, IterableDataset):
                raise AssertionError("ChainDataset only supports IterableDataset")
            yield d

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self._streams())

    def __len__(self) -> int:
        return sum(len(d) for d in self._streams())


class Subset(Dataset[T_co]):
    """Some samples of a data set.

    Args:
        dataset: the data set.
        indices: which of its samples.

    Raises:
        NotImplementedError: if a subclass changes ``__getitem__`` but not ``__getitems__``, which loaders
            prefer.

    Example:
        >>> part = torch.utils.data.Subset(["a", "b", "c"], [2, 0])
        >>> len(part), part[0]
        (2, 'c')
    """

    def __init__(self, dataset: Dataset[T_co], indices: Sequence[int]) -> None:
        self.dataset = dataset
        self.indices = indices
        kind = type(self)
        if kind.__getitem__ is not Subset.__getitem__ and kind.__getitems__ is Subset.__getitems__:
            raise NotImplementedError(
                f"{kind.__name__} overrides __getitem__ but not __getitems__. Loaders ask for lists of "
                f"samples: define __getitems__ too, for example as "
                f"[self.__getitem__(idx) for idx in indices]."
            )

    def __getitem__(self, idx: Any) -> Any:
        if isinstance(idx, list):
            return self.dataset[[self.indices[i] for i in idx]]
        return self.dataset[self.indices[idx]]

    def __getitems__(self, indices: list[int]) -> list[Any]:
        theirs = [self.indices[i] for i in indices]
        many = getattr(self.dataset, "__getitems__", None)
        return list(many(theirs)) if callable(many) else [self.dataset[i] for i in theirs]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(
    dataset: Dataset[Any],
    lengths: Sequence[int | float],
    generator: torch.Generator | None = None,
) -> list[Subset[Any]]:
    """Divide a data set at random.

    Args:
        dataset: with a length.
        lengths: of the parts; or shares that sum to 1, whose remainder goes to the first parts.
        generator: the source of random numbers.

    Raises:
        ValueError: if lengths do not sum to the data set's, or a share is not between 0 and 1.

    Example:
        >>> parts = torch.utils.data.random_split(range(10), [0.8, 0.2])
        >>> [len(part) for part in parts]
        [8, 2]
    """
    count = len(dataset)  # type: ignore[arg-type]
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        lengths = _of_shares(count, lengths)
    if sum(lengths) != count:
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    order = torch.randperm(count, generator=generator).tolist()
    ends = itertools.accumulate(int(n) for n in lengths)
    return [
        Subset(dataset, order[end - int(n) : end]) for end, n in zip(ends, lengths, strict=True)
    ]


def _of_shares(count: int, shares: Sequence[float]) -> list[int]:
    for i, share in enumerate(shares):
        if not 0 <= share <= 1:
            raise ValueError(f"Fraction at index {i} is not between 0 and 1")
    lengths = [math.floor(count * share) for share in shares]
    for i in range(count - sum(lengths)):
        lengths[i % len(lengths)] += 1
    for i, n in enumerate(lengths):
        if n == 0:
            warn_user(
                f"Length of split at index {i} is 0. This might result in an empty dataset.",
            )
    return lengths
