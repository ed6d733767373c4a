"""Sums and maxima of groups of rows, column by column, by compiled loops where there are any."""

from __future__ import annotations

from typing import Any

import numpy as np

from .compiled import walk

__all__ = ["sums_of_groups", "tops"]


def sums_of_groups(x: Any, count: int, rows: int, y: Any = None) -> Any:
    """Sums of so many groups of so many rows each, along the second of three dimensions.

    The bits are those of NumPy's sums of ``x``, or of ``x * y`` where there are two.
    """
    x = x[:, : count * rows]
    if y is not None:
        y = y[:, : count * rows]
        found = _walked("group_dots", x, count, rows, y)
    else:
        found = _walked("group_sums", x, count, rows)
    if found is not None:
        return found
    each = x if y is None else np.multiply(x, y)
    return np.add.reduce(each.reshape(len(x), count, rows, x.shape[2]), 2)


def tops(x: Any) -> Any:
    """Maxima along the second of three dimensions, which stays with size 1; of zeros any sign."""
    found = _walked("group_tops", x, 1, x.shape[1])
    return np.maximum.reduce(x, 1, keepdims=True) if found is None else found


def _walked(name: str, x: Any, count: int, rows: int, *others: Any) -> Any:
    """What a loop makes of dense rows of floats; None where there is none."""
    size, width = x.itemsize, x.shape[2]
    if x.dtype.kind != "f" or width < 2 or not rows or x.strides[2] != size:
        return None
    if any(s % size for s in x.strides) or any(y.strides != x.strides for y in others):
        return None
    loop = walk(name, x.dtype, x.size)
    if loop is None:
        return None
    out = np.empty((len(x), count, width), x.dtype)
    far, step = (s // size for s in x.strides[:2])
    loop(out, x, *others, len(x), far, step, count, rows, width)
    return out
