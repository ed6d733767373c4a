"""Remainders and quotients of many numbers, which NumPy finds one after the other by long division.

Of float32, where quotients are small enough the remainder is computed in float64: there the product of a
float32 and a whole number below 2 ** 29 is exact, and so is what is left. The bits are those of C's
``fmodf``. Half precision is computed so in float32 and rounded once, as NumPy and ml_dtypes do.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .arrays import HALVES, quietly, recast, room_beside
from .compiled import computed
from .large import SOME, many

__all__ = ["left_over", "remainder"]

_LIMIT: Final = float(1 << 29)


def _left(x: Any, y: Any) -> Any:
    """What truncating division leaves.

    No quotient is rounded up to a whole number: that is 2 ** -24 away at least, of which float64 tells half.
    """
    a, b = x.astype(np.float64), y.astype(np.float64)
    return np.subtract(a, np.multiply(np.trunc(np.divide(a, b)), b))


def _fmod(tracer: Any, x: Any, y: Any) -> list[Any]:
    return [np.copysign(_left(x, y).astype(np.float32), x)]


def _remainder(tracer: Any, x: Any, y: Any) -> list[Any]:
    left, b = _left(x, y), y.astype(np.float64)
    other = np.less(np.multiply(left, b), np.float64(0))
    found = np.where(other, np.add(left, b), left).astype(np.float32)
    return [np.where(np.equal(found, np.float32(0)), np.copysign(found, x), found)]


def _floor_divide(tracer: Any, x: Any, y: Any) -> list[Any]:
    """NumPy's quotient: of what the remainder leaves, which may miss a whole number by rounding."""
    left = _left(x, y)
    quotient = np.divide(np.subtract(x, left.astype(np.float32)), y)
    other = np.less(np.multiply(left, y.astype(np.float64)), np.float64(0))
    quotient = np.where(other, np.subtract(quotient, np.float32(1)), quotient)
    floor = np.floor(quotient)
    missed = np.greater(np.subtract(quotient, floor), np.float32(0.5))
    floor = np.where(missed, np.add(floor, np.float32(1)), floor)
    none = np.equal(quotient, np.float32(0))
    return [np.where(none, np.copysign(np.float32(0), np.divide(x, y)), floor)]


def remainder(a: Any, b: Any, out: Any = None) -> Any:
    """Remainder with the divisor's sign; a zero has the dividend's, as in C."""
    left = np.remainder(a, b)
    if left.dtype.kind not in "iub":
        zero = left == 0
        if zero.any():
            left = np.copysign(left, np.where(zero, a, left))
    if out is None:
        return left
    out[...] = left
    return out


_TRACES: Final[dict[Any, Any]] = {
    np.fmod: _fmod,
    remainder: _remainder,
    np.floor_divide: _floor_divide,
}


def left_over(ufunc: Any, d: Any, *arrays: Any) -> Any:
    """`remainder`, ``np.fmod`` or ``np.floor_divide`` by a kernel; None where there is none.

    Args:
        ufunc: which; None for all others.
        d: NumPy dtype of the result.
        arrays: two, of which the first has the shape of the result; of half precision also others.
    """
    if ufunc not in _TRACES:
        return None
    if d in HALVES and max(a.size for a in arrays) >= SOME:
        wide = [recast(a, np.float32) for a in arrays]
        found = left_over(ufunc, np.dtype(np.float32), *wide)
        return recast(quietly(ufunc, *wide) if found is None else found, d)
    a, b = arrays
    if a.dtype != np.float32 or b.dtype != np.float32 or d != np.float32 or not many(a):
        return None
    if np.broadcast_shapes(a.shape, b.shape) != a.shape:
        return None
    low, most = np.absolute(b).min(), np.maximum(a.max(), -a.min())
    if not (0 < low <= np.absolute(b).max() < np.inf and most < _LIMIT * np.float64(low)):
        return None  # also of NaN
    out, lies = room_beside(a.shape, d, a, b), (a.strides, b.shape, b.strides)
    return out if computed((ufunc, "left over"), _TRACES[ufunc], arrays, [out], lies) else None
