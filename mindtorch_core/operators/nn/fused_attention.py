"""Attention as one op with one gradient, which keeps no weights: it computes them anew."""

from __future__ import annotations

import math
from typing import Any, Final

from ...dispatch.functions import fn
from ...dispatch.keys import is_grad_enabled
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING, bool_
from ...values.memory_formats import like_strides
from ...values.promotion import WIDER
from ...values.shapes import show
from ..elementwise.composed import by_name, has_kernel, widened

NAME: Final = "_scaled_dot_product_flash_attention_for_cpu"


def fusable(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout: float) -> bool:
    """Whether the op takes such operands, and their backend computes it at once."""
    q, k, v, d = query._shape, key._shape, value._shape, query._dtype
    return (
        not dropout
        and len(q) == len(k) == len(v) == 4
        and q[:2] == k[:2] == v[:2]
        and q[3] == k[3] == v[3]
        and k[2] == v[2]
        and d.category == FLOATING
        and 0 not in q
        and 0 not in k
        and (mask is None or _fits(mask, query, key))
        and has_kernel(NAME, query)
    )


def _fits(mask: Tensor, query: Tensor, key: Tensor) -> bool:
    wanted = (*query._shape[:3], key._shape[2])
    shape = mask._shape
    return (
        not mask.requires_grad
        and mask._dtype in (bool_, query._dtype)
        and mask._device is query._device
        and len(shape) in (2, 4)
        and all(n in (1, full) for n, full in zip(reversed(shape), reversed(wanted), strict=False))
    )


def _by_rows(shape: tuple[int, ...], d: Any) -> TensorSpec:
    """Of (batch, heads, length, features), whose heads lie next to each other as models want them."""
    _, heads, length, width = shape
    return TensorSpec(shape, d, (heads * length * width, width, heads * width, 1))


def _rule(
    query: Tensor, key: Tensor, value: Tensor, dropout_p: float = 0.0, is_causal: bool = False, *,
    attn_mask: Tensor | None = None, scale: float | None = None,
) -> tuple[TensorSpec, TensorSpec]:  # fmt: skip
    q, k, v, d = query._shape, key._shape, value._shape, query._dtype
    if not len(q) == len(k) == len(v) == 4:
        raise RuntimeError(
            f"{NAME}: Accept only 4 dims inputs shape of {{B, H, T, K}}, got {show(q)}, {show(k)} "
            f"and {show(v)}"
        )
    if d.category != FLOATING or not d is key._dtype is value._dtype:
        raise RuntimeError(
            f"{NAME}: expected query, key and value of one floating dtype, got {d}, {key._dtype} and "
            f"{value._dtype}"
        )
    if q[:2] != k[:2] or k != v or q[3] != k[3]:
        raise RuntimeError(
            f"{NAME}: Q/K/V should have the same batch, heads and head size, and K/V the same length, "
            f"got {show(q)}, {show(k)} and {show(v)}"
        )
    if dropout_p:
        raise RuntimeError(f"{NAME}: Currently do not support dropout > 0")
    if attn_mask is not None and not _fits(attn_mask.detach(), query, key):
        raise RuntimeError(
            f"{NAME}: the mask should be bool or of the query's dtype, and broadcast to "
            f"{show((*q[:3], k[2]))}, got {attn_mask._dtype} of {show(attn_mask._shape)}"
        )
    total = TensorSpec(q[:3], WIDER.get(d, d), (q[1] * q[2], 1, q[1]))
    return TensorSpec(q, d, like_strides(q, query._geometry()[0])), total


def scale_of(query: Any, scale: float | None) -> float:
    """The factor of the scores, by default the reciprocal root of the number of features."""
    if scale is None and query._shape[-1]:
        return 1 / math.sqrt(query._shape[-1])
    return scale or 0.0


def masked_scores(q: Any, k: Any, is_causal: bool, mask: Any, scale: float | None) -> Any:
    """Scores of keys for queries, with what the mask adds, and minus infinity where it forbids."""
    scores = (q * scale_of(q, scale)).matmul(k.transpose(-2, -1))
    if mask is not None:
        if mask._dtype is bool_:
            scores = scores.masked_fill(~mask, -math.inf)
        else:
            scores = scores + mask.to(scores._dtype)
    if is_causal:
        rows, columns = scores._shape[-2:]
        row = fn.arange(0, rows, 1, device=q._device).unsqueeze(1)
        later = fn.arange(0, columns, 1, device=q._device) > row
        scores = scores.masked_fill(later, -math.inf)
    return scores


def weights_of(scores: Any) -> tuple[Any, Any]:
    """Weights, zeros where a row has no score, and the logarithms of the sums."""
    total = scores.logsumexp(-1)
    divisor = total.masked_fill(total == -math.inf, 0)
    return (scores - divisor.unsqueeze(-1)).exp(), total


def _in_layout(t: Any, d: Any) -> Any:
    return t.to(d).transpose(1, 2).contiguous().transpose(1, 2)


def _in_order(t: Any, like: Tensor) -> Any:
    """A tensor whose dimensions follow each other in memory as another one's do."""
    strides = like_strides(like._shape, like._geometry()[0])
    order = sorted(range(4), key=lambda dim: -strides[dim])
    return t.permute(order).contiguous().permute([order.index(dim) for dim in range(4)])


def _composed(
    query: Tensor, key: Tensor, value: Tensor, dropout_p: float = 0.0, is_causal: bool = False, *,
    attn_mask: Tensor | None = None, scale: float | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    _rule(query, key, value, dropout_p, is_causal, attn_mask=attn_mask, scale=scale)
    scores = masked_scores(widened(query), widened(key), is_causal, attn_mask, scale)
    weights, total = weights_of(scores)
    found = weights.matmul(widened(value)).to(query._dtype)
    return _in_order(found, query), _in_layout(total, total._dtype)


def _backward_rule(
    grad_out: Tensor, query: Tensor, key: Tensor, value: Tensor, *_: Any, **__: Any
) -> tuple[TensorSpec, ...]:
    return tuple(_by_rows(t._shape, t._dtype) for t in (query, key, value))


def _gradients(
    weights: Any, along: Any, operands: tuple[Any, ...], scale: float | None
) -> tuple[Any, ...]:
    """Gradients of query, key and value.

    Args:
        weights: of the values.
        along: sums of a row's gradient times its result, (batch, heads, length, 1).
        operands: gradient of the result, query, key and value.
        scale: as the op takes it.
    """
    d = operands[1]._dtype
    g, q, k, v = (widened(t) for t in operands)
    of_scores = weights * (g.matmul(v.transpose(-2, -1)) - along)
    factor = scale_of(q, scale)
    found = (
        of_scores.matmul(k) * factor,
        of_scores.transpose(-2, -1).matmul(q) * factor,
        weights.transpose(-2, -1).matmul(g),
    )
    return tuple(_in_layout(t, d) for t in found)


def _backward(
    grad_out: Any, query: Any, key: Any, value: Any, out: Any, logsumexp: Any, dropout_p: float,
    is_causal: bool, *, attn_mask: Any = None, scale: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    scores = masked_scores(widened(query), widened(key), is_causal, attn_mask, scale)
    weights = (scores - logsumexp.masked_fill(logsumexp == -math.inf, 0).unsqueeze(-1)).exp()
    along = (widened(grad_out) * widened(out)).sum(-1, True)
    return _gradients(weights, along, (grad_out, query, key, value), scale)


def _grads(
    g: Any, query: Any, key: Any, value: Any, is_causal: Any, attn_mask: Any, scale: Any,
    result0: Any, result1: Any, wanted: Any,
) -> Any:  # fmt: skip
    """Gradients of all operands; second ones are those of the composition."""
    if is_grad_enabled():
        q, k, v, upon = (widened(t) for t in (query, key, value, g))
        weights, _ = weights_of(masked_scores(q, k, is_causal, attn_mask, scale))
        along = (upon * weights.matmul(v)).sum(-1, True)
        return _gradients(weights, along, (g, query, key, value), scale)
    return by_name(f"{NAME}_backward")(
        g, query, key, value, result0, result1, 0.0, is_causal, attn_mask=attn_mask, scale=scale
    )


op(
    f"{NAME}(Tensor query, Tensor key, Tensor value, float dropout_p=0.0, bool is_causal=False, *, "
    f"Tensor? attn_mask=None, float? scale=None) -> (Tensor, Tensor)",
    doc="`scaled_dot_product_attention` of (batch, heads, length, features), and the logarithms of the "
    "sums of exponentials. Where a mask allows a row nothing it is zeros.",
    rule=_rule,
    grad=dict.fromkeys(("query", "key", "value"), _grads),
    output_differentiability=(True, False),
    decomposition=_composed,
    namespaces=("torch",),
)
op(
    f"{NAME}_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor out, Tensor "
    f"logsumexp, float dropout_p, bool is_causal, *, Tensor? attn_mask=None, float? scale=None) -> "
    f"(Tensor, Tensor, Tensor)",
    doc="Gradients of attention for query, key and value.",
    rule=_backward_rule,
    decomposition=_backward,
    namespaces=(),
)
