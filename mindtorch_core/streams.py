"""Streams and events, ``torch.Stream`` and ``torch.Event``, for any device.

A backend with queues of its own derives from both classes and names the derived ones in its runtime
(`Runtime.stream_type`, `Runtime.event_type`). The methods below whose names start with an underscore
are what it supplies. On other devices a stream has nothing to wait for, and no event can be recorded.
"""

from __future__ import annotations

from types import TracebackType
from typing import Any, NoReturn, TypeVar

from .tensors.attached import attach
from .tensors.storage import BEFORE_EXPORT
from .tensors.tensor import Tensor
from .values.devices import TABLE, accelerator_type, concrete, row_of
from .values.devices import device as Device
from .values.interrupts import from_entry, leaving

__all__ = ["Event", "EventType", "Stream", "StreamContext", "StreamType"]

_Kind = TypeVar("_Kind")


def _device_for(wanted: Device | str | int | None, family: str | None) -> Device:
    """The device of a new stream or event: by default the accelerator's current one, or else the host.

    Args:
        wanted: what the caller asked for.
        family: type of device that a backend's own class serves; None for any accelerator's.

    Raises:
        ValueError: for a device of another type.
    """
    if wanted is None:
        return concrete(accelerator_type("cpu") if family is None else family)
    if isinstance(wanted, int) and family is not None:
        wanted = Device(family, wanted)
    found = concrete(Device(wanted))
    if family is not None and found.type != family:
        raise ValueError(f"expected a {family} device, got {found}")
    return found


def _launch_recorded() -> None:
    """Launch what a pipeline has recorded: it belongs before what is queued or asked for next."""
    for launch in BEFORE_EXPORT:
        launch()


def _checked(given: Any, kind: type[_Kind]) -> _Kind:
    """What was given for a stream or an event.

    Raises:
        TypeError: if it is something else.
    """
    if not isinstance(given, kind):
        raise TypeError(f"expected a torch.{kind.__name__}, got {type(given).__name__}")
    return given


class Stream:
    """An in-order queue of work on a device; streams run beside each other.

    In a ``with`` block it is the current stream of its device, where the thread's ops are queued.

    Attributes:
        device: where the work runs.
        stream_id: its number; 0 is the device's default stream.
    """

    __slots__ = ("__weakref__", "_entered", "device", "stream_id")

    device: Device
    stream_id: int
    _entered: list[StreamContext]
    _family: str | None = None  # type of device that a derived class serves

    def __new__(cls, device: Any = None, priority: int = 0) -> Any:
        """Find the class of streams that the device has, and make one."""
        on = _device_for(device, cls._family)
        kind = row_of(on.type).runtime.stream_type or Stream
        if cls is Stream and kind is not Stream:
            return kind(on, priority)
        return cls.numbered(on, cls._new_id(on, priority))

    @classmethod
    def numbered(cls, on: Device, number: int) -> Any:
        """The stream object of a number, without making a queue."""
        made = object.__new__(cls)
        made.device = on
        made.stream_id = number
        made._entered = []
        return made

    # ---- what a backend supplies ---------------------------------------------------------------

    @classmethod
    def _new_id(cls, on: Device, priority: int) -> int:
        """Make a queue on a device; its number."""
        return 0

    def _is_done(self) -> bool:
        """Whether nothing is queued or running."""
        return True

    def _finish(self) -> None:
        """Wait until nothing is queued or running."""
        return

    # ---- for users -----------------------------------------------------------------------------

    @property
    def device_type(self) -> str:
        """Type of its device."""
        return self.device.type

    @property
    def device_index(self) -> int:
        """Index of its device; -1 for a device without one."""
        return -1 if self.device.index is None else self.device.index

    def query(self) -> bool:
        """Whether all work queued so far is done."""
        _launch_recorded()
        return self._is_done()

    def synchronize(self) -> None:
        """Launch what this thread's pipeline has recorded, and wait for all work queued so far."""
        _launch_recorded()
        self._finish()

    def wait_event(self, event: Event) -> None:
        """Let what is queued from now on wait for an event."""
        _checked(event, Event).wait(self)

    def wait_stream(self, stream: Stream) -> None:
        """Let what is queued from now on wait for what another stream has queued so far."""
        self.wait_event(_checked(stream, Stream).record_event())

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event, a new one if none is given, behind what is queued so far; returns it."""
        if event is None:
            event = Event(self.device)
        event.record(self)
        return event

    def __enter__(self) -> Stream:
        context = StreamContext(self)
        context.__enter__()
        self._entered += (context,)
        return self

    @from_entry
    def __exit__(self, *exc_info: Any) -> None:
        try:
            _launch_recorded()
        finally:
            self._end()

    def _leave(self) -> None:
        self._entered[-1]._leave()
        del self._entered[-1]

    _end = leaving(_leave)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Stream):
            return NotImplemented
        return self.stream_id == other.stream_id and self.device is other.device

    def __hash__(self) -> int:
        return hash((self.device, self.stream_id))

    def __repr__(self) -> str:
        return f"<torch.{self.device.type}.Stream device={self.device} stream_id={self.stream_id}>"


class Event:
    """A mark in a stream: others wait for it, and two of them measure time.

    Args:
        device: where it is recorded; None for the device of the stream that records it first.
        enable_timing: whether `elapsed_time` is to be asked for.
        blocking: accepted as in PyTorch; waiting always gives the processor to others.
        interprocess: accepted as in PyTorch, where it does nothing for devices other than CUDA's.

    Attributes:
        device: where it is recorded.
        enable_timing: whether it keeps times.
    """

    __slots__ = ("__weakref__", "_recorded", "device", "enable_timing")

    device: Device | None
    enable_timing: bool
    _recorded: bool
    _family: str | None = None

    def __new__(
        cls,
        device: Any = None,
        *,
        enable_timing: bool = False,
        blocking: bool = False,
        interprocess: bool = False,
    ) -> Any:
        """Find the class of events that the device has, and make one."""
        on = _device_for(device, cls._family) if device is not None or cls is Event else None
        if cls is Event and on is not None:
            kind = row_of(on.type).runtime.event_type
            if kind is not None:
                return kind(on, enable_timing=enable_timing)
        made = object.__new__(cls)
        made.device = on
        made.enable_timing = enable_timing
        made._recorded = False
        return made

    def __reduce__(self) -> NoReturn:
        """Refuse to be copied or pickled: a mark has one owner, in one process."""
        raise TypeError("cannot pickle 'torch.Event' object")

    # ---- what a backend supplies ---------------------------------------------------------------

    def _record(self, stream: Stream) -> None:
        """Put the mark behind what a stream has queued."""
        raise RuntimeError(f"{stream.device.type} backend doesn't support events.")

    def _hold(self, stream: Stream) -> None:
        """Let what a stream queues from now on wait for the mark."""
        raise NotImplementedError

    def _is_done(self) -> bool:
        """Whether the stream has passed the mark."""
        raise NotImplementedError

    def _finish(self) -> None:
        """Wait until the stream has passed the mark."""
        raise NotImplementedError

    def _milliseconds(self, end: Any) -> float:
        """Time from this event to another one, both passed."""
        raise NotImplementedError

    # ---- for users -----------------------------------------------------------------------------

    def record(self, stream: Stream | None = None) -> None:
        """Put the mark behind what a stream, by default the current one, has queued so far.

        Raises:
            RuntimeError: if the event belongs to another device.
        """
        stream = self._stream(stream)
        if self.device is None:
            self.device = stream.device
        elif self.device is not stream.device:
            raise RuntimeError(
                f"Event device {self.device} does not match recording stream's device "
                f"{stream.device}."
            )
        _launch_recorded()
        self._record(stream)
        self._recorded = True

    def wait(self, stream: Stream | None = None) -> None:
        """Let what a stream, by default the current one, queues from now on wait for the mark."""
        stream = self._stream(stream)
        _launch_recorded()
        if self._recorded:
            self._hold(stream)

    def query(self) -> bool:
        """Whether the mark has been passed; True if it was never recorded."""
        return not self._recorded or self._is_done()

    def synchronize(self) -> None:
        """Wait until the mark has been passed; returns at once if it was never recorded."""
        if self._recorded:
            self._finish()

    def elapsed_time(self, end_event: Event) -> float:
        """Milliseconds from this mark to another one.

        Raises:
            ValueError: if one of them keeps no times, was not recorded or has not been passed.
        """
        both = (self, _checked(end_event, Event))
        if not all(e.enable_timing for e in both):
            raise ValueError("Both events must be created with argument 'enable_timing=True'.")
        if not all(e._recorded for e in both):
            raise ValueError("Both events must be recorded before calculating elapsed time.")
        if not all(e._is_done() for e in both):
            raise ValueError("Both events must be completed before calculating elapsed time.")
        return self._milliseconds(end_event)

    def _stream(self, given: Stream | None) -> Stream:
        if given is None:
            on = self.device or concrete(self._family)
            found: Stream = row_of(on.type).runtime.current_stream(on)
            return found
        return _checked(given, Stream)

    def __repr__(self) -> str:
        state = "not recorded" if not self._recorded else "done" if self._is_done() else "pending"
        name = "Event" if self.device is None else f"{self.device.type}.Event"
        return f"<torch.{name} {state}>"


class StreamContext:
    """Makes a stream the current one of its device, and its device current, for a ``with`` block.

    Args:
        stream: the stream; None leaves everything as it is.
    """

    __slots__ = ("_before", "stream")

    def __init__(self, stream: Stream | None) -> None:
        self.stream = None if stream is None else _checked(stream, Stream)
        self._before: list[tuple[int, Stream]] = []

    def __enter__(self) -> None:
        stream = self.stream
        if stream is None:
            return
        _launch_recorded()  # what was recorded before belongs on the stream before
        runtime = row_of(stream.device.type).runtime
        self._before += ((runtime.current_device(), runtime.current_stream(stream.device)),)
        try:
            runtime.set_device(stream.device.index or 0)
            runtime.set_stream(stream)
        except BaseException:
            self._leave()
            raise

    @from_entry
    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        traceback: TracebackType | None = None,
    ) -> None:
        try:
            if self.stream is not None:
                _launch_recorded()
        finally:
            self._end()

    def _leave(self) -> None:
        if self.stream is not None:
            index, previous = self._before[-1]
            runtime = row_of(self.stream.device.type).runtime
            runtime.set_stream(previous)
            runtime.set_device(index)
            del self._before[-1]

    _end = leaving(_leave)


StreamType = type[Stream]
EventType = type[Event]


def record_stream(self: Tensor, stream: Any) -> None:
    """Keep the memory, once the tensor is gone, until a stream has done what it has queued.

    To be called for a tensor that is used on another stream than it was made on.

    Raises:
        TypeError: if it is no stream.
        ValueError: if it is one of another device.
    """
    if not isinstance(stream, Stream):
        raise TypeError(f"record_stream expects a torch.Stream, got {type(stream).__name__}")
    if stream.device is not self._device:
        raise ValueError(f"a stream of {stream.device} cannot use a tensor on {self._device}")
    storage = self._settled()._own_storage()
    TABLE[self._device.type].runtime.record_stream(storage, stream)


attach(__name__, {"record_stream": record_stream})
