"""What a worker process does: it takes orders from one pipe and puts batches into another."""

from __future__ import annotations

import importlib.util
import random
import signal
import threading
import traceback
from dataclasses import dataclass
from queue import SimpleQueue
from typing import Any, NoReturn

import mindtorch_core as torch

from .fetch import fetcher

__all__ = ["Failure", "Order", "Settings", "WorkerInfo", "get_worker_info", "work"]


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What a worker knows of itself.

    Attributes:
        id: its number.
        num_workers: how many there are.
        seed: of its random numbers.
        dataset: its copy of the data set.
    """

    id: int
    num_workers: int
    seed: int
    dataset: Any


_INFO: WorkerInfo | None = None


def get_worker_info() -> WorkerInfo | None:
    """In a worker of a loader what it knows of itself, elsewhere None."""
    return _INFO


@dataclass(frozen=True, slots=True)
class Settings:
    """What all workers of a loader are told.

    Attributes:
        dataset, streams, batches, collate_fn, drop_last: as of `fetcher`.
        base_seed: the seed of the first worker; each next one has one more.
        init_fn: called with a worker's number at its start.
        num_workers: how many there are.
    """

    dataset: Any
    streams: bool
    batches: bool
    collate_fn: Any
    drop_last: bool
    base_seed: int
    init_fn: Any
    num_workers: int


@dataclass(frozen=True, slots=True)
class Order:
    """A batch that a worker is to get.

    Attributes:
        epoch: how often the loader was begun anew: orders of an earlier epoch are forgotten.
        number: of the batch.
        index: what the sampler gave.
    """

    epoch: int
    number: int
    index: Any


class Failure:
    """An exception of a worker, which cannot be sent itself: its traceback would be lost.

    Attributes:
        kind: its type.
        text: where it happened, with the traceback.
    """

    def __init__(self, error: BaseException, where: str) -> None:
        self.kind: type[BaseException] = type(error)
        lines = "".join(traceback.format_exception(error))
        self.text = f"Caught {self.kind.__name__} {where}.\nOriginal {lines}"

    def reraise(self) -> NoReturn:
        """Raise it here, of its own type where that takes a text."""
        if issubclass(self.kind, KeyError):
            raise self.kind(_Unquoted(self.text))
        try:
            made = self.kind(self.text)
        except Exception:  # noqa: BLE001 (types may want other arguments)
            made = RuntimeError(self.text)
        raise made


class _Unquoted(str):
    """A text that a KeyError shows with its line ends."""

    def __repr__(self) -> str:
        return str(self)


class End:
    """Says that a worker's stream has ended."""


def _seed(base: int, number: int) -> int:
    seed = base + number
    random.seed(seed)
    torch.manual_seed(seed)
    if importlib.util.find_spec("numpy") is not None:
        import numpy as np

        np.random.seed(_generate_state(base, number))
    return seed


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """The seed of NumPy's numbers in a worker: four numbers that mix that of the loader and the worker's."""
    import numpy as np

    entropy = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    found: list[int] = np.random.SeedSequence(entropy).generate_state(4).tolist()
    return found


def work(number: int, settings: Settings, orders: Any, results: Any, foreign: list[Any]) -> None:
    """Be a worker until told to stop, or until the loader's process is gone.

    Args:
        number: this worker's.
        settings: the loader's.
        orders: a pipe's end that gives an `Order`, an epoch's number to begin anew, or None to stop.
        results: a pipe's end for ``(epoch, number of the batch, data)``.
        foreign: ends that a forked process has got but are not its own.
    """
    global _INFO
    for end in foreign:
        end.close()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the loader's process ends its workers
    torch.set_num_threads(1)
    where = f"in DataLoader worker process {number}"
    seed = _seed(settings.base_seed, number)
    _INFO = WorkerInfo(number, settings.num_workers, seed, settings.dataset)
    failed: Failure | None = None
    try:
        if settings.init_fn is not None:
            settings.init_fn(number)
    except Exception as error:  # noqa: BLE001 (the loader's process raises it)
        failed = Failure(error, where)
    queue: SimpleQueue[Any] = SimpleQueue()
    # Orders are taken at once: the loader never waits for a worker that waits for it.
    threading.Thread(target=_receive, args=(orders, queue), daemon=True).start()
    try:
        _serve(settings, queue, results, failed, where)
    except (BrokenPipeError, ConnectionResetError):
        pass  # nobody wants results any more
    finally:
        results.close()


def _receive(orders: Any, queue: SimpleQueue[Any]) -> None:
    try:
        while True:
            order = orders.recv()
            queue.put(order)
            if order is None:
                return
    except (EOFError, OSError):  # the loader's process is gone
        queue.put(None)


def _serve(
    settings: Settings, queue: SimpleQueue[Any], results: Any, failed: Failure | None, where: str
) -> None:
    fetch, epoch, ended = None, -1, False
    while (order := queue.get()) is not None:
        if order.epoch != epoch:
            fetch, epoch, ended = None, order.epoch, False
        if ended:
            continue
        data: Any
        try:
            if failed is not None:
                data, failed = failed, None
            else:
                if fetch is None:
                    fetch = fetcher(
                        settings.dataset,
                        streams=settings.streams,
                        batches=settings.batches,
                        collate_fn=settings.collate_fn,
                        drop_last=settings.drop_last,
                    )
                data = fetch(order.index)
        except StopIteration as error:
            ended = settings.streams
            data = End() if ended else Failure(error, where)
        except Exception as error:  # noqa: BLE001 (the loader's process raises it)
            data = Failure(error, where)
        try:
            results.send((order.epoch, order.number, data))
        except (BrokenPipeError, ConnectionResetError):
            raise
        except Exception as error:  # noqa: BLE001 (a batch that cannot be pickled)
            results.send((order.epoch, order.number, Failure(error, where)))
        del data, order
