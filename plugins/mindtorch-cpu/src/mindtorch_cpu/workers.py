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
        self.lock = threading.Lock()
        self.forget()

    def forget(self) -> None:
        """Drop the pool: its threads do not exist in a forked child."""
        self.pool: ThreadPoolExecutor | None = None
        self.size = 0

    def of_size(self, count: int) -> ThreadPoolExecutor:
        """The pool, with at least ``count`` threads."""
        with self.lock:
            if self.pool is None or self.size < count:
                if self.pool is not None:
                    self.pool.shutdown(wait=False)
                self.pool = ThreadPoolExecutor(count, thread_name_prefix="mindtorch-cpu")
                self.size = count
            return self.pool


_WORKERS = _Workers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_WORKERS.forget)


def share_out(work: Callable[[Any], None], items: Sequence[Any]) -> None:
    """Call ``work`` for every item, in several threads; the calling one takes part.

    Raises:
        Exception: the first that ``work`` raised, when all threads have stopped.
    """
    count = min(get_num_threads(), len(items) // 2)  # waking a thread costs as much as a tile
    if count < 2:
        for item in items:
            work(item)
        return
    remaining = iter(items)
    lock = threading.Lock()
    stop: list[BaseException] = []

    def run() -> None:
        while not stop:
            with lock:
                item = next(remaining, None)
            if item is None:
                return
            try:
                work(item)
            except BaseException as error:  # noqa: BLE001 (raised again by the caller)
                stop.append(error)
                return

    pool = _WORKERS.of_size(count - 1)
    futures: list[Future[None]] = [pool.submit(run) for _ in range(count - 1)]
    run()
    for future in futures:
        future.result()
    if stop:
        raise stop[0]
