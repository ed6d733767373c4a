"""Powers of arrays: few factors are products, integers know no fractions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

__all__ = ["formula_of", "power", "power_of_number", "rsqrt"]


def rsqrt(a: Any) -> Any:
    """One over the root."""
    return np.reciprocal(np.sqrt(a))


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
            if number in (3, -2):
                return _FORMULAS[number](base, out)
    elif 0 in exponent.strides or (base.ndim and exponent.shape != base.shape):
        exponent = _apart(base, exponent)
    if exponent.dtype.kind == "i" and (exponent < 0).any():
        return np.multiply(*_negative_power(base, exponent), out)
    return np.power(base, exponent, out)


def power_of_number(base: Any, exponent: Any, out: Any = None) -> Any:
    """Power where the exponent is a number, as an array: half of one is a root, of -0 and infinities too."""
    if base.dtype.kind == "b" and exponent.dtype.kind == "b":
        return np.logical_or(base, np.logical_not(exponent), out)
    formula = formula_of(base.dtype, exponent)
    return power(base, exponent, out) if formula is None else formula(base, out)


def formula_of(d: Any, exponent: Any) -> Callable[..., Any] | None:
    """What `power_of_number` computes of an array of a floating dtype, for exponents that have a formula."""
    if d.kind not in "fV":  # "V" is bfloat16's
        return None
    number = exponent.item()
    if d == np.float16:
        return _OF_FLOAT16.get(number)
    formulas = _FORMULAS if d.itemsize > 2 else _OF_BFLOAT16
    found = formulas.get(number)
    return _WHOLE.get(number) if found is None and d != np.float64 else found


# Large results are written in place, see `large.in_chunks`.
power.into, power_of_number.into = power, power_of_number  # type: ignore[attr-defined]


def _put(found: Any, out: Any) -> Any:
    """A result, which is written where it is asked for."""
    if out is None:
        return found
    np.copyto(out, found)
    return out


def _square(base: Any, out: Any = None) -> Any:
    return np.multiply(base, base, out)


def _cube(base: Any, out: Any = None) -> Any:
    return np.multiply(np.multiply(base, base), base, out)


def _inverse(base: Any, out: Any = None) -> Any:
    return np.divide(base.dtype.type(1), base, out)


def _inverse_square(base: Any, out: Any = None) -> Any:
    return np.divide(base.dtype.type(1), np.multiply(base, base), out)


def _inverse_root(base: Any, out: Any = None) -> Any:
    return np.divide(base.dtype.type(1), np.sqrt(base), out)


def _in_single(formula: Callable[..., Any]) -> Callable[..., Any]:
    """A formula of half precision that is computed in float32 and rounded once."""

    def power(base: Any, out: Any = None, formula: Callable[..., Any] = formula) -> Any:
        return _put(formula(base.astype(np.float32)).astype(base.dtype), out)

    return power


def _whole(n: int) -> Callable[..., Any]:
    """A whole power of float32 or less, by products in float64.

    NumPy's takes a hundred times as long for what is negative, and is one unit off for a fifth of the rest.
    """

    def power(base: Any, out: Any = None, n: int = n) -> Any:
        square = base.astype(np.float64)
        found: Any = None
        for bit in bin(abs(n))[:1:-1]:
            if bit == "1":
                found = square if found is None else np.multiply(found, square)
            square = np.multiply(square, square)
        found = np.divide(np.float64(1), found) if n < 0 else found
        return _put(found.astype(np.float32).astype(base.dtype), out)

    return power


def _root(base: Any, out: Any = None) -> Any:
    """The power that a root is but for -0 and minus infinity; NumPy's is a root for one exponent."""
    root = np.sqrt(np.add(base, base.dtype.type(0)))
    infinity = base.dtype.type(np.inf)
    return np.positive(np.where(np.equal(base, -infinity), infinity, root), out)


def _inverse_of_root(base: Any) -> Any:
    return _inverse(_root(base))


# By exponent; of float16 PyTorch has a formula for squares only, and so powers of infinities.
_FORMULAS: Final[dict[complex, Callable[..., Any]]] = {
    0.5: np.sqrt,
    -0.5: _inverse_root,
    -1: _inverse,
    2: _square,
    -2: _inverse_square,
    3: _cube,
}
_OF_BFLOAT16: Final = {**_FORMULAS, -0.5: _in_single(_inverse_root)}
_WHOLE: Final = {n: _whole(n) for n in (*range(-8, -1), *range(3, 9))}
_OF_FLOAT16: Final = {
    **_WHOLE,
    0.5: _in_single(_root),
    -0.5: _in_single(_inverse_of_root),
    -1: _inverse,
    2: _square,
}


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
