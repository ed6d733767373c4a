"""What a profile tells: its spans, averages by name, tables, and the trace for Chrome's viewer."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

from .devices import Task
from .recording import Span

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg", "write_chrome_trace"]

_SUMS: Final = (
    "cpu_memory_usage", "cpu_time_total", "device_memory_usage", "device_time_total",
    "self_cpu_memory_usage", "self_cpu_time_total", "self_device_memory_usage",
    "self_device_time_total",
)  # fmt: skip
_SORTS: Final = (
    "count", "cpu_time", "cuda_memory_usage", "cuda_time", "cuda_time_total", "device_time",
    "self_cuda_memory_usage", "self_cuda_time_total", *_SUMS,
)  # fmt: skip


class FunctionEvent:
    """One span. Times are microseconds; those of devices are the accelerator's.

    Attributes:
        tasks: what it put into the accelerator's streams.
    """

    count = 1

    def __init__(self, span: Span) -> None:
        self.name = span.name
        # Averages are of all steps.
        self.key = "ProfilerStep*" if span.name.startswith("ProfilerStep#") else span.name
        self.thread: int | str = span.row or span.thread
        self.input_shapes = [list(shape) for shape in span.shapes]
        self.is_user_annotation = not span.is_op
        self.start_us, self.end_us = span.start / 1000, span.end / 1000
        self.cpu_time_total = span.total / 1000
        self.self_cpu_time_total = span.own / 1000
        self.tasks = span.tasks
        self.self_device_time_total = sum(t.total for t in span.tasks) / 1000
        inner = sum(t.total for t in span.inner_tasks) / 1000
        self.device_time_total = self.self_device_time_total + inner
        self.cpu_memory_usage, self.device_memory_usage = span.host_bytes, span.device_bytes
        self.self_cpu_memory_usage = span.host_bytes - span.inner_bytes[0]
        self.self_device_memory_usage = span.device_bytes - span.inner_bytes[1]

    @property
    def device_time(self) -> float:
        """Microseconds of one span on the accelerator."""
        return self.device_time_total / self.count

    # Names of old.
    cuda_time = device_time
    cuda_time_total = property(lambda self: self.device_time_total, doc="`device_time_total`.")
    self_cuda_time_total = property(
        lambda self: self.self_device_time_total, doc="`self_device_time_total`."
    )
    cuda_memory_usage = property(
        lambda self: self.device_memory_usage, doc="`device_memory_usage`."
    )
    self_cuda_memory_usage = property(
        lambda self: self.self_device_memory_usage, doc="`self_device_memory_usage`."
    )

    @property
    def cpu_time(self) -> float:
        """Microseconds of one span."""
        return self.cpu_time_total / self.count

    def __repr__(self) -> str:
        return (
            f"<{type(self).__name__} {self.name} cpu_time={self.cpu_time:.3f}us count={self.count}>"
        )


class FunctionEventAvg(FunctionEvent):
    """Spans of one name, added up."""

    def add(self, other: FunctionEvent) -> FunctionEventAvg:
        """Add a span."""
        for name in ("count", *_SUMS):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        return self


class EventList(list[FunctionEvent]):
    """Spans, or averages of them."""

    @property
    def self_cpu_time_total(self) -> float:
        """Microseconds of all."""
        return sum(event.self_cpu_time_total for event in self)

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, **options: Any
    ) -> EventList:
        """Spans added up by name, and by the arguments' shapes if asked for."""
        found: dict[Any, FunctionEventAvg] = {}
        for event in self:
            key = (event.key, str(event.input_shapes) if group_by_input_shape else "")
            known = found.get(key)
            if known is not None:
                known.add(event)
                continue
            made = found[key] = FunctionEventAvg.__new__(FunctionEventAvg)
            vars(made).update(vars(event))
            made.tasks = [*event.tasks]
            if not group_by_input_shape:
                made.input_shapes = []
        return EventList(found.values())

    def total_average(self) -> FunctionEventAvg:
        """All spans added up."""
        total = FunctionEventAvg(Span("Total", 0))
        total.count = 0
        for event in self:
            total.add(event)
        return total

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        **options: Any,
    ) -> str:
        """The list as text.

        Args:
            sort_by: an attribute of the events, such as ``self_cpu_time_total``; greatest first.
            row_limit: how many rows; -1 for all.
            max_src_column_width: ignored.
            max_name_column_width: longer names are cut.
            max_shapes_column_width: longer lists of shapes are cut.
            header: a line above.
            top_level_events_only: ignored.
            options: ignored.

        Raises:
            AttributeError: if events have no such attribute.
        """
        events: list[FunctionEvent] = list(self)
        if sort_by is not None:
            if sort_by not in _SORTS:
                raise AttributeError(f"cannot sort by {sort_by!r}: expected {', '.join(_SORTS)}")
            events.sort(key=lambda event: getattr(event, sort_by), reverse=True)
        if row_limit >= 0:
            events = events[:row_limit]
        total = self.self_cpu_time_total or 1.0
        columns: list[tuple[str, Callable[[FunctionEvent], str]]] = [
            ("Name", lambda e: _cut(e.key, max_name_column_width)),
            ("Self CPU %", lambda e: f"{e.self_cpu_time_total / total:.2%}"),
            ("Self CPU", lambda e: _time(e.self_cpu_time_total)),
            ("CPU total %", lambda e: f"{e.cpu_time_total / total:.2%}"),
            ("CPU total", lambda e: _time(e.cpu_time_total)),
            ("CPU time avg", lambda e: _time(e.cpu_time)),
            ("# of Calls", lambda e: str(e.count)),
        ]
        columns[-1:-1] = self._device_columns()
        columns[-1:-1] = [
            (title, lambda e, name=name: _size(getattr(e, name)))  # type: ignore[misc]
            for title, name in _MEMORY
            if any(getattr(event, name) for event in self)
        ]
        if any(event.input_shapes for event in self):
            columns.append(
                ("Input Shapes", lambda e: _cut(str(e.input_shapes), max_shapes_column_width))
            )
        text = _table([name for name, _ in columns], [[f(e) for _, f in columns] for e in events])
        above = [header] if header else []
        below = [f"Self CPU time total: {_time(self.self_cpu_time_total)}"]
        kind = self._device_kind()
        if kind:
            total = sum(event.self_device_time_total for event in self)
            below.append(f"Self {kind} time total: {_time(total)}")
        return "\n".join([*above, text, *below]) + "\n"

    def _device_kind(self) -> str:
        """The type of the accelerator whose times are known, in capitals; empty for none."""
        return next((task.on.type.upper() for event in self for task in event.tasks), "")

    def _device_columns(self) -> list[tuple[str, Callable[[FunctionEvent], str]]]:
        kind = self._device_kind()
        if not kind:
            return []
        total = sum(event.self_device_time_total for event in self) or 1.0
        return [
            (f"Self {kind}", lambda e: _time(e.self_device_time_total)),
            (f"Self {kind} %", lambda e: f"{e.self_device_time_total / total:.2%}"),
            (f"{kind} total", lambda e: _time(e.device_time_total)),
            (f"{kind} time avg", lambda e: _time(e.device_time)),
        ]

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write the spans for Chrome's viewer or Perfetto."""
        write_chrome_trace(path, self, {})

    def __str__(self) -> str:
        return self.table()


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."


_MEMORY: Final = (
    ("CPU Mem", "cpu_memory_usage"), ("Self CPU Mem", "self_cpu_memory_usage"),
    ("Device Mem", "device_memory_usage"), ("Self Device Mem", "self_device_memory_usage"),
)  # fmt: skip


def _size(nbytes: int) -> str:
    for unit, size in (("GB", 1 << 30), ("MB", 1 << 20), ("KB", 1 << 10)):
        if nbytes >= size:
            return f"{nbytes / size:.2f} {unit}"
    return f"{nbytes} B"


def _time(us: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if us >= size:
            return f"{us / size:.3f}{unit}"
    return f"{us:.3f}us"


def _table(names: list[str], rows: list[list[str]]) -> str:
    widths = [max(map(len, column)) for column in zip(names, *rows, strict=True)]
    rule = "  ".join("-" * width for width in widths)
    lines = ["  ".join(f"{cell:>{w}}" for cell, w in zip(row, widths, strict=True)) for row in rows]
    head = "  ".join(f"{name:>{w}}" for name, w in zip(names, widths, strict=True))
    return "\n".join([rule, head, rule, *lines, rule])


def _device_event(event: FunctionEvent, task: Task) -> dict[str, Any]:
    """What the accelerator did, on a row of its own for each stream."""
    return {
        "ph": "X", "cat": "kernel", "name": event.name, "pid": str(task.on),
        "tid": f"stream {task.stream}", "ts": task.start / 1000, "dur": task.total / 1000,
        "args": {"device": task.on.index or 0, "stream": task.stream},
    }  # fmt: skip


def write_chrome_trace(
    path: str | os.PathLike[str], events: Sequence[FunctionEvent], metadata: dict[str, Any]
) -> None:
    """Write spans as JSON for Chrome's viewer; a name that ends in ``.gz`` is compressed."""
    pid = os.getpid()
    shown = [
        {
            "ph": "X",
            "cat": "user_annotation" if e.is_user_annotation else "cpu_op",
            "name": e.name,
            "pid": pid,
            "tid": e.thread,
            "ts": e.start_us,
            "dur": e.cpu_time_total,
            "args": {
                **({"Input Dims": e.input_shapes} if e.input_shapes else {}),
                **{title: getattr(e, name) for title, name in _MEMORY if getattr(e, name)},
            },
        }
        for e in sorted(events, key=lambda e: e.start_us)
    ]
    shown += [_device_event(e, task) for e in events for task in e.tasks]
    text = json.dumps({"schemaVersion": 1, **metadata, "traceEvents": shown})
    data = text.encode("utf-8")
    Path(path).write_bytes(gzip.compress(data) if str(path).endswith(".gz") else data)
