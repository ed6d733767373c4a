"""What pipelines launch while a profile is taken, with the accelerator's time of each launch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...deferred.launch import Launch
from ...deferred.pictures.history import History, Tracing
from ...deferred.planning import Part
from ...deferred.trace import Entry
from .devices import DeviceClock, Task

__all__ = ["TimedHistory"]


class TimedHistory(History):
    """A pipeline's history, with the task of each flush.

    Attributes:
        tasks: by the flush's ``id``.
    """

    def __init__(self, tracing: Tracing, number: int, clock: DeviceClock | None) -> None:
        super().__init__(tracing, number)
        self.tasks: dict[int, Task] = {}
        self._clock = clock

    def launch(self, entries: list[Entry | None], reason: str) -> Launch:
        """A launch whose time on the accelerator is taken."""
        made: Any = super().launch(entries, reason)
        clock, run, flush = self._clock, made.run, self.flushes[-1]
        if clock is None:
            return made  # type: ignore[no-any-return]

        def timed(parts: Sequence[Part]) -> None:
            task = clock.begin([t for e in entries if e is not None for t in e.outs])
            try:
                run(parts)
            finally:
                if task is not None:
                    clock.end(task)
                    self.tasks[id(flush)] = task

        made.run = timed
        return made  # type: ignore[no-any-return]
