"""Normalisation by root mean squares, as one op with one gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.keys import AUTOGRAD, is_grad_enabled
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import finfo, float32
from ...values.promotion import WIDER
from ..elementwise.composed import by_name, has_kernel, in_wide
from .normalization import Specs, check_features, chosen, last_dims, scale_shift


def _rule(
    input: Tensor, normalized_shape: Sequence[int], weight: Any, eps: float | None
) -> tuple[TensorSpec, TensorSpec]:
    check_features("rms_norm", input, normalized_shape, weight)
    kept = input._shape[: len(input._shape) - len(normalized_shape)]
    d = input._dtype
    factors = TensorSpec(kept + (1,) * len(normalized_shape), WIDER.get(d, d))
    return TensorSpec(input._shape, d), factors


def _factor(x: Any, dims: Any, eps: Any) -> Any:
    """What elements are multiplied by: the reciprocal root of their mean square."""
    return ((x * x).mean(dims, True) + eps).rsqrt()


def _eps(d: Any, eps: float | None) -> float:
    """What is added to the mean square; by default the distance of 1 to the next number."""
    if eps is not None:
        return eps
    wide = WIDER.get(d, d)
    return finfo(float32 if wide is not d else d.to_real() if d.is_complex else d).eps


def _forward(input: Any, normalized_shape: Any, weight: Any, eps: float | None) -> tuple[Any, Any]:
    check_features("rms_norm", input, normalized_shape, weight)
    d = input._dtype
    x: Any = in_wide(input, d)
    rstd = _factor(x, last_dims(input, normalized_shape), _eps(d, eps))
    out = scale_shift(x * rstd, weight, None, d)
    out = out if out._dtype is d else out.to(d)
    return out.contiguous(), rstd


def _backward_rule(
    grad_out: Tensor,
    input: Tensor,
    normalized_shape: Sequence[int],
    rstd: Tensor,
    weight: Any,
    output_mask: Sequence[bool],
) -> Specs:
    parameter = None if weight is None else TensorSpec(weight._shape, weight._dtype)
    return chosen(output_mask, TensorSpec(input._shape, input._dtype), parameter)


def _backward(
    grad_out: Any,
    input: Any,
    normalized_shape: Any,
    rstd: Any,
    weight: Any,
    output_mask: Sequence[bool],
) -> tuple[Any, Any]:
    """Gradients of input and weight; where they are recorded, the factors depend on the input."""
    d = input._dtype
    dims = last_dims(input, normalized_shape)
    g, x, factor = in_wide(grad_out, d), in_wide(input, d), in_wide(rstd, d)
    if is_grad_enabled():
        eps = (factor**-2 - (x * x).mean(dims, True)).detach()
        factor = _factor(x, dims, eps)
    scaled = x * factor
    found: list[Any] = [None, None]
    if output_mask[0]:
        gw = g if weight is None else g * in_wide(weight, d)
        found[0] = (factor * (gw - scaled * (gw * scaled).mean(dims, True))).to(d).contiguous()
    if output_mask[1] and weight is not None:
        leading = list(range(len(input._shape) - len(normalized_shape)))
        found[1] = ((g * scaled).sum(leading) if leading else g * scaled).to(weight._dtype)
    return found[0], found[1]


def _grads(
    g: Any, input: Any, normalized_shape: Any, weight: Any, result1: Any, wanted: Any
) -> Any:
    return by_name("_fused_rms_norm_backward")(g, input, normalized_shape, result1, weight, wanted)


def _rms_norm(
    input: Tensor, normalized_shape: Any, weight: Any = None, eps: float | None = None
) -> Any:
    recorded = (input._keys | (0 if weight is None else weight._keys)) & AUTOGRAD
    # Of complex numbers there is no fused form.
    if input._dtype.is_complex or not (recorded or has_kernel("_fused_rms_norm", input)):
        return _forward(input, normalized_shape, weight, eps)[0]
    return fn._fused_rms_norm(input, normalized_shape, weight, eps)[0]


op(
    "_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> "
    "(Tensor, Tensor)",
    doc="`rms_norm`, and the reciprocal root mean squares.",
    rule=_rule,
    grad=dict.fromkeys(("input", "weight"), _grads),
    output_differentiability=(True, False),
    decomposition=_forward,
    namespaces=("torch",),
)
op(
    "_fused_rms_norm_backward(Tensor grad_out, Tensor input, int[] normalized_shape, Tensor rstd, "
    "Tensor? weight, bool[2] output_mask) -> (Tensor, Tensor)",
    doc="Gradients of `_fused_rms_norm` for input and weight, those that the mask asks for.",
    rule=_backward_rule,
    decomposition=_backward,
    namespaces=(),
)
op(
    "rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
    doc="Root mean square 1 over the last dimensions, then scale (Zhang and Sennrich, 2019).",
    decomposition=_rms_norm,
    namespaces=("torch", "nn"),
)
