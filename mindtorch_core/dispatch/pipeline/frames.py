"""Which frames are the user's: where an op was called, and what asked for values."""

from __future__ import annotations

import sys
from types import CodeType, FrameType
from typing import Final

__all__ = ["INSIDE", "inside", "request", "user_line"]

# Whether code is this package's own, as far as `inside` was asked.
INSIDE: Final[dict[CodeType, bool]] = {}


def inside(frame: FrameType) -> bool:
    """Whether a frame is this package's own, not the user's; remembered for its code."""
    code = frame.f_code
    module = frame.f_globals.get("__name__", "")
    found = code.co_filename.startswith("<mindtorch") or (
        module.partition(".")[0] == "mindtorch_core"
    )
    if frame.f_back is None:
        return False
    INSIDE[code] = found
    return found


def user_line(depth: int = 1) -> tuple[CodeType, int]:
    """Where the user's code called this package, as code object and instruction.

    Args:
        depth: how many callers up the search begins.
    """
    frame = sys._getframe(depth + 1)
    while frame.f_back is not None and inside(frame):
        frame = frame.f_back
    return frame.f_code, frame.f_lasti


def request() -> str:
    """What the user's code called that made this function's caller run: ``item()``, say."""
    frame: FrameType | None = sys._getframe(1)
    name = ""
    while frame is not None:
        code = frame.f_code
        known = INSIDE.get(code)
        if known is False or (known is None and not inside(frame)):
            break
        name = code.co_name
        frame = frame.f_back
    return "pickling" if name == "__reduce_ex__" else f"{name.strip('_')}()"
