"""One NPU: its streams, events, memory, workspaces, and what waits to be freed."""

from __future__ import annotations

import ctypes
import os
import threading
from collections import deque
from typing import Final

from .acl import ACLError, acl, check, recent_message
from .acl.codes import NO_MEMORY
from .acl.enums import (
    EventFlag,
    EventRecordedStatus,
    MallocPolicy,
    MemAttr,
    StreamFlag,
    StreamStatus,
)
from .allocator import Allocator, OutOfDeviceMemory
from .collecting import COLLECTING, send_collected
from .contexts import CONTEXTS, quietly
from .events import EventPool, LentEvent
from .lending import Lent, Return
from .staging import Staging

__all__ = ["NPUDevice", "Workspace", "device_at", "devices_in_use"]

STREAMS: Final = 32  # beside the default one; further streams that users make share their queues
EXIT_TIMEOUT: Final = 20_000  # milliseconds that the exit of the process waits for a stream, twice
MARK: Final = EventFlag.CAPTURE_STREAM_PROGRESS
WORKSPACE_STEP: Final = 2 << 20


class Workspace(Lent):
    """Memory that operators use while they run on a stream; functions of CANN take it as its address.

    The memory is kept while this is; then it waits for the next synchronisation, because the stream may
    still use it.

    Attributes:
        nbytes: its size.
    """

    __slots__ = ("_as_parameter_", "nbytes")

    def __init__(self, address: int, nbytes: int) -> None:
        self._as_parameter_ = address
        self.nbytes = nbytes

    def __int__(self) -> int:
        return self._as_parameter_


class _Segments:
    """What a device's allocator asks for."""

    def __init__(self, device: NPUDevice) -> None:
        self._device = device
        self._owned: set[int] = (
            set()
        )  # what is not freed, whatever an interrupt lets others believe

    def malloc(self, nbytes: int) -> int:
        pointer = ctypes.c_void_p()
        at, owned = ctypes.byref(pointer), self._owned
        try:
            CONTEXTS.activate(self._device.index)
            code = acl.aclrtMalloc(at, nbytes, MallocPolicy.HUGE_FIRST)
            if code in NO_MEMORY:
                recent_message()
                raise OutOfDeviceMemory
            if code:
                check(code, f"aclrtMalloc({nbytes})")
            # No call from here on.
            address = pointer.value or 0
            owned |= {address}
            return address
        except BaseException:
            if pointer.value:
                quietly(acl.aclrtFree, pointer.value)
            raise

    def free(self, address: int) -> None:
        owned, codes = self._owned, list[int]()
        if address not in owned:
            return
        freeing = map(acl.aclrtFree, (address,))
        try:
            CONTEXTS.activate(self._device.index)
            codes.extend(freeing)
        finally:
            if codes and not codes[0]:
                owned -= {address}
        check(codes[0], "aclrtFree")

    def collecting(self) -> bool:
        return COLLECTING.batch is not None

    def queue_collected(self) -> bool:
        if COLLECTING.sending:
            return False
        send_collected()
        return True

    def drain(self) -> None:
        self._device.drop_workspaces()
        self._device.synchronize()

    def record(self, stream: int) -> LentEvent:
        return self._device.mark(stream)

    def passed(self, event: LentEvent) -> bool:
        return self._device.event_done(event)

    def info(self) -> tuple[int, int]:
        return self._device.memory_info()


class NPUDevice:
    """The state of one device. Streams are numbers here, 0 the default one.

    Attributes:
        index: which device it is.
        allocator: its memory.
        events: its events.
        staging: host memory for copies.
    """

    def __init__(self, index: int) -> None:
        self.index = index
        self.allocator = Allocator(_Segments(self), "NPU", index)
        self.events = EventPool(index)
        self.staging = Staging(self)
        self._lock = threading.RLock()
        self._streams: dict[int, int] = {}  # handles by number
        self._given_up: list[object] = []
        self._made = 0
        self._workspaces: dict[int, Workspace] = {}
        self._held: dict[int, Return] = {}  # all workspaces by address
        self._dropped: deque[Return] = deque()  # workspaces that nobody uses any more
        self._deferred: list[int] = []
        self._refused: set[int] = set()  # what could not be freed once

    def activate(self) -> None:
        """Give this thread the device's context."""
        CONTEXTS.activate(self.index)

    # ---- streams -------------------------------------------------------------------------------

    def stream(self, number: int) -> int:
        """The handle of a stream, made when it is first asked for. The device becomes active."""
        found = self._streams.get(number)
        if found is None:
            with self._lock:
                found = self._streams.get(number) or self._new_stream(number)
        CONTEXTS.activate(self.index)
        return found

    def _new_stream(self, number: int) -> int:
        pointer = ctypes.c_void_p()
        at, streams = ctypes.byref(pointer), self._streams
        flags = StreamFlag.FAST_LAUNCH | StreamFlag.FAST_SYNC
        try:
            CONTEXTS.activate(self.index)
            code = acl.aclrtCreateStreamWithConfig(at, 0, flags)
        finally:
            if pointer.value:
                streams[number] = pointer.value
        check(code, "aclrtCreateStreamWithConfig")
        return streams[number]

    def next_stream(self) -> int:
        """The number of a stream for a user: each in turn."""
        with self._lock:
            self._made += 1
            return (self._made - 1) % STREAMS + 1

    def stream_done(self, number: int) -> bool:
        """Whether a stream has nothing left to do."""
        send_collected()
        status = ctypes.c_int32()
        at = ctypes.byref(status)
        check(acl.aclrtStreamQuery(self.stream(number), at), "aclrtStreamQuery")
        return status.value == StreamStatus.COMPLETE

    def synchronize_stream(self, number: int) -> None:
        """Wait for a stream."""
        send_collected()
        check(acl.aclrtSynchronizeStream(self.stream(number)), "aclrtSynchronizeStream")

    def give_up(self, number: int, used: object) -> None:
        """Have nobody wait for a stream any more: what it does is ended, where CANN can.

        Args:
            number: of a stream that nothing else follows.
            used: what its work may still read and write; kept for good.
        """
        self._given_up.append(used)
        handle = self._streams.pop(number, 0)
        if handle:
            quietly(lambda: acl.aclrtStreamAbort(handle))  # a toolkit may be without it

    def synchronize(self) -> None:
        """Wait for all streams, then free what was deferred before.

        Raises:
            ACLError: the first failure, after all streams were waited for.
        """
        send_collected()
        failure: ACLError | None = None
        deferred, dropped, held = self._deferred, self._dropped, self._held
        ready: list[int] = []
        try:
            for _ in iter(dropped.__len__, 0):  # in 3.13 an interrupt of a `while` skips `finally`
                address = dropped[0].lent
                ready += (address,)
                del held[address], dropped[0]
            ready += deferred
            deferred[:] = ()
            for handle in list(self._streams.values()):
                try:
                    CONTEXTS.activate(self.index)
                    check(acl.aclrtSynchronizeStream(handle), "aclrtSynchronizeStream")
                except ACLError as error:
                    failure = failure or error
            if failure is not None:
                raise failure
            self._free(ready)
        finally:
            deferred += ready

    # ---- events --------------------------------------------------------------------------------

    def record(self, event: LentEvent, stream: int) -> None:
        """Record an event behind what a stream has queued."""
        check(acl.aclrtRecordEvent(event.handle, self.stream(stream)), "aclrtRecordEvent")

    def mark(self, stream: int) -> LentEvent:
        """A new event behind what a stream has queued."""
        event = self.events.take(MARK)
        self.record(event, stream)
        return event

    def event_done(self, event: LentEvent) -> bool:
        """Whether an event has passed."""
        status = ctypes.c_int32()
        at = ctypes.byref(status)
        CONTEXTS.activate(self.index)
        code = acl.aclrtQueryEventStatus(event.handle, at)
        check(code, "aclrtQueryEventStatus")
        return status.value == EventRecordedStatus.COMPLETE

    passed = event_done

    def wait(self, event: LentEvent) -> None:
        """Wait until an event has passed."""
        CONTEXTS.activate(self.index)
        check(acl.aclrtSynchronizeEvent(event.handle), "aclrtSynchronizeEvent")

    # ---- memory --------------------------------------------------------------------------------

    def memory_info(self) -> tuple[int, int]:
        """Free and total bytes."""
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        to_free, to_total = ctypes.byref(free), ctypes.byref(total)
        for attribute in (MemAttr.HBM, MemAttr.DDR):  # a device has one of them, the other is 0
            CONTEXTS.activate(self.index)
            check(acl.aclrtGetMemInfo(attribute, to_free, to_total), "aclrtGetMemInfo")
            if total.value:
                break
        return free.value, total.value

    def workspace(self, nbytes: int, stream: int) -> Workspace:
        """Memory for an operator that is about to be launched on a stream.

        Operators of a stream run one after the other, so all of them use the same memory, until one
        needs more.

        Raises:
            OutOfMemoryError: if there is not enough.
        """
        found = self._workspaces.get(stream)
        if found is None or found.nbytes < nbytes:
            grown = 0 if found is None else found.nbytes + found.nbytes // 2
            del found
            size = max(-(-nbytes // WORKSPACE_STEP) * WORKSPACE_STEP, grown)
            fresh: list[int] = []
            deferred = self._deferred
            try:
                self.allocator.uncached(size, fresh)
                found = Workspace(fresh[0], size)
                back = Return(found, self._dropped.append)
                # No call from here on.
                back.lent = fresh[0]
                self._held[fresh[0]] = back
                self._workspaces[stream] = found
            except BaseException:
                deferred += fresh
                raise
        return found

    def drop_workspaces(self) -> None:
        """Leave the workspaces to the next synchronisation."""
        self._workspaces.clear()

    def defer_free(self, pointer: int) -> None:
        """Free memory of `aclrtMalloc` after the next synchronisation."""
        self._deferred.append(pointer)

    def _free(self, pointers: list[int]) -> None:
        """Free memory, and take it out of a list. What fails is tried once more by the next synchronisation.

        Raises:
            ACLError: the first failure.
        """
        tried, codes = pointers[:], list[int]()
        left = iter(pointers)
        freeing = map(acl.aclrtFree, left)
        try:
            CONTEXTS.activate(self.index)
            codes.extend(freeing)
        finally:
            pointers[:] = left
        failed = [pointer for pointer, code in zip(tried, codes, strict=True) if code]
        pointers += (pointer for pointer in failed if pointer not in self._refused)
        self._refused = set(pointers)
        if failed:
            check(next(filter(None, codes)), "aclrtFree")

    # ---- the end -------------------------------------------------------------------------------

    def close(self) -> bool:
        """Give everything back at exit.

        Returns:
            False if it was left alone: it does not answer, and resetting it would wait for it, or a
            thread may be about to call CANN with what would be destroyed.
        """
        CONTEXTS.activate(self.index)
        ended = all(self._has_ended(handle) for handle in self._streams.values())
        if not ended or self._given_up or CONTEXTS.used_elsewhere():
            return False
        self._deferred.extend(self._held)
        self._held.clear()
        self._dropped.clear()
        quietly(self._free, self._deferred)
        quietly(self.allocator.close)
        quietly(self.staging.close)
        self.events.close()
        for handle in self._streams.values():
            quietly(acl.aclrtDestroyStream, handle)
        return True

    def _has_ended(self, handle: int) -> bool:
        """Whether a stream is known to have nothing left to do; the first call may give an old failure."""
        return any(
            acl.aclrtSynchronizeStreamWithTimeout(handle, EXIT_TIMEOUT) == 0 for _ in range(2)
        )

    def forked(self) -> None:
        """Make the device harmless in a forked child."""
        self._lock = threading.RLock()
        self._streams, self._workspaces, self._held = {}, {}, {}
        self._deferred.clear()
        self._dropped.clear()
        self.allocator.forked()
        self.events.forked()
        self.staging.forked()


_devices: Final[dict[int, NPUDevice]] = {}


def device_at(index: int) -> NPUDevice:
    """The state of a device."""
    found = _devices.get(index)
    if found is None:
        found = _devices.setdefault(index, NPUDevice(index))
    return found


def devices_in_use() -> list[NPUDevice]:
    """The devices that were asked for so far."""
    return list(_devices.values())


def _close() -> None:
    for device in devices_in_use():
        try:
            if not device.close():
                CONTEXTS.abandon(device.index)
        except RuntimeError:
            CONTEXTS.abandon(device.index)


def _forked() -> None:
    for device in devices_in_use():
        device.forked()


CONTEXTS.closing.append(_close)
os.register_at_fork(after_in_child=_forked)
