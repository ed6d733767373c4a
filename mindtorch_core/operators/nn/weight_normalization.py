"""Weights as a length and a direction (Salimans and Kingma, 2016)."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...opdefs.define import op
from ...values.shapes import wrap_dim


def _norm_except_dim(v: Any, pow: int = 2, dim: int = 0) -> Any:
    if dim == -1:
        return fn.norm(v, pow)
    kept = wrap_dim(dim, len(v._shape))
    others = [d for d in range(len(v._shape)) if d != kept]
    if not others:
        return fn.norm(v.unsqueeze(-1), pow, [1])
    return fn.norm(v, pow, others, True)


op(
    "norm_except_dim(Tensor v, int pow=2, int dim=0) -> Tensor",
    doc="The norm over all dimensions but one, which stay with size 1; over all of them for -1.",
    decomposition=_norm_except_dim,
    namespaces=("torch",),
)
op(
    "_weight_norm(Tensor v, Tensor g, int dim=0) -> Tensor",
    doc="``v`` scaled to norms ``g`` over all dimensions but one.",
    decomposition=lambda v, g, dim=0: v * (g / _norm_except_dim(v, 2, dim)),
    namespaces=("torch",),
)
