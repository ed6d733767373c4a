"""What was followed, as plain data: for the page, and for other programs."""

from __future__ import annotations

import linecache
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from ...deferred.pictures.history import History
from ...deferred.pictures.nodes import Flush
from ...ecosystem.profiler.devices import Task
from ...ecosystem.profiler.pipelines import TimedHistory
from ...ecosystem.profiler.recording import Span
from .following import Follower
from .memory import Held

__all__ = ["facts_of"]

_POINTS: Final = 4000  # of memory over time: more than a screen is wide
_LONGEST: Final = 200  # characters of a line of source
_NAMED: Final = 4  # ops in the name of a fused group

Facts = dict[str, Any]


def facts_of(follower: Follower, script: str, args: Sequence[str], status: int) -> Facts:
    """Everything that was followed; times are microseconds from the beginning.

    Args:
        follower: what followed the program, and has ended.
        script: the program's file.
        args: its arguments.
        status: its exit status.

    Returns:
        A mapping with ``ops`` (name, start, duration, thread, line, bytes made, shapes, in how many
        others it lies, and whether one of those is an op),
        ``pipelines``, ``flushes`` with what each launched, ``tasks`` of accelerators, ``asides`` of
        backends, ``memory`` by device, and ``sources``: the text of the lines named.
    """
    clock = _Clock(follower.begun)
    histories = follower.tracing.histories
    ops = _ops(follower, clock)
    flushes = sorted(
        (_flush(flush, clock) for h in histories for flush in h.flushes), key=lambda f: f["start"]
    )
    pipelines = [_pipeline(history, clock) for history in histories]
    places = {op["line"] for op in ops}
    places |= {place for f in flushes for place in (f["line"], *f["places"])}
    places |= {block["line"] for p in pipelines for block in p["blocks"]}
    places |= {held.peak_location for held in follower.memory.devices.values()}
    return {
        "script": script,
        "args": list(args),
        "status": status,
        "us": clock.since(follower.ended),
        "threads": {
            str(number): name
            for number, name in (follower.tracing.threads | follower.tracing.rows).items()
        },
        "ops": ops,
        "left_out": follower.left_out,
        "pipelines": pipelines,
        "flushes": flushes,
        "tasks": _tasks(follower, clock),
        "asides": [
            {
                "name": name,
                "start": clock.of(start),
                "us": clock.lasting(start, end),
                "thread": thread,
            }
            for name, start, end, thread in follower.tracing.asides
        ],
        "memory": {
            device: _held(held, clock) for device, held in sorted(follower.memory.devices.items())
        },
        "sources": {place: _source(place) for place in sorted(places - {""})},
    }


class _Clock:
    """Microseconds since the program began."""

    def __init__(self, begun: int) -> None:
        self._begun = begun

    def since(self, at: int) -> float:
        """Of a time in nanoseconds."""
        return round((at - self._begun) / 1000, 3)

    def of(self, at: float) -> float:
        """Of a time in seconds."""
        return self.since(round(at * 1e9))

    @staticmethod
    def lasting(start: float, end: float) -> float:
        """Of two times in seconds."""
        return round((end - start) * 1e6, 3)


# ---- ops -----------------------------------------------------------------------------------------


def _ops(follower: Follower, clock: _Clock) -> list[Facts]:
    """Ops and named blocks by their beginning, each with how many of them it lies in."""
    found = [(span, follower.lines.get(i, "")) for i, span in enumerate(follower.spans)]
    found.sort(key=lambda each: (each[0].thread, each[0].start, -each[0].end))
    open_: list[Span] = []
    rows = []
    for span, line in found:
        while open_ and (open_[-1].thread != span.thread or open_[-1].end <= span.start):
            open_.pop()
        rows.append(
            {
                "name": span.name.removeprefix("aten::"),
                "start": clock.since(span.start),
                "us": round(span.total / 1000, 3),
                "thread": span.thread,
                "depth": len(open_),
                "inner": any(each.is_op for each in open_),
                "line": line,
                "bytes": span.host_bytes + span.device_bytes,
                "shapes": [list(shape) for shape in span.shapes],
                "op": span.is_op,
            }
        )
        open_.append(span)
    return rows


def _tasks(follower: Follower, clock: _Clock) -> list[Facts]:
    """What accelerators did: for ops, and for what pipelines launched."""
    found = [
        _task(task, span.name.removeprefix("aten::"), clock)
        for span in follower.spans
        for task in span.tasks
    ]
    for history in follower.tracing.histories:
        if isinstance(history, TimedHistory):
            of = {id(flush): flush for flush in history.flushes}
            found += [
                _task(task, f"pipeline {history.number}: {of[number].reason}", clock)
                for number, task in history.tasks.items()
            ]
    return sorted(found, key=lambda task: task["start"])


def _task(task: Task, name: str, clock: _Clock) -> Facts:
    return {
        "name": name,
        "device": str(task.on),
        "stream": task.stream,
        "start": clock.since(task.start),
        "us": round(task.total / 1000, 3),
    }


# ---- pipelines -----------------------------------------------------------------------------------


def _pipeline(history: History, clock: _Clock) -> Facts:
    return {
        "number": history.number,
        "blocks": [
            {
                "line": block.location,
                "thread": block.thread,
                "start": clock.of(block.start),
                "us": None if block.end is None else clock.lasting(block.start, block.end),
            }
            for block in history.blocks
        ],
        "flushes": len(history.flushes),
        "ops": sum(len(flush.nodes) for flush in history.flushes),
        "pending": len(history.entries),
    }


def _flush(flush: Flush, clock: _Clock) -> Facts:
    nodes = flush.nodes
    return {
        "pipeline": flush.pipeline,
        "reason": flush.reason or "",
        "kind": _kind(flush.reason or ""),
        "line": flush.location,
        "thread": flush.thread,
        "start": clock.of(flush.start),
        "planned": clock.lasting(flush.start, flush.planned) if flush.planned else 0.0,
        "us": clock.lasting(flush.start, flush.end) if flush.end else 0.0,
        "ops": len(nodes),
        "fused": sum(n.group is not None for n in nodes),
        "groups": len({n.group for n in nodes} - {None}),
        "dropped": sum(n.dropped for n in nodes),
        "failed": sum(n.failed for n in nodes),
        "bytes": sum(n.nbytes for n in nodes if not n.dropped),
        "places": list(dict.fromkeys(n.location for n in nodes)),
        "launches": [
            {
                "name": _named([n.name for n in span.nodes]),
                "ops": [f"{n.name} {n.describe()}, {n.line}" for n in span.nodes],
                "start": clock.of(span.start),
                "us": clock.lasting(span.start, span.end),
                "group": span.group,
                "note": span.note,
                "failed": any(n.failed for n in span.nodes),
            }
            for span in flush.spans
        ],
    }


def _kind(reason: str) -> str:
    """What made a flush necessary: the block's ``end``, an op that cannot wait, or a ``look`` at a value."""
    if reason.startswith("break: "):
        return "break"
    return "end" if reason in ("end of block", "flush()", "backward()") else "look"


def _named(names: Sequence[str]) -> str:
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return ", ".join([*names[:_NAMED], *more])


# ---- memory and sources --------------------------------------------------------------------------


def _held(held: Held, clock: _Clock) -> Facts:
    return {
        "peak": held.peak,
        "peak_at": clock.since(held.peak_at),
        "peak_line": held.peak_location,
        "end": held.bytes,
        "points": [[clock.since(at), nbytes] for at, nbytes in _thinned(held.points)],
    }


def _thinned(points: Sequence[tuple[int, int]]) -> Iterable[tuple[int, int]]:
    """So many points that a screen can show, the highest and the lowest of each stretch among them."""
    if len(points) <= _POINTS:
        return points
    bounds = [i * len(points) // (_POINTS // 2) for i in range(_POINTS // 2 + 1)]
    kept: dict[tuple[int, int], None] = {}
    for low, high in pairwise(bounds):
        stretch = points[low:high]
        ends = (max(stretch, key=lambda p: p[1]), min(stretch, key=lambda p: p[1]))
        kept.update(dict.fromkeys(sorted(ends)))
    return list(kept)


def _source(place: str) -> str:
    """The text of a line; empty where the file cannot be read."""
    path, _, number = place.rpartition(":")
    if not number.isdecimal() or not Path(path).is_file():
        return ""
    return linecache.getline(path, int(number)).strip()[:_LONGEST]
