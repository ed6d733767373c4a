"""Losses of numbers: absolute, squared and robust differences, divergences of distributions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...dispatch.functions import fn
from ...gradients.conform import sum_to
from ...opdefs.define import op, public
from ...opdefs.formulas import has_elements
from ...opdefs.rules import pointwise_spec
from ...tensors.tensor import Tensor
from ...values.promotion import result_type
from ...values.shapes import numel
from ...values.user_warnings import warn_user
from ..elementwise.composed import by_name, in_wide
from .reducing import (
    MEAN,
    accept_promoted,
    accept_real,
    accept_stored,
    check_beta,
    check_delta,
    loss,
    loss_rule,
    reduced,
    reduction_of,
)

_PAIR = "Tensor self, Tensor target, int reduction=1"


def _l1(input: Any, target: Any, reduction: int = MEAN) -> Tensor:
    return reduced((input - target).abs(), reduction)


def _mse(input: Any, target: Any, reduction: int = MEAN) -> Tensor:
    difference = input - target
    return reduced(difference * difference, reduction)


def _smooth_l1(input: Any, target: Any, reduction: int = MEAN, beta: float = 1.0) -> Tensor:
    check_beta(beta)
    size = (input - target).abs()
    if not beta:
        return reduced(size, reduction)
    return reduced(fn.where(size < beta, size * size * (0.5 / beta), size - beta * 0.5), reduction)


def _huber(input: Any, target: Any, reduction: int = MEAN, delta: float = 1.0) -> Tensor:
    check_delta(delta)
    size = (input - target).abs()
    return reduced(
        fn.where(size <= delta, size * size * 0.5, (size - delta * 0.5) * delta), reduction
    )


def _kl_div(input: Any, target: Any, reduction: int = MEAN, *, log_target: bool = False) -> Tensor:
    if log_target:
        return reduced(target.exp() * (target - input), reduction)
    return reduced(target.xlogy(target) - target * input, reduction)


def _poisson_nll(
    input: Any, target: Any, log_input: bool, full: bool, eps: float, reduction: int
) -> Tensor:
    losses = input.exp() - target * input if log_input else input - target * (input + eps).log()
    if full:
        stirling = target * target.log() - target + (target * (2 * math.pi)).log() * 0.5
        losses = losses + fn.where(target <= 1, 0, stirling)
    return reduced(losses, reduction)


def _backward_of(name: str, slope: Callable[..., Any], option: str = "") -> Callable[..., Any]:
    """Define the op of a loss's gradient, and give the function that formulas call it by.

    Args:
        name: the loss; its gradient's op is called as in PyTorch.
        slope: of each loss, from ``input - target`` and the option.
        option: the argument after ``reduction``, as schemas have it.
    """
    backward = f"{name}_backward"

    def composed(grad_output: Any, self: Any, target: Any, reduction: int, *more: Any) -> Any:
        d = result_type(self, target)
        difference = in_wide(self, d) - in_wide(target, d)
        share = in_wide(grad_output, d)
        if reduction == MEAN:
            share = share / max(numel(difference._shape), 1)
        return (share * slope(difference, *more)).to(d)

    op(
        f"{backward}(Tensor grad_output, Tensor self, Tensor target, int reduction{option}) -> Tensor",
        doc=f"Gradient of `{name}` for its input; with both exchanged, for its target.",
        rule=lambda grad_output, self, target, *_: pointwise_spec(
            (self, target), result_type(self, target)
        ),
        decomposition=composed,
        namespaces=(),
    )

    def gradient(g: Any, of: Any, other: Any, *more: Any) -> Any:
        return sum_to(by_name(backward)(g, of, other, *more), of._shape).to(of._dtype)

    return gradient


_mse_grad = _backward_of("mse_loss", lambda difference: difference * 2)
_smooth_l1_grad = _backward_of(
    "smooth_l1_loss",
    lambda x, beta: fn.where(x.abs() >= beta, x.sign(), x / beta) if beta else x.sign(),
    ", float beta",
)
_huber_grad = _backward_of(
    "huber_loss", lambda x, delta: x.clamp(min=-delta, max=delta), ", float delta"
)

loss("l1_loss", _PAIR, "Absolute differences, their mean or sum.", _l1, out=False)
loss(
    "mse_loss",
    _PAIR,
    "Squared differences, their mean or sum.",
    _mse,
    accept=accept_promoted("mse_cpu"),
    rule=loss_rule(accept_promoted("mse_cpu")),
    in_single=True,
    grad={
        "self": lambda g, self, target, reduction: _mse_grad(g, self, target, reduction),
        "target": lambda g, self, target, reduction: _mse_grad(g, target, self, reduction),
    },
)
loss(
    "smooth_l1_loss",
    f"{_PAIR}, float beta=1.",
    "Differences: squared below ``beta``, absolute above (Girshick, 2015).",
    _smooth_l1,
    accept=accept_promoted("smooth_l1_cpu"),
    rule=loss_rule(accept_promoted("smooth_l1_cpu"), check_beta),
    in_single=True,
    grad={
        "self": lambda g, self, target, reduction, beta: _smooth_l1_grad(
            g, self, target, reduction, beta
        ),
        "target": lambda g, self, target, reduction, beta: _smooth_l1_grad(
            g, target, self, reduction, beta
        ),
    },
)
loss(
    "huber_loss",
    f"{_PAIR}, float delta=1.",
    "Differences: squared up to ``delta``, linear above (Huber, 1964).",
    _huber,
    accept=accept_stored("huber_cpu"),
    rule=loss_rule(accept_stored("huber_cpu"), check_delta),
    in_single=True,
    grad={
        "self": lambda g, self, target, reduction, delta: _huber_grad(
            g, self, target, reduction, delta
        ),
        "target": lambda g, self, target, reduction, delta: _huber_grad(
            g, target, self, reduction, delta
        ),
    },
)
loss(
    "kl_div",
    f"{_PAIR}, *, bool log_target=False",
    "Kullback-Leibler divergence from log-probabilities ``input`` to probabilities ``target``.",
    _kl_div,
    accept=accept_real("kl_div"),
    out=False,
    namespaces=("torch",),
)
loss(
    "poisson_nll_loss",
    "Tensor input, Tensor target, bool log_input, bool full, float eps, int reduction",
    "Negative log likelihood of counts under Poisson distributions with rate (or log-rate) ``input``.",
    _poisson_nll,
    out=False,
    namespaces=("torch",),
)


# ---- as users call them -------------------------------------------------------------------------


def _warn_of_sizes(input: Tensor, target: Tensor) -> None:
    if input._shape != target._shape:
        warn_user(
            f"Using a target size ({target.size()}) that is different to the input size "
            f"({input.size()}). This will likely lead to incorrect results due to broadcasting. "
            f"Please ensure they have the same size."
        )


def _weighted(
    name: str, input: Tensor, target: Tensor, weight: Tensor | None, code: int, *more: float
) -> Tensor:
    """A loss of broadcast operands; weights multiply elements, and a mean divides by their sum."""
    a, b = input, target
    if a._shape != b._shape:
        a, b = fn.broadcast_tensors(a, b)
    if weight is None:
        return by_name(name)(a, b, code, *more)  # type: ignore[no-any-return]
    if weight._shape != a._shape:
        raise ValueError("Weights and input must have the same size.")
    weighted = by_name(name)(a, b, 0, *more) * weight
    total = reduced(weighted, 2 if code else 0)
    return total / weight.sum() if code == MEAN else total


@public("nn")
def l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Absolute differences, their mean or sum.

    Args:
        input: a tensor of any shape.
        target: one of the same shape; others broadcast, with a warning.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``none``, ``mean`` or ``sum``.
        weight: of each difference.

    Returns:
        A tensor without dimensions; with ``none`` one of the input's shape.

    Raises:
        ValueError: for an unknown reduction, or weights of another size.

    Example:
        >>> torch.nn.functional.l1_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(1.)
    """
    _warn_of_sizes(input, target)
    code = reduction_of(reduction, size_average, reduce)
    return _weighted("l1_loss", input, target, weight, code)


@public("nn")
def mse_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    weight: Tensor | None = None,
) -> Tensor:
    """Squared differences, their mean or sum.

    Args:
        input: a tensor of any shape.
        target: one of the same shape; others broadcast, with a warning.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``none``, ``mean`` or ``sum``.
        weight: of each difference.

    Returns:
        A tensor without dimensions; with ``none`` one of the input's shape.

    Raises:
        ValueError: for an unknown reduction, or weights of another size.

    Example:
        >>> torch.nn.functional.mse_loss(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(2.)
    """
    _warn_of_sizes(input, target)
    code = reduction_of(reduction, size_average, reduce)
    return _weighted("mse_loss", input, target, weight, code)


@public("nn")
def smooth_l1_loss(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    beta: float = 1.0,
) -> Tensor:
    """Differences: squared below ``beta``, absolute above (Girshick, 2015).

    Args:
        input: a tensor of any shape.
        target: one of the same shape; others broadcast, with a warning.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``none``, ``mean`` or ``sum``.
        beta: differences below it count ``0.5 * d * d / beta``, the others ``d - 0.5 * beta``.

    Returns:
        A tensor without dimensions; with ``none`` one of the input's shape.

    Raises:
        ValueError: for an unknown reduction.
        RuntimeError: if ``beta`` is negative.

    Example:
        >>> x, target = torch.tensor([0.0, 0.0]), torch.tensor([0.5, 3.0])
        >>> torch.nn.functional.smooth_l1_loss(x, target, reduction="none")
        tensor([0.1250, 2.5000])
    """
    _warn_of_sizes(input, target)
    code = reduction_of(reduction, size_average, reduce)
    return _weighted("smooth_l1_loss", input, target, None, code, beta)


@public("nn")
def huber_loss(
    input: Tensor,
    target: Tensor,
    reduction: str = "mean",
    delta: float = 1.0,
    weight: Tensor | None = None,
) -> Tensor:
    """Differences: squared up to ``delta``, linear above (Huber, 1964).

    Args:
        input: a tensor of any shape.
        target: one of the same shape; others broadcast, with a warning.
        reduction: ``none``, ``mean`` or ``sum``.
        delta: differences up to it count ``0.5 * d * d``, the others ``delta * (d - 0.5 * delta)``.
        weight: of each difference.

    Returns:
        A tensor without dimensions; with ``none`` one of the input's shape.

    Raises:
        ValueError: for an unknown reduction.
        RuntimeError: if ``delta`` is not positive.

    Example:
        >>> x, target = torch.tensor([0.0, 0.0]), torch.tensor([0.5, 3.0])
        >>> torch.nn.functional.huber_loss(x, target, reduction="none", delta=2.0)
        tensor([0.1250, 4.0000])
    """
    _warn_of_sizes(input, target)
    return _weighted("huber_loss", input, target, weight, reduction_of(reduction), delta)


@public("nn")
def kl_div(
    input: Tensor,
    target: Tensor,
    size_average: bool | None = None,
    reduce: bool | None = None,
    reduction: str = "mean",
    log_target: bool = False,
) -> Tensor:
    """Kullback-Leibler divergence of probabilities ``target`` from log-probabilities ``input``.

    Args:
        input: log-probabilities.
        target: probabilities, or their logarithms if ``log_target``.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``none``, ``mean`` (over elements), ``sum`` or ``batchmean``, the divergence's
            definition: the sum divided by the size of the first dimension.
        log_target: whether ``target`` holds logarithms.

    Returns:
        A tensor without dimensions; with ``none`` one of the input's shape.

    Raises:
        ValueError: for an unknown reduction.

    Warns:
        UserWarning: for ``mean``, which is not the divergence.

    Example:
        >>> p, q = torch.tensor([[0.5, 0.5]]), torch.tensor([[0.25, 0.75]])
        >>> torch.nn.functional.kl_div(q.log(), p, reduction="batchmean")
        tensor(0.1438)
    """
    if reduction == "batchmean":
        total = fn.kl_div(input, target, 2, log_target=log_target)
        return total / input._shape[0] if input._shape else total
    if reduction == "mean" and size_average is None and reduce is None:
        warn_user(
            "reduction: 'mean' divides the total loss by both the batch size and the support size. "
            "'batchmean' divides only by the batch size, and aligns with the KL div math definition. "
            "'mean' will be changed to behave the same as 'batchmean' in the next major release."
        )
    code = reduction_of(reduction, size_average, reduce)
    return fn.kl_div(input, target, code, log_target=log_target)


@public("nn")
def poisson_nll_loss(
    input: Tensor,
    target: Tensor,
    log_input: bool = True,
    full: bool = False,
    size_average: bool | None = None,
    eps: float = 1e-8,
    reduce: bool | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Negative log likelihood of counts under Poisson distributions.

    Args:
        input: rates, or their logarithms if ``log_input``.
        target: counts.
        log_input: whether ``input`` holds logarithms.
        full: add Stirling's approximation of ``log(target!)`` for targets above 1.
        size_average: deprecated.
        reduce: deprecated.
        eps: added to rates before their logarithm is taken.
        reduction: ``none``, ``mean`` or ``sum``.

    Returns:
        A tensor without dimensions; with ``none`` one of the input's shape.

    Raises:
        ValueError: for an unknown reduction.

    Example:
        >>> torch.nn.functional.poisson_nll_loss(torch.tensor([0.0]), torch.tensor([2.0]))
        tensor(1.)
    """
    code = reduction_of(reduction, size_average, reduce)
    return fn.poisson_nll_loss(input, target, log_input, full, eps, code)


@public("nn")
def gaussian_nll_loss(
    input: Tensor,
    target: Tensor,
    var: Tensor | float,
    full: bool = False,
    eps: float = 1e-6,
    reduction: str = "mean",
) -> Tensor:
    """Negative log likelihood of targets under normal distributions (Nix and Weigend, 1994).

    Args:
        input: expectations.
        target: samples.
        var: variances: of the input's shape, without its last dimension, or with size 1 there.
        full: add the constant ``log(2 pi) / 2``.
        eps: variances below it count as it, without changing gradients.
        reduction: ``none``, ``mean`` or ``sum``.

    Returns:
        A tensor without dimensions; with ``none`` one of the input's shape.

    Raises:
        ValueError: if a variance is negative, or its shape does not fit.

    Example:
        >>> x, target = torch.zeros(2), torch.tensor([0.0, 2.0])
        >>> torch.nn.functional.gaussian_nll_loss(x, target, torch.ones(2), reduction="none")
        tensor([0., 2.])
    """
    if isinstance(var, Tensor):
        variance = _variance_like(var, input)
        if has_elements(variance) and bool((variance < 0).any()):
            raise ValueError("var has negative entry/entries")
    elif var < 0:
        raise ValueError("var has negative entry/entries")
    else:
        variance = input.new_full((), var)
    code = reduction_of(reduction)
    floored: Any = variance + (variance.detach().clone().clamp_(min=eps) - variance.detach())
    difference: Any = input - target
    losses = (floored.log() + difference * difference / floored) * 0.5
    return reduced(losses + 0.5 * math.log(2 * math.pi) if full else losses, code)


def _variance_like(var: Tensor, input: Tensor) -> Any:
    """Variances in a shape that broadcasts with the input's.

    Raises:
        ValueError: if they have none.
    """
    shape = input._shape
    if var._shape in (shape, ()) or (var._shape[:-1] == shape[:-1] and var._shape[-1] == 1):
        return var
    if var._shape == shape[:-1]:
        return var.unsqueeze(-1)
    if len(var._shape) == len(shape) and all(
        v in (1, n) for v, n in zip(var._shape, shape, strict=True)
    ):
        return var
    raise ValueError("var is of incorrect size")
