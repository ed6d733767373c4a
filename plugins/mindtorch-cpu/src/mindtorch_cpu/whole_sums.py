"""Sums of many whole numbers by several threads: whatever the order, they are the same."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_core.backend import get_num_threads

from .addresses import address
from .arrays import quietly
from .compiled import walk
from .short_rows import reduce_rows
from .workers import in_parts

__all__ = ["SHARED", "whole_sums"]

# Elements from which a loop of its own pays, those of a part at least, and from which threads of Python do.
SHARED: Final = 1 << 15
_PART: Final = 1 << 17
_MANY: Final = 1 << 21
_SIGNED: Final = {1: np.dtype("i1"), 2: np.dtype("i2"), 4: np.dtype("i4"), 8: np.dtype("i8")}


def whole_sums(a: Any, axis: Any, dtype: Any, keepdims: bool) -> Any:
    """``np.add.reduce(a, axis, dtype, None, keepdims)`` of whole numbers or truth values.

    Args:
        a: the array.
        axis: the dimensions to reduce, counted from the front; None for all.
        dtype: of the sums.
        keepdims: whether they stay with size 1.
    """
    flat = a.reshape(-1) if axis is None and a.flags.c_contiguous and not keepdims else None
    if flat is not None and dtype == np.int64 and a.dtype.kind in "ib":
        signed = flat.view(_SIGNED[a.itemsize])
        loop = walk("whole_sum", signed.dtype, a.size)
        if loop is not None:
            return _added_up(loop, signed)
    if a.size < _MANY or get_num_threads() == 1:
        return reduce_rows(np.add, a, axis, dtype, keepdims)
    given, along = (a, axis) if flat is None else (flat, None)
    least = max(1, 2 * _PART * len(given) // given.size)
    parts: dict[int, Any] = {}

    def some(first: int, last: int) -> None:
        parts[first] = quietly(reduce_rows, np.add, given[first:last], along, dtype, keepdims)

    in_parts(some, len(given), least)
    found = [parts[first] for first in sorted(parts)]
    if along is None or 0 in along:
        return np.add.reduce(np.stack(found), 0)
    return np.concatenate(found)


def _added_up(loop: Any, given: Any) -> Any:
    """The sum of a line of integers, by threads that each make sums of parts."""
    sums = np.zeros(-(-given.size // _PART), np.int64)

    def some(first: int, last: int) -> Any:
        start = first * _PART
        count = min(last * _PART, given.size) - start
        return address(sums) + 8 * first, address(given) + start * given.itemsize, count

    loop.shared(len(sums), some, 1)
    return np.add.reduce(sums)
