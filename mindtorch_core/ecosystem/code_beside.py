"""Code that runs while a function does, and is no part of it: of the garbage collector, and of imports."""

from __future__ import annotations

import gc
from types import FrameType

__all__ = ["is_beside", "is_importing"]


def is_beside(frame: FrameType | None) -> bool:
    """Whether code runs because something is collected just then."""
    told = {getattr(each, "__code__", None) for each in gc.callbacks}
    while frame is not None:
        if frame.f_code in told or frame.f_code.co_name == "__del__":
            return True
        frame = frame.f_back
    return False


def is_importing(frame: FrameType | None) -> bool:
    """Whether a module is just imported, or a backend loaded."""
    while frame is not None:
        name = str(frame.f_globals.get("__name__"))
        if "importlib" in name.partition(".")[0] or name.startswith("mindtorch_core.plugins"):
            return True
        frame = frame.f_back
    return False
