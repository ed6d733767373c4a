"""Gradients of activations, as ops: a device that has kernels for them computes each in one.

They have PyTorch's internal names and arguments. Where PyTorch's vectors and its last few elements differ,
at NaN, these do what the vectors do.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs import rules
from ...opdefs.define import op
from ...opdefs.formulas import conj
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING
from ...values.promotion import result_type
from ...values.shapes import broadcast, contiguous_strides, pointwise_strides, show, wrap_dim
from ..elementwise.composed import in_wide, refused

__all__ = ["gelu_inner", "glu_rule", "known_approximation"]

_OF_INPUT = "Tensor grad_output, Tensor self"


def _gradient(
    forward: str,
    signature: str,
    formula: Callable[..., Any],
    *,
    tensors: tuple[int, int] = (0, 1),
    kinds: str = "f",
    refusal: str = "",
    check: Callable[..., None] | None = None,
) -> None:
    """Define the op that gives an activation's gradient.

    Args:
        forward: the activation.
        signature: arguments as the schema has them.
        formula: the gradient in terms of other ops; its tensors are of one dtype, float32 or wider.
        tensors: places of the gradient and of the other tensor, in the order in which the result's layout
            follows theirs.
        kinds: as in `Operands.kinds`.
        refusal: what PyTorch calls the op where it refuses a dtype.
        check: raises an error for numbers that do not fit.
    """
    name = f"{forward}_backward"

    def rule(*args: Any, **kwargs: Any) -> TensorSpec:
        if check is not None:
            check(*args, **kwargs)
        pair = args[tensors[0]], args[tensors[1]]
        d = result_type(*pair)
        if "bifc"[d.category] not in kinds:
            raise refused(refusal or f"{name}_cpu", d)
        return rules.pointwise_spec(pair, d)

    def composed(*args: Any, **kwargs: Any) -> Any:
        d = rule(*args, **kwargs).dtype
        given = [in_wide(a, d) if i in tensors else a for i, a in enumerate(args)]
        result = formula(*given, **kwargs)
        return result if result._dtype is d else result.to(d)

    op(
        f"{name}({signature}) -> Tensor",
        doc=f"Gradient of `{forward}`.",
        rule=rule,
        kinds=kinds,
        decomposition=composed,
        namespaces=(),
        tags=frozenset({"pointwise"}),
    )


# ---- rectifiers ---------------------------------------------------------------------------------


def _no_negative_slope(called: str, slope: float, of_result: bool) -> None:
    """Refuse a slope whose results do not say where the input was negative."""
    if of_result and slope < 0:
        raise RuntimeError(
            f"In-place {called} backward calculation is triggered with a negative slope which is not "
            f"supported. This is caused by calling in-place forward function with a negative slope, "
            f"please call out-of-place version instead."
        )


_gradient(
    "leaky_relu",
    f"{_OF_INPUT}, Scalar negative_slope, bool self_is_result",
    lambda g, x, slope, of_result: fn.where(x > 0, g, g * slope),
    tensors=(1, 0),
    check=lambda g, x, slope, of_result: _no_negative_slope("leakyReLu", slope, of_result),
)
_gradient(
    "hardtanh",
    f"{_OF_INPUT}, Scalar min_val, Scalar max_val",
    lambda g, x, low, high: fn.where((x > low) & (x < high), g, 0),
    refusal="hardshrink_backward_cpu",
)
for _name, _first in (("hardshrink", "grad_out"), ("softshrink", "grad_output")):
    _gradient(
        _name,
        f"Tensor {_first}, Tensor self, Scalar lambd",
        lambda g, x, lambd: fn.where((x < -lambd) | (x > lambd), g, 0),
        refusal="shrink_backward_cpu",
    )

# ---- exponential ones ---------------------------------------------------------------------------


def _elu(g: Any, alpha: float, scale: float, input_scale: float, is_result: bool, x: Any) -> Any:
    negative = alpha * scale
    below = x + negative if is_result else (x.clamp(max=0) * input_scale).exp() * negative
    return fn.where(x > 0, g * scale, g * below * input_scale)


_gradient(
    "elu",
    "Tensor grad_output, Scalar alpha, Scalar scale, Scalar input_scale, bool is_result, "
    "Tensor self_or_result",
    _elu,
    tensors=(0, 5),
    check=lambda g, alpha, scale, input_scale, is_result, x: _no_negative_slope(
        "elu", alpha, is_result
    ),
)


def _silu(g: Any, x: Any) -> Any:
    s = x.sigmoid()
    return g * conj(s * (x * (1 - s) + 1))


_gradient("silu", _OF_INPUT, _silu, kinds="fc", refusal="silu_backward")


def _mish(g: Any, x: Any) -> Any:
    t = fn.log1p(x.clamp(max=20).exp()).tanh()
    return g * (t + x * x.sigmoid() * (1 - t * t))


_gradient("mish", _OF_INPUT, _mish)


def _softplus(g: Any, x: Any, beta: float, threshold: float) -> Any:
    scaled = x * beta
    return fn.where(scaled > threshold, g, g * scaled.sigmoid())


_gradient("softplus", f"{_OF_INPUT}, Scalar beta, Scalar threshold", _softplus)
_gradient(
    "log_sigmoid",
    f"{_OF_INPUT}, Tensor buffer",
    # PyTorch's CPU keeps exponentials in the buffer, other devices nothing: it is not needed.
    lambda g, x, buffer: g * (-x).sigmoid(),
)

# ---- of the normal distribution -----------------------------------------------------------------


def gelu_inner(x: Any) -> Any:
    """What the approximation of `gelu` takes the hyperbolic tangent of."""
    return (x + x * x * x * 0.044715) * math.sqrt(2 / math.pi)


def _gelu(g: Any, x: Any, *, approximate: str = "none") -> Any:
    if approximate == "tanh":
        t = gelu_inner(x).tanh()
        slope = (x * x * 3 * 0.044715 + 1) * math.sqrt(2 / math.pi)
        return g * 0.5 * ((t + 1) + x * (1 - t * t) * slope)
    density = (x * x * -0.5).exp() / math.sqrt(2 * math.pi)
    return g * (fn.erfc(x * -math.sqrt(0.5)) * 0.5 + x * density)


def known_approximation(*_: Any, approximate: str = "none") -> None:
    """Raise an error for an approximation of `gelu` that there is none of."""
    if approximate not in ("none", "tanh"):
        raise RuntimeError(f"approximate argument must be either none or tanh, got {approximate!r}")


_gradient(
    "gelu",
    f"{_OF_INPUT}, *, str approximate='none'",
    _gelu,
    refusal="gelu_backward",
    check=known_approximation,
)

# ---- piecewise linear and quadratic -------------------------------------------------------------


def _hardswish(g: Any, x: Any) -> Any:
    return fn.where(x <= -3, 0, fn.where(x >= 3, g, g * (x / 3 + 0.5)))


_gradient("hardswish", _OF_INPUT, _hardswish)
_gradient(
    "hardsigmoid",
    _OF_INPUT,
    lambda g, x: fn.where((x > -3) & (x < 3), g / 6, 0),
    refusal="hardsigmoid_backward",
)

# ---- of learnt slopes ---------------------------------------------------------------------------


def known_dtypes(first: Tensor, *others: Tensor) -> None:
    """Raise an error for tensors of another dtype than the first."""
    for t in others:
        if t._dtype is not first._dtype:
            found, wanted = (d.label for d in (t._dtype, first._dtype))
            raise RuntimeError(f"Found dtype {found} but expected {wanted}")


def _prelu_rule(grad_output: Tensor, self: Tensor, weight: Tensor) -> tuple[TensorSpec, TensorSpec]:
    known_dtypes(self, weight, grad_output)
    if self._dtype.category != FLOATING:
        raise refused("prelu_backward_cpu", self._dtype)
    spec = rules.pointwise_spec((self, weight, grad_output), self._dtype)
    return spec, spec


def _prelu(grad_output: Tensor, self: Tensor, weight: Tensor) -> tuple[Any, Any]:
    d = _prelu_rule(grad_output, self, weight)[0].dtype
    g, x, w = fn.broadcast_tensors(*(in_wide(t, d) for t in (grad_output, self, weight)))
    positive = x > 0
    return fn.where(positive, g, g * w).to(d), fn.where(positive, 0, g * x).to(d)


op(
    "_prelu_kernel_backward(Tensor grad_output, Tensor self, Tensor weight) -> (Tensor, Tensor)",
    doc="Gradients of `_prelu_kernel` for input and weight, of their common shape.",
    rule=_prelu_rule,
    kinds="f",
    decomposition=_prelu,
    namespaces=(),
)

# ---- gates --------------------------------------------------------------------------------------


def glu_rule(self: Tensor, dim: int = -1) -> TensorSpec:
    """Rule of `glu`."""
    if not self._shape:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    at = wrap_dim(dim, len(self._shape))
    if self._shape[at] % 2:
        raise RuntimeError(
            f"Halving dimension must be even, but dimension {at} is size {self._shape[at]} of "
            f"{show(self._shape)}"
        )
    if self._dtype.category != FLOATING:
        raise refused("glu", self._dtype)
    shape = tuple(n // 2 if i == at else n for i, n in enumerate(self._shape))
    strides = pointwise_strides(shape, [(shape, self._geometry()[0])])
    return TensorSpec(shape, self._dtype, None if strides == contiguous_strides(shape) else strides)


def _glu_backward_rule(grad_output: Tensor, self: Tensor, dim: int) -> TensorSpec:
    half = glu_rule(self, dim).shape
    known_dtypes(self, grad_output)
    if broadcast(half, grad_output._shape) != half:
        found = show(broadcast(half, grad_output._shape))
        raise RuntimeError(
            f"output with shape {show(half)} doesn't match the broadcast shape {found}"
        )
    return TensorSpec(self._shape, self._dtype)


def _glu(grad_output: Tensor, self: Tensor, dim: int) -> Any:
    d = _glu_backward_rule(grad_output, self, dim).dtype
    g = in_wide(grad_output, d)
    first, second = in_wide(self, d).chunk(2, dim)
    s = second.sigmoid()
    return fn.cat((g * s, (1 - s) * s * first * g), dim).to(d).contiguous()


op(
    "glu_backward(Tensor grad_output, Tensor self, int dim) -> Tensor",
    doc="Gradient of `glu`.",
    rule=_glu_backward_rule,
    kinds="f",
    decomposition=_glu,
    namespaces=(),
)
