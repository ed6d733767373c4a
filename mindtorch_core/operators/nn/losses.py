"""Losses: negative log likelihood, cross entropy, squared error."""

from __future__ import annotations

from typing import Any, NoReturn

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op, public
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING, int64, uint8
from ...values.own_frames import reword
from ...values.shapes import show
from ..elementwise.composed import by_name
from .reducing import MEAN, NONE, SUM, check_real, reduction_of


def _check_batch(input: Tensor, target: Tensor) -> None:
    given = target._shape[0] if target._shape else 0
    if len(input._shape) > 1 and given != input._shape[0]:
        raise ValueError(
            f"Expected input batch_size ({input._shape[0]}) to match target batch_size ({given})."
        )


def _check_nll(input: Tensor, target: Tensor, weight: Tensor | None) -> None:
    """Refuse shapes and dtypes that do not fit together."""
    if len(input._shape) == len(target._shape) == 1:
        raise ValueError(
            f"For 1D input, 1D target must have size 1, but got target size: {target._shape[0]}"
        )
    _check_batch(input, target)
    if len(input._shape) == 0 or len(target._shape) > max(len(input._shape) - 1, 0):
        raise RuntimeError(
            f"0D or 1D target tensor expected, multi-target not supported (input {show(input._shape)}, "
            f"target {show(target._shape)})"
        )
    at = 0 if len(input._shape) == 1 else 1
    rest = input._shape[:at] + input._shape[at + 1 :]
    if rest != target._shape:
        raise RuntimeError(f"Expected target size {show(rest)}, got {show(target._shape)}")
    if weight is not None and weight._shape != (input._shape[at],):
        raise RuntimeError(
            f"weight tensor should be defined either for all {input._shape[at]} classes or no classes "
            f"but got weight tensor of shape: {show(weight._shape)}"
        )
    if target._dtype not in (int64, uint8):
        raise RuntimeError(
            f"expected target dtype to be Long or Byte, but got {target._dtype.label}"
        )
    check_real(input._dtype, "nll_loss_out_frame")
    if weight is not None and weight._dtype is not input._dtype:
        raise RuntimeError(
            f"expected scalar type {input._dtype.label} but found {weight._dtype.label}"
        )


def _nll_rule(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[TensorSpec, TensorSpec]:
    _check_nll(input, target, weight)
    shape = () if reduction else target._shape
    return TensorSpec(shape, input._dtype), TensorSpec((), input._dtype)


def _nll_parts(
    input: Tensor, target: Tensor, weight: Tensor | None, ignore_index: int
) -> tuple[Tensor, Tensor]:
    """Losses per element and the weights they count with."""
    _check_nll(input, target, weight)
    at = 0 if len(input._shape) == 1 else 1
    kept: Any = target != ignore_index
    safe = fn.where(kept, target, 0).to(int64)
    picked = input.gather(at, safe.unsqueeze(at)).squeeze(at)
    if weight is None:
        weights = kept.to(input._dtype)
    else:
        weights = weight.index_select(0, safe.reshape(-1)).view(safe._shape) * kept
    # What is ignored may be NaN or infinite.
    return fn.where(kept, -picked * weights, 0), weights


def _nll_forward(
    input: Tensor, target: Tensor, weight: Tensor | None, reduction: int, ignore_index: int
) -> tuple[Tensor, Tensor]:
    losses, weights = _nll_parts(input, target, weight, ignore_index)
    total = weights.sum()
    if reduction == NONE:
        return losses, total
    return (losses.sum() if reduction == SUM else losses.sum() / total), total


def _nll_backward(
    grad: Tensor,
    input: Tensor,
    target: Tensor,
    weight: Tensor | None,
    reduction: int,
    ignore_index: int,
    total: Tensor,
) -> Tensor:
    at = 0 if len(input._shape) == 1 else 1
    _, weights = _nll_parts(fn.zeros_like(input.detach()), target, weight, ignore_index)
    share = -weights * (grad / total if reduction == MEAN else grad)
    share = fn.where(weights == 0, 0.0, share)  # also where nothing counts and total is 0
    safe = fn.where(target != ignore_index, target, 0).to(int64)
    return fn.zeros_like(input).scatter(at, safe.unsqueeze(at), share.unsqueeze(at))


def _nll_backward_rule(
    grad: Tensor, input: Tensor, target: Tensor, weight: Tensor | None, *_: Any
) -> TensorSpec:
    _check_nll(input, target, weight)
    return TensorSpec(input._shape, input._dtype)


_NLL = "Tensor? weight, int reduction, SymInt ignore_index"
op(
    f"nll_loss_forward(Tensor self, Tensor target, {_NLL}) -> (Tensor output, Tensor total_weight)",
    doc="`nll_loss`, and the sum of the weights it counted.",
    rule=_nll_rule,
    grad={
        "self": lambda g, self, target, weight, reduction, ignore_index, result1: by_name(
            "nll_loss_backward"
        )(g, self, target, weight, reduction, ignore_index, result1)
    },
    output_differentiability=(True, False),
    decomposition=_nll_forward,
    namespaces=(),
)
op(
    f"nll_loss_backward(Tensor grad_output, Tensor self, Tensor target, {_NLL}, "
    "Tensor total_weight) -> Tensor",
    doc="Gradient of `nll_loss_forward` for its input.",
    rule=_nll_backward_rule,
    grad={
        # The loss is linear in its input, so the gradient of the gradient is the loss again.
        "grad_output": lambda g, target, weight, reduction, ignore_index: by_name(
            "nll_loss_forward"
        )(g, target, weight, reduction, ignore_index)[0]
    },
    decomposition=_nll_backward,
    namespaces=(),
)


def _nll(
    self: Tensor,
    target: Tensor,
    weight: Any = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
) -> Tensor:
    target = _own_target(self, target)
    found: Tensor = by_name("nll_loss_forward")(self, target, weight, reduction, ignore_index)[0]
    return found


def _own_target(input: Tensor, target: Tensor) -> Tensor:
    """The target of a single sample, also if it was given as a list of one."""
    alone = len(input._shape) == 1 and target._shape == (1,)
    return target.reshape(()) if alone else target


op(
    "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
    "SymInt ignore_index=-100) -> Tensor",
    doc="Negative log likelihood: ``-input[target]`` over classes in dimension 1.",
    decomposition=_nll,
    namespaces=(),
)


def _cross_entropy(
    self: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    reduction: int = MEAN,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Tensor:
    at = 0 if len(self._shape) == 1 else 1
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    logs: Any = fn.log_softmax(self, at)
    if target._shape == self._shape and target._dtype.category != FLOATING:
        raise RuntimeError(
            f"Expected floating point type for target with class probabilities, got "
            f"{target._dtype.label}"
        )
    if target._dtype.category >= FLOATING:
        if target._shape != self._shape:
            _refuse_shape(self, target, weight)
        if ignore_index >= 0:
            raise RuntimeError("ignore_index is not supported for floating point target")
        return _soft_cross_entropy(logs, target, weight, reduction, label_smoothing, at)
    target = _own_target(self, target)
    loss = by_name("nll_loss")(logs, target, weight, reduction, ignore_index)
    if not label_smoothing:
        return loss  # type: ignore[no-any-return]
    return _smoothed(logs, target, weight, reduction, ignore_index, label_smoothing, loss)


def _refuse_shape(input: Tensor, target: Tensor, weight: Tensor | None) -> NoReturn:
    """Refuse a target of floats that are no probabilities of classes, for their shape."""
    try:
        _check_nll(input, target, weight)
    except RuntimeError as error:
        reword(
            error,
            f"{error}. Targets are the numbers of classes, of dtype torch.int64, or probabilities of the "
            f"input's shape {show(input._shape)}",
        )
        raise
    raise AssertionError("floats are no numbers of classes")


def _smoothed(
    logs: Any,
    target: Any,
    weight: Any,
    reduction: int,
    ignore_index: int,
    smoothing: float,
    loss: Any,
) -> Tensor:
    """A loss mixed with that of the uniform distribution (Szegedy et al., 2016)."""
    at = 0 if len(logs._shape) == 1 else 1
    kept = target != ignore_index
    uniform = -fn.where(kept.unsqueeze(at), _by_class(logs, weight, at), 0).sum(at)
    if reduction:
        uniform = uniform.sum()
    if reduction == MEAN:
        _, weights = _nll_parts(fn.zeros_like(logs), target, weight, ignore_index)
        uniform = uniform / weights.sum()
    mixed: Tensor = loss * (1 - smoothing) + uniform * (smoothing / logs._shape[at])
    return mixed


def _by_class(logs: Any, weight: Any, at: int) -> Any:
    """Values times the weights of their classes."""
    if weight is None:
        return logs
    return logs * weight.view([-1 if d == at else 1 for d in range(len(logs._shape))])


def _soft_cross_entropy(
    logs: Any, target: Any, weight: Any, reduction: int, smoothing: float, at: int
) -> Tensor:
    """Cross entropy against class probabilities."""
    if smoothing:
        target = target * (1 - smoothing) + smoothing / logs._shape[at]
    losses = -(_by_class(logs, weight, at) * target).sum(at)
    if reduction == MEAN:
        return losses.sum() / max(losses.numel(), 1)  # type: ignore[no-any-return]
    return losses.sum() if reduction else losses  # type: ignore[no-any-return]


op(
    "cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, "
    "SymInt ignore_index=-100, float label_smoothing=0.0) -> Tensor",
    doc="`nll_loss` of `log_softmax`: logits (N, C, ...) against class indices or probabilities.",
    decomposition=_cross_entropy,
    namespaces=(),
)

# ---- as users call them -------------------------------------------------------------------------


@public("nn")
def nll_loss(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log likelihood: ``-input[target]`` over classes.

    Args:
        input: log-probabilities, (N, C, *) or (C).
        target: class indices, (N, *) or ().
        weight: of each class, (C).
        size_average: deprecated.
        reduce: deprecated.
        ignore_index: a target that does not count.
        reduction: ``none``, ``mean`` (by weight) or ``sum``.

    Returns:
        A tensor without dimensions; with ``none`` one of the target's shape.

    Raises:
        IndexError: if a target is no class.
        ValueError: for an unknown reduction, or if sizes do not fit.

    Example:
        >>> logs = torch.tensor([[0.2, 0.8], [0.5, 0.5]]).log()
        >>> torch.nn.functional.nll_loss(logs, torch.tensor([1, 0]), reduction="none")
        tensor([0.2231, 0.6931])
    """
    code = reduction_of(reduction, size_average, reduce)
    return by_name("nll_loss")(input, target, weight, code, ignore_index)  # type: ignore[no-any-return]


@public("nn")
def cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    ignore_index: int = -100,
    reduce: bool | None = None,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Tensor:
    """`nll_loss` of `log_softmax`.

    Args:
        input: logits, (N, C, *) or (C).
        target: class indices, (N, *) or (), or probabilities of the input's shape.
        weight: of each class, (C).
        size_average: deprecated.
        reduce: deprecated.
        ignore_index: a class index that does not count.
        reduction: ``none``, ``mean`` (by weight) or ``sum``.
        label_smoothing: how much of the uniform distribution is mixed into the target.

    Raises:
        ValueError: for an unknown reduction.
        RuntimeError: if shapes or dtypes do not fit.
        IndexError: if a target is no class.

    Example:
        >>> logits = torch.tensor([[0.0, 0.0], [9.0, 9.0]])
        >>> torch.nn.functional.cross_entropy(logits, torch.tensor([0, 1]))
        tensor(0.6931)
    """
    code = reduction_of(reduction, size_average, reduce)
    return by_name("cross_entropy_loss")(  # type: ignore[no-any-return]
        input, target, weight, code, ignore_index, label_smoothing
    )
