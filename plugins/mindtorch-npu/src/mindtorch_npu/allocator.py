"""A caching allocator: memory of one device in segments, handed out in blocks.

A block that goes is reused at once on the stream it was made for: what is queued there later runs
after everything that used it. Streams that a block was recorded on besides hold it back with events.
Memory returns to the device only when the cache is emptied, after all queued work is done.

Blocks go in finalisers, which may interrupt any thread anywhere, also inside the allocator. They
only append to a queue that the next allocation empties, so that they neither wait nor call the device.

A thread that collects launches to queue them later lets go of memory that they use: until they are
queued it holds `Allocator.turn`, so that no other thread gets that memory.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, insort
from collections import deque
from typing import Any, Final, Protocol

from mindtorch_core.errors import OutOfMemoryError

from .statistics import Statistics

__all__ = ["Allocator", "Block", "DeviceMemory", "OutOfDeviceMemory"]

QUANTUM: Final = 512  # sizes and addresses are multiples of it
SMALL: Final = 1 << 20  # blocks up to this size are cut from small segments
SMALL_SEGMENT: Final = 2 << 20
LARGE_SEGMENT: Final = 20 << 20  # what blocks below `OWN_SEGMENT` are cut from
OWN_SEGMENT: Final = 10 << 20  # blocks from this size on get a segment of their size
ROUND_SEGMENT: Final = 2 << 20
ADDRESSABLE: Final = 1 << 63


class OutOfDeviceMemory(Exception):
    """The device has no memory left for a segment."""


class DeviceMemory(Protocol):
    """What the allocator asks of a device. Streams are numbers here, events opaque."""

    def malloc(self, nbytes: int) -> int:
        """Address of a fresh segment; raises `OutOfDeviceMemory`."""

    def free(self, address: int) -> None:
        """Give a segment back; nothing queued uses it."""

    def collecting(self) -> bool:
        """Whether this thread has launches that it has not queued yet."""

    def queue_collected(self) -> bool:
        """Queue them now; False if that cannot be. The allocator may be called meanwhile."""

    def drain(self) -> None:
        """Wait for all work queued on the device, and give back what was kept for it."""

    def record(self, stream: int) -> Any:
        """An event behind the work queued on a stream."""

    def passed(self, event: Any) -> bool:
        """Whether the work before an event is done; it is not asked again once it was."""

    def info(self) -> tuple[int, int]:
        """Free and total bytes of the device."""


class _Piece:
    """A part of a segment: a block, or free memory between blocks."""

    __slots__ = (
        "address",
        "busy",
        "events",
        "following",
        "preceding",
        "requested",
        "size",
        "small",
        "stream",
        "users",
    )

    def __init__(self, address: int, size: int, stream: int, small: bool) -> None:
        self.address = address
        self.size = size
        self.stream = stream
        self.small = small
        self.preceding: _Piece | None = None
        self.following: _Piece | None = None
        self.busy = False
        self.requested = 0
        self.users: set[int] | None = None  # other streams that use the block
        self.events = 0  # how many of them are still to pass

    @property
    def whole(self) -> bool:
        """Whether it is a segment of its own."""
        return self.preceding is None and self.following is None


class Block:
    """Memory of a tensor; it is reused after the last reference to the block has gone.

    Attributes:
        ptr: its address; 0 if it has no bytes.
        nbytes: how many bytes were asked for.
        device: index of its device.
        stream: number of the stream on which it is reused.
    """

    __slots__ = ("__weakref__", "_piece", "_returned", "device", "nbytes", "ptr", "stream")

    def __init__(
        self, piece: _Piece | None, returned: deque[_Piece], device: int, stream: int
    ) -> None:
        self._piece = piece
        self._returned = returned
        self.ptr = 0 if piece is None else piece.address
        self.nbytes = 0 if piece is None else piece.requested
        self.device = device
        self.stream = stream

    def used_on(self, stream: int) -> None:
        """Hold the memory back until what is queued on another stream, as the block goes, is done."""
        piece = self._piece
        if piece is not None and stream != piece.stream:
            if piece.users is None:
                piece.users = set()
            piece.users.add(stream)

    def streams(self) -> set[int]:
        """The numbers of all streams that use it."""
        others = None if self._piece is None else self._piece.users
        return {self.stream, *(others or ())}

    def __del__(self) -> None:
        if self._piece is not None:
            self._returned.append(self._piece)

    def __repr__(self) -> str:
        return f"<Block of {self.nbytes} bytes at {self.ptr:#x}>"


class Allocator:
    """The blocks of one device. Every method may be called from any thread.

    Args:
        device: where segments come from.
        kind: what error texts call such devices.
        index: which of them it is.

    Attributes:
        turn: held by a thread while memory that has gone is used by launches it has not queued yet.
        allowed: the most bytes that may be taken from the device; None for all it has.
    """

    turn = threading.RLock()

    def __init__(self, device: DeviceMemory, kind: str, index: int) -> None:
        self._device = device
        self._kind = kind
        self._index = index
        self._lock = threading.Lock()
        self._returned: deque[_Piece] = deque()
        self._free: dict[tuple[int, bool], list[tuple[int, int, _Piece]]] = {}
        # Small blocks that went, by stream and size: the next one of the size takes one as it is.
        self._ready: dict[tuple[int, int], list[_Piece]] = {}
        self._waiting: dict[int, deque[tuple[Any, _Piece]]] = {}
        self._segments: dict[int, int] = {}  # sizes by address
        self._stats = Statistics()
        self.allowed: int | None = None

    # ---- blocks --------------------------------------------------------------------------------

    def allocate(self, nbytes: int, stream: int) -> Block:
        """Memory for work on a stream.

        Raises:
            OutOfMemoryError: if the device has not enough, even after the cache was emptied.
        """
        if not nbytes:
            return Block(None, self._returned, self._index, stream)
        size = -(-nbytes // QUANTUM) * QUANTUM
        with self.turn:
            try:
                with self._lock:
                    return self._allocate(nbytes, size, stream)
            except OutOfDeviceMemory:
                self._make_room(size)
            try:
                with self._lock:
                    return self._allocate(nbytes, size, stream)
            except OutOfDeviceMemory:
                raise self._exhausted(size) from None

    def uncached(self, nbytes: int) -> int:
        """Address of memory straight from the device, for the caller to free.

        Raises:
            OutOfMemoryError: if the device has not enough, even after the cache was emptied.
        """
        with self.turn:
            try:
                return self._malloc(nbytes)
            except OutOfDeviceMemory:
                self._make_room(nbytes)
            try:
                return self._malloc(nbytes)
            except OutOfDeviceMemory:
                raise self._exhausted(nbytes) from None

    def _allocate(self, nbytes: int, size: int, stream: int) -> Block:
        if self._returned or self._waiting:
            self._settle()
        small = size <= SMALL
        ready = self._ready.get((stream, size))
        if ready:
            piece = ready.pop()
        else:
            piece = self._best_fit(size, stream, small) or self._new_segment(size, stream, small)
            self._split(piece, size)
            piece.busy = True
        piece.requested = nbytes
        self._stats.made(small, piece.size, nbytes)
        return Block(piece, self._returned, self._index, stream)

    def _best_fit(self, size: int, stream: int, small: bool) -> _Piece | None:
        """The smallest free piece that is large enough, taken out of the pool."""
        pool = self._free.get((stream, small))
        if not pool:
            return None
        at = bisect_left(pool, (size,))
        if at == len(pool):
            return None
        piece = pool[at][2]
        self._take(piece)
        return piece

    def _split(self, piece: _Piece, size: int) -> None:
        """Leave what a block does not need to the pool, if that is worth it."""
        rest = piece.size - size
        if rest < QUANTUM if piece.small else rest <= SMALL:
            return
        remainder = _Piece(piece.address + size, rest, piece.stream, piece.small)
        remainder.preceding, remainder.following = piece, piece.following
        if piece.following is not None:
            piece.following.preceding = remainder
        piece.following = remainder
        piece.size = size
        self._put(remainder)

    # ---- free pieces ---------------------------------------------------------------------------

    def _put(self, piece: _Piece) -> None:
        """Add a free piece to its pool."""
        pool = self._free.setdefault((piece.stream, piece.small), [])
        insort(pool, (piece.size, piece.address, piece))
        if not piece.whole:
            self._count_split(piece, 1)

    def _take(self, piece: _Piece) -> None:
        """Take a free piece out of its pool."""
        pool = self._free[piece.stream, piece.small]
        del pool[bisect_left(pool, (piece.size, piece.address))]
        if not piece.whole:
            self._count_split(piece, -1)

    def _count_split(self, piece: _Piece, sign: int) -> None:
        self._stats.add("inactive_split", piece.small, sign)
        self._stats.add("inactive_split_bytes", piece.small, sign * piece.size)

    def _settle(self) -> None:
        """Put away the blocks that have gone and those whose events have passed."""
        returned = self._returned
        postponed: list[_Piece] = []  # an event now would be before launches not queued yet
        while returned:
            piece = returned[0]
            if piece.users:
                if self._device.collecting():
                    postponed.append(returned.popleft())
                    continue
                self._hold_back(piece)
            self._stats.gone(piece.small, piece.size, piece.requested)
            returned.popleft()
            if piece.events:
                self._stats.held(piece.small, piece.size, 1)
            elif piece.small:
                self._ready.setdefault((piece.stream, piece.size), []).append(piece)
            else:
                self._recycle(piece)
        returned.extend(postponed)
        if self._waiting:
            self._settle_waiting()

    def _settle_waiting(self) -> None:
        """Put away the blocks whose events have passed."""
        for stream in list(self._waiting):
            held = self._waiting[stream]
            while held and self._device.passed(held[0][0]):
                piece = held.popleft()[1]
                piece.events -= 1
                if not piece.events:
                    self._stats.held(piece.small, piece.size, -1)
                    self._recycle(piece)
            if not held:
                del self._waiting[stream]

    def _hold_back(self, piece: _Piece) -> None:
        """Wait for the streams that use a block. A stream that fails to be asked stays to be asked."""
        users = piece.users
        while users:
            stream = next(iter(users))
            event = self._device.record(stream)
            users.remove(stream)
            piece.events += 1
            self._waiting.setdefault(stream, deque()).append((event, piece))

    def _recycle(self, piece: _Piece) -> None:
        """Make a block free memory again, in one piece with free neighbours."""
        piece.busy = False
        piece.users = None
        before, after = piece.preceding, piece.following
        if before is not None and not before.busy:
            self._take(before)
            before.size += piece.size
            before.following = after
            if after is not None:
                after.preceding = before
            piece = before
        if after is not None and not after.busy:
            self._take(after)
            piece.size += after.size
            piece.following = after.following
            if after.following is not None:
                after.following.preceding = piece
        self._put(piece)

    # ---- segments ------------------------------------------------------------------------------

    def _merge_ready(self) -> None:
        """Make free pieces of the blocks that wait for one of their size."""
        ready, self._ready = self._ready, {}
        for pieces in ready.values():
            for piece in pieces:
                self._recycle(piece)

    def _new_segment(self, size: int, stream: int, small: bool) -> _Piece:
        """Memory that is not cut yet: of what can be merged, or fresh."""
        if small:
            if self._ready:
                self._merge_ready()
                merged = self._best_fit(size, stream, small)
                if merged is not None:
                    return merged
            wanted = SMALL_SEGMENT
        elif size < OWN_SEGMENT:
            wanted = LARGE_SEGMENT
        else:
            wanted = -(-size // ROUND_SEGMENT) * ROUND_SEGMENT
        address = self._malloc(wanted)
        self._segments[address] = wanted
        self._stats.add("segment", small, 1)
        self._stats.add("reserved_bytes", small, wanted)
        return _Piece(address, wanted, stream, small)

    def _malloc(self, nbytes: int) -> int:
        most = ADDRESSABLE if self.allowed is None else self.allowed
        if self._stats.current("reserved_bytes") + nbytes > most:
            raise OutOfDeviceMemory
        return self._device.malloc(nbytes)

    def _make_room(self, size: int) -> None:
        """Give the device back what the cache keeps."""
        if not self._device.queue_collected():
            raise self._exhausted(size)
        with self._lock:
            self._stats.retries += 1
            self._release_cached()

    def _exhausted(self, size: int) -> OutOfMemoryError:
        """The error for memory that there is not."""
        self._stats.failures += 1
        return OutOfMemoryError(self._complaint(size))

    def _release_cached(self) -> None:
        """Free the segments nobody uses, once nothing queued can use them any more."""
        self._settle()
        self._merge_ready()
        self._device.drain()
        self._settle_waiting()  # but no block that went since: it may have been used since, too
        for pool in self._free.values():
            for size, address, piece in [entry for entry in pool if entry[2].whole]:
                self._device.free(address)
                self._take(piece)
                del self._segments[address]
                self._stats.add("segment", piece.small, -1)
                self._stats.add("reserved_bytes", piece.small, -size)
        self._free = {key: pool for key, pool in self._free.items() if pool}

    def _complaint(self, size: int) -> str:
        free, total = self._device.info()
        used = self._stats.current("allocated_bytes")
        cached = self._stats.current("reserved_bytes") - used
        allowed = "" if self.allowed is None else f"{_readable(self.allowed)} allowed; "
        return (
            f"{self._kind} out of memory. Tried to allocate {_readable(size)}. {self._kind} "
            f"{self._index} has a total capacity of {_readable(total)} of which {_readable(free)} is "
            f"free. {allowed}Of the memory in use {_readable(used)} is allocated by mindtorch, and "
            f"{_readable(cached)} is reserved by mindtorch but unallocated. If reserved but "
            f"unallocated memory is large it is fragmented: allocate large tensors first, or keep "
            f"their sizes from varying. memory_summary() shows more."
        )

    # ---- for users -----------------------------------------------------------------------------

    def empty_cache(self) -> None:
        """Wait for the device, and give it back the memory that nobody uses."""
        with self.turn:
            self._device.queue_collected()
            with self._lock:
                self._release_cached()

    def statistics(self) -> dict[str, int]:
        """Numbers under PyTorch's names."""
        with self.turn, self._lock:
            self._settle()
            self._merge_ready()
            return self._stats.as_dict()

    def reset_peak(self) -> None:
        """Let the peaks start anew."""
        with self.turn, self._lock:
            self._settle()
            self._merge_ready()
            self._stats.reset_peak()

    def reset_accumulated(self) -> None:
        """Let the totals start anew."""
        with self.turn, self._lock:
            self._settle()
            self._merge_ready()
            self._stats.reset_accumulated()

    def close(self) -> None:
        """Free all segments, as the device is given up; blocks that are left are not usable."""
        with self._lock:
            while self._segments:
                self._device.free(self._segments.popitem()[0])
            self._free.clear()
            self._ready.clear()
            self._waiting.clear()

    def forked(self) -> None:
        """Make the allocator harmless in a forked child, where other threads' locks stay locked."""
        self._lock = threading.Lock()
        Allocator.turn = threading.RLock()
        self._free, self._ready, self._waiting, self._segments = {}, {}, {}, {}


def _readable(nbytes: int) -> str:
    """A size for people, such as ``20.00 MiB``."""
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if nbytes >> shift:
            return f"{nbytes / (1 << shift):.2f} {unit}"
    return f"{nbytes} bytes"
