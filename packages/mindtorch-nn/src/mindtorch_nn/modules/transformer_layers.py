"""Layers of encoders and decoders (Vaswani et al., 2017)."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .activation import GELU, ReLU
from .dropout import Dropout
from .linear import Linear
from .module import Module
from .multihead import MultiheadAttention
from .normalization import LayerNorm

__all__ = [
    "TransformerDecoderLayer",
    "TransformerEncoderLayer",
]

Activation = str | Callable[[Tensor], Tensor]
Mask = Tensor | None


def _get_activation_fn(activation: str) -> Callable[[Tensor], Tensor]:
    if activation in ("relu", "gelu"):
        found: Callable[[Tensor], Tensor] = getattr(F, activation)
        return found
    raise RuntimeError(f"activation should be relu/gelu, not {activation}")


class _Layer(Module):
    """What layers share: attentions, a feed-forward part, a normalisation and a dropout for each."""

    _attentions: tuple[str, ...]
    self_attn: MultiheadAttention
    norm1: LayerNorm
    norm2: LayerNorm
    dropout1: Dropout
    dropout2: Dropout

    def __init__(
        self,
        d_model: int,
        nhead: int,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        where = {"device": device, "dtype": dtype}
        for name in self._attentions:
            attention = MultiheadAttention(
                d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **where
            )
            setattr(self, name, attention)
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **where)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **where)
        self.norm_first = norm_first
        parts = range(1, len(self._attentions) + 2)
        for i in parts:
            setattr(self, f"norm{i}", LayerNorm(d_model, layer_norm_eps, bias=bias, **where))
        for i in parts:
            setattr(self, f"dropout{i}", Dropout(dropout))
        known = _get_activation_fn(activation) if isinstance(activation, str) else activation
        self.activation = known

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        if not hasattr(self, "activation"):
            self.activation = F.relu

    def _in_order(self, x: Tensor, *parts: Callable[[Tensor], Tensor]) -> Tensor:
        """Each part added to its input, with its normalisation before or after."""
        for i, part in enumerate(parts, 1):
            norm = getattr(self, f"norm{i}")
            x = x + part(norm(x)) if self.norm_first else norm(x + part(x))
        return x

    def _sa_block(
        self, x: Tensor, attn_mask: Mask, key_padding_mask: Mask, is_causal: bool = False
    ) -> Tensor:
        made, _ = self.self_attn(
            x,
            x,
            x,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            need_weights=False,
            is_causal=is_causal,
        )
        dropped: Tensor = self.dropout1(made)
        return dropped

    def _ff_block(self, x: Tensor) -> Tensor:
        x = self.linear2(self.dropout(self.activation(self.linear1(x))))
        made: Tensor = getattr(self, f"dropout{len(self._attentions) + 1}")(x)
        return made


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward part.

    Args:
        d_model: features.
        nhead: heads.
        dim_feedforward: features in the middle of the feed-forward part.
        dropout: probability of every dropout.
        activation: of the feed-forward part, "relu", "gelu" or a function.
        layer_norm_eps: of both `LayerNorm`.
        batch_first: whether batches are (batch, length, features).
        norm_first: whether each part is normalised before, not after.
        bias: whether there are biases.
        device: of the parameters.
        dtype: of the parameters.

    Raises:
        AssertionError: if ``nhead`` does not divide ``d_model``.
        RuntimeError: for another name of an activation.

    Example:
        >>> layer = torch.nn.TransformerEncoderLayer(8, nhead=2, batch_first=True)
        >>> layer(torch.ones(2, 5, 8)).shape
        torch.Size([2, 5, 8])
    """

    _attentions = ("self_attn",)

    activation_relu_or_gelu: int

    if not TYPE_CHECKING:  # to whom the base class says what it takes

        @functools.wraps(_Layer.__init__)
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            known = self.activation
            self.activation_relu_or_gelu = 0
            if known is F.relu or isinstance(known, ReLU):
                self.activation_relu_or_gelu = 1
            elif known is F.gelu or isinstance(known, GELU):
                self.activation_relu_or_gelu = 2

    def forward(
        self,
        src: Tensor,
        src_mask: Mask = None,
        src_key_padding_mask: Mask = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Sequences to sequences of the same shape; masks as in `MultiheadAttention`."""
        padding = F._canonical_mask(
            src_key_padding_mask,
            "src_key_padding_mask",
            F._none_or_dtype(src_mask),
            "src_mask",
            src.dtype,
        )
        mask = F._canonical_mask(src_mask, "src_mask", None, "", src.dtype)
        return self._in_order(
            src, lambda x: self._sa_block(x, mask, padding, is_causal), self._ff_block
        )


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to a memory and a feed-forward part.

    Args:
        d_model: features.
        nhead: heads.
        dim_feedforward: features in the middle of the feed-forward part.
        dropout: probability of every dropout.
        activation: of the feed-forward part, "relu", "gelu" or a function.
        layer_norm_eps: of every `LayerNorm`.
        batch_first: whether batches are (batch, length, features).
        norm_first: whether each part is normalised before, not after.
        bias: whether there are biases.
        device: of the parameters.
        dtype: of the parameters.

    Raises:
        AssertionError: if ``nhead`` does not divide ``d_model``.
        RuntimeError: for another name of an activation.

    Example:
        >>> layer = torch.nn.TransformerDecoderLayer(8, nhead=2, batch_first=True)
        >>> layer(torch.ones(2, 3, 8), torch.ones(2, 5, 8)).shape
        torch.Size([2, 3, 8])
    """

    _attentions = ("self_attn", "multihead_attn")
    multihead_attn: MultiheadAttention
    norm3: LayerNorm
    dropout3: Dropout

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Mask = None,
        memory_mask: Mask = None,
        tgt_key_padding_mask: Mask = None,
        memory_key_padding_mask: Mask = None,
        tgt_is_causal: bool = False,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Sequences and what they look at to sequences of the same shape."""
        return self._in_order(
            tgt,
            lambda x: self._sa_block(x, tgt_mask, tgt_key_padding_mask, tgt_is_causal),
            lambda x: self._mha_block(
                x, memory, memory_mask, memory_key_padding_mask, memory_is_causal
            ),
            self._ff_block,
        )

    def _mha_block(
        self,
        x: Tensor,
        mem: Tensor,
        attn_mask: Mask,
        key_padding_mask: Mask,
        is_causal: bool = False,
    ) -> Tensor:
        made, _ = self.multihead_attn(
            x,
            mem,
            mem,
            attn_mask=attn_mask,
            key_padding_mask=key_padding_mask,
            is_causal=is_causal,
            need_weights=False,
        )
        dropped: Tensor = self.dropout2(made)
        return dropped
