"""Steps of attention of several heads, which libraries take from ``torch.nn.functional``."""

from __future__ import annotations

from typing import Any

from ..dispatch.functions import fn, fn_nn
from ..operators.nn.multihead import _is_batch as _mha_shape_check
from ..operators.nn.multihead import warn_of_mismatch
from ..tensors.tensor import Tensor
from ..values.dtypes import bool_, dtype

__all__ = [
    "_canonical_mask",
    "_in_projection",
    "_in_projection_packed",
    "_mha_shape_check",
    "_none_or_dtype",
]


def _none_or_dtype(input: Tensor | None) -> dtype | None:
    """A tensor's dtype, and None for None.

    Raises:
        RuntimeError: if it is neither.
    """
    if input is None or isinstance(input, Tensor):
        return None if input is None else input.dtype
    raise RuntimeError("input to _none_or_dtype() must be None or torch.Tensor")


def _canonical_mask(
    mask: Tensor | None,
    mask_name: str,
    other_type: dtype | None,
    other_name: str,
    target_type: dtype,
    check_other: bool = True,
) -> Tensor | None:
    """A mask as numbers that are added to scores.

    Args:
        mask: numbers to add, or true where nothing is seen.
        mask_name: what errors call it.
        other_type: dtype of the mask beside it; another one than the mask's is warned of.
        other_name: what the warning calls that.
        target_type: dtype of the numbers that stand for a boolean mask.
        check_other: whether that warning is wanted.

    Raises:
        AssertionError: for a mask that is neither boolean nor floating.
    """
    if mask is None:
        return None
    if mask.dtype is not bool_ and not mask.is_floating_point():
        raise AssertionError(f"only bool and floating types of {mask_name} are supported")
    if check_other:
        warn_of_mismatch(mask, mask_name, other_type, other_name)
    if mask.is_floating_point():
        return mask
    return fn.zeros_like(mask, dtype=target_type).masked_fill_(mask, float("-inf"))


def _in_projection_packed(
    q: Tensor, k: Tensor, v: Tensor, w: Tensor, b: Tensor | None = None
) -> tuple[Tensor, ...]:
    """Queries, keys and values by projections that lie below one another.

    Args:
        q: what the queries are made of, (..., features).
        k: what the keys are made of.
        v: what the values are made of.
        w: the weights, (3 * features, features).
        b: what is added, (3 * features,).
    """
    size = q._shape[-1]
    if q is k and k is v:
        made = fn_nn.linear(q, w, b)
        return tuple(part.contiguous() for part in made.split(made._shape[-1] // 3, -1))
    weights = w.split(size)
    biases: Any = (None,) * 3 if b is None else b.split(size)
    return tuple(fn_nn.linear(*each) for each in zip((q, k, v), weights, biases, strict=True))


def _in_projection(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    w_q: Tensor,
    w_k: Tensor,
    w_v: Tensor,
    b_q: Tensor | None = None,
    b_k: Tensor | None = None,
    b_v: Tensor | None = None,
) -> tuple[Tensor, ...]:
    """Queries, keys and values, each by a projection of its own.

    Args:
        q: what the queries are made of, (..., features).
        k: what the keys are made of; it may have another number of features.
        v: what the values are made of; likewise.
        w_q: weights (features, features of ``q``).
        w_k: weights (features, features of ``k``).
        w_v: weights (features, features of ``v``).
        b_q: what is added to the queries.
        b_k: what is added to the keys.
        b_v: what is added to the values.

    Raises:
        AssertionError: if shapes do not fit together.
    """
    size, names = q._shape[-1], ("query", "key", "value")
    inputs, weights, biases = (q, k, v), (w_q, w_k, w_v), (b_q, b_k, b_v)
    for name, x, w in zip(names, inputs, weights, strict=True):
        _check(f"{name} weights", w, (size, x._shape[-1]))
    for name, b in zip(names, biases, strict=True):
        if b is not None:
            _check(f"{name} bias", b, (size,))
    return tuple(fn_nn.linear(*each) for each in zip(inputs, weights, biases, strict=True))


def _check(name: str, given: Tensor, shape: tuple[int, ...]) -> None:
    if given._shape != shape:
        raise AssertionError(f"expecting {name} shape of {shape}, but got {given.shape}")
