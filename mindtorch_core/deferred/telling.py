"""Ops that tell other processes where they were called: compiled programs call them for the user's line."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from types import CodeType, FrameType
from typing import Any, Final

from .trace import RecordedOp

__all__ = ["TELLING", "called_at", "recorded_by", "told_at"]

# Names of such ops; who defines one adds it.
TELLING: Final[set[str]] = set()


def told_at(op: RecordedOp, where: tuple[CodeType, int]) -> RecordedOp:
    """An op as an instruction has it that stands for one place in the user's code alone."""
    own = copy(op)
    own.impl = partial(called_at, where, op.impl)
    return own


def called_at(
    where: tuple[CodeType, int], impl: Callable[..., Any], /, *args: Any, **kwargs: Any
) -> Any:
    """Call what runs an op, on behalf of where it was recorded."""
    return impl(*args, **kwargs)


def recorded_by(frame: FrameType) -> tuple[CodeType, int] | None:
    """Where the op was recorded that a frame of this module calls; None if it calls none."""
    return frame.f_locals["where"] if frame.f_code is called_at.__code__ else None
