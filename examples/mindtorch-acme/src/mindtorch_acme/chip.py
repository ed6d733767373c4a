"""The accelerator: memory that the host cannot reach, and queues that run by themselves.

Where a vendor calls a driver, this package has a simulation: an arena of bytes that only the queues'
threads may look into. Nothing here knows of tensors.
"""

from __future__ import annotations

import mmap
import threading
import time
import weakref
from bisect import insort
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any, Final

import numpy as np

__all__ = ["Arena", "Block", "Chip", "Mark", "Queue"]

ARENA_BYTES: Final = 1 << 30
ALIGNMENT: Final = 64

_here: Final = threading.local()  # `device` is set in the threads of queues


class Block:
    """A piece of an arena. It goes back when the last reference goes, that of queued work included."""

    __slots__ = ("__weakref__", "arena", "size", "start")

    def __init__(self, arena: Arena, start: int, size: int) -> None:
        self.arena, self.start, self.size = arena, start, size

    def __del__(self) -> None:
        self.arena.returned.append((self.start, self.size))  # any thread, at any moment: no lock


class Arena:
    """Memory of one chip. Blocks come from the first hole that is large enough.

    Attributes:
        index: the chip's number.
        base: the chip's own number of the first byte; no address of the host.
        returned: places of blocks that went, to be made holes of.
        peak: the most bytes that blocks have taken.
    """

    def __init__(self, index: int) -> None:
        self.index = index
        self.base = (index + 1) << 40
        self.returned: deque[tuple[int, int]] = deque()
        self.peak = 0
        self._used = 0
        self._memory = mmap.mmap(-1, ARENA_BYTES)
        self._holes = [(0, ARENA_BYTES)]
        self._lock = threading.Lock()

    def allocate(self, nbytes: int) -> Block | None:
        """A block of at least so many bytes, or None if there is none left."""
        size = max(1, -(-nbytes // ALIGNMENT)) * ALIGNMENT
        with self._lock:
            self._collect()
            for i, (start, free) in enumerate(self._holes):
                if free >= size:
                    self._holes[i : i + 1] = [(start + size, free - size)] if free > size else []
                    self._used += size
                    self.peak = max(self.peak, self._used)
                    return Block(self, start, size)
        return None

    @property
    def used(self) -> int:
        """Bytes of the blocks that exist."""
        with self._lock:
            self._collect()
            return self._used

    def view(
        self, start: int, kind: np.dtype[Any], shape: tuple[int, ...], strides: tuple[int, ...]
    ) -> np.ndarray[Any, Any]:
        """Elements of the memory, for queues only.

        Raises:
            RuntimeError: on a thread of the host.
        """
        if not hasattr(_here, "device"):
            raise RuntimeError("acme: the host cannot look into device memory; copy it first")
        return np.ndarray(shape, kind, self._memory, start, strides)

    def _collect(self) -> None:
        """Make holes of what came back, and one hole of two that touch."""
        while self.returned:
            start, size = self.returned.popleft()
            self._used -= size
            insort(self._holes, (start, size))
        merged: list[tuple[int, int]] = []
        for start, size in self._holes:
            if merged and sum(merged[-1]) == start:
                merged[-1] = (merged[-1][0], merged[-1][1] + size)
            else:
                merged.append((start, size))
        self._holes = merged


class Mark:
    """A place in a queue that is passed once."""

    def __init__(self) -> None:
        self.time = 0.0
        self._passed = threading.Event()

    def __call__(self) -> None:
        """What the queue does when it gets here."""
        self.time = time.perf_counter()
        self._passed.set()

    def passed(self) -> bool:
        """Whether the queue got here."""
        return self._passed.is_set()

    def wait(self) -> None:
        """Wait until the queue gets here."""
        self._passed.wait()


Job = tuple[str, Callable[[], object]]


class Queue:
    """Work in the order in which it was sent, done by a thread of its own."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[list[Job] | None] = SimpleQueue()
        self._failures: deque[tuple[str, Exception]] = deque()
        self._last: Mark | None = None  # behind everything that was sent
        self._sending = threading.Lock()
        arguments = (self._jobs, self._failures)  # not the queue: the thread ends when that goes
        threading.Thread(target=_work, args=arguments, name="acme queue", daemon=True).start()
        weakref.finalize(self, self._jobs.put, None)

    def send(self, jobs: list[Job]) -> None:
        """Add work; returns at once."""
        last = jobs[-1][1]
        mark = last if isinstance(last, Mark) else Mark()
        with self._sending:
            self._last = mark
            self._jobs.put(jobs if mark is last else [*jobs, ("mark", mark)])

    def done(self) -> bool:
        """Whether nothing is waiting or running; so it is once the last mark is passed."""
        return self._last is None or self._last.passed()

    def wait(self) -> None:
        """Wait for all that was sent so far.

        Raises:
            RuntimeError: if some of it failed; each failure is told once.
        """
        mark = Mark()
        self.send([("mark", mark)])
        mark.wait()
        if self._failures:
            name, cause = self._failures.popleft()
            raise RuntimeError(
                f"acme: {name}, which was queued earlier, failed: {cause}"
            ) from cause


def _work(jobs: SimpleQueue[list[Job] | None], failures: deque[tuple[str, Exception]]) -> None:
    """Do what is queued, in the queue's thread. A failure is kept until somebody waits."""
    _here.device = True
    while (batch := jobs.get()) is not None:
        batch.reverse()
        while batch:
            name, job = batch.pop()
            try:
                job()
            except Exception as error:  # noqa: BLE001 (whatever a kernel raises)
                failures.append((name, error.with_traceback(None)))
            del job  # and with it the memory it kept


class Chip:
    """One device: an arena and its queues, of which number 0 is the default."""

    def __init__(self, index: int) -> None:
        self.arena = Arena(index)
        self._queues: dict[int, Queue] = {}
        self._lock = threading.Lock()

    def queue(self, number: int) -> Queue:
        """The queue of a number, made when it is first asked for."""
        with self._lock:
            found = self._queues.get(number)
            if found is None:
                found = self._queues[number] = Queue()
            return found

    def wait(self) -> None:
        """Wait for all queues."""
        with self._lock:
            queues = list(self._queues.values())
        for queue in queues:
            queue.wait()
