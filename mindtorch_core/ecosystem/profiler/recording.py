"""What a profile writes down: a span of time for each op, and for each block that a program names."""

from __future__ import annotations

import functools
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, Self, TypeVar

from ...deferred.dependence import memory_of
from ...deferred.observers import ASIDES, TRACING
from ...deferred.pictures.history import Tracing
from ...deferred.pictures.nodes import Flush
from ...frontend.dispatch_modes import DispatchMode
from ...tensors.tensor import Tensor
from .devices import DeviceClock, Task
from .pipelines import TimedHistory

__all__ = ["Recorder", "Span", "profiled", "record_function"]

_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(slots=True)
class Span:
    """One op or block.

    Attributes:
        name: such as ``aten::mm``.
        start, end: nanoseconds since some time.
        inner: nanoseconds that spans inside it take.
        thread: the system's number of the thread.
        shapes: of the arguments that are tensors, if they were asked for.
        is_op: whether it is an op.
        host_bytes, device_bytes: of the memory that it made, spans inside it included.
        inner_bytes: of those, on the host and on devices.
        tasks: what it put into an accelerator's streams, without spans inside it.
        inner_tasks: what those put there.
        row: the name of what was busy, if that was not the thread.
    """

    name: str
    start: int
    end: int = 0
    inner: int = 0
    thread: int = 0
    shapes: tuple[tuple[int, ...], ...] = ()
    is_op: bool = True
    host_bytes: int = 0
    device_bytes: int = 0
    inner_bytes: list[int] = field(default_factory=lambda: [0, 0])
    tasks: list[Task] = field(default_factory=list)
    inner_tasks: list[Task] = field(default_factory=list)
    row: str = ""

    @property
    def total(self) -> int:
        """Nanoseconds from its start to its end."""
        return self.end - self.start

    @property
    def own(self) -> int:
        """Nanoseconds without those of spans inside it."""
        return self.total - self.inner


@dataclass
class _Thread(threading.local):
    """A thread's recorders, and the spans that are open."""

    recorders: list[Recorder] = field(default_factory=list)
    open: list[Span] = field(default_factory=list)


_THREAD: Final = _Thread()


def profiled() -> bool:
    """Whether a profile of this thread is being taken."""
    return bool(_THREAD.recorders)


def _begin(name: str, *, is_op: bool, shapes: tuple[tuple[int, ...], ...] = ()) -> Span:
    span = Span(name, time.perf_counter_ns(), 0, 0, threading.get_native_id(), shapes, is_op)
    _THREAD.open.append(span)
    return span


def _end(span: Span) -> None:
    span.end = time.perf_counter_ns()
    waiting = _THREAD.open
    while waiting and waiting.pop() is not span:  # a generator may have left one open
        pass
    if waiting:
        above = waiting[-1]
        above.inner += span.total
        above.host_bytes += span.host_bytes
        above.device_bytes += span.device_bytes
        above.inner_bytes[0] += span.host_bytes
        above.inner_bytes[1] += span.device_bytes
        above.inner_tasks += span.tasks + span.inner_tasks


class Recorder(DispatchMode):
    """Times the ops of the thread that enters it, in forward and backward, and its named blocks.

    Ops are seen where backends compute them, so a composition shows as its parts. On a device that
    queues its work a span is what the host takes to queue it; its task is what the device then does.
    What pipelines launch shows where they launch it.

    Args:
        shapes: write down the shapes of arguments.
        memory: write down the bytes that results take.
        devices: take the times of the accelerator too.

    Attributes:
        spans: what was recorded, as it ended.
        clock: takes the accelerator's times; None if they are not taken.
        tracing: the pipelines.
    """

    def __init__(self, shapes: bool, memory: bool = False, devices: bool = False) -> None:
        self.spans: list[Span] = []
        self.clock = DeviceClock() if devices else None
        self._shapes = shapes
        self._memory = memory
        self.tracing = Tracing()

    def new_history(self) -> TimedHistory:
        """The history of one more pipeline."""
        tracing = self.tracing
        with tracing.lock:
            made = TimedHistory(tracing, len(tracing.histories) + 1, self.clock)
            tracing.histories.append(made)
        return made

    def __enter__(self) -> Self:
        _THREAD.recorders.append(self)
        TRACING.append(self.new_history)
        ASIDES.append(self.tracing.aside)
        return super().__enter__()

    def __exit__(self, *exc_info: object) -> None:
        super().__exit__(*exc_info)
        TRACING.remove(self.new_history)
        ASIDES.remove(self.tracing.aside)
        _THREAD.recorders.remove(self)
        if self.clock is not None:
            self.clock.settle()
        rows = self.tracing.rows
        self.spans += [_beside(*each, rows.get(each[-1], "")) for each in self.tracing.asides]
        for history in self.tracing.histories:
            tasks = history.tasks if isinstance(history, TimedHistory) else {}
            for flush in history.flushes:
                self.spans += _spans_of(flush, tasks.get(id(flush)))

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run an op and write down when."""
        shapes = tuple(a.shape for a in args if isinstance(a, Tensor)) if self._shapes else ()
        clock = self.clock
        task = None if clock is None else clock.begin((*args, *(kwargs or {}).values()))
        span = _begin(func.name().partition(".")[0], is_op=True, shapes=shapes)
        try:
            out = func(*args, **(kwargs or {}))
            if self._memory:
                span.host_bytes, span.device_bytes = _made(out, args)
            if getattr(out, "_pending", False):
                task = None  # a pipeline has recorded it
            return out
        finally:
            if clock is not None and task is not None:
                clock.end(task)
                span.tasks.append(task)
            _end(span)
            self.spans.append(span)


def _beside(name: str, start: float, end: float, thread: int, row: str) -> Span:
    """What a backend did; what it did on a row of its own took no thread's time."""
    span = Span(name, int(start * 1e9), int(end * 1e9), 0, thread, (), False, row=row)
    span.inner = span.total if row else 0
    return span


def _made(out: Any, args: tuple[Any, ...]) -> tuple[int, int]:
    """Bytes of results that share no memory with arguments: on the host, on devices."""
    known = {id(memory_of(a)) for a in args if isinstance(a, Tensor)}
    found = [0, 0]
    for each in out if isinstance(out, list | tuple) else (out,):
        if isinstance(each, Tensor) and id(memory_of(each)) not in known:
            known.add(id(memory_of(each)))
            at = each._device.type != "cpu"
            found[at] += 0 if each._device.type == "meta" else each.nbytes
    return found[0], found[1]


def _spans_of(flush: Flush, task: Task | None) -> list[Span]:
    """What a pipeline launched at once: the flush, and in it each op or fused group."""

    def span(name: str, start: float, end: float, is_op: bool) -> Span:
        return Span(name, int(start * 1e9), int(end * 1e9), 0, flush.thread, (), is_op)

    whole = span(f"pipeline flush: {flush.reason}", flush.start, flush.end, False)
    parts = []
    for each in flush.spans:
        names = [node.name for node in each.nodes]
        name = f"launch {names[0]}" if each.group is None else f"launch fused({', '.join(names)})"
        note = "" if each.note is None else f": {each.note}"
        parts.append(span(f"{name}{note}", each.start, each.end, True))
    whole.inner = sum(part.total for part in parts)
    if task is not None:
        whole.tasks.append(task)
    return [whole, *parts]


class record_function:
    """Give a block, or a function, a name in the profiles that are being taken.

    Example:
        >>> with torch.profiler.record_function("attention"):
        ...     y = torch.ones(2).softmax(0)
    """

    def __init__(self, name: str, args: str | None = None) -> None:
        self.name = name
        self.args = args
        self._span: Span | None = None

    def __enter__(self) -> Self:
        self._span = _begin(self.name, is_op=False) if _THREAD.recorders else None
        return self

    def __exit__(self, *exc_info: object) -> None:
        if self._span is not None:
            _end(self._span)
            for recorder in _THREAD.recorders:
                recorder.spans.append(self._span)

    def __call__(self, fn: _F) -> _F:
        """The function, in a block of this name."""

        @functools.wraps(fn)
        def named(*args: Any, **kwargs: Any) -> Any:
            with record_function(self.name, self.args):
                return fn(*args, **kwargs)

        return named  # type: ignore[return-value]  # the same signature
