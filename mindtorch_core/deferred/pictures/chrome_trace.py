"""Traces for viewers of Chrome's trace event format, such as Perfetto and ``chrome://tracing``.

Rows are threads: an instant for each op that was recorded, a span for each flush, in it the spans of
planning and launching, in that one span for each op or fused group. Above them, a row for each
pipeline shows its blocks, and when it recorded.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

from ...values.shapes import show
from ..context import Pipeline
from .history import History, history_of
from .nodes import Flush, Node, Span

__all__ = ["export_chrome_trace", "trace_events", "write_chrome_trace"]

Event = dict[str, Any]
_NAMED: Final = 4  # ops in the name of a group


def write_chrome_trace(path: str | os.PathLike[str], histories: Sequence[History]) -> None:
    """Write the trace of some pipelines as JSON, compressed if the name ends in ``.gz``."""
    text = json.dumps({"traceEvents": trace_events(histories), "displayTimeUnit": "ns"})
    target = Path(path)
    if target.suffix == ".gz":
        target.write_bytes(gzip.compress(text.encode()))
    else:
        target.write_text(text, encoding="utf-8")


def export_chrome_trace(pipe: Pipeline, path: str | os.PathLike[str]) -> None:
    """Write the trace of a pipeline; see `Pipeline.export_chrome_trace`."""
    write_chrome_trace(path, [history_of(pipe)])


def trace_events(histories: Sequence[History]) -> list[Event]:
    """The events of some pipelines, by time; times are microseconds from the first."""
    process = os.getpid()
    threads: dict[int, str] = {}
    timed: list[Event] = []
    for history in histories:
        timed += _of_pipeline(history)
    for tracing in {id(h.tracing): h.tracing for h in histories}.values():
        threads |= tracing.threads | tracing.rows
        timed += [
            _span(name, "backend", start, end, thread)
            for name, start, end, thread in tracing.asides
        ]
    first = min((event["ts"] for event in timed), default=0.0)
    for event in timed:
        event["ts"] = round((event["ts"] - first) * 1e6, 3)
        event["pid"] = process
        if "dur" in event:
            event["dur"] = round(event["dur"] * 1e6, 3)
    timed.sort(key=lambda event: (event["ts"], -event.get("dur", 0.0)))
    used = {event["tid"] for event in timed}
    names = [
        _metadata(process, 0, "process_name", "mindtorch"),
        *(_metadata(process, i, "thread_name", t) for i, t in threads.items() if i in used),
    ]
    return names + timed


def _metadata(process: int, thread: int, kind: str, name: str) -> Event:
    return {"ph": "M", "pid": process, "tid": thread, "name": kind, "args": {"name": name}}


def _of_pipeline(history: History) -> Iterator[Event]:
    thread = 0
    last = 0.0
    flushes = history.with_pending()
    times = [n.recorded_at for f in flushes for n in f.nodes if n.recorded_at is not None]
    times += [f.end for f in flushes]
    for block in history.blocks:
        thread, where = block.thread, {"location": block.location}
        last = max([block.start, *times]) if block.end is None else block.end
        # Blocks and recording are no spans of a thread: those of generators overlap.
        yield _bound("b", f"pipeline {history.number}", block.start, thread, history.number, where)
        yield _bound("e", f"pipeline {history.number}", last, thread, history.number)
    for flush in flushes:
        stamped = [(n, n.recorded_at) for n in flush.nodes if n.recorded_at is not None]
        for node, at in stamped:
            yield {
                "ph": "i", "s": "t", "cat": "record", "name": node.name, "ts": at, "tid": thread,
                "args": {"op": node.number, **_facts(node)},
            }  # fmt: skip
        if stamped:
            about = {"ops": len(stamped)}
            yield _bound("b", "record", stamped[0][1], thread, history.number, about)
            yield _bound("e", "record", stamped[-1][1], thread, history.number)
        if flush.reason is not None:
            yield from _of_flush(flush, history.number)


def _bound(
    phase: str, name: str, at: float, thread: int, number: int, args: Event | None = None
) -> Event:
    """The begin or end of something of a pipeline."""
    return {
        "ph": phase, "cat": "pipeline", "id": number, "name": name, "ts": at, "tid": thread,
        "args": args or {},
    }  # fmt: skip


def _of_flush(flush: Flush, pipeline: int) -> Iterator[Event]:
    nodes = flush.nodes
    about = {
        "reason": flush.reason,
        "location": flush.location,
        "pipeline": pipeline,
        "ops": len(nodes),
        "dropped": sum(n.dropped for n in nodes),
        "made again": sum(n.remade for n in nodes),
        "groups": len({n.group for n in nodes} - {None}),
        "bytes": sum(n.nbytes for n in nodes if not n.dropped),
    }
    yield _span(f"flush: {flush.reason}", "flush", flush.start, flush.end, flush.thread, about)
    yield _span("plan", "flush", flush.start, flush.planned, flush.thread)
    yield _span("launch", "flush", flush.planned, flush.end, flush.thread)
    for span in flush.spans:
        yield _step(span, flush.thread)


def _step(span: Span, thread: int) -> Event:
    nodes = span.nodes
    if span.group is None:
        (node,) = nodes
        return _span(
            node.name, "launch", span.start, span.end, thread,
            {"op": node.number, **_facts(node)},
        )  # fmt: skip
    names = [n.name for n in nodes]
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return _span(
        f"fused: {', '.join([*names[:_NAMED], *more])}", "fused", span.start, span.end, thread,
        {
            "group": span.group,
            "ops": names,
            "numbers": [n.number for n in nodes],
            "shapes": [n.describe() for n in nodes],
            "locations": list(_distinct(n.location for n in nodes)),
            "bytes": sum(n.nbytes for n in nodes),
            "failed": any(n.failed for n in nodes),
            "computed": span.note,
        },
    )  # fmt: skip


def _facts(node: Node) -> Event:
    return {
        "results": node.describe(),
        "inputs": ", ".join(f"{show(use.shape)} {use.dtype}" for use in node.reads),
        "bytes": node.nbytes,
        "location": node.location,
        "failed": node.failed,
    }


def _span(
    name: str, category: str, start: float, end: float, thread: int, args: Event | None = None
) -> Event:
    return {
        "ph": "X", "cat": category, "name": name, "ts": start, "dur": end - start, "tid": thread,
        "args": args or {},
    }  # fmt: skip


def _distinct(values: Iterable[str]) -> Iterable[str]:
    return dict.fromkeys(values)
