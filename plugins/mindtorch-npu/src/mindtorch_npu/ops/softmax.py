"""Softmax, its logarithm and their gradients; the loss of log-probabilities."""

from __future__ import annotations

from typing import Any

from mindtorch_core.backend import Tensor, numel, wrap_dim

from ..creation import fill
from .operands import cast, contiguous, empty, filled, made, ranked, reshaped, takes
from .steps import STEPS, Call, Work, rule_of, steps

__all__: list[str] = []


def _forward(name: str, operator: str) -> None:
    rule = rule_of(name)

    def run(self: Any, dim: int, dtype: Any = None) -> Work | None:
        spec = rule(self, dim, dtype)
        d = spec.dtype
        if not takes(operator, d):
            return None
        out, calls = made(spec, self.raw_device), list[Call]()
        if numel(spec.shape):
            at = wrap_dim(dim, len(self.raw_shape))
            calls.append((operator, (ranked(cast(self, d, calls)), at, ranked(out))))
        return out, calls

    STEPS[f"aten::{name}"] = run


def _backward(name: str, operator: str) -> None:
    def run(grad_output: Any, output: Any, dim: int, input_dtype: Any) -> Work | None:
        d, on = output.raw_dtype, output.raw_device
        if not takes(operator, d):
            return None
        calls: list[Call] = []
        result = empty(output.raw_shape, d, on)
        if numel(output.raw_shape):
            at = wrap_dim(dim, len(output.raw_shape))
            pair = ranked(cast(grad_output, d, calls)), ranked(output)
            calls.append((operator, (*pair, at, ranked(result))))
        return cast(result, input_dtype, calls), calls

    STEPS[f"aten::{name}"] = run


_forward("softmax", "Softmax")
_forward("log_softmax", "LogSoftmax")
_backward("_softmax_backward_data", "SoftmaxBackward")
_backward("_log_softmax_backward_data", "LogSoftmaxBackward")

# ---- negative log likelihood ---------------------------------------------------------------------


def _images(t: Tensor, spatial: int) -> tuple[int, ...]:
    """The shape of a tensor as images of one or more rows: what follows the first two dimensions."""
    lead = t.raw_shape[: len(t.raw_shape) - spatial]
    rest = t.raw_shape[len(lead) :]
    return (*lead, *rest, 1) if spatial == 1 else (*lead, rest[0], numel(rest[1:]))


def _served(self: Tensor, target: Tensor, weight: Tensor | None, reduction: int) -> bool:
    d = self.raw_dtype
    return bool(
        self.raw_shape
        and reduction in (0, 1, 2)
        and takes("NLLLoss", d)
        and numel(self.raw_shape)
        and (weight is None or weight.raw_dtype is d)
        and target.raw_dtype.name in ("int32", "int64", "uint8")
    )


class _Loss:
    """The operands of a loss as its operators take them: matrices, or images."""

    def __init__(self, self_: Tensor, target: Tensor, weight: Tensor | None) -> None:
        self.calls: list[Call] = []
        self.spatial = max(len(self_.raw_shape) - 2, 0)
        self.operator = "NLLLoss2d" if self.spatial else "NLLLoss"
        classes = self_.raw_shape[min(len(self_.raw_shape) - 1, 1)]
        self.weight = (
            filled((classes,), 1, self_.raw_dtype, self_.raw_device, self.calls)
            if weight is None
            else contiguous(weight, self.calls)
        )
        self.input = self.shaped(self_)
        self.target = self.shaped(target)

    def shaped(self, t: Tensor) -> Tensor:
        """A tensor in the shape that the operators take."""
        t = contiguous(t, self.calls)
        return reshaped(t, _images(t, self.spatial)) if self.spatial else t


@steps("aten::nll_loss_forward")
def nll_loss_forward(
    self: Any, target: Any, weight: Any, reduction: int, ignore_index: int
) -> Work | None:
    """Negative log likelihood and the total weight."""
    out_spec, total_spec = rule_of("nll_loss_forward")(
        self, target, weight, reduction, ignore_index
    )
    if not _served(self, target, weight, reduction):
        return None
    loss = _Loss(self, target, weight)
    out, total = made(out_spec, self.raw_device), made(total_spec, self.raw_device)
    shown = loss.shaped(out) if loss.spatial and not reduction else out
    arguments = (loss.input, loss.target, loss.weight, reduction, ignore_index, shown, total)
    loss.calls.append((loss.operator, arguments))
    return (out, total), loss.calls


@steps("aten::nll_loss_backward")
def nll_loss_backward(
    grad_output: Any,
    self: Any,
    target: Any,
    weight: Any,
    reduction: int,
    ignore_index: int,
    total_weight: Any,
) -> Work | None:
    """Gradient of the loss for its input: the negative weight at each element's class."""
    if not _served(self, target, weight, reduction):
        return None
    loss = _Loss(self, target, weight)
    out = empty(self.raw_shape, self.raw_dtype, self.raw_device)
    loss.calls += fill(out, 0)
    grad = contiguous(grad_output, loss.calls)
    grad = loss.shaped(grad) if loss.spatial and not reduction else grad
    arguments = (
        grad, loss.input, loss.target, loss.weight, reduction, ignore_index, total_weight,
        loss.shaped(out),
    )  # fmt: skip
    loss.calls.append((f"{loss.operator}Backward", arguments))
    return out, loss.calls
