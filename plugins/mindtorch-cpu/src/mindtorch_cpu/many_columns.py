"""Sums and extremes of groups of rows, column by column, by compiled loops where there are any."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .compiled import walk

__all__ = ["placed", "sums_of_groups", "tops"]

# Elements of a thread's part at least.
_PART: Final = 1 << 15


def sums_of_groups(x: Any, count: int, rows: int, y: Any = None) -> Any:
    """Sums of so many groups of so many rows each, along the second of three dimensions.

    The bits are those of NumPy's sums of ``x``, or of ``x * y`` where there are two.
    """
    if x.shape[1] > count * rows:
        x, y = x[:, : count * rows], None if y is None else y[:, : count * rows]
    if y is not None:
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


def placed(x: Any, most: bool) -> tuple[Any, Any] | None:
    """Extremes along the second of three dimensions and where they first stand; None without a loop.

    Args:
        x: row-major, of more than one column and more than no row.
        most: whether maxima are sought, not minima; NaN is further than all.
    """
    blocks, rows, width = x.shape
    loop = walk("most_placed" if most else "least_placed", x.dtype, x.size)
    if loop is None or rows >= 1 << 31:
        return None
    values, places = np.empty((blocks, width), x.dtype), np.empty((blocks, width), np.int64)

    def some_blocks(first: int, last: int) -> tuple[Any, ...]:
        part = slice(first, last)
        return values[part], places[part], x[part], last - first, rows * width, width, rows, width

    def some_columns(first: int, last: int) -> tuple[Any, ...]:
        part = slice(first, last)
        made = values[0, part], places[0, part], x[0, :, part]
        return *made, 1, 0, width, rows, last - first

    if blocks > 1:
        loop.shared(blocks, some_blocks, max(1, _PART * blocks // x.size))
    else:
        loop.shared(width, some_columns, max(64, _PART // rows))
    return values, places


def _walked(name: str, x: Any, count: int, rows: int, *others: Any) -> Any:
    """What a loop makes of dense rows of floats; None where there is none."""
    size, width = x.itemsize, x.shape[2]
    far, step, inner = x.strides
    if inner != size or width < 2 or not rows or x.dtype.kind != "f" or far % size or step % size:
        return None
    if others and others[0].strides != x.strides:
        return None
    loop = walk(name, x.dtype, x.size)
    if loop is None:
        return None
    out = np.empty((len(x), count, width), x.dtype)
    loop(out, x, *others, len(x), far // size, step // size, count, rows, width)
    return out
