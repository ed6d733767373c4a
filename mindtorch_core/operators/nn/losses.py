"""Losses: negative log likelihood, cross entropy, squared error."""

from __future__ import annotations

from typing import Any

from ...dtypes import FLOATING, int64
from ...shapes import show
from ...tensor import Tensor
from ..define import TensorSpec, fn, op

_REDUCTIONS = ("none", "mean", "sum")


def _reduction(name: str) -> int:
    if name not in _REDUCTIONS:
        raise ValueError(f"{name} is not a valid value for reduction")
    return _REDUCTIONS.index(name)


def _check_nll(input: Tensor, target: Tensor, weight: Tensor | None) -> None:
    """Refuse shapes and dtypes that do not fit together."""
    if len(input._shape) == 0 or len(target._shape) > max(len(input._shape) - 1, 0):
        raise RuntimeError(
            f"0D or 1D target tensor expected, multi-target not supported (input {show(input._shape)}, "
            f"target {show(target._shape)})"
        )
    if target._dtype is not int64:
        raise RuntimeError(f"expected scalar type Long but found {target._dtype.label}")
    at = 0 if len(input._shape) == 1 else 1
    rest = input._shape[:at] + input._shape[at + 1 :]
    if rest != target._shape:
        if len(input._shape) > 2:
            raise RuntimeError(f"Expected target size {show(rest)}, got {show(target._shape)}")
        raise ValueError(
            f"Expected input batch_size ({input._shape[0]}) to match target batch_size "
            f"({target._shape[0] if target._shape else 1})."
        )
    if weight is not None and weight._shape != (input._shape[at],):
        raise RuntimeError(
            f"weight tensor should be defined either for all {input._shape[at]} classes or no classes "
            f"but got weight tensor of shape: {show(weight._shape)}"
        )


def _nll_rule(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int
) -> tuple[TensorSpec, TensorSpec]:
    kind = _reduction(reduction)
    _check_nll(input, target, weight)
    shape = () if kind else target._shape
    return TensorSpec(shape, input._dtype), TensorSpec((), input._dtype)


def _nll_parts(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """Losses per element and the weights they count with."""
    _check_nll(input, target, weight)
    at = 0 if len(input._shape) == 1 else 1
    kept: Any = target != ignore_index
    safe = fn.where(kept, target, 0)
    picked = input.gather(at, safe.unsqueeze(at)).squeeze(at)
    if weight is None:
        weights = kept.to(input._dtype)
    else:
        weights = weight.index_select(0, safe.reshape(-1)).view(safe._shape) * kept
    return -picked * weights, weights


def _nll_forward(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: str, ignore_index: int
) -> tuple[Tensor, Tensor]:
    kind = _reduction(reduction)
    losses, weights = _nll_parts(input, target, weight, ignore_index)
    total = weights.sum()
    if kind == 0:
        return losses, total
    return (losses.sum() if kind == 2 else losses.sum() / total), total


def _nll_backward(
    grad: Tensor,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: str,
    ignore_index: int,
    total: Tensor,
) -> Tensor:
    at = 0 if len(input._shape) == 1 else 1
    _, weights = _nll_parts(fn.zeros_like(input.detach()), target, weight, ignore_index)
    share = -weights * (grad / total if reduction == "mean" else grad)
    share = fn.where(weights == 0, 0.0, share)  # also where nothing counts and total is 0
    safe = fn.where(target != ignore_index, target, 0)
    return fn.zeros_like(input).scatter(at, safe.unsqueeze(at), share.unsqueeze(at))


_NLL = "Tensor? weight, str reduction, int ignore_index"
op(
    f"nll_loss_forward(Tensor input, Tensor target, {_NLL}) -> (Tensor output, Tensor total_weight)",
    doc="`nll_loss`, and the sum of the weights it counted.",
    rule=_nll_rule,
    grad={
        "input": lambda g, input, target, weight, reduction, ignore_index, result1: (
            fn.nll_loss_backward(g, input, target, weight, reduction, ignore_index, result1)
        )
    },
    decomposition=_nll_forward,
    namespaces=("torch",),
)
op(
    f"nll_loss_backward(Tensor grad, Tensor input, Tensor target, {_NLL}, Tensor total) -> Tensor",
    doc="Gradient of `nll_loss_forward` for its input.",
    rule=lambda grad, input, *_: TensorSpec(input._shape, input._dtype),
    grad={
        # The loss is linear in its input, so the gradient of the gradient is the loss again.
        "grad": lambda g, target, weight, reduction, ignore_index: fn.nll_loss_forward(
            g, target, weight, reduction, ignore_index
        )[0]
    },
    decomposition=_nll_backward,
    namespaces=("torch",),
)


def _nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
) -> Tensor:
    return fn.nll_loss_forward(input, target, weight, reduction, ignore_index)[0]


op(
    "nll_loss(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, "
    "str reduction='mean') -> Tensor",
    doc="Negative log likelihood: ``-input[target]`` over classes in dimension 1.",
    decomposition=_nll_loss,
    namespaces=("nn",),
)


def _cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    kind = _reduction(reduction)
    at = 0 if len(input._shape) == 1 else 1
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    logs: Any = fn.log_softmax(input, at)
    if target._dtype.category >= FLOATING:
        return _soft_cross_entropy(logs, target, weight, kind, label_smoothing, at)
    loss = _nll_loss(logs, target, weight, ignore_index, reduction)
    if not label_smoothing:
        return loss
    classes = input._shape[at]
    kept = (target != ignore_index).to(input._dtype)
    if weight is not None:
        shape = [1] * len(input._shape)
        shape[at] = classes
        logs = logs * weight.view(shape)
    smooth: Any = -logs.sum(at) * kept
    if kind == 2:
        smooth = smooth.sum()
    elif kind == 1:
        _, weights = _nll_parts(fn.zeros_like(input), target, weight, ignore_index)
        smooth = smooth.sum() / weights.sum()
    smoothed: Tensor = loss * (1 - label_smoothing) + smooth * (label_smoothing / classes)
    return smoothed


def _soft_cross_entropy(
    logs: Any, target: Tensor, weight: Tensor | None, kind: int, smoothing: float, at: int
) -> Tensor:
    """Cross entropy against class probabilities."""
    if target._shape != logs._shape:
        raise RuntimeError(
            f"input and target must have the same shape for class probabilities, got "
            f"{show(logs._shape)} and {show(target._shape)}"
        )
    classes = logs._shape[at]
    if smoothing:
        target = target * (1 - smoothing) + smoothing / classes
    terms = logs * target
    if weight is not None:
        shape = [1] * len(logs._shape)
        shape[at] = classes
        terms = terms * weight.view(shape)
    losses = -terms.sum(at)
    if kind == 0:
        return losses  # type: ignore[no-any-return]
    total = losses.sum()
    batch = losses.numel() if losses._shape else 1
    return total if kind == 2 else total / batch  # type: ignore[no-any-return]


op(
    "cross_entropy(Tensor input, Tensor target, Tensor? weight=None, int ignore_index=-100, "
    "str reduction='mean', float label_smoothing=0.0) -> Tensor",
    doc="`nll_loss` of `log_softmax`: logits (N, C, ...) against class indices or probabilities.",
    decomposition=_cross_entropy,
    namespaces=("nn",),
)


def _mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    kind = _reduction(reduction)
    squares: Any = (input - target) ** 2
    return squares if kind == 0 else squares.mean() if kind == 1 else squares.sum()  # type: ignore[no-any-return]


op(
    "mse_loss(Tensor input, Tensor target, str reduction='mean') -> Tensor",
    doc="Squared differences, their mean or sum.",
    decomposition=_mse_loss,
    namespaces=("nn",),
)
