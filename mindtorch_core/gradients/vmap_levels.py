"""The transforms that are running: known below `func`, where they are made, to custom Functions."""

from __future__ import annotations

import threading
from typing import Any, Final

__all__ = ["LEVELS"]


class _Levels(threading.local):
    """The transforms of one thread.

    Attributes:
        stack: the levels of ``vmap``, outermost first.
        gradients: how many functions are running whose gradients are taken.
    """

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.gradients = 0


LEVELS: Final = _Levels()
