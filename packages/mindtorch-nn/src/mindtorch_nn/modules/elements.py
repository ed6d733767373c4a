"""What the containers of modules and those of parameters share: places, and pairs of names and values."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .module import Module

__all__ = ["pairs_of", "position"]


def position(index: Any, size: int) -> int:
    """An index counted from the front.

    Raises:
        IndexError: if there is no such element.
    """
    found = operator.index(index)
    if not -size <= found < size:
        raise IndexError(f"index {found} is out of range")
    return found % size


def pairs_of(kind: str, given: Any) -> Iterator[tuple[str, Any]]:
    """Pairs of a mapping, or of an iterable of pairs, in order."""
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{kind}.update should be called with an iterable of key/value pairs, but got "
            f"{type(given).__name__}"
        )
    items = getattr(given, "items", None)
    if isinstance(given, Mapping) or (items is not None and isinstance(given, Module)):
        yield from items()  # type: ignore[misc]
        return
    for i, pair in enumerate(given):
        if not isinstance(pair, Iterable):
            raise TypeError(
                f"{kind} update sequence element #{i} should be Iterable; is {type(pair).__name__}"
            )
        found: Any = tuple(pair)
        if len(found) != 2:
            raise ValueError(
                f"{kind} update sequence element #{i} has length {len(found)}; 2 is required"
            )
        yield found
