"""Following a program: the spans of its ops with the lines that called them, its pipelines, its memory."""

from __future__ import annotations

import sys
import time
import weakref
from types import FrameType
from typing import Any, Final, Self

from ...deferred.launch import Launch
from ...deferred.trace import Entry, location_of
from ...ecosystem.accelerator import current_accelerator
from ...ecosystem.profiler.pipelines import TimedHistory
from ...ecosystem.profiler.recording import Recorder
from ...tensors.tensor import Tensor
from .memory import Memory, tensors_among

__all__ = ["Follower"]

# Packages whose frames are not the user's.
_OURS: Final = frozenset(
    {"mindtorch", "mindtorch_audio", "mindtorch_core", "mindtorch_nn", "mindtorch_vision"}
)


class Follower(Recorder):
    """Follows the thread that enters it, and the pipelines of all.

    Args:
        most: how many ops are kept; those after them are counted.

    Attributes:
        lines: ``file:line`` of the user's code, for spans by their number.
        memory: of tensors.
        left_out: ops that were not kept.
        begun, ended: nanoseconds of `time.perf_counter_ns`.
    """

    def __init__(self, most: int) -> None:
        on = current_accelerator(check_available=True)
        super().__init__(shapes=True, memory=True, devices=on is not None)
        self.lines: dict[int, str] = {}
        self.memory = Memory()
        self.left_out = 0
        self.begun = self.ended = 0
        self._most = most

    def new_history(self) -> FollowedHistory:
        """The history of one more pipeline."""
        tracing = self.tracing
        with tracing.lock:
            made = FollowedHistory(tracing, len(tracing.histories) + 1, self.clock)
            made.memory = self.memory
            tracing.histories.append(made)
        return made

    def __enter__(self) -> Self:
        self.begun = time.perf_counter_ns()
        return super().__enter__()

    def __exit__(self, *exc_info: object) -> None:
        self.ended = time.perf_counter_ns()
        own = len(self.spans)
        super().__exit__(*exc_info)
        del self.spans[own:]  # what pipelines launched is read from their histories

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: Any = None
    ) -> Any:
        """Run an op, and write down when, from which line, and what memory it took."""
        line = self.memory.location = _line()
        given = [*tensors_among((*args, *(kwargs or {}).values()))]
        for t in given:
            self.memory.see(t)
        try:
            out = super().__torch_dispatch__(func, types, args, kwargs)
        finally:
            if len(self.spans) > self._most:
                self.left_out += 1
                del self.spans[self._most :]
            else:
                self.lines[len(self.spans) - 1] = line
        made = tensors_among(out if isinstance(out, tuple | list) else (out,))
        for t in (*given, *made):  # those first whose memory may be a view's too now
            self.memory.see(t)
        return out


class FollowedHistory(TimedHistory):
    """A pipeline's history that has the memory of its results counted once they are launched."""

    memory: Memory

    def launch(self, entries: list[Entry | None], reason: str) -> Launch:
        """A launch after which memory is counted."""
        made: Any = super().launch(entries, reason)
        outs = [weakref.ref(t) for e in entries if e is not None for t in e.outs]
        finish, memory, line = made.finish, self.memory, self.flushes[-1].location

        def counted(interrupt: BaseException | None) -> None:
            finish(interrupt)
            memory.location = line
            for ref in outs:
                t: Tensor | None = ref()
                if t is not None:
                    memory.see(t)

        made.finish = counted
        return made  # type: ignore[no-any-return]


def _line() -> str:
    """The innermost line of the program that runs which is not mindtorch's."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] not in _OURS:
            return location_of(frame.f_code, frame.f_lasti)
        frame = frame.f_back
    return ""
