"""The end of a backward pass, for those who have to know which gradients did not come."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, Final, TypeVar

__all__ = ["QUEUED", "backward_ended", "ends", "when_ended"]

F = TypeVar("F", bound=Callable[..., Any])

# What waits for the end, with the call that ends.
QUEUED: Final[list[tuple[FrameType, Callable[[], Any]]]] = []
_CODES: Final[set[CodeType]] = set()


def ends(function: F) -> F:
    """Have a function's calls count as backward passes."""
    _CODES.add(function.__code__)
    return function


def when_ended(callback: Callable[[], Any]) -> bool:
    """Have a function called at the end of the backward pass that goes on; False if there is none.

    Args:
        callback: called when all gradients of this thread's outermost pass are in place, unless it fails.
    """
    outermost = None
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if frame.f_code in _CODES:
            outermost = frame
        frame = frame.f_back
    if outermost is None:
        return False
    QUEUED.append((outermost, callback))
    return True


def backward_ended(*, well: bool) -> None:
    """Call what has waited for the end of the calling function.

    Args:
        well: whether it has not failed; else what waited is forgotten.
    """
    frame = sys._getframe(1)
    try:
        while mine := [each for each in [*QUEUED] if each[0] is frame]:
            for each in mine:
                QUEUED.remove(each)
                if well:
                    each[1]()
    finally:  # of one that raises, the rest
        for each in [*QUEUED]:
            if each[0] is frame:
                QUEUED.remove(each)
