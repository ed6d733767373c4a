"""Bounds of a pipeline: as users give them, and what is compared with them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ..values.shapes import numel
from .trace import Entry

__all__ = ["check_bound", "size_of"]


def check_bound(name: str, value: Any) -> None:
    """Check that a bound is a positive int.

    Raises:
        TypeError: if it is no int.
        ValueError: if it is less than 1.
    """
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{name} must be an int, got {type(value).__name__}")
    if value < 1:
        raise ValueError(f"{name} must be at least 1, got {value}")


def size_of(entries: Iterable[Entry | None]) -> int:
    """Bytes of the results of ops."""
    return sum(
        numel(t._shape) * t._dtype.itemsize for e in entries if e is not None for t in e.outs
    )
