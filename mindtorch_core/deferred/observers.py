"""Who follows a pipeline that is traced, and how it is drawn: supplied from above."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from .context import Pipeline
    from .launch import Launch
    from .pictures.graph import Graph
    from .trace import Entry

__all__ = ["ASIDES", "BESIDE", "BROKEN_OFF", "PICTURES", "TRACING", "Observer", "note_work"]


class Observer(Protocol):
    """What follows a pipeline that is traced.

    Attributes:
        recording: seconds from the first op recorded to the last, summed over flushes.
    """

    recording: float

    @property
    def entries(self) -> list[Entry]:
        """The list that the pipeline records to."""

    def entered(self) -> None:
        """A block has begun."""

    def left(self) -> None:
        """The innermost block has ended."""

    def launch(self, entries: list[Entry | None], reason: str) -> Launch:
        """A launch, of entries just taken from `entries`, that notes what it does."""


class _Pictures:
    """How pipelines are traced and drawn: filled in from above, so that recording needs no picture.

    Attributes:
        observer: makes the observer of a pipeline with ``trace=True``.
        graph: what `Pipeline.graph` gives.
        export: what `Pipeline.export_chrome_trace` does.
    """

    observer: Callable[[], Observer]
    graph: Callable[[Pipeline], Graph]
    export: Callable[[Pipeline, str | os.PathLike[str]], None]


PICTURES: Final = _Pictures()
# What makes the observer of every new pipeline, innermost last.
TRACING: Final[list[Callable[[], Observer]]] = []
# Whom backends tell what they did beside ops.
ASIDES: Final[list[Callable[[str, float, float, str], None]]] = []
# Who is told why a pipeline is broken off: an op that cannot be deferred, or a look at a value.
BROKEN_OFF: Final[list[Callable[[str], None]]] = []
# Who is told of blocks that begin, and of ops of threads that have none while others have.
BESIDE: Final[list[Callable[[str], None]]] = []


def note_work(name: str, start: float, end: float, row: str = "") -> None:
    """Tell traces and profiles what a backend did beside ops, such as compiling a kernel.

    Args:
        name: what it was, in a few words.
        start: when it began, on the clock of `time.perf_counter`.
        end: when it ended.
        row: where it is shown, if it was not this thread that was busy with it: a row of this name.
    """
    for listener in tuple(ASIDES):
        listener(name, start, end, row)
