"""Makers of steps for ops of two operands: tensors, or a tensor and a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from mindtorch_core.backend import (
    FLOATING,
    Tensor,
    cast_number,
    check_inplace_result,
    dtype,
    numel,
    result_type,
    to_floating,
)

from .operands import (
    apart,
    cast,
    computed_in,
    empty,
    factor,
    made,
    number,
    operand,
    packed,
    written,
)
from .steps import STEPS, Call, Work, accepts, inputs, outputs, rule_of

__all__ = ["Forms", "binary", "floats"]

Options = Callable[..., tuple[Any, ...]]
Passing = Callable[[Any, dtype], Any]


class Forms(NamedTuple):
    """The operators of an op.

    Attributes:
        tensor: takes two tensors.
        scalar: takes a tensor and a number; empty if there is none.
        inplace: writes its first tensor, with a tensor; empty if there is none.
        inplace_scalar: the same with a number.
    """

    tensor: str
    scalar: str = ""
    inplace: str = ""
    inplace_scalar: str = ""


def floats(*operands: Any) -> dtype:
    """The common dtype of a float-valued op."""
    return to_floating(result_type(*operands))


def _nothing(d: dtype, **_: Any) -> tuple[Any, ...]:
    return ()


def binary(
    name: str,
    forms: Forms | Callable[..., Forms],
    *,
    common: Callable[..., dtype] = result_type,
    extra: Options = _nothing,
    single: bool = False,
) -> None:
    """Define the steps of an op and of its in-place form.

    Args:
        name: the op.
        forms: its operators, or what chooses them by the op's options.
        common: the dtype in which operands meet.
        extra: what operators take after the operands, from the common dtype and the op's options.
        single: halves meet numbers in float32, for which a number is not rounded.
    """
    passed = factor if single else number
    rule = rule_of(name)

    def chosen(options: dict[str, Any]) -> Forms:
        return forms if isinstance(forms, Forms) else forms(**options)

    def forward(self: Any, other: Any, **options: Any) -> Work | None:
        spec = rule(self, other, **options)
        d = common(self, other)
        return _forward(spec, self, other, d, chosen(options), extra(d, **options), passed)

    def inplace(self: Any, other: Any, **options: Any) -> Work | None:
        spec = rule(self, other, **options)
        check_inplace_result(self, spec.shape, spec.dtype)
        d, form = common(self, other), chosen(options)
        more = extra(d, **options)
        found = _inplace(spec, self, other, d, form, more, passed)
        if found is not None:
            return found
        work = _forward(spec, self, other, d, form, more, passed)
        if work is None:
            return None
        value, calls = work
        return written(self, value, calls), calls

    STEPS[f"aten::{name}"] = forward
    STEPS[f"aten::{name}_"] = inplace


def _forward(
    spec: Any,
    self: Any,
    other: Any,
    d: dtype,
    forms: Forms,
    extra: tuple[Any, ...],
    passed: Passing,
) -> Work | None:
    on = self.raw_device
    calls: list[Call] = []
    scalar = forms.scalar if not isinstance(other, Tensor) else ""
    operator = scalar or forms.tensor
    wide = computed_in(operator, d)
    if wide is None:
        return None
    out = made(spec, on)
    if not numel(spec.shape):
        return out, calls
    first = packed(operator, inputs(operator)[0], cast(self, wide, calls), calls)
    if not isinstance(other, Tensor) and d.category < FLOATING:
        other = cast_number(other, d)  # which wraps around to other numbers than in the wider dtype
    second: Any = passed(other, wide) if scalar else operand(other, wide, on, calls)
    if not scalar:
        second = packed(operator, inputs(operator)[1], second, calls)
    target = _target(operator, out, d, wide)
    calls.append((operator, (first, second, *extra, target)))
    return written(out, target, calls), calls


def _target(operator: str, out: Tensor, d: dtype, wide: dtype) -> Tensor:
    """What an operator that computes in ``wide`` writes: the result, if it can write its dtype."""
    own = out.raw_dtype is d  # not so for comparisons, whose results are of another dtype
    kept = (
        wide if own or not accepts(operator, outputs(operator)[0], out.raw_dtype) else out.raw_dtype
    )
    return out if kept is out.raw_dtype else empty(out.raw_shape, kept, out.raw_device)


def _inplace(
    spec: Any,
    self: Any,
    other: Any,
    d: dtype,
    forms: Forms,
    extra: tuple[Any, ...],
    passed: Passing,
) -> Work | None:
    """The in-place operator, if there is one for these operands."""
    tensor = isinstance(other, Tensor)
    operator = forms.inplace if tensor else forms.inplace_scalar or forms.inplace
    if not operator or d is not self.raw_dtype or not accepts(operator, inputs(operator)[0], d):
        return None
    calls: list[Call] = []
    if not numel(spec.shape):
        return self, calls
    if tensor or not forms.inplace_scalar:
        second: Any = operand(other, d, self.raw_device, calls)
        if not apart(second, self) or not accepts(operator, inputs(operator)[1], d):
            return None
    else:
        second = passed(other, d)
    calls.append((operator, (self, second, *extra)))
    return self, calls
