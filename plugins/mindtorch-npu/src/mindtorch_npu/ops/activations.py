"""Activations that have an operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_core.backend import check_inplace_result, dtype, numel

from .operands import cast, expanded, made, number, takes, written
from .steps import STEPS, Call, Work, accepts, inputs, known, rule_of, steps

__all__: list[str] = []

# What an operator takes between its input and its result, from the dtype and the op's arguments.
Middle = Callable[..., tuple[Any, ...]]


def activation(name: str, operator: str, middle: Middle, *, inplace: bool = True) -> None:
    """Define the steps of an activation and of its in-place form.

    Args:
        name: the op.
        operator: what computes it.
        middle: what the operator takes besides the input.
        inplace: whether the op has an in-place form.
    """
    rule = rule_of(name)
    writing = f"Inplace{operator}"

    def forward(self: Any, *args: Any, **kwargs: Any) -> Work | None:
        spec = rule(self, *args, **kwargs)
        d = self.raw_dtype
        if not takes(operator, d):
            return None
        out = made(spec, self.raw_device)
        if not numel(spec.shape):
            return out, []
        return out, [(operator, (self, *middle(d, *args, **kwargs), out))]

    def into_itself(self: Any, *args: Any, **kwargs: Any) -> Work | None:
        spec = rule(self, *args, **kwargs)
        check_inplace_result(self, spec.shape, spec.dtype)
        d = self.raw_dtype
        if known(writing) and accepts(writing, inputs(writing)[0], d) and numel(spec.shape):
            return self, [(writing, (self, *middle(d, *args, **kwargs)))]
        work = forward(self, *args, **kwargs)
        if work is None:
            return None
        value, calls = work
        return (written(self, value, calls) if calls else self), calls

    STEPS[f"aten::{name}"] = forward
    if inplace:
        STEPS[f"aten::{name}_"] = into_itself


def _nothing(d: dtype) -> tuple[Any, ...]:
    return ()


def _numbers(*defaults: float) -> Middle:
    """Numbers with defaults, as scalars."""

    def middle(d: dtype, *given: Any) -> tuple[Any, ...]:
        return tuple(number(v, d) for v in (*given, *defaults[len(given) :]))

    return middle


def _approximation(d: dtype, *, approximate: str = "none") -> tuple[int]:
    return (int(approximate == "tanh"),)


activation("leaky_relu", "LeakyRelu", _numbers(0.01))
activation("hardtanh", "Hardtanh", _numbers(-1, 1))
activation("threshold", "Threshold", _numbers(0, 0))
activation("elu", "Elu", _numbers(1, 1, 1))
activation("softplus", "Softplus", _numbers(1, 20), inplace=False)
activation("hardshrink", "Hardshrink", _numbers(0.5), inplace=False)
activation("softshrink", "Softshrink", _numbers(0.5), inplace=False)
activation("gelu", "GeluV2", _approximation)
activation("silu", "Silu", _nothing)
activation("mish", "Mish", _nothing)
activation("log_sigmoid", "LogSigmoid", _nothing, inplace=False)
activation("hardswish", "Hardswish", _nothing)
activation("hardsigmoid", "Hardsigmoid", _nothing)
activation("glu", "Glu", lambda d, dim=-1: (dim,), inplace=False)


# ---- gradients -----------------------------------------------------------------------------------


def gradient(name: str, operator: str, middle: Middle, *, at: int = 1) -> None:
    """Define the steps of an activation's gradient.

    Args:
        name: the op.
        operator: what computes it of the incoming gradient and another tensor.
        middle: what the operator takes besides them.
        at: where the other tensor is among the op's arguments, and the operator's.
    """
    rule = rule_of(name)

    def run(*args: Any, **kwargs: Any) -> Work | None:
        spec = rule(*args, **kwargs)
        grad_output, other = args[0], args[at]
        d = spec.dtype
        if d.is_complex or not takes(operator, d):  # the operators do not conjugate the slope
            return None
        out, calls = made(spec, other.raw_device), list[Call]()
        if numel(spec.shape):
            given, second = (expanded(cast(t, d, calls), spec.shape) for t in (grad_output, other))
            rest = list(middle(d, *args[1:at], *args[at + 1 :], **kwargs))
            rest.insert(at - 1, second)
            calls.append((operator, (given, *rest, out)))
        return out, calls

    STEPS[f"aten::{name}"] = run


def _numbers_and_flag(d: dtype, *given: Any) -> tuple[Any, ...]:
    return (*(number(v, d) for v in given[:-1]), given[-1])


def _buffer(d: dtype, buffer: Any) -> tuple[Any, ...]:
    return (buffer,)


for _name in ("Sigmoid", "Tanh", "Silu", "Mish", "Hardswish", "Hardsigmoid"):
    gradient(f"{_name.lower()}_backward", f"{_name}Backward", _nothing)
for _name in ("Hardtanh", "Hardshrink", "Softshrink", "Softplus"):
    gradient(f"{_name.lower()}_backward", f"{_name}Backward", _numbers())
gradient("gelu_backward", "GeluBackwardV2", lambda d, *, approximate="none": (approximate,))
gradient("log_sigmoid_backward", "LogSigmoidBackward", _buffer)
gradient("leaky_relu_backward", "LeakyReluBackward", _numbers_and_flag)
gradient("elu_backward", "EluBackward", _numbers_and_flag, at=5)


@steps("aten::glu_backward")
def glu_backward(grad_output: Any, self: Any, dim: int) -> Work | None:
    """Gradients of the halves, beside each other; the operator broadcasts nothing."""
    spec = rule_of("glu_backward")(grad_output, self, dim)
    if not takes("GluBackward", spec.dtype):
        return None
    out = made(spec, self.raw_device)
    if not numel(spec.shape):
        return out, []
    given = expanded(grad_output, rule_of("glu")(self, dim).shape)
    return out, [("GluBackward", (given, self, dim, out))]
