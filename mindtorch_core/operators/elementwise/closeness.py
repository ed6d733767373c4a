"""Comparing numbers that rounding has moved apart: equal, isclose, nextafter."""

from __future__ import annotations

from typing import Any, Final

from ...dispatch.functions import fn
from ...dispatch.opdef import NONDIFF
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import (
    BOOL,
    FLOATING,
    bfloat16,
    dtype,
    float16,
    float32,
    float64,
    get_default_dtype,
    int16,
    int32,
    int64,
)
from ...values.promotion import result_type
from .arithmetic import binary


def _equal(self: Tensor, other: Tensor) -> bool:
    return self._shape == other._shape and bool((self == other).all())


op(
    "equal(Tensor self, Tensor other) -> bool",
    doc="Whether both have the same shape and equal elements.",
    grad=NONDIFF,
    decomposition=_equal,
    data_dependent=True,
)


def _isclose(
    self: Tensor, other: Tensor, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Tensor:
    if self._dtype is not other._dtype:
        raise RuntimeError(f"{self._dtype.label} did not match {other._dtype.label}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not value >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value}")
    close: Tensor = self == other
    if equal_nan and self._dtype.category >= FLOATING:
        close = close | (self != self) & (other != other)
    if rtol == 0 and atol == 0:
        return close
    # In the default type, where neither unsigned nor wide integers wrap around.
    if self._dtype.category < FLOATING:
        other = other.to(get_default_dtype())
    if self._dtype.category == BOOL:
        self = self.to(get_default_dtype())
    error = (self - other).abs()
    return close | error.isfinite() & (error <= (other * rtol).abs() + atol)


op(
    "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
    doc="True where ``abs(input - other) <= atol + rtol * abs(other)``.",
    grad=NONDIFF,
    decomposition=_isclose,
)
op(
    "allclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool",
    doc="Whether `isclose` holds everywhere.",
    grad=NONDIFF,
    decomposition=lambda self, other, rtol=1e-05, atol=1e-08, equal_nan=False: bool(
        fn.isclose(self, other, rtol, atol, equal_nan).all()
    ),
    tags=frozenset({"data_dependent_output"}),
)

# The integer type of the same size, and the smallest number above zero.
_BITS: Final[dict[dtype, tuple[dtype, float]]] = {
    float16: (int16, 2.0**-24),
    bfloat16: (int16, 2.0**-133),
    float32: (int32, 2.0**-149),
    float64: (int64, 2.0**-1074),
}


def _nextafter(self: Any, other: Any) -> Tensor:
    """Neighbours in value are neighbours as integers, counted away from zero."""
    d = result_type(self, other)
    if d not in _BITS:
        raise NotImplementedError(f"\"nextafter\" not implemented for '{d.label}'")
    whole, least = _BITS[d]
    self, other = fn.broadcast_tensors(self.to(d), other.to(d))
    away = (self < other) == (self > 0)
    moved = (self.contiguous().view(whole) + fn.where(away, 1, -1).to(whole)).view(d)
    up = self.new_full((), least)
    moved = fn.where(self == 0, fn.where(other > 0, up, -up), moved)
    unordered = (self != self) | (other != other)
    return fn.where(unordered, self + other, fn.where(self == other, other, moved))


binary(
    "nextafter",
    "The next number after ``input`` towards ``other``.",
    {
        "self": lambda g, self, other: fn.where(self != other, g, 0),
        "other": lambda g: fn.zeros_like(g),
    },
    kinds="f",
    numbers=False,
    primitive=False,
    decomposition=_nextafter,
)
