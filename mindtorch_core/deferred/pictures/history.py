"""What a traced pipeline keeps: descriptions of all ops it recorded, and when they ran."""

from __future__ import annotations

import threading
import zlib
from collections.abc import Callable, Iterable, Sequence
from time import perf_counter
from typing import Any, Final, NamedTuple

from ...values.forks import fork_safe
from ..context import Pipeline
from ..failures import Failed
from ..frames import user_line
from ..launch import Launch
from ..planning import Part
from ..remaking.recorded import Remade
from ..trace import Entry, Step, location_of
from .describe import Describer
from .graph import Graph
from .nodes import Flush, Node, Span

__all__ = ["Block", "History", "Tracing", "graph_of", "history_of"]

_NO_THREAD: Final = 1 << 31  # systems give threads smaller numbers


class StampedEntries(list[Any]):
    """Recorded ops that remember when each was recorded."""

    def __init__(self) -> None:
        super().__init__()
        self._times: dict[int, float] = {}  # by id of an entry

    def append(self, entry: Any) -> None:
        """Keep an op and the time."""
        self._times[id(entry)] = perf_counter()  # first: another thread may flush between
        super().append(entry)

    def times_of(self, entries: Iterable[Any]) -> list[float | None]:
        """When each was recorded; None for those that an interrupt has left over elsewhere."""
        return [self._times.get(id(entry)) for entry in entries]

    def forget(self, entries: Iterable[Any]) -> None:
        """Drop the times of what was launched."""
        for entry in entries:
            self._times.pop(id(entry), None)


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
        rows: names of what was busy and is no thread, by numbers that no thread has.
        asides: what backends did beside ops: a name, when it began and ended, and the thread or row.
    """

    def __init__(self) -> None:
        self.asides: list[tuple[str, float, float, int]] = []
        self.histories: list[History] = []
        self.threads: dict[int, str] = {}
        self.rows: dict[int, str] = {}
        self.describer = Describer()
        self.lock = fork_safe(threading.RLock())

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

    def aside(self, name: str, start: float, end: float, row: str = "") -> None:
        """Keep what a backend did beside ops."""
        number = _NO_THREAD + zlib.crc32(row.encode()) % _NO_THREAD if row else self.this_thread()
        if row:
            self.rows[number] = row
        self.asides.append((name, start, end, number))

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
        at = self._open[-1]
        self.blocks[at] = self.blocks[at]._replace(end=perf_counter())
        del self._open[-1]  # last: until then it may be called again

    def launch(self, entries: list[Entry | None], reason: str) -> Launch:
        """A launch that is traced, of the entries just taken from this history's."""
        times = self.entries.times_of(entries)
        stamped = [at for at in times if at is not None]
        if stamped:
            self.recording += stamped[-1] - stamped[0]
        tracing = self.tracing
        with tracing.lock:
            tracing.describer.start_anew()
            nodes = tracing.describer.describe((e for e in entries if e is not None), times)
        flush = Flush(reason, nodes, self.number, tracing.this_thread(), perf_counter())
        flush.location = location_of(*user_line())
        self.flushes.append(flush)
        return _TracedLaunch(entries, flush, self)

    def with_pending(self) -> list[Flush]:
        """What was launched, and what is pending."""
        pending = list(self.entries)
        with self.tracing.lock:
            describer = self.tracing.describer.copy()
        nodes = describer.describe(pending, self.entries.times_of(pending))
        return [*self.flushes, Flush(None, nodes, self.number)]

    def graph(self) -> Graph:
        """All ops so far."""
        return Graph(self.with_pending())


class _TracedLaunch(Launch):
    """A launch that takes the time of each step and notes what became of each op."""

    def __init__(self, entries: list[Entry | None], flush: Flush, history: History) -> None:
        super().__init__(entries)
        self._flush = flush
        self._describer = history.tracing.describer
        self._stamps = history.entries
        self._nodes = {id(e): node for e, node in zip(entries, flush.nodes, strict=True)}

    def take(self, found: Remade) -> None:
        """Launch ops of which some make values again: what is noted of them is noted of the first ones."""
        nodes = self._flush.nodes
        self._nodes = {id(e): nodes[i] for e, i in zip(found.entries, found.origins, strict=True)}
        for i in found.again:
            nodes[found.origins[i]].remade = True
        super().take(found)

    def run(self, parts: Sequence[Part]) -> None:
        """Launch everything, with notes."""
        flush = self._flush
        present = {id(self._nodes[id(e)]) for e in self.entries if e is not None}
        for node in flush.nodes:
            node.dropped = id(node) not in present
        flush.planned = perf_counter()
        super().run(parts)

    def finish(self, interrupt: BaseException | None) -> None:
        """Say what has failed; what has not run is no part of this flush."""
        super().finish(interrupt)
        left = {
            id(self._nodes[id(e)])
            for e in self.left_over()
            if id(e) in self._nodes and not e.op.repeats
        }
        self._flush.nodes = [node for node in self._flush.nodes if id(node) not in left]
        self._flush.end = perf_counter()

    def _one(self, i: int, entry: Entry) -> None:
        start = perf_counter()
        super()._one(i, entry)
        self._note(start, [entry], None)

    def _compute(
        self, step: Step, entries: list[Entry], compute: Callable[[], Sequence[Any]]
    ) -> Exception | None:
        start = perf_counter()
        raised = super()._compute(step, entries, compute)
        if raised is None:
            self._note(start, entries, self._describer.new_group(), getattr(compute, "note", None))
        return raised

    def _note(
        self, start: float, entries: Sequence[Entry], group: int | None, how: str | None = None
    ) -> None:
        end = perf_counter()
        nodes: list[Node] = []
        for entry in entries:
            node = self._nodes[id(entry)]
            if group is not None:
                node.group = group
            node.failed = any(
                s is not None and s.pending.__class__ is Failed
                for s in (t._storage for t in entry.outs)
            )
            nodes.append(node)
        self._stamps.forget(entries)
        self._flush.spans.append(Span(start, end, tuple(nodes), group, how))


def history_of(pipe: Pipeline) -> History:
    """The history of a pipeline that is traced.

    Raises:
        RuntimeError: if it is not.
    """
    history = pipe.observer
    if not isinstance(history, History):
        raise RuntimeError(
            "this pipeline keeps no trace of what it launches. Open it with torch.pipeline(trace=True)"
        )
    return history


def graph_of(pipe: Pipeline) -> Graph:
    """All ops of a pipeline that is traced, and those that are pending of any other."""
    history = pipe.observer
    if isinstance(history, History):
        return history.graph()
    return Graph([Flush(None, Describer().describe(list(pipe.entries)))])
