"""Pipelines and the stack of open ones in each thread."""

from __future__ import annotations

import os
import threading
import time
from collections import Counter
from threading import get_ident
from types import CodeType
from typing import TYPE_CHECKING, Any, Final

from ...devices import TABLE
from ..keys import DispatchKey, exclude_everywhere, include_everywhere
from .frames import request, user_line
from .launch import Launch, drop_dead
from .trace import Entry, Plan, location_of

if TYPE_CHECKING:
    from .graph import Graph
    from .history import History, Tracing

__all__ = ["STACK", "TRACING", "USED_ELSEWHERE", "Pipeline", "current_pipeline", "pipeline_context"]

MAX_OPS: Final = 100_000
MAX_BYTES: Final = 4 << 30
# Why a pipeline flushes when an op in another one, such as a nested one, takes its results.
USED_ELSEWHERE: Final = "another pipeline"


class _Stack(threading.local):
    """The pipelines open in one thread, innermost last."""

    def __init__(self) -> None:
        self.open: list[Pipeline] = []


STACK: Final = _Stack()
# What every new pipeline is traced for, innermost last.
TRACING: Final[list[Tracing]] = []
_open_count: Final = [0]
_count_lock: Final = threading.Lock()


class Pipeline:
    """Ops recorded in one ``with torch.pipeline():`` block.

    Attributes:
        entries: recorded and not yet launched ops, in program order.
        max_ops: number of recorded ops at which it flushes by itself.
        max_bytes: size of the recorded results, in bytes, at which it flushes by itself.
        nbytes: size of the results recorded since the last flush.
    """

    def __init__(
        self, max_ops: int = MAX_OPS, max_bytes: int = MAX_BYTES, trace: bool = False
    ) -> None:
        _check_bound("max_ops", max_ops)
        _check_bound("max_bytes", max_bytes)
        self._history = _new_history() if trace or TRACING else None
        self.entries: list[Entry] = [] if self._history is None else self._history.entries
        self.max_ops = max_ops
        self.max_bytes = max_bytes
        self.nbytes = 0
        self.lock = threading.RLock()
        self._launched = 0
        self._dropped = 0
        self._fused_groups = 0
        self._fused_ops = 0
        self._peak_bytes = 0
        self._plan_hits = 0
        self._seconds = {"plan": 0.0, "launch": 0.0}
        self._breaks: Counter[str] = Counter()
        self._reasons: Counter[str] = Counter()
        self._places: Counter[tuple[str, CodeType, int]] = Counter()
        self._thread = get_ident()

    def break_off(self, reason: str) -> None:
        """Flush before an op that cannot be deferred, and count it."""
        self._breaks[reason] += 1
        self.flush_because(f"break: {reason}")

    def make_room(self) -> None:
        """Flush because a bound is reached."""
        self.flush_because("max_ops" if len(self.entries) >= self.max_ops else "max_bytes")

    def flush(self) -> None:
        """Launch everything recorded so far. Any thread may call it.

        Raises:
            PipelineError: if a recorded op failed; the rest was still computed.
        """
        with self.lock:  # also where nothing is left to launch: it may be under way
            if self.entries:
                own = get_ident() == self._thread
                self.flush_because(request() if own else "another thread")

    def flush_because(self, reason: str) -> None:
        """Launch everything recorded so far, and count what made it necessary.

        Raises:
            PipelineError: if a recorded op failed; the rest was still computed.
        """
        with self.lock:
            # What is appended meanwhile, by the thread that owns the pipeline, stays for later.
            recorded = self.entries
            count = len(recorded)
            if not count:
                return
            entries: list[Entry | None] = [*recorded[:count]]
            del recorded[:count]
            nbytes, self.nbytes = self.nbytes, 0
            self._reasons[reason] += 1
            self._places[reason, *user_line()] += 1
            history = self._history
            launch = Launch(entries) if history is None else history.launch(entries, reason)
            start = time.perf_counter()
            self._dropped += drop_dead(entries)
            plan = self._planned(entries, nbytes)
            planned = time.perf_counter()
            self._seconds["plan"] += planned - start
            self._launched += count
            try:
                launch.run(plan)
            finally:
                self._seconds["launch"] += time.perf_counter() - planned

    def _planned(self, entries: list[Entry | None], nbytes: int) -> Plan | None:
        """What the backend makes of the entries; None to launch them one by one."""
        device = next((e[3][0]._device for e in entries if e is not None), None)
        if device is None:
            return None
        runtime = TABLE[device.type].runtime
        plan: Plan | None = runtime.plan(entries) if nbytes >= runtime.planned_from else None
        if plan is None:
            return None
        self._fused_groups += plan.groups
        self._fused_ops += plan.fused
        self._plan_hits += plan.cached
        self._peak_bytes = max(self._peak_bytes, plan.peak_bytes)
        return plan

    def stats(self) -> dict[str, Any]:
        """Counts so far.

        Returns:
            ``recorded`` and ``launched`` ops, ``pending`` and ``dropped`` ones (nobody could see
            their results), ``flushes`` and what made them necessary: ``flush_reasons``, and
            ``flush_lines`` with the line that asked, ``fused_groups`` and ``fused_ops``,
            ``plan_cache_hits``, ``peak_bytes`` (of results and of what is computed between them,
            known before launch), ``seconds`` per stage (that of recording, from the first op to the
            last with what your code does between them, only where it is traced), and ``breaks``:
            how many ops were not deferred, by reason.
        """
        pending = len(self.entries)
        seconds = dict(self._seconds)
        if self._history is not None:
            seconds["record"] = self._history.recording
        return {
            "recorded": self._launched + pending,
            "launched": self._launched,
            "pending": pending,
            "dropped": self._dropped,
            "flushes": self._reasons.total(),
            "flush_reasons": dict(self._reasons),
            "flush_lines": self._flush_lines(),
            "fused_groups": self._fused_groups,
            "fused_ops": self._fused_ops,
            "plan_cache_hits": self._plan_hits,
            "peak_bytes": self._peak_bytes,
            "seconds": seconds,
            "breaks": dict(self._breaks),
        }

    def _flush_lines(self) -> dict[str, int]:
        """How many flushes each line asked for, as ``"item() at train.py:7": 3``."""
        lines: Counter[str] = Counter()
        for (reason, code, instruction), times in self._places.items():
            lines[f"{reason} at {location_of(code, instruction)}"] += times
        return dict(lines)

    @property
    def graph(self) -> Graph:
        """The recorded ops as a graph, to be printed and drawn.

        It shows what is pending, and of a pipeline with ``trace=True`` also what was launched.
        """
        from .history import pending_graph

        with self.lock:
            if self._history is not None:
                return self._history.graph()
            return pending_graph(list(self.entries))

    def export_chrome_trace(self, path: str | os.PathLike[str]) -> None:
        """Write when ops were recorded, planned and launched, for a viewer of Chrome traces.

        Viewers are Perfetto and ``chrome://tracing``. A name that ends in ``.gz`` is compressed.

        Raises:
            RuntimeError: if the pipeline was not opened with ``trace=True``.
        """
        from .chrome_trace import write_chrome_trace
        from .history import history_of

        write_chrome_trace(path, [history_of(self)])

    def __enter__(self) -> Pipeline:
        with _count_lock:
            _open_count[0] += 1
            if _open_count[0] == 1:
                include_everywhere(DispatchKey.Pipeline)
        self._thread = get_ident()
        if self._history is not None:
            self._history.entered()
        STACK.open.append(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        # The values of tensors that outlive the block are computed also when its body raised.
        try:
            self.flush_because("end of block")
        finally:
            STACK.open.remove(self)
            if self._history is not None:
                self._history.left()
            with _count_lock:
                _open_count[0] -= 1
                if _open_count[0] == 0:
                    exclude_everywhere(DispatchKey.Pipeline)

    def __repr__(self) -> str:
        return f"<Pipeline with {len(self.entries)} pending ops>"


def current_pipeline() -> Pipeline | None:
    """The innermost pipeline open in this thread, or None."""
    stack = STACK.open
    return stack[-1] if stack else None


def flush_current() -> None:
    """Launch what this thread's open pipelines have recorded."""
    for pipe in STACK.open:
        pipe.flush()


def _check_bound(name: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, got {type(value).__name__}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value}")


def _new_history() -> History:
    from .history import Tracing

    return (TRACING[-1] if TRACING else Tracing()).new_history()


def pipeline_context(
    max_ops: int = MAX_OPS, max_bytes: int = MAX_BYTES, trace: bool = False
) -> Pipeline:
    """A new pipeline, to be entered with ``with``; shown to users as ``torch.pipeline``.

    Args:
        max_ops: flush by itself when this many ops are recorded, so that a long loop does not grow
            without limit.
        max_bytes: flush by itself when the recorded results would take this much memory.
        trace: keep a description of every op and of when it ran, for `Pipeline.graph` and
            `Pipeline.export_chrome_trace`. It takes time and memory.
    """
    return Pipeline(max_ops, max_bytes, trace)
