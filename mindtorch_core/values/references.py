"""Whether counts of references tell who else holds an object.

Where nobody but the framework holds a result, it may be dropped, or its memory taken over. That is
read off `sys.getrefcount`, and only CPython that counts every holder at once tells the truth: not an
interpreter without a global lock, nor another implementation. There, whoever asks is told that
somebody holds everything.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final

__all__ = ["LOOK", "NEVER", "if_counted", "references_of_a_look"]

NEVER: Final = -(1 << 40)  # with whatever is added: fewer references than any object has


def references_of_a_look(count: Callable[[Any], int] = sys.getrefcount) -> int:
    """What a count of an object in a local variable says beyond its holders, or `NEVER`.

    Args:
        count: `sys.getrefcount`, or what stands for it.
    """

    def look(holder: list[Any]) -> int:
        found = holder[0]
        return count(found)

    def of_argument(found: Any) -> int:
        return count(found)

    if not getattr(sys, "_is_gil_enabled", lambda: True)():
        return NEVER
    holder = [_Thing()]
    own = look(holder) - 1
    holders: list[Any] = []
    for kind in (lambda t: [t], lambda t: (t,), lambda t: {0: t}, lambda t: lambda: t, _Thing):
        holders.append(kind(holder[0]))
        if look(holder) != own + 1 + len(holders):
            return NEVER
    kept = holder[0]
    if look(holder) != own + 2 + len(holders) or of_argument(kept) < look(holder):
        return NEVER
    del holders, kept
    return own if look(holder) == own + 1 else NEVER


class _Thing:
    """Something that may hold something else."""

    def __init__(self, other: Any = None) -> None:
        self.other = other


LOOK: Final = references_of_a_look()


def if_counted(measured: int) -> int:
    """A number of references that was measured, or `NEVER` where such numbers mean nothing."""
    return NEVER if LOOK == NEVER else measured
