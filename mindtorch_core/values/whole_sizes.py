"""Sizes as ints of Python: what is kept for a shape is found again by all that equal it."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

__all__ = ["size_at", "whole_size", "whole_sizes"]


def whole_sizes(size: Sequence[Any]) -> tuple[int, ...]:
    """Sizes as ints of Python, whatever stands for them: those of NumPy and tensors wrap around.

    Raises:
        TypeError: if one is no int.
    """
    return tuple([n if n.__class__ is int else whole_size(n) for n in size])


def whole_size(n: Any) -> int:
    """One of them.

    Raises:
        TypeError: if it is no int.
    """
    return int(operator.index(n))


def size_at(place: int, value: Any) -> int:
    """One size of a `Size` as an int.

    Raises:
        TypeError: if it is no integer.
    """
    if not hasattr(value, "__index__"):
        raise TypeError(
            f"torch.Size() takes an iterable of 'int' (item {place} is '{type(value).__name__}')"
        )
    return operator.index(value)
