"""A caching allocator: memory of one device in segments, handed out in blocks.

A block that goes is reused at once on the stream it was made for: what is queued there later runs
after everything that used it. Streams that a block was recorded on besides hold it back with events.
Memory returns to the device only when the cache is emptied, after all queued work is done.

Blocks go anywhere, also inside the allocator. That only appends to a queue, which the next allocation
empties; it neither waits nor calls the device.

An exception, an interrupt above all, may come between any two calls in here (see `lending`). What pieces
there are in the segments, and what they are, changes by assignments alone; pools, lists and counts follow,
and are made anew where an exception came in between.

A thread that collects launches to queue them later lets go of memory that they use: until they are
queued it holds `Allocator.turn`, so that no other thread gets that memory.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final, Protocol

from mindtorch_core.backend import OutOfMemoryError

from .blocks import FREE, HELD, READY, USED, Block, Piece
from .lending import Return
from .pools import QUANTUM, SMALL, Pools, absorb
from .statistics import Statistics

__all__ = ["Allocator", "Block", "DeviceMemory", "OutOfDeviceMemory"]

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
        self._lock = threading.RLock()
        self._inside = False  # whether the thread that has the lock is at work
        self._stale = False  # whether an exception came in between
        self._segments: dict[int, int] = {}  # sizes by address
        self._first: dict[int, Piece] = {}  # by address of the segment
        self._leaving: dict[int, Piece] = {}  # segments that are being freed
        self._returned: deque[Return] = deque()
        self._postponed: list[Return] = []
        self._waiting: dict[int, deque[tuple[Any, Piece]]] = {}
        # Small blocks that went, by stream and size: the next one of the size takes one as it is.
        self._ready: dict[tuple[int, int], list[Piece]] = {}
        self._stats = Statistics()
        self._pools = Pools(self._stats)
        self.allowed: int | None = None

    # ---- blocks --------------------------------------------------------------------------------

    def allocate(self, nbytes: int, stream: int) -> Block:
        """Memory for work on a stream.

        Raises:
            OutOfMemoryError: if the device has not enough, even after the cache was emptied.
        """
        if not nbytes:
            return Block(None, 0, self._index, stream)
        size = -(-nbytes // QUANTUM) * QUANTUM
        with self.turn:
            try:
                return self._block(nbytes, size, stream)
            except OutOfDeviceMemory:
                self._make_room(size)
            try:
                return self._block(nbytes, size, stream)
            except OutOfDeviceMemory:
                raise self._exhausted(size) from None

    def uncached(self, nbytes: int, kept: list[int] | None = None) -> int:
        """Address of memory straight from the device, for the caller to free.

        Args:
            nbytes: its size.
            kept: gets the address as soon as there is one, whatever comes then.

        Raises:
            OutOfMemoryError: if the device has not enough, even after the cache was emptied.
        """
        kept = [] if kept is None else kept
        with self.turn:
            try:
                kept += (self._malloc(nbytes),)
            except OutOfDeviceMemory:
                self._make_room(nbytes)
            try:
                if not kept:
                    kept += (self._malloc(nbytes),)
            except OutOfDeviceMemory:
                raise self._exhausted(nbytes) from None
            return kept[0]

    def _block(self, nbytes: int, size: int, stream: int) -> Block:
        with self._lock:
            if self._inside:
                return self._apart(nbytes, size, stream)
            self._inside = True
            try:
                if self._stale:
                    self._rebuild()
                return self._allocate(nbytes, size, stream)
            except BaseException:
                self._stale = True
                raise
            finally:
                self._inside = False

    @contextmanager
    def _alone(self) -> Iterator[bool]:
        """Take the lock; gives False where this thread is at work further up, so that it must not be."""
        with self._lock:
            if self._inside:
                yield False
                return
            self._inside = True
            try:
                if self._stale:
                    self._rebuild()
                yield True
            except BaseException:
                self._stale = True
                raise
            finally:
                self._inside = False

    def _allocate(self, nbytes: int, size: int, stream: int) -> Block:
        if self._returned or self._waiting or self._postponed:
            self._settle()
        small = size <= SMALL
        ready = self._ready.get((stream, size))
        if ready:
            piece = ready[-1]
        else:
            piece = self._pools.best_fit(size, stream, small) or self._new_segment(
                size, stream, small
            )
            self._pools.split(piece, size)
        self._stats.made(small, piece.size, nbytes)
        block = Block(piece, nbytes, self._index, stream)
        back = Return(block, self._returned.append)
        # No call from here on.
        back.lent = piece
        piece.back = back
        piece.requested = nbytes
        piece.state = USED
        if ready:
            del ready[-1]
        return block

    def _apart(self, nbytes: int, size: int, stream: int) -> Block:
        """A block with a segment of its own.

        For ops of a finaliser or a signal handler that came in while this thread was at work here.
        """
        address = self._malloc(size)
        self._segments[address] = size
        piece = self._first[address] = Piece(address, size, stream, size <= SMALL)
        block = Block(piece, nbytes, self._index, stream)
        back = Return(block, self._returned.append)
        back.lent = piece
        piece.back = back
        piece.requested = nbytes
        piece.state = USED
        self._stale = True  # nobody has counted it
        return block

    def _settle(self) -> None:
        """Put away the blocks that have gone and those whose events have passed."""
        returned = self._returned
        returned += self._postponed
        self._postponed = []
        postponed: list[Return] = self._postponed
        while returned:
            piece: Piece = returned[0].lent
            if piece.users:
                if (
                    self._device.collecting()
                ):  # an event now would be before launches not queued yet
                    postponed += (returned[0],)
                    del returned[0]
                    continue
                self._hold_back(piece)
            self._stats.gone(piece.small, piece.size, piece.requested)
            ready: list[Piece] = []
            if piece.events:
                self._stats.held(piece.small, piece.size, 1)
            elif piece.small:
                ready = self._ready.setdefault((piece.stream, piece.size), ready)
            # No call from here to the last `del`.
            piece.back = None
            if piece.events:
                piece.state = HELD
            elif piece.small:
                piece.state = READY
                ready += (piece,)
            else:
                piece.state = FREE
            del returned[0]
            if piece.state == FREE:
                self._pools.recycle(piece)
        if self._waiting:
            self._settle_waiting()

    def _settle_waiting(self) -> None:
        """Put away the blocks whose events have passed."""
        for stream in list(self._waiting):
            held = self._waiting[stream]
            while held and self._device.passed(held[0][0]):
                piece = held[0][1]
                piece.events -= 1
                if not piece.events:
                    piece.state = FREE
                del held[0]
                if piece.state == FREE:
                    self._stats.held(piece.small, piece.size, -1)
                    self._pools.recycle(piece)
            if not held:
                del self._waiting[stream]

    def _hold_back(self, piece: Piece) -> None:
        """Wait for the streams that use a block. A stream that fails to be asked stays to be asked."""
        users = piece.users
        while users:
            (stream, *_) = users
            held = self._waiting.setdefault(stream, deque())
            event = self._device.record(stream)
            users -= {stream}
            piece.events += 1
            held += ((event, piece),)

    # ---- segments ------------------------------------------------------------------------------

    def _merge_ready(self) -> None:
        """Make free pieces of the blocks that wait for one of their size."""
        for pieces in self._ready.values():
            while pieces:
                piece = pieces[-1]
                piece.state = FREE
                del pieces[-1]
                self._pools.recycle(piece)
        self._ready = {}

    def _rebuild(self) -> None:
        """Make pools, lists and counts anew of what the segments' pieces are."""
        self._stale = False  # unless an op comes in that takes a piece meanwhile
        self._ready = {}
        self._pools.clear()
        stats = self._stats
        stats.forget_current()
        for address, size in [*self._segments.items()]:
            piece: Piece | None = self._first.get(address)
            if piece is None:  # the exception came as it was made
                piece = self._first[address] = Piece(address, size, 0, size == SMALL_SEGMENT)
            stats.found_segment(piece.small, size)
            while piece is not None:
                if piece.state == READY:
                    piece.state = FREE
                if piece.state == FREE:
                    while piece.following is not None and piece.following.state in (FREE, READY):
                        absorb(piece)
                    self._pools.put(piece)
                elif piece.state == USED:
                    stats.found_block(piece.small, piece.size, piece.requested)
                else:
                    stats.held(piece.small, piece.size, 1)
                piece = piece.following

    def _new_segment(self, size: int, stream: int, small: bool) -> Piece:
        """Memory that is not cut yet: of what can be merged, or fresh."""
        if small:
            if self._ready:
                self._merge_ready()
                merged = self._pools.best_fit(size, stream, small)
                if merged is not None:
                    return merged
            wanted = SMALL_SEGMENT
        elif size < OWN_SEGMENT:
            wanted = LARGE_SEGMENT
        else:
            wanted = -(-size // ROUND_SEGMENT) * ROUND_SEGMENT
        address = self._malloc(wanted)
        self._segments[address] = wanted
        piece = self._first[address] = Piece(address, wanted, stream, small)
        self._stats.add("segment", small, 1)
        self._stats.add("reserved_bytes", small, wanted)
        return piece

    def _malloc(self, nbytes: int) -> int:
        most = ADDRESSABLE if self.allowed is None else self.allowed
        if self._stats.current("reserved_bytes") + nbytes > most:
            raise OutOfDeviceMemory
        return self._device.malloc(nbytes)

    def _make_room(self, size: int) -> None:
        """Give the device back what the cache keeps."""
        with self._lock:
            inside = self._inside
        if inside or not self._device.queue_collected():
            raise self._exhausted(size)
        with self._alone():
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
        for address in [*self._leaving]:
            self._device.free(address)
            del self._leaving[address]
        for piece in self._pools.segments():
            self._pools.take(piece)
            self._give_back(piece)

    def _give_back(self, piece: Piece) -> None:
        """Free a segment. One of which an interrupt lets nobody know whether it is freed is left alone."""
        address = piece.address
        del self._segments[address], self._first[address]
        self._leaving[address] = piece
        try:
            self._device.free(address)
        except Exception:
            self._segments[address], self._first[address] = piece.size, piece
            del self._leaving[address]
            raise
        del self._leaving[address]
        self._stats.add("segment", piece.small, -1)
        self._stats.add("reserved_bytes", piece.small, -piece.size)

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
            with self._alone() as alone:
                if alone:
                    self._release_cached()

    def statistics(self) -> dict[str, int]:
        """Numbers under PyTorch's names."""
        with self._settled():
            return self._stats.as_dict()

    def reset_peak(self) -> None:
        """Let the peaks start anew."""
        with self._settled():
            self._stats.reset_peak()

    def reset_accumulated(self) -> None:
        """Let the totals start anew."""
        with self._settled():
            self._stats.reset_accumulated()

    @contextmanager
    def _settled(self) -> Iterator[None]:
        """Put away first what has gone, so that the counts are right."""
        with self.turn, self._alone() as alone:
            if alone:
                self._settle()
                self._merge_ready()
            yield

    def close(self) -> None:
        """Free all segments, as the device is given up; blocks that are left are not usable."""
        with self._lock:
            for address in [*self._segments, *self._leaving]:
                self._device.free(address)
            for table in (self._segments, self._leaving, self._first, self._ready, self._waiting):
                table.clear()
            self._pools.clear()

    def forked(self) -> None:
        """Make the allocator harmless in a forked child, where other threads' locks stay locked."""
        self._lock = threading.RLock()
        Allocator.turn = threading.RLock()
        self._inside = self._stale = False
        self._ready, self._waiting, self._segments, self._first, self._leaving = {}, {}, {}, {}, {}
        self._pools.clear()


def _readable(nbytes: int) -> str:
    """A size for people, such as ``20.00 MiB``."""
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if nbytes >> shift:
            return f"{nbytes / (1 << shift):.2f} {unit}"
    return f"{nbytes} bytes"
