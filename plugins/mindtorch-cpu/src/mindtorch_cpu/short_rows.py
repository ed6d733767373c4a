"""Reductions of many short rows: NumPy begins with each row anew, so columns are joined here.

They are joined in NumPy's order, so that the bits are the same.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

__all__ = ["FEW_IN_ROWS", "reduce_rows"]

# Elements of a row for which columns pay; bytes, of maxima of floats: of longer rows NumPy compares vectors,
# which may choose another one of zeros.
_WIDEST: Final = 16
_CHOSEN: Final = 64
# Rows for each column: a column takes a call.
_MANY: Final = 256
FEW_IN_ROWS: Final = 4 * _MANY  # elements: for fewer no column pays
# NumPy adds so many chains of floats at a time, and joins them by halves.
_CHAINS: Final = 8


def reduce_rows(
    join: np.ufunc, a: Any, axis: Any, dtype: Any = None, keepdims: bool = False
) -> Any:
    """``join.reduce(a, axis, dtype, None, keepdims)``, quicker where there are many short rows.

    Args:
        join: addition, multiplication, the greater or the smaller of two, or a logical one.
        a: the array.
        axis: the dimensions to reduce, counted from the front; None for all.
        dtype: that of the result; None for that of ``a``.
        keepdims: whether they stay with size 1.
    """
    if a.size < FEW_IN_ROWS or not _pays(join, a, axis, dtype):
        reduce: Any = join.reduce
        return reduce(a, axis, dtype, None, keepdims)
    columns = [a[..., i] for i in range(a.shape[-1])]
    if join is np.add and a.dtype.kind == "f":
        found = _added(columns)
    else:
        found = join(columns[0], columns[1], dtype=dtype)
        for column in columns[2:]:
            join(found, column, out=found)
    return found[..., None] if keepdims else found


def _pays(join: np.ufunc, a: Any, axis: Any, dtype: Any) -> bool:
    if a.ndim < 2 or axis not in (a.ndim - 1, (a.ndim - 1,)):
        return False
    width, kind, most = a.shape[-1], a.dtype.kind, _WIDEST
    if kind == "f":
        fits = a.itemsize > 2 and dtype in (None, a.dtype, np.bool_)
        if join in (np.maximum, np.minimum):
            most = _CHOSEN // a.itemsize
    else:  # of sums and products NumPy widens whole numbers
        fits = kind in "iub" and (dtype is not None or join in (np.maximum, np.minimum))
    return fits and 1 < width <= most and a.size >= _MANY * width * width and a.flags.c_contiguous


def _added(columns: list[Any]) -> Any:
    """The sum of columns of floats, to which 0 is added: that of negative zeros is 0."""
    rest = columns
    if len(columns) >= _CHAINS:
        chains, rest = columns[:_CHAINS], columns[_CHAINS:]
        if len(rest) == _CHAINS:
            chains, rest = [np.add(a, b) for a, b in zip(chains, rest, strict=True)], []
        while len(chains) > 1:
            chains = [np.add(a, b) for a, b in zip(chains[::2], chains[1::2], strict=True)]
        rest = [*chains, *rest]
    found = np.add(rest[0], 0)
    for column in rest[1:]:
        np.add(found, column, found)
    return found
