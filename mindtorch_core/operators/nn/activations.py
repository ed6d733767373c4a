"""Activations: element-wise functions between the layers of a network, as ops.

They have PyTorch's internal names and arguments; users call those of
`mindtorch_core.operators.nn.activation_functions`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs import rules
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING, INTEGER, checked_number, dtype
from ..elementwise.composed import by_name, composition, function, refused, two
from .activation_gradients import gelu_inner, glu_rule, known_approximation


def _kept(d: dtype) -> dtype:
    return d


def activation(
    name: str, arguments: str, doc: str, grad: Any, formula: Callable[..., Any], **more: Any
) -> None:
    """Define an op whose result has its input's dtype, a floating one.

    Args:
        name: PyTorch's internal name.
        arguments: those after the input, as the schema has them.
        doc: what it computes, with the paper that introduced it.
        grad: formula for the input, or None if the parts supply it.
        formula: the op in terms of others.
        **more: further fields of `OpDef`.
    """
    properties: dict[str, Any] = {
        "kinds": "f",
        "namespaces": (),
        "result": _kept,
        "signature": f"Tensor self{arguments and ', '}{arguments}",
    } | more
    if properties.get("inplace", True):
        properties.setdefault("inplace_namespaces", ("nn",))
    function(name, doc, grad, formula, **properties)


# ---- rectifiers ---------------------------------------------------------------------------------

activation(
    "leaky_relu",
    "Scalar negative_slope=0.01",
    "Negative elements times a small slope (Maas et al., 2013).",
    lambda g, self, negative_slope: by_name("leaky_relu_backward")(g, self, negative_slope, False),
    lambda x, slope=0.01: fn.where(x > 0, x, x * slope),
)
activation(
    "hardtanh",
    "Scalar min_val=-1, Scalar max_val=1",
    "Elements limited to the range from ``min_val`` to ``max_val``.",
    lambda g, self, min_val, max_val: by_name("hardtanh_backward")(g, self, min_val, max_val),
    lambda x, low=-1, high=1: x.clamp(low, high),
    kinds="if",
)
activation(
    "relu6",
    "",
    "Elements limited to the range from 0 to 6 (Howard et al., 2017).",
    None,
    lambda x: by_name("hardtanh")(x, 0, 6),
    kinds="if",
)


def _threshold_rule(self: Tensor, threshold: Any, value: Any) -> TensorSpec:
    _whole(self._dtype, threshold, value)
    return rules.same(self)


def _threshold(x: Any, threshold: Any, value: Any) -> Any:
    threshold, value = _whole(x._dtype, threshold, value)
    return fn.where(x <= threshold, value, x)


def _whole(d: dtype, *numbers: Any) -> tuple[Any, ...]:
    """Numbers as integers take them; beside floats as they are.

    Raises:
        RuntimeError: if an integer dtype cannot hold one.
    """
    return tuple(checked_number(n, d) for n in numbers) if d.category == INTEGER else numbers


activation(
    "threshold",
    "Scalar threshold, Scalar value",
    "``value`` where not above the threshold.",
    lambda g, self, threshold: fn.threshold_backward(g, self, threshold),
    _threshold,
    rule=_threshold_rule,
    kinds="if",
    namespaces=("torch",),
    inplace_namespaces=("torch", "nn"),
)


def _softshrink_rule(self: Tensor, lambd: float = 0.5) -> TensorSpec:
    if lambd < 0:
        raise RuntimeError(f"lambda must be greater or equal to 0, but found to be {lambd}.")
    return rules.same(self)


def _softshrink(x: Any, lambd: float = 0.5) -> Any:
    lambd += 0  # True is 1
    return fn.where(x > lambd, x - lambd, fn.where(x < -lambd, x + lambd, x * 0))


activation(
    "hardshrink",
    "Scalar lambd=0.5",
    "Zero between ``-lambd`` and ``lambd``.",
    lambda g, self, lambd: by_name("hardshrink_backward")(g, self, lambd),
    lambda x, lambd=0.5: fn.where((x >= -lambd) & (x <= lambd), 0, x),
    inplace=False,
    namespaces=("torch", "Tensor", "nn"),
    out_needs=("dtype",),
)
activation(
    "softshrink",
    "Scalar lambd=0.5",
    "Elements moved by ``lambd`` towards zero, and zero if they are nearer.",
    lambda g, self, lambd: by_name("softshrink_backward")(g, self, lambd),
    _softshrink,
    rule=_softshrink_rule,
    inplace=False,
    namespaces=("nn",),
    out_needs=("dtype",),
)


def _prelu_rule(self: Tensor, weight: Tensor) -> TensorSpec:
    if self._dtype is not weight._dtype:
        raise RuntimeError(
            f"prelu: Type promoting not supported. Got {self._dtype} and {weight._dtype}"
        )
    if self._dtype.category != FLOATING:
        raise refused("prelu", self._dtype)
    return rules.pointwise_spec((self, weight), self._dtype)


def _prelu_grads(g: Any, self: Any, weight: Any, wanted: Any) -> Any:
    return by_name("_prelu_kernel_backward")(g, self, weight)


two(
    "_prelu_kernel",
    "Negative elements times the weight at their place.",
    dict.fromkeys(("self", "weight"), _prelu_grads),
    lambda x, weight: fn.where(x > 0, x, weight * x),
    signature="Tensor self, Tensor weight",
    rule=_prelu_rule,
    result=None,
    inplace=False,
    out=False,
    namespaces=(),
)


def _prelu(self: Tensor, weight: Tensor) -> Tensor:
    rank, count = len(self._shape), weight.numel()
    if len(weight._shape) > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = "
            f"{len(weight._shape)}"
        )
    if count != 1:
        if not rank:
            raise RuntimeError("prelu: Not allow zero-dim input tensor.")
        channels = self._shape[1] if rank > 1 else 1
        if channels != count:
            raise RuntimeError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = "
                f"{count} and channel size = {channels}."
            )
    if rank > 1 or weight._shape:
        weight = weight.view([count if i == 1 else 1 for i in range(rank)])
    return by_name("_prelu_kernel")(self, weight)  # type: ignore[no-any-return]


op(
    "prelu(Tensor self, Tensor weight) -> Tensor",
    doc="Negative elements times a weight, one or one for each channel (He et al., 2015).",
    decomposition=_prelu,
    namespaces=("torch", "Tensor", "nn"),
)

# ---- exponential ones ---------------------------------------------------------------------------


def _elu(x: Any, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Any:
    return fn.where(x <= 0, fn.expm1(x * input_scale) * (alpha * scale), x * scale)


def _elu_grad(g: Any, self: Any, alpha: float, scale: float, input_scale: float) -> Any:
    return by_name("elu_backward")(g, alpha, scale, input_scale, False, self)


# Klambauer et al., 2017: with these, mean 0 and variance 1 are what layers converge to.
_SELU: Final = (1.6732632423543772848170429916717, 1.0507009873554804934193349852946)

activation(
    "elu",
    "Scalar alpha=1, Scalar scale=1, Scalar input_scale=1",
    "``scale * x``, and ``scale * alpha * expm1(input_scale * x)`` below 0 (Clevert et al., 2015).",
    _elu_grad,
    _elu,
)


def _celu(x: Any, alpha: float = 1.0) -> Any:
    if alpha == 0:
        raise RuntimeError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return by_name("elu")(x, alpha, 1.0, 1 / alpha)


activation(
    "celu",
    "Scalar alpha=1.0",
    "``x``, and ``alpha * expm1(x / alpha)`` below 0 (Barron, 2017).",
    None,
    _celu,
    namespaces=("torch",),
    inplace_namespaces=("torch", "nn"),
    out=False,
)
activation(
    "selu",
    "",
    "Self-normalising exponential linear unit (Klambauer et al., 2017).",
    None,
    lambda x: by_name("elu")(x, *_SELU),
    namespaces=("torch",),
    inplace_namespaces=("torch", "nn"),
    out=False,
)


activation(
    "silu",
    "",
    "``x * sigmoid(x)`` (Hendrycks and Gimpel, 2016).",
    lambda g, self: by_name("silu_backward")(g, self),
    lambda x: x * x.sigmoid(),
    kinds="fc",
)


def _softplus(x: Any, beta: float = 1, threshold: float = 20) -> Any:
    scaled = x * beta
    return fn.where(scaled > threshold, x, fn.log1p(scaled.exp()) / beta)


def _gelu(x: Any, *, approximate: str = "none") -> Any:
    if approximate == "tanh":
        return x * 0.5 * (gelu_inner(x).tanh() + 1)
    return x * 0.5 * fn.erfc(x * -math.sqrt(0.5))


def _gelu_rule(self: Tensor, *, approximate: str = "none") -> TensorSpec:
    known_approximation(approximate=approximate)
    return rules.same(self)


def _gelu_grad(g: Any, self: Any, approximate: str) -> Any:
    return by_name("gelu_backward")(g, self, approximate=approximate)


activation(
    "gelu",
    "*, str approximate='none'",
    "``x`` times the probability that a standard normal is below ``x`` (Hendrycks and Gimpel, 2016).",
    _gelu_grad,
    _gelu,
    rule=_gelu_rule,
    namespaces=("nn",),
    out_needs=("dtype",),
)
activation(
    "mish",
    "",
    "``x * tanh(softplus(x))`` (Misra, 2019).",
    lambda g, self: by_name("mish_backward")(g, self),
    lambda x: x * _softplus(x).tanh(),
)
activation(
    "softplus",
    "Scalar beta=1, Scalar threshold=20",
    "``log(1 + exp(beta * x)) / beta``, and ``x`` where ``beta * x`` is above the threshold.",
    lambda g, self, beta, threshold: by_name("softplus_backward")(g, self, beta, threshold),
    _softplus,
    namespaces=("nn",),
    inplace=False,
    out_needs=("dtype",),
)
activation(
    "log_sigmoid",
    "",
    "Logarithm of the sigmoid, computed without overflow.",
    lambda g, self: by_name("log_sigmoid_backward")(g, self, self),
    lambda x: x.clamp(max=0) - fn.log1p((-x.abs()).exp()),
    namespaces=("nn:logsigmoid",),
    inplace=False,
    out_needs=("dtype",),
)

# ---- piecewise linear and quadratic -------------------------------------------------------------


activation(
    "hardswish",
    "",
    "``x * clamp(x + 3, 0, 6) / 6`` (Howard et al., 2019).",
    lambda g, self: by_name("hardswish_backward")(g, self),
    lambda x: x * (x + 3).clamp(0, 6) / 6,
)
activation(
    "hardsigmoid",
    "",
    "``clamp(x + 3, 0, 6) / 6`` (Howard et al., 2019).",
    lambda g, self: by_name("hardsigmoid_backward")(g, self),
    lambda x: (x + 3).clamp(0, 6) / 6,
)

# ---- gates --------------------------------------------------------------------------------------


def _glu(x: Any, dim: int = -1) -> Any:
    first, second = x.chunk(2, dim)
    return first * second.sigmoid()


op(
    "glu(Tensor self, int dim=-1) -> Tensor",
    doc="The first half along ``dim`` times the sigmoid of the second (Dauphin et al., 2017).",
    rule=glu_rule,
    kinds="f",
    grad={"self": lambda g, self, dim: by_name("glu_backward")(g, self, dim)},
    decomposition=composition(glu_rule, _glu, 1),
    out=True,
    namespaces=("nn",),
)
