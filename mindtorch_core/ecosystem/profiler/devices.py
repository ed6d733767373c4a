"""When the accelerator did what the host gave it, on the host's clock."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from ...streams import Event
from ...tensors.tensor import Tensor
from ...values.devices import device, row_of
from ..accelerator import current_accelerator, synchronize

__all__ = ["DeviceClock", "Task", "device_of"]

_MS = 1_000_000  # nanoseconds


@dataclass(slots=True)
class Task:
    """What an op put into a stream: the events before and behind it.

    Attributes:
        on: the device.
        stream: the stream's number.
        begun, done: events.
        start, end: nanoseconds on the host's clock, once they are known.
    """

    on: device
    stream: int
    begun: Any
    done: Any = None
    start: int = 0
    end: int = 0

    @property
    def total(self) -> int:
        """Nanoseconds that the device took."""
        return self.end - self.start


def device_of(values: Any) -> device | None:
    """The accelerator's device that one of some values lies on; None for none."""
    for value in values:
        if isinstance(value, Tensor):
            if value._device.type not in ("cpu", "meta"):
                return value._device
        elif isinstance(value, list | tuple):
            found = device_of(value)
            if found is not None:
                return found
    return None


class DeviceClock:
    """Takes the time of what is put into the accelerator's streams.

    A device's first event is recorded when it has nothing to do, so that its time is the host's.
    """

    def __init__(self) -> None:
        found = current_accelerator()
        self._type = None if found is None else found.type
        self._first: dict[device, tuple[Any, int]] = {}
        self.tasks: list[Task] = []

    def begin(self, values: Any) -> Task | None:
        """Note that an op of these arguments begins; None if the accelerator has no part in it."""
        on = device_of(values) if self._type is not None else None
        if on is None or on.type != self._type:
            return None
        if on not in self._first:
            synchronize(on)
            self._first[on] = _event(on), time.perf_counter_ns()
        stream = row_of(on.type).runtime.current_stream(on)
        return Task(on, stream.stream_id, _event(on))

    def end(self, task: Task) -> None:
        """Note that the op is queued."""
        task.done = _event(task.on)
        self.tasks.append(task)

    def settle(self) -> None:
        """Wait for all, and find their times."""
        for on, (first, at) in self._first.items():
            synchronize(on)
            for task in self.tasks:
                if task.on == on:
                    task.start = at + int(first.elapsed_time(task.begun) * _MS)
                    task.end = at + int(first.elapsed_time(task.done) * _MS)
        self._first.clear()


def _event(on: device) -> Any:
    """A mark behind what the current stream has; ops that a pipeline has recorded stay recorded."""
    made: Any = Event(on, enable_timing=True)
    made._record(row_of(on.type).runtime.current_stream(on))
    made._recorded = True
    return made
