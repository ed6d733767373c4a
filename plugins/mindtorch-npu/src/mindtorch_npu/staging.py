"""Page-locked host memory that copies between the host and a device pass through.

Copies from such memory do not block, so a buffer must outlive its copy: it is reused after an event
behind the copy has passed. Buffers come in powers of two.
"""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from dataclasses import dataclass
from typing import Any, Final, Protocol

from .acl import acl, check

__all__ = ["CHUNK", "Buffer", "Staging"]

SMALLEST: Final = 1 << 12
CHUNK: Final = 16 << 20  # larger copies go in parts of this size
IN_FLIGHT: Final = 64 << 20  # bytes that wait for their copies before somebody waits for these


@dataclass(frozen=True, slots=True)
class Buffer:
    """Page-locked memory.

    Attributes:
        address: where it is.
        size: its bytes.
    """

    address: int
    size: int


class Marks(Protocol):
    """The events that buffers wait for."""

    def passed(self, event: Any) -> bool:
        """Whether an event has passed; it is not asked again once it has."""

    def wait(self, event: Any) -> None:
        """Wait until an event has passed; it is not asked again."""


class Staging:
    """The buffers of one device. Its context is that of the calling thread."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._lock = threading.Lock()
        self._free: dict[int, list[Buffer]] = {}
        self._in_flight: deque[tuple[Any, Buffer]] = deque()
        self._bytes_in_flight = 0
        self._all: list[Buffer] = []

    def take(self, nbytes: int) -> Buffer:
        """A buffer of at least a number of bytes, for the caller alone."""
        size = max(SMALLEST, 1 << (nbytes - 1).bit_length())
        with self._lock:
            self._land()
            free = self._free.get(size)
            if free:
                return free.pop()
            pointer = ctypes.c_void_p()
            check(acl.aclrtMallocHost(ctypes.byref(pointer), size), f"aclrtMallocHost({size})")
            made = Buffer(pointer.value or 0, size)
            self._all.append(made)
            return made

    def give(self, buffer: Buffer, event: Any = None) -> None:
        """Take a buffer back, for reuse after an event has passed if there is one."""
        with self._lock:
            if event is None:
                self._free.setdefault(buffer.size, []).append(buffer)
            else:
                self._in_flight.append((event, buffer))
                self._bytes_in_flight += buffer.size

    def _land(self) -> None:
        """Put away the buffers whose copies are done; wait for some if there are too many."""
        while self._in_flight:
            event, buffer = self._in_flight[0]
            if self._bytes_in_flight > IN_FLIGHT:
                self._marks.wait(event)
            elif not self._marks.passed(event):
                return
            self._in_flight.popleft()
            self._bytes_in_flight -= buffer.size
            self._free.setdefault(buffer.size, []).append(buffer)

    def close(self) -> None:
        """Free everything, as the device is given up."""
        with self._lock:
            self._free.clear()
            self._in_flight.clear()
            while self._all:
                check(acl.aclrtFreeHost(self._all.pop().address), "aclrtFreeHost")

    def forked(self) -> None:
        """Forget everything, in a forked child."""
        self._lock = threading.Lock()
        self._free, self._all = {}, []
        self._in_flight.clear()
