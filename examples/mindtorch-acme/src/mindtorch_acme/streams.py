"""``torch.acme.Stream`` and ``torch.acme.Event``: the chip's queues and marks, for users."""

from __future__ import annotations

import itertools
from typing import Any, Final

from mindtorch_core import streams

from .chip import Chip, Mark, Queue
from .sending import chip_of, send, send_collected

__all__ = ["AcmeEvent", "AcmeStream", "queue_of"]

POOL: Final = 8  # queues of a chip besides the default one; streams beyond share them
_numbers: Final = itertools.count()


def queue_of(stream: Any) -> Queue:
    """The queue behind a stream, after this thread's batch has gone out."""
    send_collected()
    chip: Chip = chip_of(stream.device)
    return chip.queue(stream.stream_id)


class AcmeStream(streams.Stream):
    """An in-order queue of an acme device."""

    __slots__ = ()
    _family = "acme"

    @classmethod
    def _new_id(cls, on: Any, priority: int) -> int:
        return 1 + next(_numbers) % POOL

    def _is_done(self) -> bool:
        return queue_of(self).done()

    def _finish(self) -> None:
        queue_of(self).wait()


class AcmeEvent(streams.Event):
    """A mark in a stream of an acme device."""

    __slots__ = ("_mark",)
    _family = "acme"
    _mark: Mark

    def _record(self, stream: Any) -> None:
        self._mark = Mark()  # who waits for an earlier record still waits for that one
        send(stream, "an event", self._mark)

    def _hold(self, stream: Any) -> None:
        send(stream, "a wait for an event", self._mark.wait)

    def _is_done(self) -> bool:
        send_collected()
        return self._mark.passed()

    def _finish(self) -> None:
        send_collected()
        self._mark.wait()

    def _milliseconds(self, end: Any) -> float:
        seconds: float = end._mark.time - self._mark.time
        return 1000 * seconds
