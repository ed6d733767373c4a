"""Elementary functions made of a few: what devices run that have no kernel for them.

The complex inverse functions follow W. Kahan, "Branch cuts for complex elementary functions" (1987).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...dispatch.functions import fn
from ...opdefs.formulas import in_single
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX, INTEGER, bool_
from ...values.promotion import to_floating

__all__ = [
    "acos", "asin", "atan", "bitwise_not", "ceil", "cosh", "isfinite", "isinf",
    "isnan", "log2", "log10", "logical_not", "reciprocal", "relu", "rsqrt", "sigmoid", "sign", "sinh", "tan",
    "trunc",
]  # fmt: skip


def _of_floats(composition: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """A composition that is handed integers as floating-point numbers, and halves as float32."""
    single = in_single(composition)
    return lambda self: single(self.to(to_floating(self._dtype)))


def _is_complex(x: Tensor) -> bool:
    return x._dtype.category == COMPLEX


# ---- exponentials and angles --------------------------------------------------------------------


@_of_floats
def reciprocal(x: Any) -> Any:
    """``1 / x``."""
    return x.new_ones(()) / x


@_of_floats
def rsqrt(x: Any) -> Any:
    """``1 / sqrt(x)``."""
    return x.new_ones(()) / x.sqrt()


@_of_floats
def sigmoid(x: Any) -> Any:
    """``1 / (1 + exp(-x))``."""
    return x.new_ones(()) / (x.neg().exp() + 1)


@_of_floats
def log2(x: Any) -> Any:
    """Logarithm to base 2."""
    return x.log() * (1 / math.log(2))


@_of_floats
def log10(x: Any) -> Any:
    """Logarithm to base 10."""
    return x.log() * (1 / math.log(10))


@_of_floats
def sinh(x: Any) -> Any:
    """Hyperbolic sine: by `expm1` where it is small, by a square where ``exp`` would overflow."""
    if _is_complex(x):
        a, b = x.real, x.imag
        return fn.complex(sinh(a) * b.cos(), cosh(a) * b.sin())
    t = x.abs().expm1()
    half = (x.abs() * 0.5).exp()
    size = fn.where(x.abs() < 20, (t + t / (t + 1)) * 0.5, half * 0.5 * half)
    return fn.where(x < 0, -size, size)


@_of_floats
def cosh(x: Any) -> Any:
    """Hyperbolic cosine."""
    if _is_complex(x):
        a, b = x.real, x.imag
        return fn.complex(cosh(a) * b.cos(), sinh(a) * b.sin())
    half = (x.abs() * 0.5).exp()
    return half * 0.5 * half + 0.5 / half / half


@_of_floats
def tan(x: Any) -> Any:
    """Tangent."""
    if _is_complex(x):
        turned = fn.complex(-x.imag, x.real).tanh()
        return fn.complex(turned.imag, -turned.real)
    return x.sin() / x.cos()


@_of_floats
def asin(x: Any) -> Any:
    """Angle whose sine is given."""
    if _is_complex(x):
        down, up = (1 - x).sqrt(), (x + 1).sqrt()
        imaginary = (down.conj() * up).imag.asinh()
        return fn.complex(fn.atan2(x.real, (down * up).real), imaginary)
    return fn.atan2(x, ((1 - x) * (x + 1)).sqrt())


@_of_floats
def acos(x: Any) -> Any:
    """Angle whose cosine is given."""
    if _is_complex(x):
        down, up = (1 - x).sqrt(), (x + 1).sqrt()
        return fn.complex(
            fn.atan2(down.real, up.real) * 2,
            (up.conj() * down).imag.asinh(),
        )
    return fn.atan2(((1 - x) * (x + 1)).sqrt(), x)


@_of_floats
def atan(x: Any) -> Any:
    """Angle whose tangent is given."""
    if _is_complex(x):
        a, b = x.real, x.imag
        below = (1 - b) * (1 - b) + a * a
        return fn.complex(
            fn.atan2(a * 2, (1 - b) * (b + 1) - a * a) * 0.5,
            (b * 4 / below).log1p() * 0.25,
        )
    return fn.atan2(x, x.new_ones(()))


# ---- signs, rounding, tests ---------------------------------------------------------------------


def relu(x: Any) -> Any:
    """Zero for negative elements; a zero keeps its sign."""
    return fn.where(x < 0, 0, x)


def sign(x: Any) -> Any:
    """-1, 0 or 1."""
    if x._dtype is bool_:
        return x.clone()
    return (x > 0).to(x._dtype) - (x < 0).to(x._dtype)


def ceil(x: Any) -> Any:
    """Smallest integer not below."""
    return x.clone() if x._dtype.category <= INTEGER else -(-x).floor()


def trunc(x: Any) -> Any:
    """Integer part."""
    return x.clone() if x._dtype.category <= INTEGER else fn.where(x < 0, ceil(x), x.floor())


def isnan(x: Any) -> Any:
    """True where NaN."""
    return x != x


def isinf(x: Any) -> Any:
    """True where infinite."""
    if x._dtype.category <= INTEGER:
        return fn.zeros_like(x, dtype=bool_)
    if _is_complex(x):
        return isinf(x.real) | isinf(x.imag)
    return x.abs() == math.inf


def isfinite(x: Any) -> Any:
    """True where neither infinite nor NaN."""
    return ~(isinf(x) | isnan(x))


def bitwise_not(x: Any) -> Any:
    """All bits turned."""
    if x._dtype is bool_:
        return x ^ True
    return fn.bitwise_xor(x, x.new_full((), -1) if x._dtype.is_signed else _all_ones(x))


def _all_ones(x: Any) -> Any:
    return x.new_full((), (1 << 8 * x._dtype.itemsize) - 1)


def logical_not(x: Any) -> Any:
    """True where zero."""
    return x == 0
