"""Recorded ops as plain data: which were launched together, what they are, and what needs what.

A listing describes tensors and keeps none of them alive.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Self

from ...values.shapes import Shape, show

__all__ = ["Edge", "Flush", "Input", "Listing", "Node", "Span", "Use", "count", "printable", "size"]

_LISTED: Final = 40


class Use(NamedTuple):
    """A tensor that an op takes.

    Attributes:
        value: number of the tensor.
        sources: numbers of the ops that gave it its value: those that made it or wrote its memory.
            None of them was recorded where there are none.
        shape, dtype: what it is.
    """

    value: int
    sources: tuple[int, ...]
    shape: Shape
    dtype: str


@dataclass(slots=True, eq=False)
class Node:
    """A recorded op.

    Attributes:
        number: its place in program order.
        op: qualified name, such as ``aten::mul``.
        results: shape and dtype of each result.
        nbytes: size of the results.
        reads: its tensor arguments.
        constants: its other arguments, as text.
        location: ``file:line`` that recorded it.
        writes: whether it writes its first argument, in place.
        view: whether its result shares the first argument's memory.
        after: numbers of ops that read what it overwrites.
        group: number of the fused group it was launched in, or None.
        dropped: whether it was left out because nobody could see its result.
        failed: whether its result could not be computed.
        remade: whether its result was let go, and made again for a late op.
        recorded_at: when, on the clock of `time.perf_counter`; None where nobody traced.
    """

    number: int
    op: str
    results: tuple[tuple[Shape, str], ...]
    nbytes: int
    reads: tuple[Use, ...]
    constants: tuple[str, ...]
    location: str
    writes: bool
    view: bool
    after: tuple[int, ...] = ()
    group: int | None = None
    dropped: bool = False
    failed: bool = False
    remade: bool = False
    recorded_at: float | None = None

    @property
    def name(self) -> str:
        """The op's name, without ``aten::``."""
        return self.op.removeprefix("aten::")

    @property
    def shape(self) -> Shape | None:
        """Shape of the first result."""
        return self.results[0][0] if self.results else None

    @property
    def dtype(self) -> str | None:
        """Name of the first result's dtype."""
        return self.results[0][1] if self.results else None

    @property
    def line(self) -> str:
        """The location without folders: ``train.py:12``."""
        return os.path.basename(self.location)

    @property
    def marks(self) -> list[str]:
        """What is special about it, in words."""
        return [
            text
            for text, holds in (
                ("in place", self.writes),
                ("view", self.view),
                (f"group {self.group}", self.group is not None),
                ("dropped", self.dropped),
                ("failed", self.failed),
                ("made again", self.remade),
            )
            if holds
        ]

    def describe(self) -> str:
        """Its results: ``[2, 3] float32``."""
        return ", ".join(f"{show(shape)} {dtype}" for shape, dtype in self.results)


class Span(NamedTuple):
    """Time in which one op, or a fused group of them, ran, and how, if the backend says so."""

    start: float
    end: float
    nodes: tuple[Node, ...]
    group: int | None
    note: str | None = None


@dataclass(slots=True, eq=False)
class Flush:
    """Ops that were launched together, or wait to be.

    Attributes:
        reason: what made the pipeline flush; None while the ops are pending.
        nodes: the ops, in program order.
        pipeline: number of the pipeline, among those that were traced together.
        thread: identifier of the thread that launched them.
        start, planned, end: when planning and launching began, and when all was done, on the clock
            of `time.perf_counter`.
        spans: what was launched when.
        location: ``file:line`` that made it necessary.
    """

    reason: str | None
    nodes: list[Node]
    pipeline: int = 1
    thread: int = 0
    start: float = 0.0
    planned: float = 0.0
    end: float = 0.0
    spans: list[Span] = field(default_factory=list)
    location: str = ""

    @property
    def summary(self) -> str:
        """Reason and counts: ``item(): 12 ops, 8 fused into 2 groups, 1 dropped``."""
        nodes = self.nodes
        fused = [n.group for n in nodes if n.group is not None]
        parts = [count(len(nodes), "op")]
        if fused:
            parts.append(f"{len(fused)} fused into {count(len(set(fused)), 'group')}")
        for word, number in (
            ("dropped", sum(n.dropped for n in nodes)),
            ("failed", sum(n.failed for n in nodes)),
            ("made again", sum(n.remade for n in nodes)),
        ):
            if number:
                parts.append(f"{number} {word}")
        return f"{self.reason or 'pending'}: {', '.join(parts)}"


class Input(NamedTuple):
    """A tensor that ops of a flush take and that no recorded op made.

    Attributes:
        number: negative, so that it is no op's.
        flush: index of the flush.
        shape, dtype: what it is.
    """

    number: int
    flush: int
    shape: Shape
    dtype: str

    @property
    def name(self) -> str:
        """What listings call it: ``in1``."""
        return f"in{-self.number}"


class Edge(NamedTuple):
    """One op, or input, before another.

    Attributes:
        source, target: their numbers.
        order: whether no value goes along: the target overwrites what the source reads.
    """

    source: int
    target: int
    order: bool = False


class Listing:
    """What a pipeline has recorded, to be read and printed.

    Attributes:
        flushes: the ops by launch; the last may be pending.
        inputs: tensors from outside.
        edges: which op needs what another one, or an input, gives.
        left_out: number of ops that `first` left out.
    """

    def __init__(self, flushes: Sequence[Flush], left_out: int = 0) -> None:
        self.left_out = left_out
        self.flushes = [f for f in flushes if f.nodes]
        self.inputs: list[Input] = []
        self.edges: list[Edge] = []
        self._names: dict[tuple[int, int], str] = {}  # what an op's argument is called, by value
        known = {node.number for node in self.nodes}
        for i, flush in enumerate(self.flushes):
            inputs: dict[int, Input] = {}
            for node in flush.nodes:
                self._connect(i, node, known, inputs)

    def _connect(self, flush: int, node: Node, known: set[int], inputs: dict[int, Input]) -> None:
        sources: dict[int, None] = {}
        for use in node.reads:
            made = [s for s in use.sources if s in known]
            if not made:
                source = inputs.get(use.value)
                if source is None:
                    source = Input(-1 - len(self.inputs), flush, use.shape, use.dtype)
                    inputs[use.value] = source
                    self.inputs.append(source)
                made = [source.number]
            last = max(made)
            self._names[node.number, use.value] = f"%{last}" if last >= 0 else f"in{-last}"
            sources.update(dict.fromkeys(made))
        self.edges += [Edge(s, node.number) for s in sources]
        self.edges += [
            Edge(s, node.number, True) for s in node.after if s in known and s not in sources
        ]

    @property
    def nodes(self) -> list[Node]:
        """All ops, in the order of their launch."""
        return [node for flush in self.flushes for node in flush.nodes]

    def first(self, count: int) -> Self:
        """The same of the first ops only, for pictures that can still be read."""
        kept: list[Flush] = []
        left = count
        for flush in self.flushes:
            if left <= 0:
                break
            nodes = flush.nodes[:left]
            kept.append(Flush(flush.reason, nodes, flush.pipeline))
            left -= len(nodes)
        return type(self)(kept, len(self) - count + left)

    def __len__(self) -> int:
        return sum(len(flush.nodes) for flush in self.flushes)

    def __iter__(self) -> Iterator[Node]:
        return iter(self.nodes)

    def __repr__(self) -> str:
        """A listing: one line for each op, the first ones if there are many."""
        total = len(self)
        if not total:
            return (
                "<Graph of 0 ops: nothing is pending. torch.pipeline(trace=True) also shows what "
                "was launched>"
            )
        lines = [f"Graph of {count(total, 'op')} in {count(len(self.flushes), 'cluster')}"]
        left = _LISTED
        for number, flush in enumerate(self.flushes, 1):
            if left <= 0:
                break
            lines.append(f"{self.title(number, flush)}")
            lines += _aligned([self._row(n) for n in flush.nodes[:left]])
            left -= len(flush.nodes)
        if total > _LISTED:
            lines.append(f"... and {count(total - _LISTED, 'more op', 'more ops')}")
        return "\n".join(lines)

    def title(self, number: int, flush: Flush) -> str:
        """A cluster's heading."""
        several = len({f.pipeline for f in self.flushes}) > 1
        where = f"pipeline {flush.pipeline}, " if several else ""
        return (
            f"{where}flush {number}, {flush.summary}" if flush.reason else f"{where}{flush.summary}"
        )

    def _row(self, node: Node) -> tuple[str, ...]:
        given = [self._names[node.number, use.value] for use in node.reads]
        call = f"%{node.number} = {node.name}({', '.join([*given, *node.constants])})"
        return call, node.describe(), size(node.nbytes), node.line, ", ".join(node.marks)


# What XML cannot hold: most control characters, and the halves of characters beyond 16 bits that
# stand in file names that are no UTF-8.
_UNPRINTABLE: Final = re.compile(r"[^\t\n\r -\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def printable(text: str) -> str:
    """Text for pictures: what they cannot hold is written as in a Python string."""
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def count(number: int, what: str, many: str | None = None) -> str:
    """A number with a noun: ``1 op``, ``2 ops``."""
    return f"{number} {what if number == 1 else many or what + 's'}"


def size(nbytes: int) -> str:
    """A number of bytes as people read it: ``24 B``, ``1.5 MiB``."""
    if nbytes < 1024:
        return f"{nbytes} B"
    value = float(nbytes)
    for unit in ("KiB", "MiB", "GiB"):
        value /= 1024
        if value < 1024 or unit == "GiB":
            break
    return f"{value:.4g} {unit}"


def _aligned(rows: list[tuple[str, ...]]) -> list[str]:
    """Rows as lines, their columns below each other."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip()
        for row in rows
    ]
