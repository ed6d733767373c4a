"""What a traced pipeline keeps: descriptions of all ops it recorded, and when they ran."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter
from typing import Any, NamedTuple

from .context import TRACING, Pipeline
from .describe import Describer
from .frames import user_line
from .graph import Flush, Graph, Node, Span
from .launch import Failed, Launch
from .trace import Entry, Plan, Step, location_of

__all__ = ["Block", "History", "Tracing", "pending_graph", "trace_pipelines"]


class StampedEntries(list[Any]):
    """Recorded ops that remember when each was recorded."""

    def __init__(self) -> None:
        super().__init__()
        self.times: list[float] = []

    def append(self, entry: Any) -> None:
        """Keep an op and the time."""
        self.times.append(perf_counter())  # first: another thread may flush between
        super().append(entry)


class Block(NamedTuple):
    """One ``with`` block of a pipeline: its line, its thread, and when it was open."""

    location: str
    thread: int
    start: float
    end: float | None


class Tracing:
    """Pipelines that are traced together, so that one's results are another one's inputs.

    Attributes:
        histories: one for each pipeline.
        threads: names of the threads that took part.
    """

    def __init__(self) -> None:
        self.histories: list[History] = []
        self.threads: dict[int, str] = {}
        self.describer = Describer()
        self.lock = threading.Lock()

    def new_history(self) -> History:
        """The history of one more pipeline."""
        with self.lock:
            history = History(self, len(self.histories) + 1)
            self.histories.append(history)
        return history

    def this_thread(self) -> int:
        """Identifier of the running thread, whose name is kept."""
        number = threading.get_native_id()
        self.threads.setdefault(number, threading.current_thread().name)
        return number

    def graph(self) -> Graph:
        """What all of them have launched, in order."""
        flushes = [flush for history in self.histories for flush in history.flushes]
        return Graph(sorted(flushes, key=lambda flush: flush.start))


class History:
    """What one pipeline recorded and launched.

    Attributes:
        number: its number among those that are traced together.
        entries: what it has recorded and not launched.
        flushes: what it has launched.
        blocks: its ``with`` blocks.
        recording: seconds from the first op recorded to the last, summed over flushes.
    """

    def __init__(self, tracing: Tracing, number: int) -> None:
        self.tracing = tracing
        self.number = number
        self.entries = StampedEntries()
        self.flushes: list[Flush] = []
        self.blocks: list[Block] = []
        self.recording = 0.0
        self._open: list[int] = []

    def entered(self) -> None:
        """Note that a block has begun."""
        location = location_of(*user_line())
        self._open.append(len(self.blocks))
        self.blocks.append(Block(location, self.tracing.this_thread(), perf_counter(), None))

    def left(self) -> None:
        """Note that the innermost block has ended."""
        at = self._open.pop()
        self.blocks[at] = self.blocks[at]._replace(end=perf_counter())

    def launch(self, entries: list[Entry | None], reason: str) -> Launch:
        """A launch that is traced, of the entries just taken from this history's."""
        times = self.entries.times[: len(entries)]
        del self.entries.times[: len(entries)]
        self.recording += times[-1] - times[0]
        tracing = self.tracing
        with tracing.lock:
            tracing.describer.start_anew()
            nodes = tracing.describer.describe((e for e in entries if e is not None), times)
        flush = Flush(reason, nodes, self.number, tracing.this_thread(), perf_counter())
        self.flushes.append(flush)
        return _TracedLaunch(entries, flush, tracing.describer)

    def with_pending(self) -> list[Flush]:
        """What was launched, and what is pending."""
        pending = list(self.entries)
        with self.tracing.lock:
            describer = self.tracing.describer.copy()
        nodes = describer.describe(pending, self.entries.times[: len(pending)])
        return [*self.flushes, Flush(None, nodes, self.number)]

    def graph(self) -> Graph:
        """All ops so far."""
        return Graph(self.with_pending())


class _TracedLaunch(Launch):
    """A launch that takes the time of each step and notes what became of each op."""

    def __init__(self, entries: list[Entry | None], flush: Flush, describer: Describer) -> None:
        super().__init__(entries)
        self._flush = flush
        self._describer = describer
        self._nodes = {id(e): node for e, node in zip(entries, flush.nodes, strict=True)}

    def run(self, plan: Plan | None = None) -> None:
        """Launch everything, with notes."""
        flush = self._flush
        for entry, node in zip(self.entries, flush.nodes, strict=True):
            node.dropped = entry is None
        flush.planned = perf_counter()
        try:
            super().run(plan)
        finally:
            flush.end = perf_counter()

    def _one(self, entry: Entry) -> None:
        start = perf_counter()
        super()._one(entry)
        self._note(start, [entry], None)

    def _several(self, step: Step, entries: list[Entry]) -> None:
        if step.compute is None:
            super()._several(step, entries)
            return
        spans = len(self._flush.spans)
        start = perf_counter()
        super()._several(step, entries)
        if len(self._flush.spans) == spans:  # else one needs a failed result: they ran singly
            self._note(start, entries, self._describer.new_group())

    def _note(self, start: float, entries: Sequence[Entry], group: int | None) -> None:
        end = perf_counter()
        nodes: list[Node] = []
        for entry in entries:
            node = self._nodes[id(entry)]
            if group is not None:
                node.group = group
            node.failed = any(
                s is not None and s.pending.__class__ is Failed
                for s in (t._storage for t in entry[3])
            )
            nodes.append(node)
        self._flush.spans.append(Span(start, end, tuple(nodes), group))


@contextmanager
def trace_pipelines() -> Iterator[Tracing]:
    """Trace every pipeline that is made while the block lasts, in any thread."""
    tracing = Tracing()
    TRACING.append(tracing)
    try:
        yield tracing
    finally:
        TRACING.remove(tracing)


def history_of(pipe: Pipeline) -> History:
    """The history of a pipeline that is traced.

    Raises:
        RuntimeError: if it is not.
    """
    if pipe._history is None:
        raise RuntimeError(
            "this pipeline keeps no trace of what it launches. Open it with torch.pipeline(trace=True)"
        )
    return pipe._history


def pending_graph(entries: Sequence[Entry]) -> Graph:
    """The graph of ops that are pending."""
    return Graph([Flush(None, Describer().describe(entries))])
