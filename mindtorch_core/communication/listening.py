"""Who wants to be told as something is sent: of collective operations on tensors, or of any call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

__all__ = ["CALLED", "LISTENERS", "as_one"]

# Called with an operation's name, such as ``all_reduce``, in the thread that begins it.
LISTENERS: Final[list[Callable[[str], None]]] = []
# The same for every call of a group of several, those of barriers, messages and objects included.
CALLED: Final[list[Callable[[str], None]]] = []


@contextmanager
def as_one(op: str) -> Iterator[None]:
    """A block of calls that are told of as one."""
    kept = LISTENERS[:]
    for each in kept:
        each(op)
    LISTENERS.clear()
    try:
        yield
    finally:
        LISTENERS[:] = kept
