"""Work on blocks of rows that fit the cache, shared out over threads: sums, products, scaling."""

from __future__ import annotations

import contextvars
import functools
import threading
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .workers import share_out

__all__ = [
    "BLOCK",
    "FOLD",
    "LONG_BLOCK",
    "PIECE",
    "SHORTEST",
    "broad",
    "counted",
    "dots",
    "folds",
    "in_rows",
    "ones",
    "over_blocks",
    "pieces",
    "spread",
    "sums",
    "unbuffered",
]

# Elements of a block: with an output and two temporary arrays it fits a second-level cache of 1 MiB.
BLOCK: Final = 1 << 16
# Of one that takes several calls: threads whose calls are shorter wait for each other, as each asks for the
# interpreter's lock.
LONG_BLOCK: Final = 1 << 18
# Rows of fewer elements NumPy computes as fast as a compiled kernel.
SHORTEST: Final = 128
# Elements that one BLAS product adds up at most: rounding errors stay as small as in a sum by halves.
PIECE: Final = 1 << 10
# Rows that are added one after the other where columns are summed.
FOLD: Final = 64


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


def unbuffered(work: Callable[[Any], None], part: Any) -> None:
    """Call ``work(part)``, which uses NumPy without casts, see `_Unbuffered`."""
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
        unbuffered(work, slice(0, rows))
        return
    share_out(lambda first: unbuffered(work, slice(first, first + step)), range(0, rows, step))


def in_rows(a: Any, dim: int) -> Any:
    """A row-major array as (outside, along ``dim``, inside), sharing memory."""
    shape = a.shape
    at = dim % a.ndim
    outside = 1
    for n in shape[:at]:
        outside *= n
    return a.reshape(outside, shape[at], -1 if a.size else 0)


# Rows of fewer elements cost more to begin than to go through.
_LONG: Final = 400


def spread(column: Any, width: int) -> Any:
    """A column (..., 1), or the rows of a width that it stands for.

    NumPy takes 60 ns a row to combine rows with a column, and 10 to copy a number to a row.
    """
    if width >= _LONG:
        return column
    made = np.empty((*column.shape[:-1], width), column.dtype)
    np.copyto(made, column)
    return made


def broad(rows: Any, *vectors: Any) -> tuple[Any, ...]:
    """Rows, and vectors that each is combined with: several rows side by side where they are short.

    Args:
        rows: (rows, width) in row-major order; the result shares their memory.
        vectors: of that width, or None.
    """
    count, width = rows.shape
    beside = 1
    while beside * width < _LONG and count % (2 * beside) == 0:
        beside *= 2
    if beside == 1 or not width:
        return rows, *vectors
    wide = (None if v is None else np.concatenate((v,) * beside) for v in vectors)
    return rows.reshape(-1, beside * width), *wide


@functools.cache
def ones(d: Any) -> Any:
    """As many ones as a piece has elements."""
    made = np.ones(PIECE, d)
    made.flags.writeable = False
    return made


@functools.lru_cache
def pieces(n: int, longest: int) -> int:
    """Into how many equal pieces a row is cut; 0 if there is no good number."""
    least = -(-n // longest)
    return next((count for count in range(least, 2 * least) if n % count == 0), 0)


def dots(x: Any, y: Any) -> Any:
    """Sums along the last dimension of ``x * y``, of float32 or float64."""
    n = x.shape[-1]
    if n <= PIECE:
        return np.vecdot(x, y)
    count = pieces(n, PIECE)
    if count:
        shape = (*x.shape[:-1], count, n // count)
        return np.add.reduce(np.vecdot(x.reshape(shape), y.reshape(shape)), -1)
    whole = n - n % PIECE
    found = dots(x[..., :whole], y[..., :whole])
    found += np.vecdot(x[..., whole:], y[..., whole:])
    return found


def counted(x: Any) -> Any:
    """Products with ones along the last dimension."""
    return np.vecdot(x, ones(x.dtype)[: x.shape[-1]])


def sums(x: Any, add: Callable[[Any], Any] = counted) -> Any:
    """Sums along the last dimension, of float32 or float64.

    Args:
        x: the array.
        add: gives those of rows that are no longer than a piece.
    """
    n = x.shape[-1]
    if n <= PIECE:
        return add(x)
    count = pieces(n, PIECE)
    if count:
        return np.add.reduce(add(x.reshape(*x.shape[:-1], count, n // count)), -1)
    whole = n - n % PIECE
    return sums(x[..., :whole], add) + add(x[..., whole:])


def folds(x: Any) -> Any:
    """Sums of `FOLD` rows each, added one after the other, of (rows, width); the last of what is left."""
    rows, width = x.shape
    whole = rows - rows % FOLD
    found = np.empty((-(-rows // FOLD), width), x.dtype)
    np.add.reduce(x[:whole].reshape(-1, FOLD, width), 1, out=found[: whole // FOLD])
    if whole < rows:
        np.add.reduce(x[whole:], 0, out=found[-1])
    return found
