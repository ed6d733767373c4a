"""Sees what a function calls while it runs, by Python's profiler."""

from __future__ import annotations

import sys
from types import FrameType
from typing import Any, Self

from ..values.interrupts import leaving

__all__ = ["SeesCalls"]


class SeesCalls:
    """A block in which `_see` is told of all calls in this thread.

    A profiler that is at work sees them in its stead.

    Attributes:
        sees: whether it was told of them in the last such block.
    """

    sees = False

    def __enter__(self) -> Self:
        self.sees = sys.getprofile() is None
        if self.sees:
            sys.setprofile(self._see)
        return self

    def _leave(self) -> None:
        if self.sees:
            sys.setprofile(None)

    __exit__ = leaving(_leave)

    def _see(self, frame: FrameType, event: str, called: Any) -> None:
        """What `sys.setprofile` calls."""
        raise NotImplementedError
