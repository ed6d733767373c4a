"""Attention of several heads between sequences, with its projections."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ...dispatch.functions import fn, fn_nn
from ...opdefs.define import public
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING, bool_, dtype
from ...values.shapes import show
from ...values.user_warnings import warn_user


class _Heads(NamedTuple):
    """Queries, keys and values by batch and head: (batch * heads, length, features)."""

    q: Any
    k: Any
    v: Any


def warn_of_mismatch(mask: Tensor, name: str, other_type: dtype | None, other_name: str) -> None:
    """Warn of two masks of which one may be boolean and the other holds numbers."""
    if other_type is not None and mask._dtype is not other_type:
        warn_user(
            f"Support for mismatched {name} and {other_name} is deprecated. Use same type for both instead."
        )


def _mask(mask: Any, name: str, like: Tensor, attn_mask: Any = None) -> Any:
    """A mask as numbers that are added to scores; a boolean one is true where nothing is seen."""
    if mask is None:
        return None
    warn_of_mismatch(mask, name, getattr(attn_mask, "_dtype", None), "attn_mask")
    if mask._dtype is bool_:
        return fn.zeros(mask._shape, dtype=like._dtype, device=like._device).masked_fill(
            mask, float("-inf")
        )
    if mask._dtype.category != FLOATING:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return mask


def _is_batch(
    query: Tensor, key: Tensor, value: Tensor, padding: Any, mask: Any, heads: int
) -> bool:
    """Whether the sequences have a batch dimension; checks all ranks.

    Raises:
        AssertionError: if ranks do not fit together.
    """
    rank = len(query._shape)
    if rank not in (2, 3):
        raise AssertionError(
            f"query should be unbatched 2D or batched 3D tensor but received {rank}-D query tensor"
        )
    if len(key._shape) != rank or len(value._shape) != rank:
        raise AssertionError(
            f"For {'batched' if rank == 3 else 'unbatched'} ({rank}-D) `query`, expected `key` and "
            f"`value` to be {rank}-D but found {len(key._shape)}-D and {len(value._shape)}-D tensors "
            f"respectively"
        )
    if padding is not None and len(padding._shape) != rank - 1:
        raise AssertionError(
            f"For a {rank}-D `query`, expected `key_padding_mask` to be `None` or {rank - 1}-D but "
            f"found {len(padding._shape)}-D tensor instead"
        )
    if mask is not None and len(mask._shape) not in (2, 3):
        raise AssertionError(
            f"expected `attn_mask` to be `None`, 2-D or 3-D but found {len(mask._shape)}-D tensor "
            f"instead"
        )
    wanted = (heads, query._shape[0], key._shape[0])
    if rank == 2 and mask is not None and len(mask._shape) == 3 and mask._shape != wanted:
        raise AssertionError(
            f"Expected `attn_mask` shape to be {wanted} but got torch.Size({show(mask._shape)})"
        )
    return rank == 3


def _parts(t: Any, count: int) -> Any:
    return (None,) * count if t is None else t.chunk(count)


def _projected(query: Any, key: Any, value: Any, weights: Any, bias: Any) -> tuple[Any, Any, Any]:
    """Queries, keys and values from their sequences, by one packed weight or three."""
    if isinstance(weights, tuple):
        rows = query._shape[-1]
        given = ("query", query), ("key", key), ("value", value)
        for (name, x), w in zip(given, weights, strict=True):
            if w is None:
                raise AssertionError(
                    f"use_separate_proj_weight is True but {name[0]}_proj_weight is None"
                )
            if w._shape != (wanted := (rows, x._shape[-1])):
                raise AssertionError(
                    f"expecting {name} weights shape of {wanted}, but got torch.Size({show(w._shape)})"
                )
    elif weights is None:
        raise AssertionError("use_separate_proj_weight is False but in_proj_weight is None")
    else:
        weights = weights.chunk(3)
    biases = _parts(bias, 3)
    made = [
        fn_nn.linear(x, w, b) for x, w, b in zip((query, key, value), weights, biases, strict=True)
    ]
    return made[0], made[1], made[2]


def _with_rows(heads: _Heads, extra_k: Any, extra_v: Any, masks: list[Any]) -> _Heads:
    """Keys and values with a row more; masks let everything see it."""
    for i, mask in enumerate(masks):
        if mask is not None:
            masks[i] = fn_nn.pad(mask, (0, 1))
    return heads._replace(k=fn.cat([heads.k, extra_k], 1), v=fn.cat([heads.v, extra_v], 1))


def _split(t: Any, batch: int, count: int) -> Any:
    """(length, batch, features) by batch and head."""
    length, _, features = t._shape
    return t.reshape(length, batch * count, features // count).transpose(0, 1)


def _static(t: Any, name: str, batch: int, size: int) -> Any:
    if t._shape[0] != batch or t._shape[2] != size:
        raise AssertionError(
            f"expecting {name}.size(0) of {batch} and {name}.size(2) of {size}, but got {show(t._shape)}"
        )
    return t


def _attended(
    heads: _Heads, mask: Any, dropout_p: float, causal: bool, batch: int, count: int, weigh: bool
) -> tuple[Any, Any]:
    """The heads' results (batch * heads, length, features), and the weights if wanted."""
    q, k, v = heads
    if weigh:
        scores = (q * math.sqrt(1 / q._shape[-1])).bmm(k.transpose(1, 2))
        weights = fn.softmax(scores if mask is None else scores + mask, -1)
        if dropout_p > 0:
            if dropout_p > 1:
                raise ValueError(
                    f"dropout probability has to be between 0 and 1, but got {dropout_p}"
                )
            weights = fn.dropout(weights, dropout_p, True)
        return weights.bmm(v), weights
    parts = [t.reshape(batch, count, *t._shape[1:]) for t in (q, k, v)]
    if mask is not None:
        shape = (1, 1) if mask._shape[0] == 1 else (batch, count)
        mask = mask.reshape(*shape, *mask._shape[1:])
    made = fn_nn.scaled_dot_product_attention(*parts, mask, dropout_p, causal)
    return made.reshape(q._shape[0], *made._shape[2:]), None


def _merged_mask(attn_mask: Any, padding: Any, heads: _Heads, batch: int, count: int) -> Any:
    """One mask for scores (batch * heads, length, keys)."""
    if padding is None:
        return attn_mask
    length = heads.k._shape[1]
    if padding._shape != (batch, length):
        raise AssertionError(
            f"Expected key_padded_mask to have shape {show((batch, length))}, but got "
            f"{show(padding._shape)}"
        )
    wide = padding.reshape(batch, 1, 1, length).expand(batch, count, 1, length)
    wide = wide.reshape(batch * count, 1, length)
    return wide if attn_mask is None else attn_mask + wide


def _checked_mask(mask: Any, batch: int, count: int, target: int, source: int) -> Any:
    if mask is None:
        return None
    wanted = (target, source) if len(mask._shape) == 2 else (batch * count, target, source)
    if mask._shape != wanted:
        raise RuntimeError(
            f"The shape of the {len(mask._shape)}D attn_mask is {show(mask._shape)}, but should be "
            f"{show(wanted)}."
        )
    return mask.unsqueeze(0) if len(mask._shape) == 2 else mask


@public("nn")
def multi_head_attention_forward(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    embed_dim_to_check: int,
    num_heads: int,
    in_proj_weight: Tensor | None,
    in_proj_bias: Tensor | None,
    bias_k: Tensor | None,
    bias_v: Tensor | None,
    add_zero_attn: bool,
    dropout_p: float,
    out_proj_weight: Tensor,
    out_proj_bias: Tensor | None,
    training: bool = True,
    key_padding_mask: Tensor | None = None,
    need_weights: bool = True,
    attn_mask: Tensor | None = None,
    use_separate_proj_weight: bool = False,
    q_proj_weight: Tensor | None = None,
    k_proj_weight: Tensor | None = None,
    v_proj_weight: Tensor | None = None,
    static_k: Tensor | None = None,
    static_v: Tensor | None = None,
    average_attn_weights: bool = True,
    is_causal: bool = False,
) -> tuple[Tensor, Tensor | None]:
    """Attention of several heads, with projections before and after (Vaswani et al., 2017).

    Args:
        query: (length, batch, features) or (length, features).
        key: (keys, batch, features): what queries are compared with.
        value: (keys, batch, features): what the results are weighted means of.
        embed_dim_to_check: the number of features that ``query`` shall have.
        num_heads: the heads, which share the features out among them.
        in_proj_weight: projections of query, key and value, one below the other.
        in_proj_bias: what is added to the projections.
        bias_k: a row that is appended to the keys.
        bias_v: a row that is appended to the values.
        add_zero_attn: append a row of zeros to keys and values.
        dropout_p: probability with which a weight is dropped.
        out_proj_weight: projection of the result.
        out_proj_bias: what is added to it.
        training: whether weights are dropped at all.
        key_padding_mask: (batch, keys), true for keys that nothing sees, or what to add to their
            scores.
        need_weights: return the weights as well.
        attn_mask: (length, keys) or (batch * heads, length, keys), in the same manner.
        use_separate_proj_weight: take the next three instead of ``in_proj_weight``.
        q_proj_weight: projection of the query.
        k_proj_weight: projection of the key.
        v_proj_weight: projection of the value.
        static_k: projected keys (batch * heads, keys, features of a head) to use instead.
        static_v: projected values to use instead.
        average_attn_weights: average the weights over the heads.
        is_causal: whether ``attn_mask`` is the causal one, which may then be computed instead.

    Returns:
        The result in the query's shape, and the weights (batch, [heads,] length, keys) or None.

    Raises:
        AssertionError: if shapes do not fit together.
        ValueError: if ``dropout_p`` is above 1.
    """
    batched = _is_batch(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = (t.unsqueeze(1) for t in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    target, batch, features = query._shape
    _check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    _check_hint(is_causal, attn_mask)
    padding = _mask(key_padding_mask, "key_padding_mask", query, attn_mask)
    hint = is_causal and padding is None and not need_weights
    mask = None if hint else _mask(attn_mask, "attn_mask", query)
    mask = _checked_mask(mask, batch, num_heads, target, key._shape[0])
    separate = (q_proj_weight, k_proj_weight, v_proj_weight)
    by = separate if use_separate_proj_weight else in_proj_weight
    q, k, v = _projected(query, key, value, by, in_proj_bias)
    heads = _Heads(*(_split(t, batch, num_heads) for t in (q, k, v)))
    masks = [mask, padding]
    heads = _with_biases(heads, bias_k, bias_v, static_k, static_v, batch, num_heads, masks)
    if add_zero_attn:
        zeros = heads.k.new_zeros((batch * num_heads, 1, features // num_heads))
        heads = _with_rows(heads, zeros, zeros, masks)
    mask = _merged_mask(masks[0], masks[1], heads, batch, num_heads)
    made, weights = _attended(
        heads, mask, dropout_p if training else 0.0, hint, batch, num_heads, need_weights
    )
    made = made.transpose(0, 1).reshape(target * batch, features)
    made = fn_nn.linear(made, out_proj_weight, out_proj_bias).reshape(target, batch, -1)
    if weights is not None:
        weights = weights.reshape(batch, num_heads, target, weights._shape[-1])
        weights = weights.mean(1) if average_attn_weights else weights
    if batched:
        return made, weights
    return made.squeeze(1), None if weights is None else weights.squeeze(0)


def _check_hint(is_causal: bool, mask: Tensor | None) -> None:
    """Refuse the hint that a mask is causal where there is none."""
    if is_causal and mask is None:
        raise RuntimeError(
            "Need attn_mask if specifying the is_causal hint: pass a causal mask as well"
        )


def _with_biases(
    heads: _Heads, bias_k: Any, bias_v: Any, static_k: Any, static_v: Any, batch: int,
    num_heads: int, masks: list[Any],
) -> _Heads:  # fmt: skip
    """Keys and values with the rows that biases append, or the given ones in their place.

    Raises:
        AssertionError: if only one bias is given, or both kinds are.
    """
    if (bias_k is None) != (bias_v is None):
        raise AssertionError("bias_k and bias_v must be given together")
    rows, size = heads.k._shape[0], heads.k._shape[2]
    if bias_k is not None:
        if static_k is not None or static_v is not None:
            raise AssertionError("bias cannot be added to static keys and values.")
        extra = [
            _split(b.expand(1, batch, num_heads * size), batch, num_heads) for b in (bias_k, bias_v)
        ]
        heads = _with_rows(heads, extra[0], extra[1], masks)
    if static_k is not None:
        heads = heads._replace(k=_static(static_k, "static_k", rows, size))
    if static_v is not None:
        heads = heads._replace(v=_static(static_v, "static_v", rows, size))
    return heads


def _check_sizes(query: Any, key: Any, value: Any, wanted: int, heads: int, separate: bool) -> None:
    features = query._shape[2]
    if features != wanted:
        raise AssertionError(f"was expecting embedding dimension of {wanted}, but got {features}")
    if features % heads:
        raise AssertionError(f"embed_dim {features} not divisible by num_heads {heads}")
    if key._shape[:2] != value._shape[:2] or (not separate and key._shape != value._shape):
        raise AssertionError(
            f"key shape {show(key._shape)} does not match value shape {show(value._shape)}"
        )
