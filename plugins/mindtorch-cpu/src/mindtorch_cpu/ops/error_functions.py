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

from ..memory_pool import POOL
from ..native.quick import exponential

__all__ = [
    "MANY",
    "erf",
    "erfc",
    "erfcx",
    "for_double",
    "gate",
    "gate_slope",
    "halves",
    "in_double",
    "log_ndtr",
    "many",
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
# Of ``exp(x * x / 2)`` times the upper tail of the normal distribution, from 0 to 15: 7e-9.
_TAIL: Final = (
    (0.5000000031465923, 0.43928237608140264, 0.18396833446103517, 0.040880850113923964,
     0.004153186583621407),
    (1.0, 1.6764497590350718, 1.2055449908495486, 0.47140656925029983, 0.10247921155968347,
     0.010410383249809162),
)  # fmt: skip

# The same times the bell curve, with an absolute error of 1e-8.
_ROUGH_TAIL: Final = (
    (0.5000000092525937, 0.18610009332906205, 0.03548598692313471),
    (1.0, 1.1700862944188515, 0.5045454223766702, 0.0835881811700909, 0.0003654813534147436),
)
_SIGN: Final = np.int32(-1 << 31)


def _quotient(
    x: Any, coefficients: tuple[tuple[float, ...], tuple[float, ...]], out: Any = (None, None)
) -> Any:
    """A quotient of polynomials (minimax, by Lawson's iteration), the lowest powers given first."""
    made = []
    for factors, room in zip(coefficients, out, strict=True):
        *rest, highest = (x.dtype.type(f) for f in factors)
        total = np.multiply(x, highest, room)
        for factor in reversed(rest[1:]):
            np.add(total, factor, total)
            np.multiply(total, x, total)
        made.append(np.add(total, rest[0], total))
    return np.divide(made[0], made[1], made[0])


def erf(a: Any) -> Any:
    """Error function."""
    if a.dtype != np.float32 or a.size < MANY:
        return scipy("erf")(a)
    x = np.clip(a.astype(np.float64), -4.0, 4.0)
    found = _quotient(np.multiply(x, x), _ERF)
    np.multiply(found, x, found)
    return np.clip(found, -1.0, 1.0, found).astype(np.float32)


def many(a: Any) -> bool:
    """Whether there are enough numbers for `gate` and `gate_slope` to compute them by polynomials."""
    return bool(a.size >= MANY)


def _by_polynomials(a: Any) -> bool:
    return a.dtype == np.float32 and many(a)


def _rooms(a: Any, count: int) -> Any:
    """Arrays of a shape, the first of which has its absolute values, not more than moderate."""
    if type(a) is not np.ndarray:  # traced for a compiled kernel
        made = a.rooms(count)
        np.minimum(np.absolute(a), _MODERATE, out=made[0])
        return made
    made = POOL.empty((count, *a.shape), a.dtype)
    x = np.absolute(a, made[0])
    if not np.maximum.reduce(x, None) <= _MODERATE:
        np.minimum(x, _MODERATE, out=x)
    return made


def gate(a: Any) -> Any:
    """``a`` times the normal distribution function of it; NaN for minus infinity, as in PyTorch."""
    return gate_in(a, _rooms(a, 5)) if _by_polynomials(a) else np.multiply(a, ndtr(a))


def gate_in(a: Any, made: Any) -> Any:
    """The same in five arrays, the first of which has the sizes of numbers, not more than moderate."""
    x, tail, high, low, more = made
    np.multiply(x, x, tail)
    # What the square lost by rounding: 12 bits have an exact one.
    np.bitwise_and(x.view(np.int32), np.int32(-4096), high.view(np.int32))
    np.multiply(np.subtract(x, high, low), np.add(x, high, more), low)
    np.add(np.subtract(np.multiply(high, high, high), tail, high), low, high)
    exponential(np.multiply(tail, np.float32(-0.5), tail), tail)
    np.add(np.multiply(high, np.float32(-0.5), high), np.float32(1), high)
    np.multiply(tail, high, tail)
    np.multiply(tail, x, tail)
    np.multiply(tail, _quotient(x, _TAIL, (low, more)), tail)
    # The number, or 0 where it is negative, but for minus infinity; halves do not overflow.
    half = np.multiply(a, np.float32(0.5), high)
    above = np.add(half, np.absolute(half, low), low)
    found = np.subtract(above, tail)
    return _with_sign(found, a, high)


def gate_slope(a: Any) -> Any:
    """Derivative of `gate`; where it passes 0 its error is absolute, as PyTorch's is."""
    if _by_polynomials(a):
        return gate_slope_in(a, _rooms(a, 4))
    root = 1 / math.sqrt(2 * math.pi)
    bell = np.exp(np.multiply(np.multiply(a, a), a.dtype.type(-0.5)))
    return np.add(ndtr(a), np.multiply(np.multiply(a, bell), a.dtype.type(root)))


def gate_slope_in(a: Any, made: Any) -> Any:
    """The same in four arrays, the first of which has the sizes of numbers, not more than moderate."""
    x, bell, found, room = made
    root = 1 / math.sqrt(2 * math.pi)
    exponential(np.multiply(np.multiply(x, x, bell), np.float32(-0.5), bell), bell)
    _quotient(x, _ROUGH_TAIL, (found, room))
    np.absolute(a, x)  # infinities become NaN
    np.subtract(np.multiply(x, np.float32(root), x), found, found)
    np.multiply(found, bell, found)
    np.add(found, np.float32(0.5), found)  # what is above 0.5 at the right, and below at the left
    return np.add(_with_sign(found, a, room), np.float32(0.5))


def _with_sign(found: Any, a: Any, room: Any) -> Any:
    """Numbers without a sign, or with the same, which get that of others; zeros too."""
    sign, bits = room.view(np.int32), found.view(np.int32)
    np.bitwise_or(bits, np.bitwise_and(a.view(np.int32), _SIGN, sign), bits)
    return found


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
