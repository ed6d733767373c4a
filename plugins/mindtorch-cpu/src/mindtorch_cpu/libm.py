"""Functions of float64 to the last bit of the C library's, which PyTorch draws random numbers with.

Where the processor has wide vectors, NumPy computes some functions in its own way, which is off in the last
place now and then.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

__all__ = ["exact"]

# Where random numbers need the functions.
_RANGES: Final = {
    "log": (1e-16, 1.0),
    "log1p": (-1 + 2**-53, 0.0),
    "exp": (-20.0, 20.0),
    "tan": (-math.pi / 2, math.pi / 2),
    "sin": (0.0, 2 * math.pi),
    "cos": (0.0, 2 * math.pi),
}
_PROBES: Final = 1 << 12  # finds a function that is off once in 300 numbers


@functools.cache
def exact(name: str) -> Callable[[Any], Any]:
    """A function of arrays: NumPy's, if it has the bits of the C library on some thousand numbers."""
    low, high = _RANGES[name]
    spread = np.modf(np.arange(1, _PROBES + 1) * ((math.sqrt(5) - 1) / 2))[0]
    probes = low + spread * (high - low)
    mapped = functools.partial(_mapped, getattr(math, name))
    ufunc: Callable[[Any], Any] = getattr(np, name)
    return ufunc if np.array_equal(ufunc(probes), mapped(probes)) else mapped


def _mapped(function: Callable[[float], float], a: Any) -> Any:
    """A function of numbers, applied to the elements of an array."""

    def applied(x: float) -> float:
        try:
            return function(x)
        except ValueError:  # the logarithm of zero
            return -math.inf
        except OverflowError:
            return math.inf

    flat = a.reshape(-1)
    made = np.empty(flat.shape)
    for start in range(0, flat.size, 1 << 14):
        part = flat[start : start + (1 << 14)].tolist()
        try:
            made[start : start + len(part)] = list(map(function, part))
        except (ValueError, OverflowError):
            made[start : start + len(part)] = list(map(applied, part))
    return made.reshape(a.shape)
