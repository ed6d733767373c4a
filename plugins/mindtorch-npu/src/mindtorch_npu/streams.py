"""``torch.npu.Stream`` and ``torch.npu.Event``."""

from __future__ import annotations

import ctypes
from operator import index as integer
from typing import Any, Final, Self

from mindtorch_core.backend import Event, Stream, device

from .acl import acl, check
from .acl.enums import EventFlag
from .collecting import send_collected
from .contexts import CONTEXTS
from .devices import device_at
from .events import LentEvent

__all__ = ["NPUEvent", "NPUStream"]

PLAIN: Final = EventFlag.SYNC | EventFlag.CAPTURE_STREAM_PROGRESS
TIMED: Final = PLAIN | EventFlag.TIME_LINE


def index_of(on: device) -> int:
    """The number of a concrete device."""
    return on.index or 0


class NPUStream(Stream):
    """A queue of work on an NPU.

    A device has one default stream and 32 others; making more gives those again, in turn. Priorities
    are accepted and have no effect: CANN reserves them.
    """

    __slots__ = ()

    _family = "npu"

    @classmethod
    def _new_id(cls, on: device, priority: int) -> int:
        integer(priority)  # a TypeError for what is none
        number = device_at(index_of(on)).next_stream()
        device_at(index_of(on)).stream(number)
        return number

    @property
    def handle(self) -> int:
        """CANN's ``aclrtStream``."""
        return device_at(index_of(self.device)).stream(self.stream_id)

    npu_stream = handle

    def _is_done(self) -> bool:
        return device_at(index_of(self.device)).stream_done(self.stream_id)

    def _finish(self) -> None:
        device_at(index_of(self.device)).synchronize_stream(self.stream_id)


class NPUEvent(Event):
    """A mark in the streams of one NPU."""

    __slots__ = ("_event",)

    _family = "npu"
    _event: LentEvent | None

    def __new__(cls, device: Any = None, **options: Any) -> Self:
        """Make an event; CANN's is made when it is first recorded.

        Args:
            device: where it is recorded; a truth value is taken for ``enable_timing``, which comes
                first in ``torch.cuda.Event``.
            **options: those of `torch.Event`.
        """
        if isinstance(device, bool):
            device, options = None, {"enable_timing": device, **options}
        made: Self = super().__new__(cls, device, **options)
        made._event = None
        return made

    @property
    def _flags(self) -> int:
        return TIMED if self.enable_timing else PLAIN

    def _record(self, stream: Stream) -> None:
        send_collected()
        on = device_at(index_of(stream.device))
        if self._event is None:
            self._event = on.events.take(self._flags)
        on.record(self._event, stream.stream_id)

    def _hold(self, stream: Stream) -> None:
        if stream.device is not self.device:  # CANN promises waiting only within a device
            self._finish()
            return
        send_collected()
        on, handle = device_at(index_of(stream.device)), self._handle
        number = stream.stream_id
        check(acl.aclrtStreamWaitEvent(on.stream(number), handle), "aclrtStreamWaitEvent")

    def _is_done(self) -> bool:
        return self._event is None or device_at(self._index).event_done(self._event)

    def _finish(self) -> None:
        if self._event is not None:
            device_at(self._index).wait(self._event)

    def _milliseconds(self, end: Any) -> float:
        if end.device is not self.device:  # their clocks have nothing to do with each other
            raise RuntimeError(
                f"Event device {self.device} does not match other's device {end.device}"
            )
        result = ctypes.c_float()
        at, first, last = ctypes.byref(result), self._handle, end._handle
        CONTEXTS.activate(self._index)
        check(acl.aclrtEventElapsedTime(at, first, last), "aclrtEventElapsedTime")
        return result.value

    @property
    def _index(self) -> int:
        return 0 if self.device is None else index_of(self.device)

    @property
    def _handle(self) -> int:
        return 0 if self._event is None else self._event.handle
