"""Powers of arrays: few factors are products, integers know no fractions."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["power"]


def power(base: Any, exponent: Any, out: Any = None) -> Any:
    """Power; few factors are products, and half of one is a root, as in PyTorch.

    NumPy has such formulas too, where one exponent comes again and again as it goes along memory: for an
    array of exponents the bits of a power would depend on how it lies.
    """
    if exponent.ndim == 0:
        if exponent == 2:
            return np.multiply(base, base, out)
        if base.dtype.kind == "f" and base.itemsize > 2:
            if exponent == 3:
                return np.multiply(np.multiply(base, base), base, out)
            if exponent == 0.5:
                return np.sqrt(base, out)
            if exponent == -0.5:
                return np.divide(base.dtype.type(1), np.sqrt(base), out)
            if exponent == -2:
                return np.divide(base.dtype.type(1), np.multiply(base, base), out)
    elif exponent.shape != base.shape or 0 in exponent.strides:
        exponent = _apart(base, exponent)
    if exponent.dtype.kind == "i" and (exponent < 0).any():
        return np.multiply(*_negative_power(base, exponent), out)
    return np.power(base, exponent, out)


def _apart(base: Any, exponent: Any) -> Any:
    """Exponents of the shape of the result, each with an element of its own."""
    shape = np.broadcast_shapes(base.shape, exponent.shape)
    wide = np.broadcast_to(exponent, shape)
    again = any(step == 0 and n > 1 for step, n in zip(wide.strides, shape, strict=True))
    return np.ascontiguousarray(wide) if again else exponent


def _negative_power(base: Any, exponent: Any) -> tuple[Any, Any]:
    """Factors of a power of integers: quotients are cut, so that only those of 1 and -1 remain."""
    below = exponent < 0
    whole = np.power(base, np.where(below, exponent & 1, exponent))
    return whole, np.where(below, np.abs(base) == 1, 1).astype(whole.dtype)
