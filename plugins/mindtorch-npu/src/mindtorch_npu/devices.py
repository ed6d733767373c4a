"""One NPU: its streams, events, memory, workspaces, and what waits to be freed."""

from __future__ import annotations

import ctypes
import os
import threading
from collections import deque
from typing import Final

from .acl import ACLError, acl, check, recent_message
from .acl.enums import (
    EventFlag,
    EventRecordedStatus,
    MallocPolicy,
    MemAttr,
    StreamFlag,
    StreamStatus,
)
from .allocator import Allocator, OutOfDeviceMemory
from .batching import COLLECTING, send_collected
from .contexts import CONTEXTS, quietly
from .staging import Staging

__all__ = ["NPUDevice", "Workspace", "device_at", "devices_in_use"]

NO_MEMORY: Final = frozenset({207001, 207018})  # RT_MEMORY_ALLOCATION, RT_DEVICE_OOM
STREAMS: Final = 32  # beside the default one; further streams that users make share their queues
EXIT_TIMEOUT: Final = 20_000  # milliseconds that the exit of the process waits for a stream, twice
MARK: Final = EventFlag.CAPTURE_STREAM_PROGRESS
WORKSPACE_STEP: Final = 2 << 20


class Workspace(int):
    """Address of memory that operators use while they run on a stream.

    The memory is kept while the address is; then it waits for the next synchronisation, because the
    stream may still use it.
    """

    nbytes: int
    _held: set[int]
    _deferred: deque[int]

    def __del__(self) -> None:
        if int(self) in self._held:  # not given back at exit
            self._held.discard(int(self))
            self._deferred.append(int(self))


class _Segments:
    """What a device's allocator asks for."""

    def __init__(self, device: NPUDevice) -> None:
        self._device = device

    def malloc(self, nbytes: int) -> int:
        CONTEXTS.activate(self._device.index)
        pointer = ctypes.c_void_p()
        code = acl.aclrtMalloc(ctypes.byref(pointer), nbytes, MallocPolicy.HUGE_FIRST)
        if code in NO_MEMORY:
            recent_message()
            raise OutOfDeviceMemory
        check(code, f"aclrtMalloc({nbytes})")
        return pointer.value or 0

    def free(self, address: int) -> None:
        CONTEXTS.activate(self._device.index)
        check(acl.aclrtFree(address), "aclrtFree")

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

    def record(self, stream: int) -> int:
        return self._device.mark(stream)

    def passed(self, event: int) -> bool:
        return self._device.passed(event)

    def info(self) -> tuple[int, int]:
        return self._device.memory_info()


class NPUDevice:
    """The state of one device. Streams are numbers here, 0 the default one; events are handles.

    Attributes:
        index: which device it is.
        allocator: its memory.
        staging: host memory for copies.
    """

    def __init__(self, index: int) -> None:
        self.index = index
        self.allocator = Allocator(_Segments(self), "NPU", index)
        self.staging = Staging(self)
        self._lock = threading.Lock()
        self._streams: dict[int, int] = {}  # handles by number
        self._made = 0
        self._idle_events: dict[int, list[int]] = {}  # handles by flags
        self._dropped_events: deque[tuple[int, int]] = deque()  # flags and handles
        self._events: list[int] = []
        self._workspaces: dict[int, Workspace] = {}
        self._held: set[int] = set()  # addresses of all workspaces
        self._deferred: deque[int] = deque()
        self._refused: set[int] = set()  # what could not be freed once

    # ---- streams -------------------------------------------------------------------------------

    def stream(self, number: int) -> int:
        """The handle of a stream, made when it is first asked for. The device becomes active."""
        CONTEXTS.activate(self.index)
        found = self._streams.get(number)
        if found is None:
            with self._lock:
                found = self._streams.get(number) or self._new_stream(number)
        return found

    def _new_stream(self, number: int) -> int:
        pointer = ctypes.c_void_p()
        flags = StreamFlag.FAST_LAUNCH | StreamFlag.FAST_SYNC
        check(
            acl.aclrtCreateStreamWithConfig(ctypes.byref(pointer), 0, flags),
            "aclrtCreateStreamWithConfig",
        )
        made = self._streams[number] = pointer.value or 0
        return made

    def next_stream(self) -> int:
        """The number of a stream for a user: each in turn."""
        with self._lock:
            self._made += 1
            return (self._made - 1) % STREAMS + 1

    def stream_done(self, number: int) -> bool:
        """Whether a stream has nothing left to do."""
        send_collected()
        status = ctypes.c_int32()
        handle = self.stream(number)
        check(acl.aclrtStreamQuery(handle, ctypes.byref(status)), "aclrtStreamQuery")
        return status.value == StreamStatus.COMPLETE

    def synchronize_stream(self, number: int) -> None:
        """Wait for a stream."""
        send_collected()
        check(acl.aclrtSynchronizeStream(self.stream(number)), "aclrtSynchronizeStream")

    def synchronize(self) -> None:
        """Wait for all streams, then free what was deferred before.

        Raises:
            ACLError: the first failure, after all streams were waited for.
        """
        send_collected()
        CONTEXTS.activate(self.index)
        ready = [self._deferred.popleft() for _ in range(len(self._deferred))]
        failure: ACLError | None = None
        for handle in list(self._streams.values()):
            try:
                check(acl.aclrtSynchronizeStream(handle), "aclrtSynchronizeStream")
            except ACLError as error:
                failure = failure or error
        if failure is not None:
            self._deferred.extend(ready)
            raise failure
        self._free(ready)

    # ---- events --------------------------------------------------------------------------------

    def take_event(self, flags: int) -> int:
        """An event that nobody uses."""
        CONTEXTS.activate(self.index)
        with self._lock:
            while self._dropped_events:
                kind, handle = self._dropped_events.popleft()
                self._idle_events.setdefault(kind, []).append(handle)
            idle = self._idle_events.get(flags)
            if idle:
                return idle.pop()
            pointer = ctypes.c_void_p()
            check(
                acl.aclrtCreateEventExWithFlag(ctypes.byref(pointer), flags),
                "aclrtCreateEventExWithFlag",
            )
            made = pointer.value or 0
            self._events.append(made)
            return made

    def drop_event(self, flags: int, handle: int) -> None:
        """Take an event back. Calls nothing of CANN: finalisers may use it."""
        self._dropped_events.append((flags, handle))

    def record(self, event: int, stream: int) -> None:
        """Record an event behind what a stream has queued."""
        check(acl.aclrtRecordEvent(event, self.stream(stream)), "aclrtRecordEvent")

    def mark(self, stream: int) -> int:
        """A new event behind what a stream has queued, to be asked about with `passed` or `wait`."""
        event = self.take_event(MARK)
        try:
            self.record(event, stream)
        except ACLError:
            self.drop_event(MARK, event)
            raise
        return event

    def event_done(self, event: int) -> bool:
        """Whether an event has passed."""
        status = ctypes.c_int32()
        check(acl.aclrtQueryEventStatus(event, ctypes.byref(status)), "aclrtQueryEventStatus")
        return status.value == EventRecordedStatus.COMPLETE

    def passed(self, event: int) -> bool:
        """Whether a mark has passed; if so it is gone."""
        done = self.event_done(event)
        if done:
            self.drop_event(MARK, event)
        return done

    def wait(self, event: int) -> None:
        """Wait until a mark has passed; it is gone then."""
        check(acl.aclrtSynchronizeEvent(event), "aclrtSynchronizeEvent")
        self.drop_event(MARK, event)

    # ---- memory --------------------------------------------------------------------------------

    def memory_info(self) -> tuple[int, int]:
        """Free and total bytes."""
        CONTEXTS.activate(self.index)
        free, total = ctypes.c_size_t(), ctypes.c_size_t()
        for attribute in (MemAttr.HBM, MemAttr.DDR):  # a device has one of them, the other is 0
            check(
                acl.aclrtGetMemInfo(attribute, ctypes.byref(free), ctypes.byref(total)),
                "aclrtGetMemInfo",
            )
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
            found = Workspace(self.allocator.uncached(size))
            found.nbytes = size
            found._held, found._deferred = self._held, self._deferred
            self._held.add(int(found))
            self._workspaces[stream] = found
        return found

    def drop_workspaces(self) -> None:
        """Leave the workspaces to the next synchronisation."""
        self._workspaces.clear()

    def defer_free(self, pointer: int) -> None:
        """Free memory of `aclrtMalloc` after the next synchronisation."""
        self._deferred.append(pointer)

    def _free(self, pointers: list[int]) -> None:
        """Free memory. What fails is tried once more by the next synchronisation."""
        for at, pointer in enumerate(pointers):
            code = acl.aclrtFree(pointer)
            if not code:
                self._refused.discard(pointer)
                continue
            self._deferred.extend(pointers[at + 1 :])
            if pointer in self._refused:
                self._refused.discard(pointer)
            else:
                self._refused.add(pointer)
                self._deferred.append(pointer)
            check(code, "aclrtFree")

    # ---- the end -------------------------------------------------------------------------------

    def close(self) -> bool:
        """Give everything back at exit.

        Returns:
            False if it was left alone: it does not answer, and resetting it would wait for it, or a
            thread may be about to call CANN with what would be destroyed.
        """
        CONTEXTS.activate(self.index)
        ended = all(self._has_ended(handle) for handle in self._streams.values())
        if not ended or CONTEXTS.used_elsewhere():
            return False
        self._deferred.extend(self._held)
        self._held.clear()
        quietly(self._free, [self._deferred.popleft() for _ in range(len(self._deferred))])
        quietly(self.allocator.close)
        quietly(self.staging.close)
        for event in self._events:
            quietly(acl.aclrtDestroyEvent, event)
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
        self._lock = threading.Lock()
        self._streams, self._workspaces, self._idle_events = {}, {}, {}
        self._deferred.clear()
        self.allocator.forked()
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
