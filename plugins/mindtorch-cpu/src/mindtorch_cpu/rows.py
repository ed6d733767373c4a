"""Work on blocks of rows that fit the cache, shared out over threads: sums, products, scaling."""

from __future__ import annotations

import contextvars
import functools
import math
import threading
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .workers import share_out

__all__ = ["BLOCK", "dots", "in_rows", "large_sum", "over_blocks", "sums", "total_of"]

# Elements of a block: with an output and two temporary arrays it fits a second-level cache of 1 MiB.
BLOCK: Final = 1 << 16
# Elements that one BLAS product adds up at most: rounding errors stay as small as in a sum by halves.
_PIECE: Final = 1 << 10
# Rows of fewer elements are not worth a product each.
_SHORT: Final = 64


class _Unbuffered(threading.local):
    """Runs NumPy functions quietly and without gathering short rows in a buffer.

    NumPy copies the operands of a broadcast op into its buffer of 8192 elements when several rows
    fit into that: twice as slow as a loop per row. Casts need the buffer, so they are not for here.
    """

    def __init__(self) -> None:
        context = contextvars.Context()
        context.run(np.seterr, all="ignore")
        context.run(np.setbufsize, 16)
        self.run = context.run


_UNBUFFERED: Final = _Unbuffered()


def _quietly(work: Callable[[slice], None], part: slice) -> None:
    try:
        _UNBUFFERED.run(work, part)
    except RuntimeError as error:
        if "cannot enter context" not in str(error):
            raise
        with np.errstate(all="ignore"):  # a finaliser that interrupted such work of this thread
            work(part)


def over_blocks(work: Callable[[slice], None], rows: int, width: int, block: int = 0) -> None:
    """Call ``work`` with slices of rows of ``width`` elements, in several threads.

    Args:
        work: computes a slice; slices do not overlap.
        rows: how many there are.
        width: elements of each.
        block: elements of a slice, at least a row; 0 for as many as fit the cache.
    """
    step = max(1, (block or BLOCK) // max(width, 1))
    if rows <= step:
        _quietly(work, slice(0, rows))
        return
    share_out(lambda first: _quietly(work, slice(first, first + step)), range(0, rows, step))


def in_rows(a: Any, dim: int) -> Any:
    """A row-major array as (outside, along ``dim``, inside), sharing memory."""
    shape = a.shape
    at = dim % a.ndim
    outside = 1
    for n in shape[:at]:
        outside *= n
    return a.reshape(outside, shape[at], -1 if a.size else 0)


@functools.cache
def _ones(d: Any) -> Any:
    made = np.ones(_PIECE, d)
    made.flags.writeable = False
    return made


@functools.lru_cache
def _pieces(n: int, longest: int) -> int:
    """Into how many equal pieces a row is cut; 0 if there is no good number."""
    least = -(-n // longest)
    return next((count for count in range(least, 2 * least) if n % count == 0), 0)


def dots(x: Any, y: Any) -> Any:
    """Sums along the last dimension of ``x * y``, of float32 or float64."""
    n = x.shape[-1]
    if n <= _PIECE:
        return np.vecdot(x, y)
    count = _pieces(n, _PIECE)
    if count:
        shape = (*x.shape[:-1], count, n // count)
        return np.add.reduce(np.vecdot(x.reshape(shape), y.reshape(shape)), -1)
    whole = n - n % _PIECE
    found = dots(x[..., :whole], y[..., :whole])
    found += np.vecdot(x[..., whole:], y[..., whole:])
    return found


def sums(x: Any) -> Any:
    """Sums along the last dimension, of float32 or float64: as products with ones."""
    n = x.shape[-1]
    one = _ones(x.dtype)
    if n <= _PIECE:
        return np.vecdot(x, one[:n])
    count = _pieces(n, _PIECE)
    if count:
        parts = x.reshape(*x.shape[:-1], count, n // count)
        return np.add.reduce(np.vecdot(parts, one[: n // count]), -1)
    whole = n - n % _PIECE
    return sums(x[..., :whole]) + np.vecdot(x[..., whole:], one[: n - whole])


def large_sum(a: Any, axis: tuple[int, ...] | None, keepdim: bool) -> Any:
    """Sum of a large array over all, the last or the first dimensions; None for others.

    Args:
        a: of any dtype and layout.
        axis: the dimensions, or None for all.
        keepdim: whether they stay, with size 1.
    """
    if a.dtype.kind != "f" or a.itemsize < 4 or not a.flags.c_contiguous:
        return None
    rank = a.ndim
    if axis is None:
        return np.reshape(_total(a.reshape(-1)), (1,) * rank if keepdim else ())
    over = sorted(axis)
    kept = tuple(1 if i in over else n for i, n in enumerate(a.shape))
    shape = kept if keepdim else tuple(n for i, n in enumerate(a.shape) if i not in over)
    if over == list(range(rank - len(over), rank)):
        return _row_sums(a.reshape(math.prod(kept), -1), shape)
    if over == list(range(len(over))):
        return _column_sums(a.reshape(-1, math.prod(kept)), shape)
    return None


def _total(flat: Any) -> Any:
    whole = flat.size - flat.size % _PIECE
    found = _sums_of_rows(flat[:whole].reshape(-1, _PIECE))
    return np.add.reduce(found) + np.add.reduce(flat[whole:])


def _row_sums(rows: Any, shape: tuple[int, ...]) -> Any:
    return None if rows.shape[1] < _SHORT else _sums_of_rows(rows).reshape(shape)


def _sums_of_rows(rows: Any) -> Any:
    found = np.empty(len(rows), rows.dtype)

    def work(part: slice) -> None:
        found[part] = sums(rows[part])

    over_blocks(work, len(rows), rows.shape[1], 4 * BLOCK)  # read once, so no need of the cache
    return found


def _column_sums(rows: Any, shape: tuple[int, ...]) -> Any:
    if rows.shape[1] < _SHORT:
        return None
    return sums_over(lambda part: rows[part], *rows.shape).reshape(shape)


def sums_over(make: Callable[[slice], Any], rows: int, width: int) -> Any:
    """The sum over rows of what ``make`` gives for each block of them."""
    parts: dict[int, Any] = {}

    def work(part: slice) -> None:
        parts[part.start] = np.add.reduce(make(part), 0)

    over_blocks(work, rows, width)
    return total_of(parts)


def total_of(parts: dict[int, Any]) -> Any:
    """The sum of what blocks gave, by their first rows: in one order, whichever thread was first."""
    if len(parts) == 1:
        return parts[0]
    return np.add.reduce(np.stack([parts[first] for first in sorted(parts)]), 0)
