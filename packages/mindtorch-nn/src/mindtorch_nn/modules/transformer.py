"""Transformers (Vaswani et al., 2017)."""

from __future__ import annotations

import copy
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F
from mindtorch_core.utils._own_frames import warn_user

from .. import init
from .container import ModuleList
from .module import Module
from .normalization import LayerNorm
from .transformer_layers import (
    Activation,
    Mask,
    TransformerDecoderLayer,
    TransformerEncoderLayer,
)
from .transformer_layers import _get_activation_fn as _get_activation_fn

__all__ = [
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
    "TransformerEncoder",
    "TransformerEncoderLayer",
]


def _generate_square_subsequent_mask(
    sz: int, device: Any = None, dtype: torch.dtype | None = None
) -> Tensor:
    return torch.triu(torch.full((sz, sz), float("-inf"), dtype=dtype, device=device), diagonal=1)


def _get_seq_len(src: Tensor, batch_first: bool) -> int:
    return src.shape[0] if src.dim() == 2 else src.shape[1 if batch_first else 0]


def _get_clones(module: Module, n: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(n)])


def _detect_is_causal_mask(mask: Mask, is_causal: bool | None, size: int) -> bool:
    """Whether a mask is the causal one, unless the caller says it."""
    if is_causal is not None or mask is None or mask.is_meta:
        return is_causal is True
    causal = _generate_square_subsequent_mask(size, device=mask.device, dtype=mask.dtype)
    return mask.size() == causal.size() and bool((mask == causal).all())


class Transformer(Module):
    """An encoder and a decoder.

    Args:
        d_model: features.
        nhead: heads of each attention.
        num_encoder_layers: layers of the encoder.
        num_decoder_layers: layers of the decoder.
        dim_feedforward: features in the middle of each layer's feed-forward part.
        dropout: probability of every dropout.
        activation: of the feed-forward parts, "relu", "gelu" or a function.
        custom_encoder: an encoder to use instead.
        custom_decoder: a decoder to use instead.
        layer_norm_eps: of every `LayerNorm`.
        batch_first: whether batches are (batch, length, features).
        norm_first: whether layers normalise before each part, not after.
        bias: whether there are biases.
        device: of the parameters.
        dtype: of the parameters.

    Raises:
        RuntimeError: in the call, if source and target differ in their batch or do not have ``d_model``
            features.
        AssertionError: if ``nhead`` does not divide ``d_model``.

    Example:
        >>> model = torch.nn.Transformer(8, 2, num_encoder_layers=1, num_decoder_layers=1, batch_first=True)
        >>> model(torch.ones(2, 5, 8), torch.ones(2, 3, 8)).shape
        torch.Size([2, 3, 8])
    """

    def __init__(
        self,
        d_model: int = 512,
        nhead: int = 8,
        num_encoder_layers: int = 6,
        num_decoder_layers: int = 6,
        dim_feedforward: int = 2048,
        dropout: float = 0.1,
        activation: Activation = "relu",
        custom_encoder: Any = None,
        custom_decoder: Any = None,
        layer_norm_eps: float = 1e-5,
        batch_first: bool = False,
        norm_first: bool = False,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        layer = (
            d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first,
            norm_first, bias, device, dtype,
        )  # fmt: skip
        if custom_encoder is None:
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)
            custom_encoder = TransformerEncoder(
                TransformerEncoderLayer(*layer), num_encoder_layers, norm
            )
        if custom_decoder is None:
            norm = LayerNorm(d_model, layer_norm_eps, bias=bias, device=device, dtype=dtype)
            custom_decoder = TransformerDecoder(
                TransformerDecoderLayer(*layer), num_decoder_layers, norm
            )
        self.encoder = custom_encoder
        self.decoder = custom_decoder
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self,
        src: Tensor,
        tgt: Tensor,
        src_mask: Mask = None,
        tgt_mask: Mask = None,
        memory_mask: Mask = None,
        src_key_padding_mask: Mask = None,
        tgt_key_padding_mask: Mask = None,
        memory_key_padding_mask: Mask = None,
        src_is_causal: bool | None = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """What the decoder makes of ``tgt`` and of what the encoder makes of ``src``.

        Raises:
            RuntimeError: if shapes do not fit together.
        """
        batch = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(batch) != tgt.size(batch):
            raise RuntimeError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise RuntimeError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(
            src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal
        )
        made: Tensor = self.decoder(
            tgt,
            memory,
            tgt_mask=tgt_mask,
            memory_mask=memory_mask,
            tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask,
            tgt_is_causal=tgt_is_causal,
            memory_is_causal=memory_is_causal,
        )
        return made

    @staticmethod
    def generate_square_subsequent_mask(
        sz: int, device: Any = None, dtype: torch.dtype | None = None
    ) -> Tensor:
        """The causal mask: 0 up to the diagonal, -inf above it."""
        return _generate_square_subsequent_mask(sz, device, dtype)

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)


class TransformerEncoder(Module):
    """Layers one after another, each a copy of the given one.

    Where PyTorch takes its fast path for batches with padding, results at padded places are zeros
    (before the last normalisation); so they are here.

    Args:
        encoder_layer: the layer.
        num_layers: how many there are.
        norm: what is applied at the end.
        enable_nested_tensor: whether padded places may be left out in inference.
        mask_check: whether that is done only if padding stands at the end of each sequence.

    Example:
        >>> layer = torch.nn.TransformerEncoderLayer(8, nhead=2, batch_first=True)
        >>> model = torch.nn.TransformerEncoder(layer, num_layers=2)
        >>> model(torch.ones(2, 5, 8)).shape
        torch.Size([2, 5, 8])
    """

    def __init__(
        self,
        encoder_layer: Any,
        num_layers: int,
        norm: Module | None = None,
        enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:
        super().__init__()
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        why_not = _why_not_nested(encoder_layer)
        if enable_nested_tensor and why_not:
            warn_user(
                f"enable_nested_tensor is True, but self.use_nested_tensor is False because {why_not}"
            )
        self.use_nested_tensor = enable_nested_tensor and not why_not

    def forward(
        self,
        src: Tensor,
        mask: Mask = None,
        src_key_padding_mask: Mask = None,
        is_causal: bool | None = None,
    ) -> Tensor:
        """Sequences to sequences of the same shape; masks as in `MultiheadAttention`."""
        padding = F._canonical_mask(
            src_key_padding_mask, "src_key_padding_mask", F._none_or_dtype(mask), "mask", src.dtype
        )
        mask = F._canonical_mask(mask, "mask", None, "", src.dtype)
        first = self.layers[0]
        length = _get_seq_len(src, first.self_attn.batch_first)
        is_causal = _detect_is_causal_mask(mask, is_causal, length)
        made = src
        for layer in self.layers:
            made = layer(made, src_mask=mask, is_causal=is_causal, src_key_padding_mask=padding)
        if padding is not None and self._leaves_padding_out(src, mask, padding):
            made = made.masked_fill((padding != 0).unsqueeze(-1), 0.0)
        return made if self.norm is None else self.norm(made)

    def _leaves_padding_out(self, src: Tensor, mask: Mask, padding: Tensor) -> bool:
        """Whether PyTorch would."""
        first = self.layers[0]
        if not self.use_nested_tensor or first.training or src.dim() != 3 or mask is not None:
            return False
        if src.is_meta or torch.is_autocast_enabled():
            return False
        if torch.is_grad_enabled() and (
            src.requires_grad or any(p.requires_grad for p in first.parameters())
        ):
            return False
        seen = padding == 0
        at_the_end = not bool((seen[:, 1:] & ~seen[:, :-1]).any())
        return at_the_end or not self.mask_check


def _why_not_nested(layer: Any) -> str:
    """Why padded places are never left out by such a layer; empty if they may be."""
    name = "encoder_layer"
    if not isinstance(layer, TransformerEncoderLayer):
        return f"{name} was not TransformerEncoderLayer"
    reasons = {
        f"{name}.norm_first was True": layer.norm_first,
        f"{name}.self_attn.batch_first was not True(use batch_first for better inference performance)": (
            not layer.self_attn.batch_first
        ),
        f"{name}.self_attn._qkv_same_embed_dim was not True": (
            not layer.self_attn._qkv_same_embed_dim
        ),
        f"{name}.self_attn was passed bias=False": layer.self_attn.in_proj_bias is None,
        f"{name}.activation_relu_or_gelu was not True": not layer.activation_relu_or_gelu,
        f"{name}.norm1.eps was not equal to {name}.norm2.eps": layer.norm1.eps != layer.norm2.eps,
        f"{name}.self_attn.num_heads is odd": layer.self_attn.num_heads % 2 == 1,
    }
    return next((reason for reason, holds in reasons.items() if holds), "")


class TransformerDecoder(Module):
    """Layers one after another, each a copy of the given one.

    Args:
        decoder_layer: the layer.
        num_layers: how many there are.
        norm: what is applied at the end.

    Example:
        >>> layer = torch.nn.TransformerDecoderLayer(8, nhead=2, batch_first=True)
        >>> model = torch.nn.TransformerDecoder(layer, num_layers=2)
        >>> memory = torch.ones(2, 5, 8)
        >>> model(torch.ones(2, 3, 8), memory).shape
        torch.Size([2, 3, 8])
    """

    def __init__(self, decoder_layer: Module, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self,
        tgt: Tensor,
        memory: Tensor,
        tgt_mask: Mask = None,
        memory_mask: Mask = None,
        tgt_key_padding_mask: Mask = None,
        memory_key_padding_mask: Mask = None,
        tgt_is_causal: bool | None = None,
        memory_is_causal: bool = False,
    ) -> Tensor:
        """Sequences and what they look at to sequences of the same shape."""
        length = _get_seq_len(tgt, self.layers[0].self_attn.batch_first)
        tgt_is_causal = _detect_is_causal_mask(tgt_mask, tgt_is_causal, length)
        made = tgt
        for layer in self.layers:
            made = layer(
                made,
                memory,
                tgt_mask=tgt_mask,
                memory_mask=memory_mask,
                tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask,
                tgt_is_causal=tgt_is_causal,
                memory_is_causal=memory_is_causal,
            )
        return made if self.norm is None else self.norm(made)
