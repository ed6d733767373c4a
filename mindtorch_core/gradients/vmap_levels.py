"""The ``vmap`` calls that are running: known below `func`, where they are made, to custom Functions."""

from __future__ import annotations

import threading
from typing import Any, Final

__all__ = ["LEVELS"]


class _Levels(threading.local):
    """The levels of one thread, outermost first."""

    def __init__(self) -> None:
        self.stack: list[Any] = []


LEVELS: Final = _Levels()
