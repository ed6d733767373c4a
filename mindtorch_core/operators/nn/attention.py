"""Scaled dot-product attention and softmax that survives rows without any score."""

from __future__ import annotations

import math
from typing import Any

from ...dispatch.functions import fn
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX, FLOATING, bool_
from ...values.memory_formats import contiguous_format
from ..elementwise.composed import widened
from .device_attention import by_device, served_by_device
from .fused_attention import fusable


def _safe_softmax(self: Tensor, dim: int, dtype: Any = None) -> Any:
    x = self if dtype is None else self.to(dtype)
    nothing = (x == float("-inf")).all(dim, True) if x._shape else x == float("-inf")
    return fn.softmax(x.masked_fill(nothing, 0), dim).masked_fill(nothing, 0)


op(
    "_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
    doc="`softmax`, but zeros where every element is minus infinity.",
    decomposition=_safe_softmax,
    namespaces=("torch",),
)


def _check(query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool) -> None:
    if not (query._dtype is key._dtype is value._dtype):
        raise RuntimeError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: "
            f"{query._dtype} key.dtype: {key._dtype} and value.dtype: {value._dtype} instead."
        )
    if not (query._device is key._device is value._device):
        raise RuntimeError(
            f"Expected query, key, and value to have the same device type, but got query.device: "
            f"{query._device} key.device: {key._device} and value.device: {value._device} instead."
        )
    if min(len(query._shape), len(key._shape), len(value._shape)) < 2:
        raise RuntimeError(
            f"Expected query, key, and value to all be at least 2 dimensional, but got query.dim: "
            f"{len(query._shape)}, key.dim: {len(key._shape)} and value.dim: {len(value._shape)} "
            f"instead."
        )
    if query._dtype.category not in (FLOATING, COMPLEX):
        raise RuntimeError(f"Expected query, key and value of a floating dtype, got {query._dtype}")
    if mask is not None:
        if mask._dtype is not bool_ and mask._dtype.category != FLOATING:
            raise RuntimeError(
                f"Expected attn_mask dtype to be bool or float or to match query dtype, but got "
                f"attn_mask.dtype: {mask._dtype} and  query.dtype: {query._dtype} instead."
            )
        if causal:
            raise RuntimeError(
                "_scaled_dot_product_attention: Explicit attn_mask should not be set when "
                "is_causal=True"
            )


def _bias(query: Tensor, key: Tensor, mask: Tensor | None, causal: bool) -> Any:
    """What is added to the scores: 0 and minus infinity, or the mask's numbers."""
    if causal:
        rows, columns = query._shape[-2], key._shape[-2]
        row = fn.arange(0, rows, 1, device=query._device).unsqueeze(1)
        mask = fn.arange(0, columns, 1, device=query._device) <= row
    if mask is None or mask._dtype is not bool_:
        return None if mask is None else widened(mask)
    return mask


def _attention(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, *, dropout_mask: Tensor | None = None,
    scale: float | None = None, enable_gqa: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """The result and the weights of the values."""
    _check(query, key, value, attn_mask, is_causal)
    q: Any = widened(query)
    k: Any = widened(key)
    v: Any = widened(value)
    if enable_gqa:
        k, v = _shared_heads(q, k, v)
    factor = 1 / math.sqrt(q._shape[-1]) if scale is None and q._shape[-1] else scale or 0.0
    # Each operand takes a root of the scale, so that products of half precision do not overflow.
    root = math.sqrt(abs(factor))
    scores = (q * (root if factor >= 0 else -root)).matmul((k * root).transpose(-2, -1))
    bias = _bias(query, key, attn_mask, is_causal)
    if bias is not None and bias._dtype is bool_:
        scores = scores.masked_fill(~bias, float("-inf"))
    elif bias is not None:
        scores = scores + bias.to(scores._dtype)
    # A causal mask leaves a score to every row.
    safe = attn_mask is not None
    weights = fn._safe_softmax(scores, -1) if safe else fn.softmax(scores, -1)
    if dropout_p > 0.0:
        if dropout_mask is not None:
            weights = weights.masked_fill(~dropout_mask, 0)
            v = v / (1 - dropout_p)  # not the weights, which are returned
        else:
            weights = fn.dropout(weights, dropout_p, True)
    return weights.matmul(v).to(query._dtype), weights.to(query._dtype)


def _attend(
    query: Tensor, key: Tensor, value: Tensor, attn_mask: Tensor | None = None,
    dropout_p: float = 0.0, is_causal: bool = False, *, scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """The result, by one op where that serves the operands."""
    if served_by_device(query, key, value):
        _check(query, key, value, attn_mask, is_causal)
        k, v = _shared_heads(query, key, value) if enable_gqa else (key, value)
        if query._shape[:2] == k._shape[:2] and k._shape[:3] == v._shape[:3]:
            return by_device(query, k, v, attn_mask, dropout_p, is_causal, scale)
    found = _fused(query, key, value, attn_mask, dropout_p, is_causal, scale, enable_gqa)
    if found is not None:
        return found
    return _attention(
        query, key, value, attn_mask, dropout_p, is_causal, scale=scale, enable_gqa=enable_gqa
    )[0]


def _fused(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, dropout: float, causal: bool,
    scale: float | None, shared: bool,
) -> Any:  # fmt: skip
    """The result of the op that keeps no weights, None where it does not take the operands."""
    if dropout or query._dtype.category != FLOATING:
        return None
    single = len(query._shape) == len(key._shape) == len(value._shape) == 3
    q: Any = query
    k: Any = key
    v: Any = value
    seen: Any = mask
    if single:
        q, k, v = (t.unsqueeze(0) for t in (query, key, value))
        seen = mask.unsqueeze(0) if mask is not None and len(mask._shape) == 3 else mask
    if shared and len(q._shape) == len(k._shape) == len(v._shape) == 4:
        if not _divides(k, q) or not _divides(v, q):
            return None
        k, v = _shared_heads(q, k, v)
    if not fusable(q, k, v, seen, dropout):
        return None
    _check(query, key, value, mask, causal)
    if any(t._geometry()[0][3] != 1 for t in (q, k, v)):
        q = q.contiguous()  # PyTorch takes a product of matrices then, which is row-major
    found = fn._scaled_dot_product_flash_attention_for_cpu(
        q, k, v, 0.0, causal, attn_mask=seen, scale=scale
    )[0]
    # A copy: what PyTorch's products make of three dimensions may be written before backward.
    return found.squeeze(0).clone(memory_format=contiguous_format) if single else found


def _divides(t: Any, q: Any) -> bool:
    """Whether heads share those of another tensor."""
    heads = t._shape[1]
    return bool(heads) and q._shape[1] % heads == 0


def _shared_heads(q: Any, k: Any, v: Any) -> tuple[Any, Any]:
    """Keys and values repeated for the groups of heads that share them."""
    heads, keys, values = q._shape[-3], k._shape[-3], v._shape[-3]
    if heads % keys or heads % values:
        raise RuntimeError(
            f"Number of heads in key and value must divide the number of heads in query, got {keys}, "
            f"{values} and {heads}"
        )
    return _repeated(k, heads // keys), _repeated(v, heads // values)


def _repeated(t: Any, times: int) -> Any:
    if times == 1:
        return t
    shape = t._shape
    wide = t.unsqueeze(-3).expand(*shape[:-2], times, *shape[-2:])
    return wide.reshape(*shape[:-3], shape[-3] * times, *shape[-2:])


_HEAD = (
    "Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool "
    "is_causal=False"
)
op(
    f"scaled_dot_product_attention({_HEAD}, *, float? scale=None, bool enable_gqa=False) -> Tensor",
    doc="``softmax(query @ key.T * scale + mask) @ value`` (Vaswani et al., 2017) for (..., length, "
    "features); a boolean mask is true where attention is allowed.",
    decomposition=_attend,
    random=True,
    draws_if="dropout_p",
    namespaces=("nn",),
)
op(
    f"_scaled_dot_product_attention_math({_HEAD}, Tensor? dropout_mask=None, *, float? scale=None, "
    f"bool enable_gqa=False) -> (Tensor, Tensor)",
    doc="`scaled_dot_product_attention`, and the weights of the values.",
    decomposition=lambda query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, dropout_mask=None, *, scale=None, enable_gqa=False: (  # noqa: E501
        _attention(
            query, key, value, attn_mask, dropout_p, is_causal, dropout_mask=dropout_mask,
            scale=scale, enable_gqa=enable_gqa,
        )
    ),
    random=True,
    draws_if="dropout_p",
    namespaces=("torch",),
)  # fmt: skip
