"""``x * y + z`` rounded once, as processors compute it where PyTorch draws random numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

__all__ = ["fused_double", "fused_single", "rounded_sum"]

_SPLIT = 2.0**27 + 1


def fused_single(x: Any, y: Any, z: Any) -> Any:
    """``x * y + z`` of float32 numbers: their products are exact in float64."""
    return rounded_sum(np.multiply(x, y, dtype=np.float64), np.float64(z))


def rounded_sum(p: Any, z: Any) -> Any:
    """The sum of float64 numbers as float32, rounded once.

    A sum is rounded to float64 first. That decides nothing unless it lies in the middle of two float32
    numbers then: it is moved by a bit to where the exact sum is.
    """
    s = p + z
    middle = (s.view(np.int64) & 0x1FFFFFFF) == 0x10000000
    if middle.any():
        back = s - p
        error = (p - (s - back)) + (z - back)
        middle &= error != 0
        if middle.any():
            s[middle] = np.nextafter(s[middle], np.copysign(np.inf, error[middle]))
    return s.astype(np.float32)


def fused_double(x: Any, y: float, z: float) -> Any:
    """``x * y + z`` of an array and two numbers in float64."""
    if z == 0 and y == 1:
        return x
    product = x * y
    if z == 0 or not (math.isfinite(y) and math.isfinite(z)):
        return product + z
    if y == 1:
        return x + z
    high, rest = _parts(x)
    y_high, y_rest = _parts(np.float64(y))
    low = ((high * y_high - product) + high * y_rest + rest * y_high) + rest * y_rest
    s = product + z
    back = s - product
    return s + (((product - (s - back)) + (z - back)) + low)


def _parts(x: Any) -> tuple[Any, Any]:
    """Two numbers of half the digits, whose sum this is."""
    high = x * _SPLIT
    high = high - (high - x)
    return high, x - high
