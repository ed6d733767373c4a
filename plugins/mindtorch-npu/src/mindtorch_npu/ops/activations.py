"""Activations that have an operator."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mindtorch_core.backend import check_inplace_result, dtype, numel

from .operands import made, number, takes, written
from .steps import STEPS, Work, accepts, inputs, known, rule_of

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
