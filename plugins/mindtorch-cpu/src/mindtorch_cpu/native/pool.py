"""The threads that share out the calls of a kernel. They are the system's own, and never run Python.

A thread of Python that is woken waits for the interpreter's lock besides; these look at a word of memory for
some 25 microseconds after their last work, and sleep after that. One caller at a time is helped: another
one that comes meanwhile does its work alone, and so does a child of a fork until it asks for the first time.
"""

from __future__ import annotations

import ctypes
import functools
import os
import signal
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import get_num_threads

from ..addresses import address
from ..workers import at_work
from . import compiler, store
from .pool_code import DONE, FIELDS, FIRST_FIELD, LINE, MUTEX, SIGNALS, SIZE, WORK, text_of_pool

__all__ = ["Pool", "pool", "threads_used"]

_SHARE: Final = ctypes.CFUNCTYPE(ctypes.c_int64, *[ctypes.c_int64] * 11)


class Pool:
    """The threads of this process.

    Attributes:
        share: address of the function that does a job: ``share(state, seats, function, base, apart, step,
            limit, scratch, room, answers, calls)``, see `pool_code`; ``seats`` are threads that may help.
        state: address of its first argument.
        size: threads that there are, about: two callers that come at once may each make one.
    """

    def __init__(self) -> None:
        key = f"pool-{compiler.fingerprint()}"
        loaded = compiler.loaded(store.kept(key, lambda: compiler.compiled(text_of_pool())))
        words = np.zeros(SIZE + LINE, np.int64)
        start = -(-address(words) // 64) * 64 - address(words)
        self._words = words[start // 8 :][:SIZE]
        for kept in (loaded.owner, words):  # threads use both until the process ends
            ctypes.pythonapi.Py_IncRef(ctypes.py_object(kept))
        found = np.zeros(3, np.int64)
        ctypes.CFUNCTYPE(None, ctypes.c_void_p)(loaded.address)(address(found))
        self.share, self._serve, self._probe = found.tolist()
        self.state = address(self._words)
        self._functions = {name: _function(name) for name in (*FIELDS[:-1], *_MADE)}
        self._call: Any = _SHARE(self.share)
        self.begin()
        self._check()

    def begin(self) -> None:
        """Make the state of a process without threads: those of the parent do not exist in a child."""
        self.size = 0
        self._words[:] = 0
        values = [self._functions[name] for name in FIELDS[:-1]] + [signal.SIG_BLOCK]
        self._words[FIRST_FIELD : FIRST_FIELD + len(FIELDS)] = values
        self._words[SIGNALS:] = -1
        for make, *places in (("pthread_mutex_init", MUTEX), ("pthread_cond_init", WORK, DONE)):
            for place in places:
                _INIT(self._functions[make])(self.state + 8 * place, None)

    def _check(self) -> None:
        counts = np.zeros(1000, np.int64)
        own = self._call(
            self.state, self._grown(1), self._probe, address(counts), 0, 7, 1000, 0, 0, 5, 1
        )
        if own != 5 or set(counts.tolist()) != {1}:
            raise RuntimeError("the pool of threads does not do all items once")

    def _grown(self, seats: int) -> int:
        while self.size < seats:
            made = (ctypes.c_int64 * 2)()
            create = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 4)(
                self._functions["pthread_create"]
            )
            if create(ctypes.addressof(made), None, self._serve, self.state):
                break  # the system gives no more
            self.size += 1
            ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int64)(self._functions["pthread_detach"])(
                made[0]
            )
        return seats

    def seats(self) -> int:
        """How many threads may help the one that calls; they are there then, if the system gives them."""
        count = 0 if at_work() else get_num_threads() - 1
        return count if count <= self.size else self._grown(count)

    def run(
        self, seats: int, function: int, base: int, apart: int, step: int, limit: int, *, scratch: int = 0,
        room: int = 0, answers: int = 0, calls: int = 1,
    ) -> int:  # fmt: skip
        """Do a job. The interpreter's lock is released.

        Args:
            seats: how many threads may help.
            function: address of what is called for each item.
            base: its first argument, of item 0.
            apart: bytes from that of an item to the next one's.
            step: its second and third are multiples of it; 0 if they lie before the words of each call.
            limit: how far these multiples go; the number of items if there are none.
            scratch: its fourth, of the calling thread.
            room: bytes from there to that of the next thread.
            answers: which bits of the answers count.
            calls: of an item, if ``step`` is 0.

        Returns:
            All bits of the answers that count and that some item gave.
        """
        found: int = self._call(
            self.state, seats, function, base, apart, step, limit, scratch, room, answers,
            calls,
        )  # fmt: skip
        return found


_MADE: Final = ("pthread_create", "pthread_detach", "pthread_mutex_init", "pthread_cond_init")
_INIT: Final = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)


def _function(name: str) -> int:
    return ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value or 0


@functools.cache
def _pool() -> Pool | str:
    if os.name != "posix":
        return "the system has no threads of POSIX"
    reason = compiler.ready()
    if reason is not None:
        return reason
    try:
        made = Pool()
    except (OSError, AttributeError, RuntimeError) as error:
        return f"{type(error).__name__}: {error}"
    os.register_at_fork(after_in_child=made.begin)
    return made


def pool() -> Pool | None:
    """The pool of this process; None where there can be none, and threads of Python do the work."""
    found = _pool()
    return None if isinstance(found, str) else found


def threads_used() -> str:
    """How many threads kernels run in, for reports: the system's, or Python's and why."""
    found = _pool()
    whose = f"Python's ({found})" if isinstance(found, str) else "the system's own"
    return f"{get_num_threads()}, {whose}"
