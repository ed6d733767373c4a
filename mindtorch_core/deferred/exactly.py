"""Numbers among arguments, compared to the last bit: zeros have signs, and NaN is equal to itself."""

from __future__ import annotations

from typing import Any, Final

__all__ = ["INEXACT", "exactly"]

INEXACT: Final = frozenset({float, complex})  # whose values may be equal and are not the same


def exactly(value: float | complex) -> Any:
    """What is equal for numbers that are the same, and only for these; hashable."""
    if value.__class__ is float and value and value == value:
        return value
    return repr(value)
