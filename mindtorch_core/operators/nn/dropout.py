"""Dropout."""

from __future__ import annotations

from ...tensor import Tensor
from ..define import fn, op


def _dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    if not 0.0 <= p <= 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
    if not training or p == 0.0:
        return input
    if p == 1.0:
        return input.mul_(0) if inplace else input * 0
    mask = fn.empty_like(input.detach()).bernoulli_p_(1 - p) / (1 - p)
    return input.mul_(mask) if inplace else input * mask


op(
    "dropout(Tensor input, float p=0.5, bool training=True, bool inplace=False) -> Tensor",
    doc="Zeros with probability ``p``, the rest scaled by ``1 / (1 - p)`` (Srivastava et al., 2014).",
    decomposition=_dropout,
    random=True,
    namespaces=("nn",),
)
