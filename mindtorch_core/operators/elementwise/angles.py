"""Angles and complex numbers by angle; the inverse hyperbolic functions."""

from __future__ import annotations

import math
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import NONDIFF
from ...opdefs import rules
from ...opdefs.define import EVERYWHERE, op
from ...opdefs.formulas import conj
from ...tensors.tensor import Tensor
from ...values.dtypes import (
    COMPLEX,
    bool_,
    complex64,
    complex128,
    dtype,
    float16,
    float32,
    float64,
)
from ...values.promotion import to_floating
from ...values.shapes import contiguous_strides
from .composed import function, two

# ---- inverse hyperbolic functions ---------------------------------------------------------------


def _asinh(x: Any) -> Any:
    """An odd function: its sum for positive numbers loses no digits."""
    if x._dtype.category == COMPLEX:
        return fn.asin(x * 1j) * -1j
    size = x.abs()
    square = size * size
    small = fn.log1p(size + square / ((square + 1).sqrt() + 1))
    return fn.copysign(fn.where(size > 1e9, size.log() + math.log(2), small), x)


def _acosh(x: Any) -> Any:
    if x._dtype.category == COMPLEX:
        return fn.log((x - -1).sqrt() * (x - 1).sqrt() + x)  # by a sum, -0 would lose its sign
    above = x - 1
    exact = fn.log1p(above + (above * above + above * 2).sqrt())
    large = fn.where(x > 1e9, x.log() + math.log(2), exact)
    return fn.where(x < 1, math.nan, large)


def _acosh_grad(g: Any, self: Any) -> Any:
    if self._dtype.category == COMPLEX:
        return g * conj((self - -1).rsqrt() * (self - 1).rsqrt())
    return g * (self * self - 1).rsqrt()


function(
    "asinh",
    "Inverse hyperbolic sine.",
    lambda g, self: g * conj((self * self + 1).rsqrt()),
    _asinh,
    kinds="bifc",
    inplace_namespaces=EVERYWHERE,
)
function(
    "acosh",
    "Inverse hyperbolic cosine.",
    _acosh_grad,
    _acosh,
    kinds="bifc",
    inplace_namespaces=EVERYWHERE,
)
function(
    "atanh",
    "Inverse hyperbolic tangent.",
    lambda g, self: g / conj(1 - self * self),
    lambda x: (fn.log1p(x) - fn.log1p(-x)) * 0.5,
    kinds="bifc",
    inplace_namespaces=EVERYWHERE,
)

# ---- degrees and sides --------------------------------------------------------------------------


def _scaled(name: str, doc: str, factor: float) -> None:
    function(
        name,
        doc,
        lambda g: g * factor,
        lambda x: x * factor,
        inplace_namespaces=EVERYWHERE,
    )


_scaled("deg2rad", "Radians of an angle in degrees.", math.pi / 180)
_scaled("rad2deg", "Degrees of an angle in radians.", 180 / math.pi)


def _hypot(a: Any, b: Any) -> Any:
    """The square root of a sum of squares whose larger one is 1: no overflow on the way."""
    a, b = a.abs(), b.abs()
    larger, smaller = fn.maximum(a, b), fn.minimum(a, b)
    ratio = fn.where(larger == 0, 0, smaller / larger)
    length = larger * (ratio * ratio + 1).sqrt()
    return fn.where((a == math.inf) | (b == math.inf), math.inf, length)


two(
    "hypot",
    "Length ``sqrt(input**2 + other**2)`` of the hypotenuse, computed without overflow.",
    {
        "self": lambda g, self, result: g * (self / result),
        "other": lambda g, other, result: g * (other / result),
    },
    _hypot,
    kinds="f",
    result=None,
)


def _sinc(x: Any) -> Any:
    angle = x * math.pi
    return fn.where(x == 0, 1, angle.sin() / angle)


def sinc_slope(x: Any) -> Any:
    """Derivative of ``sin(x) / x``; near 0, where its terms cancel, by the power series."""
    square = x * x
    series = x * (((square / 45360 - 1 / 840) * square + 1 / 30) * square - 1 / 3)
    near = x.abs() < 0.1
    away = fn.where(near, 1, x)
    return fn.where(near, series, (away.cos() - away.sin() / away) / away)


function(
    "sinc",
    "``sin(pi x) / (pi x)``, and 1 at 0.",
    lambda g, self: g * conj(sinc_slope(self * math.pi) * math.pi),
    _sinc,
    kinds="bifc",
    inplace_namespaces=EVERYWHERE,
)

# ---- complex numbers ----------------------------------------------------------------------------


def _angle(x: Any) -> Any:
    if x._dtype.category == COMPLEX:
        return fn.atan2(x.imag, x.real)
    return fn.where(x != x, x, fn.where(x < 0, math.pi, fn.zeros_like(x)))


def _angle_grad(g: Any, self: Any) -> Any:
    if self._dtype.category != COMPLEX:
        return fn.zeros_like(g)
    square = self.real * self.real + self.imag * self.imag
    slope = self * 1j / square
    return fn.where(self == 0, 0, g * slope)


def _angle_dtype(d: dtype) -> dtype:
    return d.to_real() if d.category == COMPLEX else to_floating(d)


function(
    "angle",
    "Angle of complex numbers in radians; of real ones 0, or pi where negative.",
    _angle_grad,
    _angle,
    kinds="bifc",
    result=_angle_dtype,
    inplace=False,
)


def _isreal(self: Any) -> Any:
    if self._dtype.category == COMPLEX:
        return self.imag == 0
    return self.new_ones(self._shape, dtype=bool_)


op(
    "isreal(Tensor self) -> Tensor",
    doc="True where the imaginary part is zero.",
    grad=NONDIFF,
    decomposition=_isreal,
)

_COMPLEX_OF = {float32: complex64, float64: complex128}


def _parts_rule(first: Tensor, second: Tensor) -> Any:
    """Both parts are of one real floating type."""
    for d in (first._dtype, second._dtype):
        if d not in _COMPLEX_OF and d is not float16:
            raise RuntimeError(
                f"Expected both inputs to be Half, Float or Double tensors but got "
                f"{first._dtype.label} and {second._dtype.label}"
            )
    if first._dtype is not second._dtype:
        raise RuntimeError(
            f"Expected object of scalar type {first._dtype.label} but got scalar type "
            f"{second._dtype.label} for second argument"
        )
    if first._dtype is float16:
        raise NotImplementedError("there is no complex dtype of half precision; use x.float()")
    return rules.pointwise_spec((first, second), _COMPLEX_OF[first._dtype])


def _complex(real: Tensor, imag: Tensor) -> Tensor:
    spec = _parts_rule(real, imag)
    strides = spec.strides or contiguous_strides(spec.shape)
    made = fn.empty_strided(spec.shape, strides, dtype=spec.dtype, device=real._device)
    parts = fn.view_as_real(made)
    parts.select(-1, 0).copy_(real)
    parts.select(-1, 1).copy_(imag)
    return made


op(
    "complex(Tensor real, Tensor imag) -> Tensor",
    doc="Complex numbers of real and imaginary parts.",
    rule=_parts_rule,
    grad={"real": lambda g: g.real, "imag": lambda g: g.imag},
    decomposition=_complex,
    broadcasts=True,
    out=True,
    namespaces=("torch",),
    tags=frozenset({"pointwise"}),
)


def _polar(abs: Any, angle: Any) -> Any:
    _parts_rule(abs, angle)
    return fn.complex(abs * angle.cos(), abs * angle.sin())


op(
    "polar(Tensor abs, Tensor angle) -> Tensor",
    doc="Complex numbers of absolute values and angles in radians.",
    decomposition=_polar,
    out=True,
    namespaces=("torch",),
)
