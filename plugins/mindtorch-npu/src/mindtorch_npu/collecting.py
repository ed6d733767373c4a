"""What a thread's launches are collected in, if they are: a batch of `mindtorch_npu.batching`.

Whatever queues work on a stream, or waits for one, calls `send_collected` first: the order on the device is
that of the program.
"""

from __future__ import annotations

import threading
from typing import Any, Final, Protocol

__all__ = ["COLLECTING", "Collector", "send_collected"]


class Collector(Protocol):
    """What collects launches.

    Attributes:
        kind: what operators are after phase one.
        position: what the next ones belong to.
        opened: the operator whose phase one runs.
        collected: those that are to be queued, with their positions.
    """

    kind: Any
    position: int
    opened: Any
    collected: Any

    def send(self) -> None:
        """Queue everything."""


class _Local(threading.local):
    """What a thread's launches are collected in.

    Attributes:
        batch: where they go; None if they are queued at once.
        sending: whether a batch is just being queued.
    """

    batch: Collector | None = None
    sending: bool = False


COLLECTING: Final = _Local()


def send_collected() -> None:
    """Queue what this thread has collected, before something else goes to a stream."""
    batch = COLLECTING.batch
    if batch is not None:
        batch.send()
