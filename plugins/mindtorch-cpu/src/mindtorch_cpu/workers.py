"""The threads that share out tiles. NumPy releases the interpreter's lock while it computes.

They are made of what the interpreter supplies in C. A Ctrl-C that comes between the lines of what is
written in Python, such as conditions and the executors that use them, may leave a lock taken for good;
so may memory that is not there for the operands of ``__exit__``. What says that a thread has done its
work asks for no memory: an item of a list is set, a lock is released.
"""

from __future__ import annotations

import _thread
import os
import threading
from collections.abc import Callable, Sequence
from functools import partial
from queue import SimpleQueue
from typing import Any

from mindtorch_core.backend import get_num_threads

__all__ = ["at_work", "in_parts", "of_a_part", "share_out"]

Job = Callable[[], None]


class _Workers:
    """A pool of threads, made when they are first needed and again after a fork."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Drop the pool: its threads do not exist in a forked child."""
        self.jobs: SimpleQueue[Job] = SimpleQueue()
        self.size = 0  # about: two callers that come at once may each make a thread

    def hand_out(self, jobs: Sequence[Job]) -> None:
        """Have a thread do each of some jobs; those that the system refuses do theirs later, or never."""
        while self.size < len(jobs):
            try:
                _thread.start_new_thread(_serve, (self.jobs,))
            except (RuntimeError, MemoryError):  # no room for its stack
                break
            self.size += 1  # an interrupt before this line costs a thread too many
        for job in jobs:
            self.jobs.put(job)


def _serve(jobs: SimpleQueue[Job]) -> None:
    while True:
        try:
            _SHARING.active = True
            jobs.get()()
        except MemoryError:
            pass  # before an item was taken, so another thread takes it


class _Sharing(threading.local):
    """Whether this thread is at work on an item."""

    active = False


_WORKERS = _Workers()
_SHARING = _Sharing()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_WORKERS.forget)


def at_work() -> bool:
    """Whether the thread that asks works on an item: it does all by itself then."""
    return _SHARING.active


def share_out(work: Callable[[Any], None], items: Sequence[Any], each: int = 2) -> None:
    """Call ``work`` for every item, in several threads; the calling one takes part.

    Within ``work`` all is done by the thread that asks: it could wait for itself otherwise.

    Args:
        work: what is done.
        items: what it is done to.
        each: items of a thread at least. Waking one costs as much as a tile.

    Raises:
        BaseException: the first that ``work`` raised, or that interrupted the calling thread, when no
            thread is at work any more.
    """
    count = min(get_num_threads(), len(items) // each)
    if count < 2 or _SHARING.active:
        for item in items:
            work(item)
        return
    shared = _Shared(work, items, count - 1)
    try:
        _SHARING.active = True
        _WORKERS.hand_out([partial(shared.assist, place) for place in range(count - 1)])
        shared.work_on()
    except BaseException as error:  # noqa: BLE001 (raised when all threads have stopped)
        shared.fail(error)
    finally:
        _SHARING.active = False
    while True:
        try:
            shared.wait()
            break
        except BaseException as error:  # noqa: BLE001 (an interrupt: nobody may go on meanwhile)
            shared.fail(error)
    if shared.error is not None:
        try:
            raise shared.error
        finally:
            shared.error = None  # its traceback holds this frame


def in_parts(work: Callable[[int, int], None], count: int, least: int) -> None:
    """Call ``work(first, last)`` for parts of ``count`` things, in several threads.

    They are as few as threads can share: calls of NumPy's that end every few microseconds wait for each
    other, as each asks for the interpreter's lock.

    Args:
        work: computes a part; none is empty.
        count: how many things there are.
        least: how many a part has at least, but the last.
    """
    step = of_a_part(count, least)
    share_out(lambda first: work(first, min(first + step, count)), range(0, count, step))


def of_a_part(count: int, least: int) -> int:
    """How many of ``count`` things a part of `in_parts` has."""
    return max(least, -(-count // (2 * get_num_threads())))


class _Shared:
    """Items that several threads work on.

    Attributes:
        error: what first went wrong; no item is begun after that.
    """

    def __init__(self, work: Callable[[Any], None], items: Sequence[Any], assistants: int) -> None:
        self.error: BaseException | None = None
        self._work = work
        self._remaining = iter(items)  # of a list, tuple or range: no two threads get the same
        self._at_work = [False] * assistants
        self._changed = _thread.allocate_lock()  # released when an assistant stops
        self._changed.acquire()

    def work_on(self) -> None:
        """Work on items until none is left, or something has gone wrong."""
        while self.error is None and (item := next(self._remaining, None)) is not None:
            self._work(item)

    def assist(self, place: int) -> None:
        """Work on items, in a thread of the pool: nothing interrupts it."""
        self._at_work[place] = True  # first: who waits looks at this when nothing is left
        try:
            self.work_on()
        except BaseException as error:  # noqa: BLE001 (raised by the calling thread)
            if self.error is None:
                self.error = error
        finally:
            self._at_work[place] = False
            try:  # noqa: SIM105 (that would ask for memory)
                self._changed.release()
            except RuntimeError:
                pass  # it is released already

    def fail(self, error: BaseException) -> None:
        """Keep an error, the first."""
        if self.error is None:
            self.error = error

    def wait(self) -> None:
        """Wait until no assistant is at work: what one that comes later finds is nothing."""
        while True in self._at_work:
            self._changed.acquire()
        self._work = _nothing  # an assistant that comes too late holds on to no operand


def _nothing(item: Any) -> None:
    """The work that is left when all is done."""
