"""Element-wise functions of one tensor: exponentials, angles, rounding, activations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ..dtypes import bfloat16, complex64, float16, float32
from ..tensor import Tensor
from . import rules
from .define import fn, op
from .pointwise import conj, unary

_PI_FACTOR = 2 / math.sqrt(math.pi)


def _zero(g: Any) -> Any:
    return fn.zeros_like(g)


# ---- exponentials -------------------------------------------------------------------------------

unary("exp", "Exponential.", lambda g, result: g * conj(result), to_float=True)
unary(
    "expm1",
    "``exp(x) - 1``, accurate near 0.",
    lambda g, result: g * (conj(result) + 1),
    to_float=True,
)
unary("log", "Natural logarithm.", lambda g, self: g / conj(self), to_float=True)
unary(
    "log1p", "``log(1 + x)``, accurate near 0.", lambda g, self: g / conj(self + 1), to_float=True
)
unary("log2", "Logarithm to base 2.", lambda g, self: g / (conj(self) * math.log(2)), to_float=True)
unary(
    "log10", "Logarithm to base 10.", lambda g, self: g / (conj(self) * math.log(10)), to_float=True
)
unary("sqrt", "Square root.", lambda g, result: g / (conj(result) * 2), to_float=True)
unary("rsqrt", "``1 / sqrt(x)``.", lambda g, result: g * -0.5 * conj(result**3), to_float=True)
unary("reciprocal", "``1 / x``.", lambda g, result: -g * conj(result * result), to_float=True)
unary(
    "erf",
    "Error function.",
    lambda g, self: g * _PI_FACTOR * (-self * self).exp(),
    to_float=True,
    kinds="bif",
)
unary(
    "erfc",
    "``1 - erf(x)``.",
    lambda g, self: -g * _PI_FACTOR * (-self * self).exp(),
    to_float=True,
    kinds="bif",
    primitive=False,
    decomposition=lambda self: 1 - self.erf(),
)

# ---- angles -------------------------------------------------------------------------------------


unary("sin", "Sine of radians.", lambda g, self: g * conj(self.cos()), to_float=True)
unary("cos", "Cosine of radians.", lambda g, self: -g * conj(self.sin()), to_float=True)
unary("tanh", "Hyperbolic tangent.", lambda g, result: g * conj(1 - result * result), to_float=True)
unary("tan", "Tangent of radians.", lambda g, result: g * conj(1 + result * result), to_float=True)
unary("sinh", "Hyperbolic sine.", lambda g, self: g * conj(self.cosh()), to_float=True)
unary("cosh", "Hyperbolic cosine.", lambda g, self: g * conj(self.sinh()), to_float=True)
unary(
    "asin",
    "Angle whose sine is given.",
    lambda g, self: g * conj((1 - self * self).rsqrt()),
    to_float=True,
)
unary(
    "acos",
    "Angle whose cosine is given.",
    lambda g, self: -g * conj((1 - self * self).rsqrt()),
    to_float=True,
)
unary(
    "atan",
    "Angle whose tangent is given.",
    lambda g, self: g / conj(self * self + 1),
    to_float=True,
)

# ---- rounding -----------------------------------------------------------------------------------

unary("floor", "Largest integer not above.", _zero, kinds="if")
unary("ceil", "Smallest integer not below.", _zero, kinds="if")
unary("trunc", "Integer part.", _zero, kinds="if")
unary("round", "Nearest integer, halves to even.", _zero, kinds="if")
unary(
    "frac",
    "What `trunc` takes away.",
    lambda g: g,
    kinds="f",
    primitive=False,
    decomposition=lambda self: self - self.trunc(),
)

# ---- activations --------------------------------------------------------------------------------

unary(
    "sigmoid",
    "``1 / (1 + exp(-x))``.",
    lambda g, result: g * conj((1 - result) * result),
    to_float=True,
)
unary(
    "relu",
    "Zero for negative elements.",
    lambda g, result: fn.threshold_backward(g, result, 0),
    kinds="if",
    namespaces=("torch", "Tensor", "nn"),
)
op(
    "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
    doc="The gradient where ``self`` is above the threshold, zero elsewhere.",
    rule=rules.pointwise(count=2),
    grad={
        "grad_output": lambda g, self, threshold: fn.threshold_backward(g, self, threshold),
        "self": _zero,
    },
    decomposition=lambda grad_output, self, threshold: fn.where(self > threshold, grad_output, 0),
    namespaces=("torch",),
    tags=frozenset({"pointwise"}),
)

_HALF = {float16: float32, bfloat16: float32}


def in_single(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Compute a composition in float32 where its input is of half precision, rounding once."""

    def computed(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        wide = _HALF.get(self._dtype)
        if wide is None:
            return fn(self, *args, **kwargs)
        return fn(self.to(wide), *args, **kwargs).to(self._dtype)

    return computed


def _gelu(self: Any, *, approximate: str = "none") -> Any:
    if self._dtype.category < float32.category or self._dtype.category == complex64.category:
        raise NotImplementedError(f"\"gelu\" not implemented for '{self._dtype.label}'")
    if approximate == "tanh":
        inner = (self + self * self * self * 0.044715) * math.sqrt(2 / math.pi)
        return self * 0.5 * (inner.tanh() + 1)
    if approximate != "none":
        raise RuntimeError(f"approximate argument must be either none or tanh, got {approximate!r}")
    return self * 0.5 * ((self * math.sqrt(0.5)).erf() + 1)


op(
    "gelu(Tensor self, *, str approximate='none') -> Tensor",
    doc="``x`` times the probability that a standard normal is below ``x`` (Hendrycks and Gimpel, 2016).",
    decomposition=in_single(_gelu),
    namespaces=("nn",),
    tags=frozenset({"pointwise"}),
)
