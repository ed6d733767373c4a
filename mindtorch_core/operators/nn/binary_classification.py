"""Losses of two classes: binary cross entropy of probabilities and of logits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from ...dispatch.functions import fn, fn_nn
from ...dispatch.opdef import TensorSpec
from ...gradients.conform import sum_to
from ...opdefs.define import op, public
from ...opdefs.rules import pointwise_spec
from ...tensors.tensor import Tensor
from ...values.devices import row_of
from ...values.dtypes import dtype
from ...values.promotion import check_cast, result_type
from ...values.shapes import numel
from ..elementwise.composed import by_name, fused_backward, in_wide
from .reducing import MEAN, NONE, accept_alike, check_real, loss, reduced, reduction_of, weighted

_accept_probabilities: Final = accept_alike("binary_cross_entropy")


def _cross_entropy_of_probabilities(
    input: Any, target: Any, weight: Any = None, reduction: int = MEAN
) -> Tensor:
    inside = (input >= 0) & (input <= 1)  # NaN is not
    if row_of(input._device.type).runtime.executes and not bool(inside.all()):
        raise RuntimeError("all elements of input should be between 0 and 1")
    losses = _surprise(input, target)
    return reduced(weighted(losses, weight).to(losses._dtype), reduction)


def _probability_rule(
    self: Tensor, target: Tensor, weight: Any = None, reduction: int = MEAN
) -> TensorSpec:
    each = pointwise_spec((self, target, weight), _accept_probabilities(self, target))
    return each if reduction == NONE else TensorSpec((), each.dtype)


def _surprise(input: Any, target: Any) -> Any:
    sure = input.log().clamp(min=-100)
    unsure = (-input).log1p().clamp(min=-100)
    return (target - 1) * unsure - target * sure


def _of_each(slope: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    """A gradient of the reduced losses from one of each loss without its weight."""

    def grad(g: Any, self: Any, target: Any, weight: Any, reduction: int) -> Any:
        d = self._dtype
        each = weighted(slope(in_wide(self, d), in_wide(target, d)), weight)
        share = g / max(numel(each._shape), 1) if reduction == MEAN else g
        return (share * each).to(d)

    return grad


# The slope is finite where the logarithms are cut off, so that sure answers can be learned from.
_input_grad = _of_each(lambda x, target: (x - target) / (x * (1 - x)).clamp(min=1e-12))


def _probability_grad(g: Any, self: Any, target: Any, weight: Any, reduction: int) -> Any:
    return (fused_backward("binary_cross_entropy_backward", g) or _input_grad)(
        g, self, target, weight, reduction
    )


op(
    "binary_cross_entropy_backward(Tensor grad_output, Tensor self, Tensor target, "
    "Tensor? weight=None, int reduction=1) -> Tensor",
    doc="Gradient of `binary_cross_entropy` for its input.",
    rule=lambda grad_output, self, target, weight=None, reduction=MEAN: pointwise_spec(
        (grad_output, self, target, weight), self._dtype
    ),
    decomposition=lambda grad_output, self, target, weight=None, reduction=MEAN: _input_grad(
        grad_output, self, target, weight, reduction
    ),
    namespaces=(),
)

_PROBABILITY_GRADS: Final = {
    "self": _probability_grad,
    "target": _of_each(lambda x, _: (-x).log1p().clamp(min=-100) - x.log().clamp(min=-100)),
    "weight": lambda g, self, target, reduction: _of_each(_surprise)(
        g, self, target, None, reduction
    ),
}


def _of_each_logit(input: Any, target: Any, pos_weight: Any) -> Any:
    logs = fn_nn.logsigmoid(input)
    if pos_weight is not None:
        logs = logs * ((pos_weight - 1) * target + 1)
    return (1 - target) * input - logs


def _cross_entropy_of_logits(
    input: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: int = MEAN
) -> Tensor:
    return reduced(weighted(_of_each_logit(input, target, pos_weight), weight), reduction)


def _of_logits(slope: Callable[..., Any], operand: int = 0) -> Callable[..., Any]:
    """A gradient of the reduced losses of logits from one of each loss without its weight.

    Args:
        slope: takes input, target and ``pos_weight``.
        operand: for which one of the four operands it is; the weights may be broadcast.
    """

    def grad(g: Any, self: Any, target: Any, weight: Any, pos_weight: Any, reduction: int) -> Any:
        of = (self, target, weight, pos_weight)[operand]
        factor = fn.ones_like(weight) if operand == 2 else weight
        each = weighted(slope(self, target, pos_weight), factor)
        share = g / max(numel(each._shape), 1) if reduction == MEAN else g
        return sum_to(each * share, of._shape)

    return grad


def _slope_of_logit(x: Any, target: Any, pos_weight: Any) -> Any:
    if pos_weight is None:
        return fn.sigmoid(x) - target
    positive = pos_weight * target
    return (positive + 1 - target) * fn.sigmoid(x) - positive


def _slope_of_target(x: Any, target: Any, pos_weight: Any) -> Any:
    if pos_weight is None:
        return -x
    return fn_nn.logsigmoid(-x) - pos_weight * fn_nn.logsigmoid(x)


def _slope_of_factor(x: Any, target: Any, pos_weight: Any) -> Any:
    return fn.ones_like(pos_weight) * -target * fn_nn.logsigmoid(x)


_LOGIT_GRADS: Final = {
    name: _of_logits(slope, at)
    for at, (name, slope) in enumerate(
        {
            "self": _slope_of_logit,
            "target": _slope_of_target,
            "weight": _of_each_logit,
            "pos_weight": _slope_of_factor,
        }.items()
    )
}


def _accept_logits(input: Tensor, target: Tensor) -> dtype:
    """PyTorch computes the loss in the memory of ``1 - target``."""
    check_real(input._dtype, "log_sigmoid_cpu")
    check_cast(result_type(input, target), target._dtype)
    return target._dtype


loss(
    "binary_cross_entropy",
    "Tensor self, Tensor target, Tensor? weight=None, int reduction=1",
    "Cross entropy of probabilities of two classes; logarithms are at least -100.",
    _cross_entropy_of_probabilities,
    rule=_probability_rule,
    accept=_accept_probabilities,
    in_single=True,
    grad=_PROBABILITY_GRADS,
)
loss(
    "binary_cross_entropy_with_logits",
    "Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=1",
    "`binary_cross_entropy` of ``sigmoid(input)``, without overflow.",
    _cross_entropy_of_logits,
    accept=_accept_logits,
    out=False,
    namespaces=("torch",),
    grad=_LOGIT_GRADS,
)

# ---- as users call them -------------------------------------------------------------------------


@public("nn")
def binary_cross_entropy(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Cross entropy of probabilities of two classes.

    Args:
        input: probabilities, of any shape.
        target: numbers from 0 to 1, of the same shape.
        weight: of each element; it broadcasts.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``none``, ``mean`` or ``sum``.

    Returns:
        A tensor without dimensions; with ``none`` one of the input's shape. No element is above 100.

    Raises:
        ValueError: if input and target differ in size.
        RuntimeError: if an input is no probability.

    Example:
        >>> p, target = torch.tensor([0.5, 0.0]), torch.tensor([1.0, 1.0])
        >>> torch.nn.functional.binary_cross_entropy(p, target, reduction="none")
        tensor([  0.6931, 100.0000])
    """
    code = reduction_of(reduction, size_average, reduce)
    if target._shape != input._shape:
        raise ValueError(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}) is deprecated. Please ensure they have the same size."
        )
    if weight is not None:
        weight = weight.expand(target._shape)
    return by_name("binary_cross_entropy")(input, target, weight, code)  # type: ignore[no-any-return]


@public("nn")
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    pos_weight: Tensor | None = None,
) -> Tensor:
    """`binary_cross_entropy` of ``sigmoid(input)``, without overflow.

    Args:
        input: logits, of any shape.
        target: numbers from 0 to 1, of the same shape.
        weight: of each element; it broadcasts.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``none``, ``mean`` or ``sum``.
        pos_weight: what ``target`` counts in the loss where it is 1; it broadcasts.

    Returns:
        A tensor without dimensions; with ``none`` one of the input's shape.

    Raises:
        ValueError: if input and target differ in size.

    Example:
        >>> logits, target = torch.tensor([0.0, -1000.0]), torch.tensor([1.0, 0.0])
        >>> torch.nn.functional.binary_cross_entropy_with_logits(logits, target, reduction="none")
        tensor([0.6931, 0.0000])
    """
    code = reduction_of(reduction, size_average, reduce)
    if target._shape != input._shape:
        raise ValueError(
            f"Target size ({target.size()}) must be the same as input size ({input.size()})"
        )
    return fn.binary_cross_entropy_with_logits(input, target, weight, pos_weight, code)
