"""One pass over a loader's batches, in this process or with workers."""

from __future__ import annotations

import contextlib
import multiprocessing
import signal
import time
import weakref
from multiprocessing.connection import wait
from typing import TYPE_CHECKING, Any

import mindtorch_core as torch
from mindtorch_core.utils._own_frames import hide, warn_user

from ._utils.fetch import fetcher
from ._utils.pin_memory import pin_memory, pins
from ._utils.worker import End, Failure, Order, Settings, work
from .datapipes.datapipe import IterDataPipe
from .passes import begin_pass

if TYPE_CHECKING:
    from .dataloader import DataLoader

__all__ = ["InThisProcess", "Iteration", "WithWorkers", "Workers"]


class Iteration:
    """Base of passes: counts the batches, and warns of streams that are longer than they said."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._loader = loader
        # By this name alone, since trainers pass loaders of their own making that have PyTorch's names.
        self._streams = bool(loader._dataset_kind)
        self._pins = pins(loader.pin_memory, loader.pin_memory_device)
        begin_pass(loader.dataset, loader.generator)
        # Random numbers are drawn in PyTorch's order: by samplers that draw at once, then here.
        self._sampler_iter = iter(loader._index_sampler)
        self._kept: Workers | None = getattr(loader, "_workers", None)
        if self._kept is None:  # workers that stay have their seeds
            seed = torch.empty((), dtype=torch.int64).random_(generator=loader.generator)
            self._base_seed = int(seed.item())
        self._num_yielded = 0
        self._said = loader._IterableDataset_len_called

    def __iter__(self) -> Iteration:
        return self

    def __next__(self) -> Any:
        try:
            data = self._next()
        except Exception as error:
            hide(error)
            raise
        if self._pins:
            data = pin_memory(data)
        self._num_yielded += 1
        if self._streams and self._said is not None and self._num_yielded > self._said:
            text = (
                f"Length of IterableDataset {self._loader.dataset} was reported to be "
                f"{self._said} (when accessing len(dataloader)), but {self._num_yielded} samples have "
                f"been fetched. "
            )
            if self._loader.num_workers > 0:
                text += (
                    "For multiprocessing data-loading, this could be caused by not properly "
                    "configuring the IterableDataset replica at each worker."
                )
            warn_user(text)
        return data

    def _next(self) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._loader._index_sampler)


class InThisProcess(Iteration):
    """A pass without workers."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        if loader.timeout != 0:
            raise AssertionError(
                "a timeout is for workers: without them a DataLoader requires timeout == 0"
            )
        self._fetch = fetcher(
            loader.dataset,
            streams=self._streams,
            batches=loader._auto_collation,
            collate_fn=loader.collate_fn,
            drop_last=loader.drop_last,
        )

    def _next(self) -> Any:
        return self._fetch(next(self._sampler_iter))


class Workers:
    """The processes of a loader with their pipes.

    Attributes:
        epoch: how many passes have begun: what workers still do for an earlier one is forgotten.
        processes: by number.
        orders, results: this process's ends of their pipes.
        stopped: calls `stop`, once.
    """

    stopped: weakref.finalize  # type: ignore[type-arg]  # it takes none at run time

    def __init__(self, loader: DataLoader[Any], base_seed: int) -> None:
        context: Any = loader.multiprocessing_context or multiprocessing.get_context()
        forks = context.get_start_method() == "fork"
        settings = Settings(
            loader.dataset, bool(loader._dataset_kind), loader._auto_collation, loader.collate_fn,
            loader.drop_last, base_seed, loader.worker_init_fn, loader.num_workers,
        )  # fmt: skip
        self.epoch = -1
        self.processes: list[Any] = []
        self.orders: list[Any] = []
        self.results: list[Any] = []
        try:
            for i in range(loader.num_workers):
                takes, gives = context.Pipe(duplex=False)
                receives, sends = context.Pipe(duplex=False)
                self.orders.append(gives)
                self.results.append(receives)
                foreign = [*self.orders, *self.results] if forks else []
                process = context.Process(
                    target=work, args=(i, settings, takes, sends, foreign), daemon=True
                )
                process.start()
                self.processes.append(process)
                takes.close()
                sends.close()
        except BaseException:
            self.stop()
            raise

    def stop(self) -> None:
        """End all processes; those that do not end by themselves are killed."""
        for end in self.orders:
            with contextlib.suppress(OSError, ValueError):  # it is gone already
                end.send(None)
        for end in (*self.orders, *self.results):
            end.close()
        until = time.monotonic() + 1
        for process in self.processes:
            process.join(max(0.0, until - time.monotonic()))
        for process in self.processes:
            if process.is_alive():
                process.kill()
                process.join()
        self.orders, self.results = [], []

    def dead(self) -> list[Any]:
        """Processes that have ended, though nobody told them to."""
        return [p for p in self.processes if not p.is_alive()]


def _death(dead: list[Any]) -> RuntimeError:
    """The error for workers that ended by themselves."""
    for process in dead:
        if process.exitcode is not None and process.exitcode < 0:
            number = -process.exitcode
            name = signal.strsignal(number) or f"Unknown signal {number}"
            return RuntimeError(
                f"DataLoader worker (pid {process.pid}) is killed by signal: {name}."
            )
    pids = ", ".join(str(p.pid) for p in dead)
    codes = ", ".join(str(p.exitcode) for p in dead)
    return RuntimeError(
        f"DataLoader worker (pid(s) {pids}) exited unexpectedly with exit code(s) {codes}."
    )


class WithWorkers(Iteration):
    """A pass whose batches are made by other processes.

    Batch number ``n`` is the order of worker ``n % num_workers``, unless its stream has ended. At most
    ``prefetch_factor`` batches of each worker are ordered ahead.
    """

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        kept = self._kept
        if kept is None:
            # PyTorch asks for the indices once more where workers start.
            self._sampler_iter = iter(loader._index_sampler)
            if isinstance(
                loader.dataset, IterDataPipe
            ):  # and draws another seed, which nothing has
                torch.empty((), dtype=torch.int64).random_(generator=loader.generator)
        self._workers = kept or Workers(loader, self._base_seed)
        # Workers live as long as the pass, or as the loader that keeps them.
        owner = loader if loader.persistent_workers else self
        if kept is None:
            self._workers.stopped = weakref.finalize(owner, self._workers.stop)
            loader._workers = self._workers if loader.persistent_workers else None
        self._workers.epoch += 1
        self._epoch = self._workers.epoch
        count = loader.num_workers
        self._active = list(range(count))
        self._turn = 0
        self._sent = 0  # number of the next order
        self._wanted = 0  # number of the batch to give next
        self._waiting: dict[int, int] = {}  # by number of an order, the worker that has it
        self._there: dict[int, Any] = {}  # batches that came before their turn
        for _ in range((loader.prefetch_factor or 1) * count):
            self._order()

    def _order(self, worker: int | None = None) -> None:
        """Order the next batch, if there is one, from a worker or from the one whose turn it is."""
        if not self._active:
            return
        if worker is None or worker not in self._active:
            worker = self._active[self._turn % len(self._active)]
            self._turn += 1
        try:
            index = next(self._sampler_iter)
        except StopIteration:
            return
        try:
            self._workers.orders[worker].send(Order(self._epoch, self._sent, index))
        except (BrokenPipeError, ConnectionResetError):
            self._fail()
        self._waiting[self._sent] = worker
        self._sent += 1

    def _next(self) -> Any:
        if self._epoch != self._workers.epoch or not self._workers.stopped.alive:
            raise StopIteration  # another pass has begun, or this one has ended
        try:
            while True:
                found = self._take()
                if found is not None:
                    break
                if not self._waiting:
                    raise StopIteration
                self._receive()
        except StopIteration:
            if not self._loader.persistent_workers:
                self._shut_down()
            raise
        except BaseException:
            self._shut_down()
            raise
        worker, data = found
        self._order(None if self._loader.in_order else worker)
        if isinstance(data, Failure):
            if not self._loader.persistent_workers:
                self._shut_down()
            data.reraise()
        return data

    def _take(self) -> tuple[int, Any] | None:
        """The next batch and its worker, if it is there."""
        if not self._loader.in_order:
            number = next(iter(self._there), None)
            return None if number is None else self._there.pop(number)
        while self._wanted < self._sent:
            if self._wanted in self._there:
                self._wanted += 1
                found: tuple[int, Any] = self._there.pop(self._wanted - 1)
                return found
            if self._wanted in self._waiting:
                return None
            self._wanted += 1  # an order of a worker whose stream has ended
        return None

    def _receive(self) -> None:
        """Wait for a batch of this pass.

        Raises:
            RuntimeError: if none comes in time, or a worker has ended.
        """
        workers = self._workers
        timeout = self._loader.timeout or None
        ready = wait([*workers.results, *(p.sentinel for p in workers.processes)], timeout)
        if not ready:
            raise RuntimeError(f"DataLoader timed out after {self._loader.timeout} seconds")
        came = [end for end in workers.results if end in ready]
        for end in came:
            try:
                epoch, number, data = end.recv()
            except (EOFError, OSError):
                self._fail()
            if epoch == self._epoch:
                self._note(number, data)
        if not came:
            self._fail()

    def _note(self, number: int, data: Any) -> None:
        worker = self._waiting.pop(number)
        if not isinstance(data, End):
            self._there[number] = worker, data
            return
        if worker in self._active:
            at = self._active.index(worker)
            turn = self._turn % len(self._active)
            self._active.remove(worker)
            self._turn = turn - (at < turn)
        for lost in [n for n, w in self._waiting.items() if w == worker]:
            del self._waiting[lost]
            self._order()
        self._order()

    def _fail(self) -> None:
        """Raise what is said of workers that have ended."""
        workers = self._workers
        until = time.monotonic() + 5
        while not (dead := workers.dead()) and time.monotonic() < until:
            wait([p.sentinel for p in workers.processes], 0.1)
        raise _death(dead or workers.processes) from None

    def _shut_down(self) -> None:
        self._workers.stopped()
        self._loader._workers = None
