"""Which thread loads which backend: whoever else asks for it waits, unless that would be for ever."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .loader import BackendStatus

__all__ = ["Turns"]


class Turns:
    """The turns of threads at loading backends, one thread for each backend.

    While a plugin is imported it may wait for a thread of its own that uses other devices, so nothing
    is locked meanwhile.

    Attributes:
        lock: held while anybody looks at or changes which backends there are.
    """

    def __init__(self) -> None:
        self._forget()
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._forget)

    def _forget(self) -> None:
        """Begin anew: after a fork there are no other threads, nor who held the lock."""
        self.lock = threading.RLock()
        self._loading: dict[str, tuple[int, threading.Event]] = {}
        self._waiting: dict[int, str] = {}  # for which backend a thread waits

    @contextlib.contextmanager
    def at(self, name: str, status: BackendStatus) -> Iterator[bool]:
        """A block in which this thread loads a backend; gives whether it is to do so.

        It is not if the backend is no longer ``available``, also because another thread has loaded it
        meanwhile, or if it is being loaded by this thread, or by one that waits for this one.
        """
        me = threading.get_ident()
        mine: threading.Event | None = None
        try:
            while mine is None:
                with self.lock:
                    if status.state == "available":
                        mine = threading.Event()
                        self._loading[name] = (me, mine)
                        status.state = "loading"
                        break
                    busy = self._loading.get(name)
                    if busy is None or self._waits(busy[0], me):
                        break
                    self._waiting[me] = name
                busy[1].wait()
                del self._waiting[me]
            yield mine is not None
        finally:
            with self.lock:
                self._waiting.pop(me, None)
                if mine is not None:
                    self._loading.pop(name, None)
                    mine.set()
                    if status.state == "loading":  # an interrupt: the next call tries again
                        status.state = "available"

    def _waits(self, thread: int, other: int) -> bool:
        """Whether a thread is another one, or waits for it."""
        while thread != other:
            name = self._waiting.get(thread)
            if name is None or name not in self._loading:
                return False
            thread = self._loading[name][0]
        return True
