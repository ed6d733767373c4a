"""Attention of several heads."""

from __future__ import annotations

from typing import Any

from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .. import init
from .linear import NonDynamicallyQuantizableLinear
from .module import Module
from .utils import declare

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Attention of several heads, with projections before and after (Vaswani et al., 2017).

    Args:
        embed_dim: features of queries and results.
        num_heads: the heads, which share the features out among them.
        dropout: probability with which a weight is dropped in training.
        bias: whether projections have one.
        add_bias_kv: whether a row that is learnt is appended to keys and values.
        add_zero_attn: whether a row of zeros is appended.
        kdim: features of keys; by default ``embed_dim``.
        vdim: features of values; by default ``embed_dim``.
        batch_first: whether batches are (batch, length, features).
        device: of the parameters.
        dtype: of the parameters.

    Raises:
        AssertionError: if ``num_heads`` does not divide ``embed_dim``.
        ValueError: if one of both is not positive.

    Example:
        >>> layer = torch.nn.MultiheadAttention(8, num_heads=2, batch_first=True)
        >>> x = torch.ones(1, 3, 8)
        >>> result, weights = layer(x, x, x)
        >>> result.shape, weights.shape
        (torch.Size([1, 3, 8]), torch.Size([1, 3, 3]))
    """

    bias_k: Tensor | None
    bias_v: Tensor | None
    in_proj_weight: Tensor | None
    in_proj_bias: Tensor | None
    q_proj_weight: Tensor | None
    k_proj_weight: Tensor | None
    v_proj_weight: Tensor | None

    def __init__(
        self,
        embed_dim: int,
        num_heads: int,
        dropout: float = 0.0,
        bias: bool = True,
        add_bias_kv: bool = False,
        add_zero_attn: bool = False,
        kdim: int | None = None,
        vdim: int | None = None,
        batch_first: bool = False,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if embed_dim <= 0 or num_heads <= 0:
            raise ValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and "
                f"num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        same = self._qkv_same_embed_dim
        shapes: dict[str, Any] = {
            "q_proj_weight": None if same else (embed_dim, embed_dim),
            "k_proj_weight": None if same else (embed_dim, self.kdim),
            "v_proj_weight": None if same else (embed_dim, self.vdim),
        }
        packed = {"in_proj_weight": (3 * embed_dim, embed_dim) if same else None}
        # In PyTorch's order, which is that of parameters().
        declare(self, device, dtype, **({**packed, **shapes} if same else {**shapes, **packed}))
        declare(self, device, dtype, in_proj_bias=(3 * embed_dim,) if bias else None)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias, device, dtype)
        if add_bias_kv:
            declare(self, device, dtype, bias_k=(1, 1, embed_dim), bias_v=(1, 1, embed_dim))
        else:
            self.bias_k = self.bias_v = None
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _reset_parameters(self) -> None:
        names = ("in_proj",) if self._qkv_same_embed_dim else ("q_proj", "k_proj", "v_proj")
        for name in names:
            init.xavier_uniform_(getattr(self, f"{name}_weight"))
        if self.in_proj_bias is not None and self.out_proj.bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for bias in (self.bias_k, self.bias_v):
            if bias is not None:
                init.xavier_normal_(bias)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("_qkv_same_embed_dim", True)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """What each query sees.

        Args:
            query: what looks, (length, batch, features), with ``batch_first`` (batch, length,
                features), or (length, features).
            key: what is looked at, by what it is found.
            value: what is looked at, by what is seen of it.
            key_padding_mask: (batch, keys), true for keys that nothing sees, or what to add to their
                scores.
            need_weights: return the weights as well.
            attn_mask: (length, keys) or (batch * heads, length, keys), in the same manner.
            average_attn_weights: average the weights over the heads.
            is_causal: whether ``attn_mask`` is the causal one, which may then be computed instead.

        Returns:
            The result in the query's shape, and the weights (batch, [heads,] length, keys) or None.
        """
        key_padding_mask = F._canonical_mask(
            key_padding_mask,
            "key_padding_mask",
            F._none_or_dtype(attn_mask),
            "attn_mask",
            query.dtype,
        )
        attn_mask = F._canonical_mask(attn_mask, "attn_mask", None, "", query.dtype)
        swap = self.batch_first and query.dim() == 3
        if swap:
            query, key, value = (t.transpose(1, 0) for t in (query, key, value))
        made, weights = F.multi_head_attention_forward(
            query,
            key,
            value,
            self.embed_dim,
            self.num_heads,
            self.in_proj_weight,
            self.in_proj_bias,
            self.bias_k,
            self.bias_v,
            self.add_zero_attn,
            self.dropout,
            self.out_proj.weight,
            self.out_proj.bias,
            training=self.training,
            key_padding_mask=key_padding_mask,
            need_weights=need_weights,
            attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim,
            q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight,
            v_proj_weight=self.v_proj_weight,
            average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )
        return made.transpose(1, 0) if swap else made, weights

    def merge_masks(
        self, attn_mask: Tensor | None, key_padding_mask: Tensor | None, query: Tensor
    ) -> tuple[Tensor | None, int | None]:
        """One mask of both, and its kind: 1 for padding alone, 2 for (batch, heads, length, keys)."""
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, length, _ = query.shape
        if attn_mask.dim() == 3:
            merged = attn_mask.view(batch, -1, length, length)
        else:
            merged = attn_mask.view(1, 1, length, length).expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            padding = key_padding_mask.view(batch, 1, 1, length)
            merged = merged + padding.expand(-1, self.num_heads, -1, -1)
        return merged, 2
