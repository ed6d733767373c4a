"""Arithmetic, comparisons and logic, element by element."""

from __future__ import annotations

from typing import Any, Final

from mindtorch_core.backend import (
    BOOL,
    COMPLEX,
    FLOATING,
    WIDER,
    Tensor,
    bool_,
    broadcast,
    check_alpha,
    dtype,
    numel,
    result_type,
)

from .binary import Forms, binary, floats
from .operands import (
    cast,
    computed_in,
    element,
    empty,
    factor,
    made,
    number,
    operand,
    takes,
    written,
)
from .steps import STEPS, Call, Steps, Work, known, rule_of, steps

__all__: list[str] = []


def _forms(base: str, *, scalar: str = "") -> Forms:
    """Operators named by one pattern: ``Mul``, ``Muls``, ``InplaceMul``, ``InplaceMuls``."""
    forms = base, scalar, f"Inplace{base}", f"Inplace{scalar}"
    return Forms(*(form if known(form) else "" for form in forms))


def _compared(base: str) -> Forms:
    return _forms(f"{base}Tensor", scalar=f"{base}Scalar")


# ---- arithmetic ----------------------------------------------------------------------------------


def _alpha(d: dtype, *, alpha: Any = 1) -> tuple[Any, ...]:
    check_alpha(alpha, d)
    return (factor(alpha, d),)


_DIVISIONS: Final = {"trunc": 1, "floor": 2}


def _division(*, rounding_mode: str | None = None) -> Forms:
    if rounding_mode is None:
        return _forms("Div", scalar="Divs")
    return _forms("DivMod", scalar="DivMods")


def _mode(d: dtype, *, rounding_mode: str | None = None) -> tuple[Any, ...]:
    return () if rounding_mode is None else (_DIVISIONS[rounding_mode],)


binary("add", _forms("Add", scalar="Adds"), extra=_alpha, single=True)
binary("sub", _forms("Sub", scalar="Subs"), extra=_alpha, single=True)
binary("mul", _forms("Mul", scalar="Muls"), single=True)
binary("div", _division, extra=_mode)
binary("floor_divide", _forms("FloorDivide", scalar="FloorDivides"))
binary("remainder", Forms(
    "RemainderTensorTensor", "RemainderTensorScalar",
    "InplaceRemainderTensorTensor", "InplaceRemainderTensorScalar",
))  # fmt: skip
binary("fmod", Forms("FmodTensor", "FmodScalar", "InplaceFmodTensor", "InplaceFmodScalar"))
binary("pow", Forms(
    "PowTensorTensor", "PowTensorScalar", "InplacePowTensorTensor", "InplacePowTensorScalar"
))  # fmt: skip
binary("atan2", _forms("Atan2"), common=floats)


def _division_steps(steps_of: Steps, whole: Steps) -> Steps:
    """Quotients, which two kinds of dtypes need other operators for.

    Args:
        steps_of: the steps of the others.
        whole: those of whole numbers that are divided as floats.
    """

    def run(self: Any, other: Any, *, rounding_mode: str | None = None) -> Work | None:
        d = result_type(self, other)
        if rounding_mode is None:
            return (whole if d.category < FLOATING else steps_of)(self, other)
        if rounding_mode != "trunc" or d not in WIDER:
            return steps_of(self, other, rounding_mode=rounding_mode)
        work = steps_of(self, other)  # rounded to a half before it is cut
        if work is not None and work[1]:
            work[1].append(("InplaceTrunc", (work[0],)))
        return work

    return run


def _divided_whole(self: Any, other: Any) -> Work | None:
    spec = rule_of("div")(self, other)
    d = floats(self, other)
    if not takes("Div", d):
        return None
    calls: list[Call] = []
    out = made(spec, self.raw_device)
    if numel(spec.shape):
        pair = [operand(t, d, self.raw_device, calls) for t in (self, other)]
        calls.append(("Div", (*pair, out)))
    return out, calls


_divided_inplace = STEPS["aten::div_"]
STEPS["aten::div"] = _division_steps(STEPS["aten::div"], _divided_whole)
STEPS["aten::div_"] = _division_steps(_divided_inplace, _divided_inplace)

for _name, _operator in (("maximum", "Maximum"), ("minimum", "Minimum")):
    binary(_name, Forms(_operator))
    del STEPS[f"aten::{_name}_"]

# ---- comparisons and logic -----------------------------------------------------------------------

for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    binary(_name, _compared(_name.capitalize()))
for _name in ("And", "Or", "Xor"):
    binary(f"logical_{_name.lower()}", _forms(f"Logical{_name}"))
    binary(f"bitwise_{_name.lower()}", _compared(f"Bitwise{_name}"))


@steps("aten::isnan")
def isnan(self: Any) -> Work | None:
    """Only NaN differs from itself."""
    spec = rule_of("isnan")(self)
    out = made(spec, self.raw_device)
    if not numel(spec.shape):
        return out, []
    if self.raw_dtype.category < FLOATING:
        return out, [("InplaceZero", (out,))]
    if not takes("NeTensor", self.raw_dtype):
        return None
    return out, [("NeTensor", (self, self, out))]


# ---- selection -----------------------------------------------------------------------------------


@steps("aten::where.self")
def where(condition: Any, self: Any, other: Any) -> Work | None:
    """Elements of one or the other operand."""
    spec = rule_of("where.self")(condition, self, other)
    d, on = spec.dtype, condition.raw_device
    if not takes("SWhere", d, "self"):
        return None
    out, calls = made(spec, on), list[Call]()
    if numel(spec.shape):
        mask = cast(condition, bool_, calls)
        pair = [operand(value, d, on, calls) for value in (self, other)]
        calls.append(("SWhere", (mask, *pair, out)))
    return out, calls


@steps("aten::clamp")
def clamp(self: Any, min: Any = None, max: Any = None) -> Work | None:
    """Elements limited to a range."""
    spec = rule_of("clamp")(self, min, max)
    d = spec.dtype
    wide = computed_in("Clamp", d)
    if wide is None or d.category in (BOOL, COMPLEX):
        return None
    out, calls = made(spec, self.raw_device), list[Call]()
    if numel(spec.shape):
        bounds = [None if v is None else number(v, wide) for v in (min, max)]
        target = out if wide is d else empty(spec.shape, wide, self.raw_device)
        calls.append(("Clamp", (cast(self, wide, calls), *bounds, target)))
        written(out, target, calls)
    return out, calls


@steps("aten::threshold_backward")
def threshold_backward(grad_output: Any, self: Any, threshold: Any) -> Work | None:
    """The gradient where ``self`` is above the threshold."""
    spec = rule_of("threshold_backward")(grad_output, self, threshold)
    d = spec.dtype
    if not takes("ThresholdBackward", d) or self.raw_shape != grad_output.raw_shape:
        return None
    out, calls = made(spec, self.raw_device), list[Call]()
    if numel(spec.shape):
        pair = [cast(t, d, calls) for t in (grad_output, self)]
        calls.append(("ThresholdBackward", (*pair, number(threshold, d), out)))
    return out, calls


@steps("aten::masked_fill_")
def masked_fill_(self: Any, mask: Any, value: Any) -> Work | None:
    """Write a number where a mask holds."""
    d = self.raw_dtype
    given = isinstance(value, Tensor)
    if mask.raw_dtype is not bool_ or broadcast(self.raw_shape, mask.raw_shape) != self.raw_shape:
        return None
    if (given and (value.raw_shape or value.raw_dtype is not d)) or not takes(
        "InplaceMaskedFillScalar", d
    ):
        return None
    fill = value if given else element(value, d)
    if not numel(self.raw_shape):
        return self, []
    operator = "InplaceMaskedFillTensor" if given else "InplaceMaskedFillScalar"
    return self, [(operator, (self, mask, fill))]
