"""How work gets to a chip: at once, or collected while a pipeline launches and sent in one message."""

from __future__ import annotations

import threading
from collections.abc import Callable
from itertools import groupby
from typing import Any, Final

from mindtorch_core.dispatch.pipeline import Batch

from .chip import Chip, Queue

__all__ = ["CHIPS", "AcmeBatch", "chip_of", "send", "send_collected"]


CHIPS: Final[dict[int, Chip]] = {}  # those that were used, by index
_starting: Final = threading.Lock()


def chip_of(on: Any) -> Chip:
    """The chip of a device; it is started when it is first used."""
    found = CHIPS.get(on.index)
    if found is None:
        with _starting:
            found = CHIPS.setdefault(on.index, CHIPS.get(on.index) or Chip(on.index))
    return found


class _Thread(threading.local):
    """What this thread's work is collected in, or None."""

    batch: AcmeBatch | None = None


_thread: Final = _Thread()


def send(stream: Any, name: str, job: Callable[[], object]) -> None:
    """Queue work on a stream, or keep it for the end of the batch; ``name`` is for error texts."""
    queue = chip_of(stream.device).queue(stream.stream_id)
    if _thread.batch is None:
        queue.send([(name, job)])
    else:
        _thread.batch.jobs.append((queue, (name, job)))


def send_collected() -> None:
    """Send what this thread has collected: whoever waits calls it first."""
    if _thread.batch is not None:
        _thread.batch.send()


class AcmeBatch(Batch):
    """What the kernels of a pipeline queue; goes out as one message for each run of one queue."""

    def __init__(self) -> None:
        self.jobs: list[tuple[Queue, Any]] = []
        self._outer: AcmeBatch | None = None

    def start(self) -> None:
        """Collect; a batch that is open already goes out first."""
        send_collected()
        self._outer, _thread.batch = _thread.batch, self

    def stop(self) -> None:
        """Collect no more."""
        if _thread.batch is self:
            _thread.batch = self._outer
        self.jobs.clear()

    def send(self) -> None:
        """Queue what was collected."""
        collected, self.jobs = self.jobs, []
        for queue, jobs in groupby(collected, key=lambda pair: pair[0]):
            queue.send([job for _, job in jobs])
