"""Which frames are the user's: where an op was called, and what asked for values."""

from __future__ import annotations

import sys
from collections.abc import Container
from types import CodeType, FrameType
from typing import Any, Final

from ..values.own_frames import OURS
from .trace import location_of

__all__ = ["CORE", "INSIDE", "request", "user_line", "user_place"]


class _Modules(dict[Any, bool]):
    """Whether a module, by its name, is of certain packages; asked once for each name."""

    def __init__(self, packages: Container[str]) -> None:
        super().__init__()
        self._packages = packages

    def __missing__(self, name: Any) -> bool:
        found = self[name] = str(name).partition(".")[0] in self._packages
        return found


# Looked up with a frame's ``__name__``, a string that knows its hash: code objects compute theirs
# anew, and a dict of them would keep alive whatever once ran.
INSIDE: Final = _Modules(OURS)  # no lines of users: those of layers and optimizers are none either
CORE: Final = _Modules({"mindtorch_core"})


def user_line(depth: int = 1) -> tuple[CodeType, int]:
    """Where the user's code called mindtorch, as code object and instruction.

    Args:
        depth: how many callers up the search begins.
    """
    frame = sys._getframe(depth + 1)
    while INSIDE[frame.f_globals.get("__name__")] and frame.f_back is not None:
        frame = frame.f_back
    return frame.f_code, frame.f_lasti


def user_place() -> tuple[str, int]:
    """File and line of the user's code that called mindtorch."""
    code, instruction = user_line()
    path, _, line = location_of(code, instruction).rpartition(":")
    return path, int(line)


def request() -> str:
    """What code outside the core called that made this function's caller run: ``item()``, say."""
    frame: FrameType | None = sys._getframe(1)
    name = ""
    while frame is not None and CORE[frame.f_globals.get("__name__")]:
        name = frame.f_code.co_name
        frame = frame.f_back
    return "pickling" if name == "__reduce_ex__" else f"{name.strip('_')}()"
