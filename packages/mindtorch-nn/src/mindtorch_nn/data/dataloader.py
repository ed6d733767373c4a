"""The loader of batches."""

from __future__ import annotations

import multiprocessing
import multiprocessing.context
import os
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final, Generic, TypeVar

import mindtorch_core as torch
from mindtorch_core.utils._constructed import Constructed
from mindtorch_core.utils._own_frames import refusing, warn_user

from ._utils.collate import default_collate, default_convert
from ._utils.worker import get_worker_info
from .datapipes.datapipe import IterDataPipe
from .dataset import Dataset, IterableDataset
from .graph_settings import apply_shuffle_settings
from .iterators import InThisProcess, WithWorkers, Workers
from .iterators import InThisProcess as _SingleProcessDataLoaderIter  # noqa: F401 (PyTorch's names,
from .iterators import Iteration as _BaseDataLoaderIter  # noqa: F401             which trainers check)
from .iterators import WithWorkers as _MultiProcessingDataLoaderIter  # noqa: F401
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

T_co = TypeVar("T_co", covariant=True)
_collate_fn_t = Callable[[list[Any]], Any]
_worker_init_fn_t = Callable[[int], None]
_FIXED = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")


class _Endless(Sampler[None]):
    """Orders for a stream."""

    def __iter__(self) -> Iterator[None]:
        while True:
            yield None


_InfiniteConstantSampler = _Endless  # as PyTorch calls it


class _DatasetKind:
    """What a loader's ``_dataset_kind`` is compared with."""

    Map: Final = 0
    Iterable: Final = 1


class DataLoader(Constructed, Generic[T_co]):
    """Gives the batches of a data set, each time it is iterated over.

    Args:
        dataset: gives samples by index, or is an `IterableDataset`.
        batch_size: samples of a batch; None for samples one by one.
        shuffle: whether the order is random.
        sampler: gives the indices instead.
        batch_sampler: gives lists of indices instead.
        num_workers: processes that make batches; 0 for this one.
        collate_fn: makes a batch of samples.
        pin_memory: whether batches are page-locked, where there is a device.
        drop_last: whether a last, shorter batch is left out.
        timeout: how many seconds to wait for a batch of a worker; 0 for ever.
        worker_init_fn: called in each worker at its start, with its number.
        multiprocessing_context: how workers are started: a context, or the name of a method.
        generator: the source of random numbers for the order and the workers' seeds.
        prefetch_factor: how many batches each worker makes ahead; 2 by default.
        persistent_workers: whether workers stay when all batches are given.
        pin_memory_device: deprecated.
        in_order: whether batches come in order, or as they are made.

    Raises:
        ValueError: for options that exclude each other, or out of their range.

    Example:
        >>> data = torch.utils.data.TensorDataset(torch.arange(5.0), torch.arange(5))
        >>> for x, y in torch.utils.data.DataLoader(data, batch_size=2):
        ...     print(x.tolist(), y.tolist())
        [0.0, 1.0] [0, 1]
        [2.0, 3.0] [2, 3]
        [4.0] [4]
    """

    _initialized = False

    def __init__(
        self,
        dataset: Dataset[T_co],
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Sampler[Any] | Iterable[Any] | None = None,
        batch_sampler: Sampler[list[Any]] | Iterable[list[Any]] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[list[Any]], Any] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: torch.Generator | None = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        _check_workers(num_workers, timeout, prefetch_factor, persistent_workers)
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self.generator = generator
        self._streams = isinstance(dataset, IterableDataset)
        if isinstance(dataset, IterDataPipe) and shuffle is not None:  # pipes do it themselves
            self.dataset, shuffle = apply_shuffle_settings(dataset, shuffle), None
        _check_order(shuffle, sampler, batch_sampler, streams=self._streams)
        if batch_sampler is not None:
            _refuse_batching(batch_size != 1 or shuffle or sampler is not None or drop_last)
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError(
                "batch_size=None option disables auto-batching and is mutually exclusive with "
                "drop_last"
            )
        if sampler is None:
            sampler = self._default_sampler(shuffle)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = refusing(BatchSampler)(sampler, batch_size, drop_last)
        self.batch_size = batch_size
        self.drop_last = drop_last
        self.sampler = sampler
        self.batch_sampler = batch_sampler
        self.collate_fn = collate_fn or (
            default_collate if self._auto_collation else default_convert
        )
        self.persistent_workers = persistent_workers
        self._IterableDataset_len_called: int | None = None
        self._workers: Workers | None = None  # those that stay
        self._initialized = True
        self.check_worker_number_rationality()

    @refusing
    def _default_sampler(self, shuffle: bool | None) -> Sampler[Any]:
        if self._streams:
            return _Endless()
        if shuffle:
            return RandomSampler(self.dataset, generator=self.generator)  # type: ignore[arg-type]
        return SequentialSampler(self.dataset)  # type: ignore[arg-type]

    def __setattr__(self, name: str, value: Any) -> None:
        if self._initialized and name in _FIXED:
            raise ValueError(
                f"{name} attribute should not be set after {type(self).__name__} is initialized"
            )
        super().__setattr__(name, value)

    @property
    def multiprocessing_context(self) -> Any:
        """How workers are started; None for Python's default."""
        return self._context

    @multiprocessing_context.setter
    def multiprocessing_context(self, value: Any) -> None:
        if value is not None:
            if not self.num_workers:
                raise ValueError(
                    f"multiprocessing_context can only be used with multi-process loading "
                    f"(num_workers > 0), but got num_workers={self.num_workers}"
                )
            if isinstance(value, str):
                methods = multiprocessing.get_all_start_methods()
                if value not in methods:
                    raise ValueError(
                        f"multiprocessing_context option should specify a valid start method in "
                        f"{methods!r}, but got multiprocessing_context={value!r}"
                    )
                value = multiprocessing.get_context(value)
            if not isinstance(value, multiprocessing.context.BaseContext):
                raise TypeError(
                    f"multiprocessing_context option should be a valid context object or a string "
                    f"specifying the start method, but got multiprocessing_context={value}"
                )
        self._context = value

    @property
    def _dataset_kind(self) -> int:
        return _DatasetKind.Iterable if self._streams else _DatasetKind.Map

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def __iter__(self) -> Iterator[Any]:
        return WithWorkers(self) if self.num_workers else InThisProcess(self)

    def __len__(self) -> int:
        if not self._streams:
            return len(self._index_sampler)
        length = self._IterableDataset_len_called = len(self.dataset)  # type: ignore[arg-type]
        if self.batch_size is None:
            return length
        if self.drop_last:
            return length // self.batch_size
        return -(-length // self.batch_size)

    def check_worker_number_rationality(self) -> None:
        """Warn of more workers than this process may use processors."""
        if not self.num_workers:
            return
        count = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
        if count is not None and self.num_workers > count:
            warn_user(
                f"This DataLoader will create {self.num_workers} worker processes in total. Our "
                f"suggested max number of worker in current system is {count}, which is smaller than "
                f"what this DataLoader is going to create. Please be aware that excessive worker "
                f"creation might get DataLoader running slow or even freeze, lower the worker number to "
                f"avoid potential slowness/freeze if necessary.",
            )


def _check_workers(
    num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool
) -> None:
    if num_workers < 0:
        raise ValueError(
            "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing."
        )
    if timeout < 0:
        raise ValueError("timeout option should be non-negative")
    if num_workers == 0 and prefetch_factor is not None:
        raise ValueError(
            "prefetch_factor option could only be specified in multiprocessing."
            "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to None."
        )
    if prefetch_factor is not None and prefetch_factor < 0:
        raise ValueError("prefetch_factor option should be non-negative")
    if persistent_workers and num_workers == 0:
        raise ValueError("persistent_workers option needs num_workers > 0")


def _check_order(shuffle: Any, sampler: Any, batch_sampler: Any, *, streams: bool) -> None:
    """Refuse several orders at once, and any for a stream."""
    if not streams:
        if sampler is not None and batch_sampler is None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        return
    if shuffle not in (False, None):
        raise ValueError(
            f"DataLoader with IterableDataset: expected unspecified shuffle option, but got "
            f"shuffle={shuffle}"
        )
    for name, given in (("sampler", sampler), ("batch_sampler", batch_sampler)):
        if given is not None:
            raise ValueError(
                f"DataLoader with IterableDataset: expected unspecified {name} option, but got "
                f"{name}={given}"
            )


def _refuse_batching(given: Any) -> None:
    """Refuse options that say how to make batches, beside a sampler that makes them."""
    if given:
        raise ValueError(
            "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and "
            "drop_last"
        )
