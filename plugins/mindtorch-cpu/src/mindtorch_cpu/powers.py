"""Powers of arrays: few factors are products, integers know no fractions."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["power", "power_of_number"]


def power(base: Any, exponent: Any, out: Any = None) -> Any:
    """Power; of few factors a product, as in PyTorch.

    NumPy has such formulas too, where one exponent comes again and again as it goes along memory: for an
    array of exponents the bits of a power would depend on how it lies.
    """
    if exponent.ndim == 0:
        number = exponent.item()  # which compares ten times as fast
        if number == 2:
            return np.multiply(base, base, out)
        if base.dtype.kind == "f" and base.itemsize > 2:
            if number == 0.5:
                return _root(base, out)
            found = _few_factors(base, number, out)
            if found is not None:
                return found
    elif exponent.shape != base.shape or 0 in exponent.strides:
        exponent = _apart(base, exponent)
    if exponent.dtype.kind == "i" and (exponent < 0).any():
        return np.multiply(*_negative_power(base, exponent), out)
    return np.power(base, exponent, out)


def power_of_number(base: Any, exponent: Any, out: Any = None) -> Any:
    """Power where the exponent is a number, as an array: half of one is a root, of -0 and infinities too."""
    kind, half = base.dtype.kind, base.itemsize == 2
    if kind == "b" and exponent.dtype.kind == "b":
        return np.logical_or(base, np.logical_not(exponent), out)
    if kind not in "fV" or (kind == "f" and half):  # "V" is bfloat16's
        return power(base, exponent, out)
    number = exponent.item()
    if number == 0.5:
        return np.sqrt(base, out)
    if number == -0.5:
        wide = base.astype(np.float32) if half else base  # rounded once
        found = np.divide(wide.dtype.type(1), np.sqrt(wide), out if wide is base else None)
        return found if wide is base else np.positive(found.astype(base.dtype), out)
    found = _few_factors(base, number, out)
    return power(base, exponent, out) if found is None else found


# Large results are written in place, see `large.in_chunks`.
power.into, power_of_number.into = power, power_of_number  # type: ignore[attr-defined]


def _root(base: Any, out: Any) -> Any:
    """The power that a root is but for -0 and minus infinity; NumPy's is a root for one exponent."""
    root = np.sqrt(np.add(base, base.dtype.type(0)))
    infinity = base.dtype.type(np.inf)
    return np.positive(np.where(np.equal(base, -infinity), infinity, root), out)


def _few_factors(base: Any, exponent: complex, out: Any) -> Any:
    """Power of floating numbers that is a product, or 1 by one; else None."""
    if exponent == 3:
        return np.multiply(np.multiply(base, base), base, out)
    if exponent == -2:
        return np.divide(base.dtype.type(1), np.multiply(base, base), out)
    return None


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
