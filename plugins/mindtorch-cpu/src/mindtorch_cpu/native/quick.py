"""Functions of float32 by a few operations, which kernels compute in place of NumPy's loops if asked to.

``MINDTORCH_NATIVE=fast`` asks for it: bits differ from NumPy's then. Errors are about one unit in the last
place, where those of NumPy's loops are up to three. They are made of IEEE's arithmetic alone, so a
kernel is compared with NumPy's to the last bit here too. The same code serves arrays and traced ones.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, Final

import numpy as np

__all__ = [
    "EXP_PARTS", "FAST", "FORMULAS", "LOG_2", "MANY", "WHOLE", "at_most", "expm1", "exponential", "log1p",
    "pays", "power_of_two",
]  # fmt: skip

# For the life of the process: the same call gives the same bits.
FAST: Final = os.environ.get("MINDTORCH_NATIVE", "").lower() == "fast"
# Where kernels can be compiled, exponentials of many elements are a formula that takes half as long there as
# NumPy's loop does; whether they are compiled yet makes no difference to the bits.
_COMPILES: Final = find_spec("llvmlite") is not None

# Elements from which formulas of arrays pay: of fewer, NumPy's loops take less time than its calls for each
# operation, which serve shapes that have no kernel yet.
MANY: Final = 1 << 12

# The logarithm of 2 in two parts: products of the first with exponents are exact.
_HIGH: Final = 0.693359375
_LOW: Final = -2.1219444005469057e-4
# Added to a float it leaves a whole number in the lowest bits.
WHOLE: Final = 12582912.0
_WHOLE_BITS: Final = 0x4B400000
_APART: Final = 64  # exponents by which the factors of a power of two differ from its own
_ROOT_BITS: Final = 0x3F3504F3  # of the root of a half
_LEAST: Final = 1.1754943508222875e-38  # that is not subnormal
# Polynomials by interpolation at Chebyshev's points, the lowest power first: what follows the first two terms
# of the series of exp(r) and log(1 + f), over the second and the third power.
_EXP: Final = (0.5, 0.16666573, 0.041666456, 0.008363777, 0.0013934545)
_LOG: Final = (0.3333333134651184, -0.24999989569187164, 0.20000708103179932, -0.1666848063468933,
               0.14249937236309052, -0.12411050498485565, 0.11661510914564133, -0.115712009370327,
               0.07149753719568253)  # fmt: skip
# Twice the area tangent over its argument, in the square of that up to 1/9: 4e-9.
_AREA: Final = (2.0, 0.66666313308, 0.40024983841, 0.27959373189, 0.28184638626)

# What the exponential is made of, for who writes it in vectors.
LOG_2: Final = (_HIGH, _LOW)
EXP_PARTS: Final = (_HIGH, _LOW, WHOLE, _WHOLE_BITS, _EXP)


def _f(value: float) -> Any:
    return np.float32(value)


def _i(value: int) -> Any:
    return np.int32(value)


def _polynomial(x: Any, coefficients: tuple[float, ...]) -> Any:
    found = np.multiply(x, _f(coefficients[-1]))
    for c in coefficients[-2:0:-1]:
        found = np.multiply(np.add(found, _f(c)), x)
    return np.add(found, _f(coefficients[0]))


def _in_pairs(x: Any, square: Any, coefficients: tuple[float, ...]) -> Any:
    """A polynomial of degree 4: what waits for nothing else is computed at once."""
    a, b, c, d, e = map(_f, coefficients)
    high = np.add(np.add(np.multiply(x, d), c), np.multiply(square, e))
    return np.add(np.add(np.multiply(x, b), a), np.multiply(square, high))


def pays(x: Any) -> bool:
    """Whether an array, or a traced one, is computed by formulas."""
    return bool(x.dtype == np.float32 and x.size >= MANY)


def at_most(x: Any, limit: Any) -> Any:
    """The smaller of numbers and one that is not NaN, which a traced minimum would look for."""
    if type(x) is np.ndarray:
        return np.minimum(x, limit)
    return np.where(np.less(limit, x), limit, x)


def _at_least(x: Any, limit: Any) -> Any:
    if type(x) is np.ndarray:
        return np.maximum(x, limit)
    return np.where(np.greater(limit, x), limit, x)


def power_of_two(whole: Any) -> Any:
    """Two to the power of what `WHOLE` and 127 were added to."""
    return np.left_shift(whole.view(np.int32), _i(23)).view(np.float32)


def exp(x: Any, *, falling: bool = False) -> Any:
    """The exponential: of what is left of multiples of log(2), times a power of two in two factors.

    The first factor is too large or too small by a number that leaves it normal, which the second is.

    Args:
        x: the numbers.
        falling: none is much larger than 0, which the same bits take fewer operations for.
    """
    x = _at_least(x, _f(-110))
    if falling:
        added, last = _f(WHOLE + 127 + _APART), _f(2.0**-_APART)
    else:
        x = at_most(x, _f(90))
        negative = np.less(x, _f(0))
        added = np.where(negative, _f(WHOLE + 127 + _APART), _f(WHOLE + 127 - _APART))
        last = np.where(negative, _f(2.0**-_APART), _f(2.0**_APART))
    whole = np.add(np.multiply(x, _f(1.4426950408889634)), added)
    n = np.subtract(whole, added)
    r = np.subtract(np.subtract(x, np.multiply(n, _f(_HIGH))), np.multiply(n, _f(_LOW)))
    square = np.multiply(r, r)
    found = np.add(np.add(np.multiply(square, _in_pairs(r, square, _EXP)), r), _f(1))
    return np.multiply(np.multiply(found, power_of_two(whole)), last)


def exponential(x: Any, out: Any = None, *, falling: bool = False) -> Any:
    """The exponential of an array, or a traced one, of many elements; it may be written to an array.

    With ``falling`` none of them is much larger than 0.
    """
    if not _COMPILES or x.dtype != np.float32:
        return np.exp(x, out)
    found = exp(x, falling=falling)
    if out is None:
        return found
    np.copyto(out, found)
    return out


def log(x: Any) -> Any:
    """The natural logarithm: of what is left of powers of two, between the root of a half and that of 2."""
    small = np.less(x, _f(_LEAST))
    bits = np.where(small, np.multiply(x, _f(1 << 23)), x).view(np.int32)
    exponent = np.right_shift(np.subtract(bits, _i(_ROOT_BITS)), _i(23))
    part = np.subtract(bits, np.left_shift(exponent, _i(23))).view(np.float32)
    f = np.subtract(part, _f(1))
    n = np.add(exponent.astype(np.float32), np.where(small, _f(-23), _f(0)))
    square = np.multiply(f, f)
    rest = np.multiply(np.multiply(square, f), _polynomial(f, _LOG))
    rest = np.add(rest, np.multiply(n, _f(_LOW)))
    rest = np.subtract(rest, np.multiply(square, _f(0.5)))
    found = np.add(np.add(rest, f), np.multiply(n, _f(_HIGH)))
    limit = np.where(np.equal(x, _f(0)), _f(-np.inf), _f(np.nan))
    return np.where(np.greater(x, _f(0)), np.where(np.less(x, _f(np.inf)), found, x), limit)


def expm1(x: Any) -> Any:
    """The exponential less 1, of numbers that are not above 0; that of a zero is 0."""
    x = _at_least(x, _f(-20))
    whole = np.add(np.multiply(x, _f(1.4426950408889634)), _f(WHOLE + 127))
    n = np.subtract(whole, _f(WHOLE + 127))
    r = np.subtract(np.subtract(x, np.multiply(n, _f(_HIGH))), np.multiply(n, _f(_LOW)))
    square = np.multiply(r, r)
    found = np.add(np.multiply(square, _in_pairs(r, square, _EXP)), r)
    power = power_of_two(whole)
    return np.add(np.multiply(found, power), np.subtract(power, _f(1)))


def log1p(x: Any) -> Any:
    """The logarithm of 1 and numbers from 0 to 1."""
    part = np.divide(x, np.add(x, _f(2)))
    return np.multiply(part, _polynomial(np.multiply(part, part), _AREA))


# The others' loops are as quick as such formulas.
FORMULAS: Final[dict[Any, Callable[[Any], Any]]] = {np.exp: exp, np.log: log}
