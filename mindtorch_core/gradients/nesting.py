"""What to say when backward passes and checkpoints are nested deeper than Python's stack is."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType, TracebackType
from typing import Any, Final, TypeVar

__all__ = ["nests", "too_deep"]

F = TypeVar("F", bound=Callable[..., Any])

_CODES: Final[set[CodeType]] = set()
# They are to blame where there are so many, one among so many calls.
_MANY: Final = 10
_SHARE: Final = 50


def nests(function: F) -> F:
    """Count a function's calls among those that nest."""
    _CODES.add(function.__code__)
    return function


def too_deep(error: RecursionError) -> RuntimeError | None:
    """What to raise instead of an error; None where nesting is not to blame, or goes on outside.

    Args:
        error: what a call that nests has just caught.
    """
    frame: FrameType | None = sys._getframe(1).f_back
    while frame is not None:
        if frame.f_code in _CODES:
            return None
        frame = frame.f_back
    depth = calls = 0
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        calls += 1
        depth += trace.tb_frame.f_code in _CODES
        trace = trace.tb_next
    if depth < _MANY or depth * _SHARE < calls:
        return None
    return RuntimeError(
        f"backward passes and checkpoints are nested {depth} deep here, which takes more than the "
        f"{sys.getrecursionlimit()} calls within one another that Python allows. Nest less deeply, or "
        f"raise that limit with sys.setrecursionlimit()."
    )
