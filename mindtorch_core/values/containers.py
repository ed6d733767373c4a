"""Lists and tuples of any class."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

__all__ = ["filled"]


def filled(kind: Any, elements: Iterable[Any]) -> Any:
    """A list or tuple of a class, which may be one of named tuples."""
    return kind._make(elements) if hasattr(kind, "_make") else kind(elements)
