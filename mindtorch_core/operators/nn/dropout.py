"""Dropout: ops that put zeros, or the value of a saturated unit, in random places."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from ...dispatch.functions import fn
from ...opdefs.define import op
from ...opdefs.rules import like
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX, FLOATING, bool_, dtype
from ..creation.factory import fresh
from ..elementwise.composed import has_kernel

Noise = Callable[[Tensor, float], Tensor]

# What a saturated unit of a self-normalising network puts out, negated (Klambauer et al., 2017).
_ALPHA = 1.7580993408473766


def _of_parts(input: Tensor) -> dtype:
    """The dtype of ones and zeros that an input is multiplied by: real also for complex numbers."""
    d = input._dtype
    return d.to_real() if d.category == COMPLEX else d


def _each(input: Tensor, keep: float) -> Tensor:
    """Ones with probability ``keep``, for each element."""
    return fn.empty_like(input, dtype=_of_parts(input)).bernoulli_p_(keep)


def _each_feature(input: Tensor, keep: float) -> Tensor:
    """Ones with probability ``keep``, for each channel of each sample.

    Raises:
        RuntimeError: if there are no channels.
    """
    shape = input._shape
    if len(shape) < 2:
        raise RuntimeError("Feature dropout requires at least 2 dimensions in the input")
    size = (*shape[:2], *(1,) * (len(shape) - 2))
    return fn.empty(size, dtype=_of_parts(input), device=input._device).bernoulli_p_(keep)


def _dropped(input: Tensor, p: float, train: bool, noise: Noise, *, inplace: bool) -> Tensor:
    """Zeros with probability ``p``, the rest scaled so that the mean stays."""
    if _unchanged(input, p, train):
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * input.new_zeros(())
    if not inplace and noise is _each and has_kernel("native_dropout", input):
        return fn.native_dropout(input, p, True)[0]
    kept = noise(input.detach(), 1 - p).div_(1 - p)
    return input.mul_(kept) if inplace else input * kept


def _saturated(input: Tensor, p: float, train: bool, noise: Noise, *, inplace: bool) -> Tensor:
    """The saturated value with probability ``p``; the rest is moved and scaled.

    Mean 0 and variance 1 stay what they are.
    """
    if _unchanged(input, p, train):
        return input
    if p == 1:
        return input.mul_(0) if inplace else input * input.new_zeros(())
    scale = 1 / math.sqrt((_ALPHA * _ALPHA * p + 1) * (1 - p))
    kept = noise(input.detach(), 1 - p)
    moved = (kept - 1).mul_(_ALPHA * scale).add_(_ALPHA * scale * p)
    kept.mul_(scale)
    return input.mul_(kept).add_(moved) if inplace else input * kept + moved


def _unchanged(input: Tensor, p: float, train: bool) -> bool:
    """Whether dropout gives back its input.

    Raises:
        RuntimeError: if ``p`` is no probability.
    """
    if not 0 <= p <= 1:
        raise RuntimeError(f"dropout probability has to be between 0 and 1, but got {p}")
    return p == 0 or not train or not input.numel()


def _family(
    name: str,
    doc: str,
    drop: Callable[..., Tensor],
    noise: Noise,
    trains_through: Sequence[str] = (),
) -> None:
    op(
        f"{name}(Tensor input, float p, bool train) -> Tensor",
        doc=doc,
        decomposition=lambda input, p, train: drop(input, p, train, noise, inplace=False),
        random=True,
        trains_through=trains_through,
        namespaces=("torch",),
    )
    op(
        f"{name}_(Tensor(a!) self, float p, bool train) -> Tensor(a!)",
        doc=f"In-place version of `{name}`.",
        decomposition=lambda self, p, train: drop(self, p, train, noise, inplace=True),
        random=True,
        puts=True,  # or nothing at all: the ops that write look at what they write themselves
        namespaces=("torch",),
    )


_family(
    "dropout",
    "Zeros with probability ``p``, the rest scaled by ``1 / (1 - p)`` (Srivastava et al., 2014).",
    _dropped,
    _each,
    ("native_dropout", "native_dropout_backward"),
)
_family(
    "feature_dropout",
    "Whole channels zero with probability ``p`` (Tompson et al., 2015).",
    _dropped,
    _each_feature,
)
_family(
    "alpha_dropout",
    "Dropout that keeps mean 0 and variance 1 (Klambauer et al., 2017).",
    _saturated,
    _each,
)
_family(
    "feature_alpha_dropout",
    "`alpha_dropout` of whole channels.",
    _saturated,
    _each_feature,
)


def _native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]:
    if not input.numel():
        return input, fn.empty_like(input)
    if train is False:
        return input.clone(), fn.ones_like(input, dtype=bool_)
    mask = fn.empty_like(input, dtype=bool_).bernoulli_p_(1 - p)
    scale: Any = 0.0 if p == 1 else 1 / (1 - p)
    if input._dtype.category == FLOATING:  # rounded to the input's dtype first
        scale = fn.full((), scale, dtype=input._dtype, device=input._device)
    return fresh(input.mul(mask).mul_(scale)), mask


def _native_dropout_grad(g: Any, p: float, train: Any, result1: Any) -> Any:
    scale = 1.0 if train is False else 0.0 if p == 1 else 1 / (1 - p)
    return fn.native_dropout_backward(g, result1, scale)


op(
    "native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)",
    doc="`dropout`, and which elements were kept.",
    rule=lambda input, p, train: (like(input), like(input, bool_ if input.numel() else None)),
    grad={"input": _native_dropout_grad},
    output_differentiability=(True, False),
    decomposition=_native_dropout,
    random=True,
    namespaces=("torch",),
)


def _native_dropout_backward(grad_output: Tensor, mask: Tensor, scale: float) -> Any:
    return grad_output * (mask.to(grad_output._dtype) * scale)


op(
    "native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor",
    doc="Gradient of `native_dropout` for its input.",
    decomposition=_native_dropout_backward,
    namespaces=("torch",),
    tags=frozenset({"pointwise"}),
)
