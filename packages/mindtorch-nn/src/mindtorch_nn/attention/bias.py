"""``torch.nn.attention.bias``: causal masks that are names of what they mean, not tensors of numbers."""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_core.utils._own_frames import warn_user

__all__ = ["CausalBias", "CausalVariant", "causal_lower_right", "causal_upper_left"]


class CausalVariant(IntEnum):
    """Where the diagonal of a causal mask of (queries, keys) begins that is not square.

    ``UPPER_LEFT``: the first query sees the first key. ``LOWER_RIGHT``: the last query sees the last key.
    """

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(torch.Tensor):
    """A causal mask for ``scaled_dot_product_attention(..., attn_mask=bias)``.

    Args:
        variant: where its diagonal begins.
        seq_len_q: how many queries.
        seq_len_kv: how many keys.

    Raises:
        AssertionError: for another variant.
    """

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int

    @staticmethod
    def __new__(cls: Any, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> Any:
        """A subclass of tensors without elements: the numbers are made where they are needed."""
        return torch.Tensor._make_subclass(cls, torch.empty(0))

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        super().__init__()
        self.variant = variant
        self.seq_len_q = seq_len_q
        self.seq_len_kv = seq_len_kv
        if seq_len_q > seq_len_kv and variant is CausalVariant.LOWER_RIGHT:
            warn_user(
                "Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv!",
            )

    def _materialize(self, device: Any = None) -> torch.Tensor:
        """The mask, (queries, keys) of bool: true for what is seen."""
        later = 0 if self.variant is CausalVariant.UPPER_LEFT else self.seq_len_kv - self.seq_len_q
        made = torch.ones(self.seq_len_q, self.seq_len_kv, dtype=torch.bool, device=device)
        return made.tril(diagonal=later)

    @classmethod
    def __torch_function__(
        cls, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Attention takes what the bias means; other functions see a tensor without elements."""
        if func is F.scaled_dot_product_attention:
            return _attend(*args, **(kwargs or {}))
        return super().__torch_function__(func, types, args, kwargs or {})  # type: ignore[misc]

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return repr(self._materialize())


def _attend(
    query: torch.Tensor,
    key: torch.Tensor,
    value: torch.Tensor,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
) -> Any:
    """`scaled_dot_product_attention` with a `CausalBias`.

    Raises:
        ValueError: if ``is_causal`` says something as well.
    """
    if is_causal:
        raise ValueError("CausalBias should not be used with causal=True")
    square = attn_mask.seq_len_q == attn_mask.seq_len_kv
    if square or attn_mask.variant is CausalVariant.UPPER_LEFT:
        mask, causal = None, True
    else:
        mask, causal = attn_mask._materialize(query.device), False
    return F.scaled_dot_product_attention(
        query, key, value, mask, dropout_p, causal, scale=scale, enable_gqa=enable_gqa
    )


def causal_upper_left(*size: int) -> CausalBias:
    """A causal bias of (queries, keys) whose first query sees the first key.

    Raises:
        AssertionError: for other than two sizes.
    """
    if len(size) != 2:
        raise AssertionError("causal_upper_left only supports 2D tensors")
    return CausalBias(CausalVariant.UPPER_LEFT, *size)


def causal_lower_right(*size: int) -> CausalBias:
    """A causal bias of (queries, keys) whose last query sees the last key.

    Raises:
        AssertionError: for other than two sizes.
    """
    if len(size) != 2:
        raise AssertionError("causal_lower_right only supports 2D tensors")
    return CausalBias(CausalVariant.LOWER_RIGHT, *size)
