"""The threads that share out tiles. NumPy releases the interpreter's lock while it computes.

They are made of what the interpreter supplies in C. A Ctrl-C that comes between the lines of what is
written in Python, such as conditions and the executors that use them, may leave a lock taken for good.
"""

from __future__ import annotations

import _thread
import os
import threading
from collections.abc import Callable, Sequence
from queue import SimpleQueue
from typing import Any

from mindtorch_core.backend import fork_safe, get_num_threads

__all__ = ["share_out"]

Job = Callable[[], None]


class _Workers:
    """A pool of threads, made when they are first needed and again after a fork."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Drop the pool: its threads do not exist in a forked child, nor whoever held the lock."""
        self.lock = threading.Lock()
        self.jobs: SimpleQueue[Job] = SimpleQueue()
        self.size = 0

    def hand_out(self, job: Job, count: int) -> None:
        """Have a number of threads do a job, once each."""
        with self.lock:
            while self.size < count:
                self.size += 1
                _thread.start_new_thread(_serve, (self.jobs,))
        for _ in range(count):
            self.jobs.put(job)


def _serve(jobs: SimpleQueue[Job]) -> None:
    while True:
        jobs.get()()


class _Sharing(threading.local):
    """Whether this thread is at work on an item."""

    active = False


_WORKERS = _Workers()
_SHARING = _Sharing()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_WORKERS.forget)


def share_out(work: Callable[[Any], None], items: Sequence[Any]) -> None:
    """Call ``work`` for every item, in several threads; the calling one takes part.

    Within ``work`` all is done by the thread that asks: it could wait for itself otherwise.

    Raises:
        BaseException: the first that ``work`` raised, or that interrupted the calling thread, when no
            thread is at work any more.
    """
    count = min(get_num_threads(), len(items) // 2)  # waking a thread costs as much as a tile
    if count < 2 or _SHARING.active:
        for item in items:
            work(item)
        return
    shared = _Shared(work, items)
    try:
        _SHARING.active = True
        _WORKERS.hand_out(shared.assist, count - 1)
        while (item := shared.next()) is not None:
            work(item)
    except BaseException as error:  # noqa: BLE001 (raised when all threads have stopped)
        shared.errors.append(error)
    finally:
        _SHARING.active = False
    while True:
        try:
            shared.wait()
            break
        except BaseException as error:  # noqa: BLE001 (an interrupt: nobody may go on meanwhile)
            shared.errors.append(error)
    if shared.errors:
        try:
            raise shared.errors[0]
        finally:
            shared.errors.clear()  # their tracebacks hold this frame


class _Shared:
    """Items that several threads work on.

    Attributes:
        errors: what went wrong; no item is begun after that.
    """

    def __init__(self, work: Callable[[Any], None], items: Sequence[Any]) -> None:
        self.errors: list[BaseException] = []
        self._work = work
        self._remaining = iter(items)
        # No condition: an interrupt can leave one locked, which it cannot do to what is C's.
        self._lock = fork_safe(threading.Lock())
        self._busy = 0  # assistants at work
        self._done: SimpleQueue[None] = SimpleQueue()  # an element for each item they have done

    def next(self, assistants: int = 0) -> Any:
        """The next item, None if there is no more; counts an assistant that takes it."""
        with self._lock:
            item = None if self.errors else next(self._remaining, None)
            if item is not None:
                self._busy += assistants
            return item

    def assist(self) -> None:
        """Work on items, in a thread of the pool: nothing interrupts it."""
        _SHARING.active = True
        while (item := self.next(1)) is not None:
            try:
                self._work(item)
            except BaseException as error:  # noqa: BLE001 (raised by the calling thread)
                self.errors.append(error)
            with self._lock:
                self._busy -= 1
            self._done.put(None)
        _SHARING.active = False

    def wait(self) -> None:
        """Wait until no assistant is at work: none begins any more."""
        while self._busy:
            self._done.get()
        self._work = _nothing  # an assistant that comes too late holds on to no operand


def _nothing(item: Any) -> None:
    """The work that is left when all is done."""
