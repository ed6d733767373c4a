"""Sums of many whole numbers by several threads: whatever the order, they are the same."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .arrays import quietly
from .short_rows import reduce_rows
from .workers import in_parts

__all__ = ["SHARED", "whole_sums"]

# Elements from which waking threads pays, which takes as long as half a million; and of a part at least.
SHARED: Final = 1 << 21
_PART: Final = 1 << 18


def whole_sums(a: Any, axis: Any, dtype: Any, keepdims: bool) -> Any:
    """``np.add.reduce(a, axis, dtype, None, keepdims)`` of whole numbers or truth values.

    Args:
        a: the array.
        axis: the dimensions to reduce, counted from the front; None for all.
        dtype: of the sums.
        keepdims: whether they stay with size 1.
    """
    flat = a.reshape(-1) if axis is None and a.flags.c_contiguous and not keepdims else None
    given, along = (a, axis) if flat is None else (flat, None)
    least = max(1, _PART * len(given) // given.size)
    parts: dict[int, Any] = {}

    def some(first: int, last: int) -> None:
        parts[first] = quietly(reduce_rows, np.add, given[first:last], along, dtype, keepdims)

    in_parts(some, len(given), least)
    found = [parts[first] for first in sorted(parts)]
    if along is None or 0 in along:
        return np.add.reduce(np.stack(found), 0)
    return np.concatenate(found)
