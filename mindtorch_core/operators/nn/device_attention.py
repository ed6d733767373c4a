"""Attention as a device's own pair of kernels, forward and backward, by PyTorch's names for them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ...dispatch.keys import is_grad_enabled
from ...dispatch.opdef import TensorSpec
from ...gradients.conform import sum_to
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING, bool_, int64
from ...values.promotion import WIDER
from ...values.shapes import show
from ..elementwise.composed import by_name, has_kernel, widened
from .fused_attention import masked_scores, scale_of, weights_of

NAME: Final = "_scaled_dot_product_fused_attention_overrideable"


def served_by_device(query: Tensor, key: Tensor, value: Tensor) -> bool:
    """Whether the operands' device has a kernel of its own for attention, and it takes them."""
    return (
        has_kernel(NAME, query)
        and query._dtype.category == FLOATING
        and all(len(t._shape) == 4 and 0 not in t._shape for t in (query, key, value))
    )


def by_device(
    query: Any, key: Any, value: Any, mask: Any, dropout_p: float, is_causal: bool, scale: Any
) -> Any:
    """Attention by the device's kernel, with a mask of booleans as what is added to the scores."""
    if mask is not None and mask._dtype is bool_:
        mask = query.new_zeros(mask._shape).masked_fill(~mask, -math.inf)
    return by_name(NAME)(query, key, value, mask, dropout_p, is_causal, False, scale=scale)[0]


def _rule(
    query: Tensor, key: Tensor, value: Tensor, attn_bias: Tensor | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, return_debug_mask: bool = False, *,
    scale: float | None = None,
) -> tuple[TensorSpec | None, ...]:  # fmt: skip
    q, k, v, d = query._shape, key._shape, value._shape, query._dtype
    if not len(q) == len(k) == len(v) == 4 or q[:2] != k[:2] or k[:3] != v[:3] or q[3] != k[3]:
        raise RuntimeError(
            f"{NAME}: expected query, key and value of (batch, heads, length, features) that fit "
            f"together, got {show(q)}, {show(k)} and {show(v)}"
        )
    if d.category != FLOATING or not d is key._dtype is value._dtype:
        raise RuntimeError(
            f"{NAME}: expected query, key and value of one floating dtype, got {d}, {key._dtype} and "
            f"{value._dtype}"
        )
    seed = TensorSpec((), int64)
    result = TensorSpec((*q[:3], v[3]), d), TensorSpec(q[:3], WIDER.get(d, d))
    return *result, None, None, None, None, seed, seed, None


def _composed(
    query: Any, key: Any, value: Any, attn_bias: Any = None, dropout_p: float = 0.0,
    is_causal: bool = False, return_debug_mask: bool = False, *, scale: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    _rule(query, key, value, attn_bias, dropout_p, is_causal, scale=scale)
    if dropout_p:
        raise RuntimeError(f"{NAME}: dropout needs a kernel of the device's own")
    scores = masked_scores(widened(query), widened(key), is_causal, attn_bias, scale)
    weights, total = weights_of(scores)
    out = weights.matmul(widened(value)).to(query._dtype).contiguous()
    lengths = query._shape[2], key._shape[2]
    seeds = (query.new_zeros((), dtype=int64) for _ in range(2))
    return out, total.contiguous(), None, None, *lengths, *seeds, None


def _gradients(
    weights: Any, along: Any, g: Any, operands: Sequence[Any], mask: Sequence[bool], scale: Any
) -> tuple[Any, ...]:
    """Gradients of query, key, value and what is added to the scores, those that the mask asks for.

    Args:
        weights: of the values.
        along: sums of a row's gradient times its result, (batch, heads, length, 1).
        g: gradient of the result.
        operands: query, key, value and what is added.
        mask: which gradients are wanted.
        scale: as the op takes it.
    """
    q, k, v = (widened(t) for t in operands[:3])
    bias = operands[3]
    g = widened(g)
    of_scores = weights * (g.matmul(v.transpose(-2, -1)) - along)
    factor = scale_of(q, scale)
    found = (
        of_scores.matmul(k) * factor if mask[0] else None,
        of_scores.transpose(-2, -1).matmul(q) * factor if mask[1] else None,
        weights.transpose(-2, -1).matmul(g) if mask[2] else None,
        sum_to(of_scores, bias._shape) if mask[3] and bias is not None else None,
    )
    pairs = zip(found, operands, strict=True)
    return tuple([None if t is None else t.to(like._dtype).contiguous() for t, like in pairs])


def _backward_rule(
    grad_out: Tensor, query: Tensor, key: Tensor, value: Tensor, attn_bias: Tensor | None,
    grad_input_mask: Sequence[bool], *_: Any, **__: Any,
) -> tuple[TensorSpec | None, ...]:  # fmt: skip
    operands = zip(grad_input_mask, (query, key, value, attn_bias), strict=True)
    return tuple(
        [
            TensorSpec(t._shape, t._dtype) if wanted and t is not None else None
            for wanted, t in operands
        ]
    )


def _backward(
    grad_out: Any, query: Any, key: Any, value: Any, attn_bias: Any,
    grad_input_mask: Sequence[bool], out: Any, logsumexp: Any, cum_seq_q: Any, cum_seq_k: Any,
    max_q: int, max_k: int, dropout_p: float, is_causal: bool, philox_seed: Any, philox_offset: Any,
    *, scale: Any = None,
) -> tuple[Any, ...]:  # fmt: skip
    if dropout_p:
        raise RuntimeError(f"{NAME}_backward: dropout needs a kernel of the device's own")
    scores = masked_scores(widened(query), widened(key), is_causal, attn_bias, scale)
    weights = (scores - logsumexp.masked_fill(logsumexp == -math.inf, 0).unsqueeze(-1)).exp()
    along = (widened(grad_out) * widened(out)).sum(-1, True)
    operands = query, key, value, attn_bias
    return _gradients(weights, along, grad_out, operands, grad_input_mask, scale)


def _grads(
    g: Any, query: Any, key: Any, value: Any, attn_bias: Any, dropout_p: Any, is_causal: Any,
    scale: Any, result0: Any, result1: Any, result6: Any, result7: Any, wanted: Any,
) -> Any:  # fmt: skip
    """Gradients of all operands; second ones are those of the composition, if nothing was dropped."""
    operands = query, key, value, attn_bias
    if is_grad_enabled() and not dropout_p:
        weights, _ = weights_of(
            masked_scores(widened(query), widened(key), is_causal, attn_bias, scale)
        )
        along = (widened(g) * weights.matmul(widened(value))).sum(-1, True)
        return _gradients(weights, along, g, operands, wanted, scale)
    lengths = query._shape[2], key._shape[2]
    return by_name(f"{NAME}_backward")(
        g, *operands, wanted, result0, result1, None, None, *lengths, dropout_p, is_causal,
        result6, result7, scale=scale,
    )  # fmt: skip


op(
    f"{NAME}(Tensor query, Tensor key, Tensor value, Tensor? attn_bias=None, float dropout_p=0.0, bool "
    "is_causal=False, bool return_debug_mask=False, *, float? scale=None) -> (Tensor output, Tensor "
    "logsumexp, Tensor cum_seq_q, Tensor cum_seq_k, SymInt max_q, SymInt max_k, Tensor philox_seed, "
    "Tensor philox_offset, Tensor debug_attn_mask)",
    doc="`scaled_dot_product_attention` of (batch, heads, length, features) for a device's own kernel, "
    "with the logarithms of the sums of exponentials, and the seeds of what it drops. The other "
    "results are for kernels of PyTorch's; they are None.",
    rule=_rule,
    grad=dict.fromkeys(("query", "key", "value", "attn_bias"), _grads),
    output_differentiability=(True, *(False,) * 8),
    decomposition=_composed,
    random=True,
    draws_if="dropout_p",
    namespaces=("torch",),
)
op(
    f"{NAME}_backward(Tensor grad_out, Tensor query, Tensor key, Tensor value, Tensor? attn_bias, "
    "bool[4] grad_input_mask, Tensor out, Tensor logsumexp, Tensor? cum_seq_q, Tensor? cum_seq_k, "
    "SymInt max_q, SymInt max_k, float dropout_p, bool is_causal, Tensor philox_seed, Tensor "
    "philox_offset, *, float? scale=None) -> (Tensor grad_query, Tensor grad_key, Tensor grad_value, "
    "Tensor grad_attn_bias)",
    doc=f"Gradients of `{NAME}`, those that the mask asks for.",
    rule=_backward_rule,
    decomposition=_backward,
    namespaces=("torch",),
)
