"""Page-locked host memory that copies between the host and a device pass through.

Copies from such memory do not block, so a buffer must outlive its copy: it is reused after an event
behind the copy has passed. Buffers come in powers of two.
"""

from __future__ import annotations

import ctypes
import threading
from collections import deque
from typing import Any, Final, Protocol

from mindtorch_core.backend import OutOfMemoryError

from .acl import acl, check, recent_message
from .acl.codes import NO_MEMORY
from .contexts import quietly
from .lending import Lent, Return

__all__ = ["CHUNK", "Buffer", "Staging"]

SMALLEST: Final = 1 << 12
CHUNK: Final = 16 << 20  # larger copies go in parts of this size
IN_FLIGHT: Final = 64 << 20  # bytes that wait for their copies before somebody waits for these


class _Pinned:
    """Page-locked memory.

    Attributes:
        address: where it is.
        size: its bytes.
        stream: the stream on which a copy may be using it; None if there is none.
        event: passes when that copy is done; None where that is not known.
    """

    __slots__ = ("address", "event", "size", "stream")

    def __init__(self, address: int, size: int) -> None:
        self.address = address
        self.size = size
        self.stream: int | None = None
        self.event: Any = None


class Buffer(Lent):
    """Page-locked memory for its holder alone.

    To be told with `used_on` before a copy is queued, and with `done_with` what is known afterwards.
    """

    __slots__ = ("_pinned",)
    _pinned: _Pinned

    @property
    def address(self) -> int:
        """Where it is."""
        return self._pinned.address

    def used_on(self, stream: int) -> None:
        """Remember that a copy may be queued on a stream from now on."""
        self._pinned.stream = stream

    def done_after(self, event: Any) -> None:
        """Remember what passes when the copy is done: an event, or None if it is done already."""
        self._pinned.event = event
        if event is None:
            self._pinned.stream = None


class Marks(Protocol):
    """The device, and the events that buffers wait for."""

    def activate(self) -> None:
        """Give this thread the device's context."""

    def mark(self, stream: int) -> Any:
        """An event behind what a stream has queued."""

    def passed(self, event: Any) -> bool:
        """Whether an event has passed."""

    def wait(self, event: Any) -> None:
        """Wait until an event has passed."""


class Staging:
    """The buffers of one device."""

    def __init__(self, marks: Marks) -> None:
        self._marks = marks
        self._lock = threading.RLock()
        self._free: dict[int, list[_Pinned]] = {}
        self._lent: dict[int, Return] = {}  # by address
        self._returned: deque[Return] = deque()
        self._in_flight: deque[_Pinned] = deque()
        self._bytes_in_flight = 0
        self._all: list[int] = []

    def take(self, nbytes: int) -> Buffer:
        """A buffer of at least a number of bytes, until the object that is given goes.

        Raises:
            OutOfMemoryError: if the host has not enough.
        """
        size = max(SMALLEST, 1 << (nbytes - 1).bit_length())
        with self._lock:
            self._put_away()
            self._land()
            free = self._free.setdefault(size, [])
            while True:
                if not free:  # in 3.13 an interrupt of a `while` would leave the lock held
                    self._fill(size, free)
                buffer = Buffer()
                back = Return(buffer, self._returned.append)
                if free:  # still: an op of a finaliser may have come in
                    pinned = back.lent = buffer._pinned = free[-1]
                    self._lent[pinned.address] = back
                    del free[-1]
                    return buffer
                del back

    def _fill(self, size: int, free: list[_Pinned]) -> None:
        """Make new memory for a list, until it has some: an op of a finaliser may take it."""
        while not free:
            self._make(size, free)

    def _make(self, size: int, free: list[_Pinned]) -> None:
        """Add new memory to a list."""
        pointer = ctypes.c_void_p()
        at, everything = ctypes.byref(pointer), self._all
        made = _Pinned(0, size)
        try:
            self._marks.activate()
            code = acl.aclrtMallocHost(at, size)
        finally:
            if address := pointer.value:
                made.address = address
                free += (made,)
                everything += (address,)
        if code in NO_MEMORY:
            why = recent_message()
            raise OutOfMemoryError(
                f"the host has no {size} bytes of page-locked memory left, which copies to and from an "
                f"NPU pass through (aclrtMallocHost: {code}{f', {why}' if why else ''})"
            )
        check(code, f"aclrtMallocHost({size})")

    def _put_away(self) -> None:
        """Sort what has come back by whether a copy may still use it."""
        returned = self._returned
        while returned:
            pinned = returned[0].lent
            free, in_flight = self._free[pinned.size], self._in_flight
            if pinned.stream is not None and pinned.event is None:
                event = self._marks.mark(pinned.stream)
                if returned and returned[0].lent is pinned:  # still
                    pinned.event = event
                continue
            if pinned.event is None:
                free += (pinned,)
            else:
                in_flight += (pinned,)
                self._bytes_in_flight += pinned.size
            del self._lent[pinned.address], returned[0]

    def _land(self) -> None:
        """Take the buffers back whose copies are done; wait for some if there are too many."""
        in_flight = self._in_flight
        while in_flight:
            pinned = in_flight[0]
            free = self._free[pinned.size]
            if self._bytes_in_flight > IN_FLIGHT:
                self._marks.wait(pinned.event)
            elif not self._marks.passed(pinned.event):
                return
            if in_flight and in_flight[0] is pinned:  # still
                pinned.stream = pinned.event = None
                free += (pinned,)
                self._bytes_in_flight -= pinned.size
                del in_flight[0]

    def close(self) -> None:
        """Free everything, as the device is given up."""
        with self._lock:
            self._free.clear()
            self._lent.clear()  # what comes back later comes to nobody
            self._returned.clear()
            self._in_flight.clear()
            for address in self._all:
                quietly(acl.aclrtFreeHost, address)

    def forked(self) -> None:
        """Forget everything, in a forked child."""
        self._lock = threading.RLock()
        self._free, self._lent, self._all = {}, {}, []
        self._in_flight.clear()
        self._returned.clear()
