"""The threads that share out tiles. NumPy releases the interpreter's lock while it computes."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

from mindtorch_core.threads import get_num_threads

__all__ = ["share_out"]


class _Workers:
    """A pool of threads, made when it is first needed and again after a fork."""

    def __init__(self) -> None:
        self.forget()

    def forget(self) -> None:
        """Drop the pool: its threads do not exist in a forked child, nor whoever held the lock."""
        self.lock = threading.Lock()
        self.pool: ThreadPoolExecutor | None = None
        self.size = 0

    def of_size(self, count: int) -> ThreadPoolExecutor:
        """The pool, with at least ``count`` threads."""
        with self.lock:
            if self.pool is None or self.size < count:
                # No shutdown of a smaller one: another thread may be about to hand it work. Its
                # threads end when nobody refers to it.
                self.pool = ThreadPoolExecutor(count, thread_name_prefix="mindtorch-cpu")
                self.size = count
            return self.pool


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
        Exception: the first that ``work`` raised, when all threads have stopped.
    """
    count = min(get_num_threads(), len(items) // 2)  # waking a thread costs as much as a tile
    if count < 2 or _SHARING.active:
        for item in items:
            work(item)
        return
    remaining = iter(items)
    lock = threading.Lock()
    stop: list[BaseException] = []

    def run() -> None:
        _SHARING.active = True
        try:
            while not stop:
                with lock:
                    item = next(remaining, None)
                if item is None:
                    return
                work(item)
        except BaseException as error:  # noqa: BLE001 (raised again by the caller)
            stop.append(error)
        finally:
            _SHARING.active = False

    pool = _WORKERS.of_size(count - 1)
    futures: list[Future[None]] = [pool.submit(run) for _ in range(count - 1)]
    run()
    for future in futures:
        future.result()
    if stop:
        raise stop[0]
