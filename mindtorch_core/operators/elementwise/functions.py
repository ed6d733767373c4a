"""Element-wise functions of one tensor: exponentials, angles, rounding, activations."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from ...dispatch.functions import fn
from ...opdefs import rules
from ...opdefs.define import EVERYWHERE, op, public
from ...opdefs.formulas import conj
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING
from . import elementary
from .arithmetic import unary
from .composed import by_name, composition

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
unary(
    "log2",
    "Logarithm to base 2.",
    lambda g, self: g / (conj(self) * math.log(2)),
    to_float=True,
    decomposition=elementary.log2,
)
unary(
    "log10",
    "Logarithm to base 10.",
    lambda g, self: g / (conj(self) * math.log(10)),
    to_float=True,
    decomposition=elementary.log10,
)
unary("sqrt", "Square root.", lambda g, result: g / (conj(result) * 2), to_float=True)
unary(
    "rsqrt",
    "``1 / sqrt(x)``.",
    lambda g, result: g * -0.5 * conj(result**3),
    to_float=True,
    decomposition=elementary.rsqrt,
)
unary(
    "reciprocal",
    "``1 / x``.",
    lambda g, result: -g * conj(result * result),
    to_float=True,
    decomposition=elementary.reciprocal,
)
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


def _tanh_backward(grad_output: Any, output: Any) -> Any:
    return grad_output * conj(1 - output * output)


def _slope_of_output(name: str, formula: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    """Define the op that gives a function's gradient from its output; returns the gradient's formula."""
    rule = rules.limited(rules.pointwise(), f"{name}_cpu", "fc")
    op(
        f"{name}(Tensor grad_output, Tensor output) -> Tensor",
        doc=f"Gradient of `{name.removesuffix('_backward')}` from its result.",
        rule=rule,
        kinds="fc",
        decomposition=composition(rule, formula, 2),
        namespaces=(),
        tags=frozenset({"pointwise"}),
    )
    return lambda g, result: by_name(name)(g, result)


unary(
    "tanh",
    "Hyperbolic tangent.",
    _slope_of_output("tanh_backward", _tanh_backward),
    to_float=True,
)
unary(
    "tan",
    "Tangent of radians.",
    lambda g, result: g * conj(1 + result * result),
    to_float=True,
    decomposition=elementary.tan,
)
unary(
    "sinh",
    "Hyperbolic sine.",
    lambda g, self: g * conj(self.cosh()),
    to_float=True,
    decomposition=elementary.sinh,
)
unary(
    "cosh",
    "Hyperbolic cosine.",
    lambda g, self: g * conj(self.sinh()),
    to_float=True,
    decomposition=elementary.cosh,
)
unary(
    "asin",
    "Angle whose sine is given.",
    lambda g, self: g * conj((1 - self * self).rsqrt()),
    to_float=True,
    decomposition=elementary.asin,
)
unary(
    "acos",
    "Angle whose cosine is given.",
    lambda g, self: -g * conj((1 - self * self).rsqrt()),
    to_float=True,
    decomposition=elementary.acos,
)
unary(
    "atan",
    "Angle whose tangent is given.",
    lambda g, self: g / conj(self * self + 1),
    to_float=True,
    decomposition=elementary.atan,
)

# ---- rounding -----------------------------------------------------------------------------------

unary("floor", "Largest integer not above.", _zero, kinds="if", out_needs=("dtype",))
unary(
    "ceil",
    "Smallest integer not below.",
    _zero,
    kinds="if",
    decomposition=elementary.ceil,
    out_needs=("dtype",),
)
unary(
    "trunc",
    "Integer part.",
    _zero,
    kinds="if",
    decomposition=elementary.trunc,
    out_needs=("dtype",),
)
unary(
    "round",
    "Nearest integer, halves to even.",
    _zero,
    kinds="if",
    out_needs=("dtype",),
)


def _round_decimals(self: Any, *, decimals: int) -> Any:
    if self._dtype.category != FLOATING:
        raise NotImplementedError(f"\"round_cpu\" not implemented for '{self._dtype.label}'")
    unit = 10.0 ** abs(decimals)
    return (self * unit).round() / unit if decimals > 0 else (self / unit).round() * unit


op(
    "round.decimals(Tensor self, *, int decimals) -> Tensor",
    doc="Nearest multiple of ``10**-decimals``, halves to even.",
    grad={"self": _zero},
    node_names=("RoundBackward1",),
    decomposition=_round_decimals,
    inplace=True,
    inplace_namespaces=EVERYWHERE,
    out=True,
    tags=frozenset({"pointwise"}),
    out_needs=("dtype",),
)
unary(
    "frac",
    "What `trunc` takes away.",
    lambda g: g,
    kinds="f",
    primitive=False,
    decomposition=lambda self: self - self.trunc(),
    out_needs=("dtype",),
)

# ---- activations --------------------------------------------------------------------------------


def _sigmoid_backward(grad_output: Any, output: Any) -> Any:
    return grad_output * conj((1 - output) * output)


unary(
    "sigmoid",
    "``1 / (1 + exp(-x))``.",
    _slope_of_output("sigmoid_backward", _sigmoid_backward),
    to_float=True,
    decomposition=elementary.sigmoid,
)
unary(
    "relu",
    "Zero for negative elements.",
    lambda g, result: fn.threshold_backward(g, result, 0),
    kinds="if",
    inplace_namespaces=("torch", "Tensor", "nn"),
    decomposition=elementary.relu,
)


@public("nn:relu")
def _relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Zero for negative elements.

    Args:
        input: a tensor of any shape; not of bools.
        inplace: whether the input itself is changed.

    Returns:
        A tensor of the shape of ``input``.

    Raises:
        RuntimeError: for a tensor of bools.

    Example:
        >>> torch.nn.functional.relu(torch.tensor([-1.0, 0.0, 2.0]))
        tensor([0., 0., 2.])
    """
    return fn.relu_(input) if inplace else fn.relu(input)


_THRESHOLD: Final = rules.limited(rules.pointwise(count=2), "threshold_cpu", "if")


def _threshold_rule(grad_output: Any, self: Any, threshold: Any) -> Any:
    return _THRESHOLD(self, grad_output)  # it lies as what was given forward


def _threshold_backward(grad_output: Any, self: Any, threshold: Any) -> Any:
    d = _THRESHOLD(grad_output, self).dtype
    return fn.where(self <= threshold, grad_output.new_zeros(()), grad_output).to(d)


op(
    "threshold_backward(Tensor grad_output, Tensor self, Scalar threshold) -> Tensor",
    doc="Zero where ``self`` is at or below the threshold, the gradient elsewhere.",
    rule=_threshold_rule,
    kinds="if",
    grad={
        "grad_output": lambda g, self, threshold: fn.threshold_backward(g, self, threshold),
        "self": _zero,
    },
    decomposition=_threshold_backward,
    namespaces=("torch",),
    tags=frozenset({"pointwise"}),
)
