"""Large operands of which one is broadcast: how NumPy is called so that it takes long runs.

Its loops begin anew with each row, and rows that fit its buffer are copied there first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from .arrays import HALVES, room_beside
from .compiled import computed
from .large import ARITHMETIC, EXTREMES, LARGE, in_place_at_once
from .memory_pool import POOL
from .remainders import left_over
from .rows import unbuffered
from .turned import laid_as_first

__all__ = ["in_long_runs", "in_place", "of_floats"]

# Elements of a run that costs more to go through than to begin.
_LONG: Final = 128
# Of rows that are computed with side by side, where each is combined with the same one.
_BESIDE: Final = 1 << 11


def in_long_runs(ufunc: Callable[..., Any], d: Any, *arrays: Any, out: Any = None) -> Any:
    """``ufunc`` of two arrays of unlike shapes, row-major; None where NumPy does as well.

    Args:
        ufunc: the NumPy function.
        d: NumPy dtype of the result.
        arrays: the operands.
        out: where the result goes; None for a new array.

    Raises:
        ValueError: if the shapes do not broadcast.
    """
    if len(arrays) != 2 or ufunc not in ARITHMETIC or arrays[0].shape == arrays[1].shape:
        return None
    a, b = arrays
    alike = a.dtype == b.dtype and d in (a.dtype, np.bool_)  # casts need the buffer
    if not alike:
        return None
    shape = np.broadcast_shapes(a.shape, b.shape)
    full, row = (a, b) if a.ndim >= b.ndim else (b, a)
    own = row.shape
    while own and own[0] == 1:
        own = own[1:]
    repeated = full.shape == shape and own == shape[full.ndim - len(own) :]
    if (
        repeated
        and full.flags.c_contiguous
        and 1 < row.size <= _BESIDE // 2
        and row.size < full.size
    ):
        out = POOL.empty(shape, d) if out is None else out
        _side_by_side(ufunc, full.reshape(-1), row.reshape(-1), out.reshape(-1), full is a)
        return out
    if not _runs(shape, a, b):
        return None
    out = POOL.empty(shape, d) if out is None else out
    unbuffered(lambda given: ufunc(*given, out), (a, b))
    return out


def of_floats(ufunc: Callable[..., Any], d: Any, *arrays: Any) -> Any:
    """``ufunc`` of one or two arrays of floats by a kernel, however they lie; None without one.

    Of half precision NumPy takes one element after the other, many times as long; of others it begins its
    loops anew with each row, so that some functions cost twice as much.

    Args:
        ufunc: the NumPy function.
        d: NumPy dtype of the result.
        arrays: the operands.

    Raises:
        ValueError: if the shapes do not broadcast.
    """
    if not _served(ufunc, arrays[0].dtype):
        return None
    second = arrays[0].size < arrays[-1].size  # how many there are is asked of the first
    given = arrays[::-1] if second else arrays

    def trace(tracer: Any, *parts: Any) -> list[Any]:
        return [ufunc(*(parts[::-1] if second else parts))]

    out = room_beside(np.broadcast(*arrays).shape, d, *arrays)
    lies = (given[0].strides, given[-1].shape, given[-1].strides)
    return out if computed((ufunc, second), trace, given, [out], lies) else None


def _served(ufunc: Callable[..., Any], d: Any) -> bool:
    """Whether kernels are asked for a function of floats: its bits are the same however operands lie."""
    if d in HALVES:
        return isinstance(ufunc, np.ufunc)
    return d.kind == "f" and (ufunc in ARITHMETIC or ufunc in EXTREMES)


def in_place(ufunc: Callable[..., Any], out: Any, other: Any) -> bool:
    """Whether ``ufunc(out, other, out)`` of many elements was computed in another way than by one call."""
    left = left_over(ufunc, out.dtype, out, other)
    if left is not None:
        np.copyto(out, left)
        return True
    if ufunc in ARITHMETIC and other.shape == out.shape and other.strides != out.strides:
        other = (laid_as_first((out, other)) or (out, other))[1]
    if out.dtype in HALVES:
        return in_place_at_once(ufunc, out, other)
    if not other.ndim or out.dtype != other.dtype:
        return False
    if _served(ufunc, out.dtype) and in_place_at_once(ufunc, out, other):
        return True
    return out.size >= LARGE and in_long_runs(ufunc, out.dtype, out, other, out=out) is not None


def _side_by_side(ufunc: Any, full: Any, row: Any, out: Any, first: bool) -> None:
    """Combine rows with one, as many at a time as make a long one; ``first`` says which operand they are."""

    def some(part: slice, row: Any) -> None:
        rows = full[part].reshape(-1, row.size)
        into = out[part].reshape(-1, row.size)
        unbuffered(lambda given: ufunc(*given, into), (rows, row) if first else (row, rows))

    beside = min(_BESIDE, full.size) // row.size
    whole = full.size - full.size % (beside * row.size)
    line = np.tile(row, beside)
    some(slice(whole), line)
    if whole < full.size:
        some(slice(whole, None), line[: row.size])


def _runs(shape: Sequence[int], *arrays: Any) -> bool:
    """Whether many elements come one after the other, or are one, in every operand."""
    steps = []
    for x in arrays:
        own = [0 if n == 1 else step for n, step in zip(x.shape, x.strides, strict=True)]
        steps.append([0] * (len(shape) - x.ndim) + own)
    length, size = 1, arrays[0].itemsize
    dims = [i for i in range(len(shape) - 1, -1, -1) if shape[i] > 1]
    for i in dims:
        if any(
            step[i] not in (0, length * size) or (step[i] == 0) is not (step[dims[0]] == 0)
            for step in steps
        ):
            break
        length *= shape[i]
    return length >= _LONG
