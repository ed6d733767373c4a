"""Positions and counts that backends tell: whole numbers, of which a truth value is none."""

from __future__ import annotations

from operator import index
from typing import SupportsIndex

__all__ = ["whole"]


def whole(value: SupportsIndex) -> int:
    """A whole number of any type that stands for one.

    Raises:
        TypeError: if it is none; True and False are none, though Python counts with them.
    """
    if not isinstance(value, bool) and hasattr(value, "__index__"):
        return index(value)
    raise TypeError(f"{value!r} is no whole number")
