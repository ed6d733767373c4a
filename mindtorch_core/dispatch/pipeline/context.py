"""Pipelines and the stack of open ones in each thread."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any, Final

from ..keys import DispatchKey, exclude_everywhere, include_everywhere
from .launch import Entry, run

__all__ = ["Pipeline", "current_pipeline", "pipeline_context"]


class _Stack(threading.local):
    """The pipelines open in one thread, innermost last."""

    def __init__(self) -> None:
        self.open: list[Pipeline] = []


_STACK: Final = _Stack()
_open_count: Final = [0]
_count_lock: Final = threading.Lock()


class Pipeline:
    """Ops recorded in one ``with torch.pipeline():`` block.

    Attributes:
        entries: recorded and not yet launched ops, in program order.
        max_ops: number of recorded ops at which it flushes by itself.
    """

    def __init__(self, max_ops: int = 100_000) -> None:
        if max_ops < 1:
            raise ValueError(f"max_ops must be at least 1, got {max_ops}")
        self.entries: list[Entry] = []
        self.max_ops = max_ops
        self.lock = threading.RLock()
        self._recorded = 0
        self._launched = 0
        self._flushes = 0
        self._breaks: Counter[str] = Counter()

    def append(self, entry: Entry) -> None:
        """Add a recorded op; called with the lock held."""
        self.entries.append(entry)
        self._recorded += 1

    def full(self) -> bool:
        """Whether the bound on recorded ops is reached."""
        return len(self.entries) >= self.max_ops

    def note_break(self, reason: str) -> None:
        """Count an op that could not be deferred."""
        self._breaks[reason] += 1

    def flush(self) -> None:
        """Launch everything recorded so far. Any thread may call it.

        Raises:
            PipelineError: if a recorded op failed; the rest was still computed.
        """
        with self.lock:
            entries, self.entries = self.entries, []
            if entries:
                self._flushes += 1
                self._launched += len(entries)
                run(entries)

    def stats(self) -> dict[str, Any]:
        """Counts so far.

        Returns:
            ``recorded`` and ``launched`` ops, ``flushes``, ``pending`` ops, and ``breaks``: how
            many ops were not deferred, by reason.
        """
        return {
            "recorded": self._recorded,
            "launched": self._launched,
            "pending": len(self.entries),
            "flushes": self._flushes,
            "breaks": dict(self._breaks),
        }

    def __enter__(self) -> Pipeline:
        with _count_lock:
            _open_count[0] += 1
            if _open_count[0] == 1:
                include_everywhere(DispatchKey.Pipeline)
        _STACK.open.append(self)
        return self

    def __exit__(self, *exc_info: object) -> None:
        # The values of tensors that outlive the block are computed also when its body raised.
        try:
            self.flush()
        finally:
            _STACK.open.remove(self)
            with _count_lock:
                _open_count[0] -= 1
                if _open_count[0] == 0:
                    exclude_everywhere(DispatchKey.Pipeline)

    def __repr__(self) -> str:
        return f"<Pipeline with {len(self.entries)} pending ops>"


def current_pipeline() -> Pipeline | None:
    """The innermost pipeline open in this thread, or None."""
    stack = _STACK.open
    return stack[-1] if stack else None


def flush_current() -> None:
    """Launch what this thread's open pipelines have recorded."""
    for pipe in _STACK.open:
        pipe.flush()


def pipeline_context(max_ops: int = 100_000) -> Pipeline:
    """A new pipeline, to be entered with ``with``; shown to users as ``torch.pipeline``.

    Args:
        max_ops: flush by itself when this many ops are recorded, so that a long loop does not grow
            without limit.
    """
    return Pipeline(max_ops)
