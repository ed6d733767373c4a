"""Error functions and the normal distribution, with tails that keep their digits.

``exp(-x * x)`` loses as many digits as the square has before the point: 1e-14 at 10, all of them where the
result is subnormal. Here the square is taken apart into one that is exact and a small rest.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..compiled import one_pass
from ..native.quick import LOG_2, WHOLE, at_most, exponential, power_of_two

__all__ = [
    "MANY",
    "erf",
    "erfc",
    "erfcx",
    "for_double",
    "gate",
    "gate_slope",
    "gelu_fits",
    "halves",
    "in_double",
    "log_ndtr",
    "ndtr",
    "scipy",
]

_SPLIT: Final = float((1 << 27) + 1)  # cuts a float64 into two halves (Veltkamp, 1968)
_FAR: Final = 40.0  # where every tail has vanished or is infinite


def scipy(name: str) -> Callable[..., Any]:
    """A function of SciPy, looked up when it is called: it is imported with the first."""

    def call(*arrays: Any) -> Any:
        return getattr(importlib.import_module("scipy.special"), name)(*arrays)

    return call


def in_double(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A function of float64 arrays for those of every floating dtype."""

    def call(a: Any) -> Any:
        return fn(a.astype(np.float64, copy=False)).astype(a.dtype, copy=False)

    return call


def for_double(plain: Callable[[Any], Any]) -> Callable[..., Any]:
    """Decorator: a function of float64 arrays; of narrower ones ``plain`` loses no digits."""

    def decorate(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
        def call(a: Any) -> Any:
            if a.dtype == np.float64:
                return fn(a)
            return plain(a.astype(np.float32, copy=False)).astype(a.dtype, copy=False)

        return call

    return decorate


def halves(x: Any) -> tuple[Any, Any]:
    """Two numbers whose sum a number is, and whose products with such are exact."""
    cut = x * _SPLIT
    high = cut - (cut - x)
    return high, x - high


def bell(x: Any, power: float, factor: Any) -> Any:
    """``factor * exp(-power * x * x)``, where the factor is rounded last, into subnormals too."""
    high, low = halves(x)
    root = np.exp(high * high * (-power / 2))
    rest = np.exp(low * (high + x) * -power)
    return root * (rest * factor) * root


def _replaced(found: Any, x: Any, where: Any, fn: Callable[[Any], Any]) -> Any:
    """Values with those at some places computed anew."""
    found = np.asarray(found)
    if where.any():
        found[where] = fn(x[where])
    return found


# ---- in single precision ------------------------------------------------------------------------

# SciPy computes one number after another, in float64: for few elements that is as fast.
MANY: Final = 128
# Numbers up to it have powers that do not overflow, which float32 polynomials need; beyond it the tails
# have long vanished.
_MODERATE: Final = np.float32(1e6)
# Of ``erf(x) / x`` in ``x * x`` up to 4: relative error 2e-9.
_ERF: Final = (
    (1.1283791693761376, 0.185203119288431, 0.05431689620141846, 0.003849607159944307,
     0.00037960868050479604, 4.684775258606658e-06, -1.3202213905675773e-08),
    (1.0, 0.49746540482966883, 0.11395837242585251, 0.015462080318629152,
     0.0013075687288164636, 6.311055572480104e-05),
)  # fmt: skip
# Polynomials whose highest power has the factor 1 take an operation less: what they are in truth is `_SCALE`.
# Of ``exp(x * x / 2)`` times the upper tail of the normal distribution, from 0 to `_END`: 6e-9.
_TAIL: Final = (
    (121.603004, 106.566106, 44.5417423, 9.87477298),
    (97.0262957, 162.444271, 116.637751, 45.5276719, 9.87551829),
)
# Of ``exp(-q / 2)`` up to a root of 2: 1e-7.
_HALF_EXP: Final = (-3860.32739, 1930.16321, -482.53241, 80.42836, -10.1098585)
# Powers of two are taken so much too large, where they would be subnormal before all else is multiplied.
_APART: Final = 24
_SCALE: Final = np.float32(-1.0334536637e-4 * 2.0**-_APART)
_END: Final = np.float32(14.44)  # the tail beyond is 0

# Of the tail itself over the bell curve, with an absolute error of 1e-8.
_ROUGH_TAIL: Final = (
    (0.5000000092525937, 0.18610009332906205, 0.03548598692313471),
    (1.0, 1.1700862944188515, 0.5045454223766702, 0.0835881811700909, 0.0003654813534147436),
)
_BLOCK: Final = 1 << 13
_SIGN: Final = np.int32(-1 << 31)


def _quotient(x: Any, coefficients: tuple[tuple[float, ...], tuple[float, ...]]) -> Any:
    """A quotient of polynomials (minimax, by Lawson's iteration), the lowest powers given first."""
    made = []
    for factors in coefficients:
        *rest, highest = (x.dtype.type(f) for f in factors)
        total = np.multiply(x, highest)
        for factor in reversed(rest[1:]):
            np.add(total, factor, total)
            np.multiply(total, x, total)
        made.append(np.add(total, rest[0], total))
    return np.divide(made[0], made[1], made[0])


def erf(a: Any) -> Any:
    """Error function."""
    if a.dtype != np.float32 or a.size < MANY:
        return scipy("erf")(a)
    if type(a) is np.ndarray:
        made = one_pass("erf", lambda tracer, x: [erf(x)], a.dtype, a)
        if made is not None:
            return made
    x = np.clip(a.astype(np.float64), -4.0, 4.0)
    found = _quotient(np.multiply(x, x), _ERF)
    np.multiply(found, x, found)
    return np.clip(found, -1.0, 1.0, found).astype(np.float32)


def gelu_fits(a: Any, wide: Any, approximate: str = "none") -> bool:
    """Whether gelu and its slope may be compiled, of an array that is computed in a wide dtype."""
    return approximate == "tanh" or bool(wide == np.float32 and a.size >= MANY)


def _by_polynomials(a: Any) -> bool:
    return bool(a.dtype == np.float32 and a.size >= MANY)


def _by_blocks(fn: Callable[[Any], Any], a: Any) -> Any:
    """A function of many operations, of as many elements at a time as fit the cache with what is between."""
    if type(a) is not np.ndarray or a.size <= _BLOCK or not a.flags.c_contiguous:
        return fn(a)  # traced for a compiled kernel, or few
    made = np.empty_like(a)
    given, found = a.reshape(-1), made.reshape(-1)
    for start in range(0, a.size, _BLOCK):
        part = slice(start, start + _BLOCK)
        found[part] = fn(given[part])
    return made


def gate(a: Any) -> Any:
    """``a`` times the normal distribution function of it; NaN for minus infinity, as in PyTorch."""
    return _by_blocks(_gate, a) if _by_polynomials(a) else np.multiply(a, ndtr(a))


def _gate(a: Any) -> Any:
    """The same by polynomials, one of them of what the exponential has left of a power of two."""
    x = at_most(np.absolute(a), _END)
    # The square is that of the first 12 bits, which is exact, and a rest.
    first = np.bitwise_and(x.view(np.int32), np.int32(-4096)).view(np.float32)
    rest = np.multiply(np.subtract(x, first), np.add(x, first))
    added = np.float32(WHOLE + 127 + _APART)
    whole = np.add(np.multiply(np.multiply(x, x), np.float32(-0.5 / math.log(2))), added)
    n = np.subtract(whole, added)
    q = np.add(np.multiply(first, first), np.multiply(n, np.float32(2 * LOG_2[0])))
    q = np.add(q, np.add(np.multiply(n, np.float32(2 * LOG_2[1])), rest))
    c = [np.float32(v) for v in _HALF_EXP]
    square = np.multiply(q, q)
    high = np.add(np.add(np.multiply(q, c[3]), c[2]), np.multiply(square, np.add(q, c[4])))
    part = np.add(np.add(np.multiply(square, high), np.multiply(q, c[1])), c[0])
    tail = np.multiply(part, power_of_two(whole))
    tail = np.multiply(tail, np.divide(*(_monic(x, factors) for factors in _TAIL)))
    tail = np.multiply(tail, _SCALE)
    one = np.float32(1)
    return np.multiply(a, np.where(np.less(a, np.float32(0)), tail, np.subtract(one, tail)))


def _monic(x: Any, coefficients: tuple[float, ...]) -> Any:
    """A polynomial, the factor of whose highest power is 1; the lowest powers are given first."""
    *lower, last = (np.float32(c) for c in coefficients)
    total = np.add(x, last)
    for factor in reversed(lower):
        total = np.add(np.multiply(total, x), factor)
    return total


def gate_slope(a: Any) -> Any:
    """Derivative of `gate`; where it passes 0 its error is absolute, as PyTorch's is."""
    if _by_polynomials(a):
        return _by_blocks(_gate_slope, a)
    root = 1 / math.sqrt(2 * math.pi)
    bell = np.exp(np.multiply(np.multiply(a, a), a.dtype.type(-0.5)))
    return np.add(ndtr(a), np.multiply(np.multiply(a, bell), a.dtype.type(root)))


def _gate_slope(a: Any) -> Any:
    """The same by polynomials."""
    size = np.absolute(a)
    x = at_most(size, _MODERATE)
    root = np.float32(1 / math.sqrt(2 * math.pi))
    bell = exponential(np.multiply(np.multiply(x, x), np.float32(-0.5)), falling=True)
    # Infinities become NaN.
    found = np.subtract(np.multiply(size, root), _quotient(x, _ROUGH_TAIL))
    found = np.add(np.multiply(found, bell), np.float32(0.5))
    # What is above 0.5 at the right, and below at the left.
    return np.add(_with_sign(found, a), np.float32(0.5))


def _with_sign(found: Any, a: Any) -> Any:
    """Numbers without a sign, or with the same, which get that of others; zeros too."""
    sign = np.bitwise_and(a.view(np.int32), _SIGN)
    return np.bitwise_or(found.view(np.int32), sign).view(np.float32)


# ---- in double precision ------------------------------------------------------------------------


@for_double(scipy("erfc"))
def erfc(x: Any) -> Any:
    """Complementary error function."""

    def tail(z: Any) -> Any:
        z = np.minimum(z, _FAR)
        return bell(z, 1, scipy("erfcx")(z))

    return _replaced(scipy("erfc")(x), x, x > 0.5, tail)


@for_double(scipy("erfcx"))
def erfcx(x: Any) -> Any:
    """``exp(x * x) * erfc(x)``."""

    def head(z: Any) -> Any:
        z = np.maximum(z, -_FAR)
        return bell(z, -1, 2) - scipy("erfcx")(-z)

    return _replaced(scipy("erfcx")(x), x, x < -1, head)


def _below(x: Any) -> Any:
    """Distribution function of the normal distribution."""

    def tail(z: Any) -> Any:
        z = np.maximum(z, -_FAR)
        return bell(z, 0.5, 0.5 * scipy("erfcx")(z * -math.sqrt(0.5)))

    return _replaced(scipy("ndtr")(x), x, x < -1, tail)


ndtr = for_double(scipy("ndtr"))(_below)


@for_double(scipy("log_ndtr"))
def log_ndtr(x: Any) -> Any:
    """Logarithm of `ndtr`."""
    return _replaced(scipy("log_ndtr")(x), x, x > 0, lambda z: np.log1p(-_below(-z)))
