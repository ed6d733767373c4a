"""How many bytes the tensors hold that ops have made or taken, over time."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from time import perf_counter_ns
from typing import Any, Final

from ...deferred.dependence import memory_of
from ...tensors.storage import Storage
from ...tensors.tensor import Tensor

__all__ = ["Held", "Memory", "tensors_among"]

_MOST: Final = 100_000  # changes kept for a device; of more, every second one goes


@dataclass
class Held:
    """What is held on one device.

    Attributes:
        bytes: now.
        peak: the most so far.
        peak_at: when that was, in nanoseconds of `time.perf_counter_ns`.
        peak_location: the user's line that ran then.
        points: time and bytes of each change; where there were very many, of some.
    """

    bytes: int = 0
    peak: int = 0
    peak_at: int = 0
    peak_location: str = ""
    points: list[tuple[int, int]] = field(default_factory=list)
    _step: int = 1
    _left_out: int = 0

    def change(self, by: int, location: str) -> None:
        """Count bytes that came or went."""
        self.bytes += by
        now = perf_counter_ns()
        if self.bytes > self.peak:
            self.peak, self.peak_at, self.peak_location = self.bytes, now, location
        self._left_out += 1
        if self._left_out >= self._step:
            self._left_out = 0
            self.points.append((now, self.bytes))
            if len(self.points) >= _MOST:
                del self.points[1::2]
                self._step *= 2


class Memory:
    """Follows memory from the first op that makes or takes a tensor over it to its end.

    What pipelines have recorded has none until it is launched; what they fuse away never has any.

    Attributes:
        devices: what is held, by the device's name.
        location: the user's line that runs.
    """

    def __init__(self) -> None:
        self.devices: dict[str, Held] = {}
        self.location = ""
        # By id of what stands for the memory: that, weakly, the device, and the bytes.
        self._known: dict[int, tuple[weakref.ref[Any], str, int]] = {}

    def see(self, t: Tensor) -> None:
        """Count a tensor's memory, if it has some and is seen for the first time."""
        if t._device.type == "meta":
            return
        memory: Any = memory_of(t)
        known = self._known.get(id(memory))
        if known is not None and known[0]() is memory:
            return
        if isinstance(memory, Storage):
            own = self._known.pop(id(t), None)
            if own is not None and own[0]() is t:  # it was a tensor's own until a view was made
                self._keep(memory, own[1], own[2])
                return
            if memory.memory is None:
                return
            nbytes = memory.size_bytes
        elif t._payload is None:
            return
        else:
            nbytes = t.nbytes
        device = str(t._device)
        self._keep(memory, device, nbytes)
        self.devices.setdefault(device, Held()).change(nbytes, self.location)

    def _keep(self, memory: Any, device: str, nbytes: int) -> None:
        key = id(memory)
        self._known[key] = (weakref.ref(memory, partial(self._gone, key)), device, nbytes)

    def _gone(self, key: int, ref: weakref.ref[Any]) -> None:
        known = self._known.get(key)
        if known is not None and known[0] is ref:
            del self._known[key]
            self.devices[known[1]].change(-known[2], self.location)


def tensors_among(values: Any) -> Iterator[Tensor]:
    """The tensors of an op's arguments or results, parameters too."""
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from tensors_among(value)
