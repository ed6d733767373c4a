"""The events of one device. They are used again, because making one costs as much as a launch."""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from typing import Final

from .acl import acl, check
from .contexts import CONTEXTS, quietly
from .lending import Lent, Return

__all__ = ["EventPool", "LentEvent"]


class LentEvent(Lent):
    """An event that nobody else uses.

    Attributes:
        handle: CANN's.
    """

    __slots__ = ("handle",)
    handle: int


class EventPool:
    """Events by their flags."""

    def __init__(self, index: int) -> None:
        self._index: Final = index
        self._lock = threading.RLock()
        self._idle: dict[int, list[int]] = {}  # handles by flags
        self._lent: dict[int, tuple[Return, list[int]]] = {}  # by handle; where it goes afterwards
        self._returned: deque[Return] = deque()
        self._all: list[int] = []

    def take(self, flags: int) -> LentEvent:
        """An event that nobody uses, until the object that is given goes."""
        returned = self._returned
        with self._lock:
            idle = self._idle.setdefault(flags, [])
            for _ in iter(
                returned.__len__, 0
            ):  # in 3.13 an interrupt of a `while` leaves locks held
                handle = returned[0].lent
                there = self._lent[handle][1]
                there += (handle,)
                del self._lent[handle], returned[0]
            while True:
                if not idle:
                    self._fill(flags, idle)
                event = LentEvent()
                back = Return(event, returned.append)
                if idle:  # still: an op of a finaliser may have come in
                    handle = back.lent = event.handle = idle[-1]
                    self._lent[handle] = back, idle
                    del idle[-1]
                    return event
                del back

    def _fill(self, flags: int, idle: list[int]) -> None:
        """Make new events for a list, until it has one: an op of a finaliser may take it."""
        while not idle:
            self._make(flags, idle)

    def _make(self, flags: int, idle: list[int]) -> None:
        """Add a new event to a list."""
        pointer = ctypes.c_void_p()
        at = ctypes.byref(pointer)
        everything = self._all
        try:
            CONTEXTS.activate(self._index)
            code = acl.aclrtCreateEventExWithFlag(at, flags)
        finally:
            if made := pointer.value:
                idle += (made,)
                everything += (made,)
        check(code, "aclrtCreateEventExWithFlag")

    def close(self) -> None:
        """Destroy all of them, as the device is given up."""
        for event in self._all:
            quietly(acl.aclrtDestroyEvent, event)

    def forked(self) -> None:
        """Forget everything, in a forked child."""
        self._lock = threading.RLock()
        self._idle, self._lent, self._all = {}, {}, []
        self._returned.clear()
