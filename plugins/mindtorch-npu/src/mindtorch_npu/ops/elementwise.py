"""Element-wise ops that the core defines on demand."""

from __future__ import annotations

from typing import Any

from mindtorch_core.backend import (
    COMPLEX,
    FLOATING,
    Tensor,
    check_alpha,
    check_inplace_result,
    finfo,
    make_tensor,
    numel,
    result_type,
)

from ..runtime import RUNTIME
from .binary import Forms, binary
from .copying import copied
from .functions import unary
from .operands import apart, cast, factor, made, number, takes, written
from .steps import STEPS, Call, Work, accepts, rule_of, steps

__all__: list[str] = []

for _name, _operator in (("exp2", "Exp2"), ("asinh", "Asinh"), ("acosh", "Acosh"),
                         ("atanh", "Atanh"), ("sinc", "Sinc"), ("erfinv", "Erfinv"),
                         ("lgamma", "Lgamma"), ("digamma", "Digamma")):  # fmt: skip
    unary(_name, _operator, whole="float")
unary("signbit", "Signbit", inplace=False)
binary("gcd", Forms("Gcd"))
binary("bitwise_left_shift", Forms("LeftShift", "LeftShifts"))
binary("bitwise_right_shift", Forms("RightShift"))


# ---- three operands ------------------------------------------------------------------------------


def _combined(name: str, operator: str) -> None:
    """``self + value * (tensor1 op tensor2)``."""
    rule = rule_of(name)

    def run(self: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Work | None:
        spec = rule(self, tensor1, tensor2, value=value)
        d = result_type(self, tensor1, tensor2)
        if spec.dtype is not d or not takes(operator, d):
            return None
        check_alpha(value, d)
        out, calls = made(spec, self.raw_device), list[Call]()
        if numel(spec.shape):
            operands = [cast(t, d, calls) for t in (self, tensor1, tensor2)]
            calls.append((operator, (*operands, factor(value, d), out)))
        return out, calls

    def into_itself(self: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Work | None:
        spec = rule(self, tensor1, tensor2, value=value)
        check_inplace_result(self, spec.shape, spec.dtype)
        d = self.raw_dtype
        same = all(t.raw_dtype is d and apart(t, self) for t in (tensor1, tensor2))
        if same and spec.dtype is d and accepts(f"Inplace{operator}", "selfRef", d):
            if not numel(spec.shape):
                return self, []
            check_alpha(value, d)
            return self, [(f"Inplace{operator}", (self, tensor1, tensor2, factor(value, d)))]
        work = run(self, tensor1, tensor2, value=value)
        return None if work is None else (self, [*work[1], *copied(self, work[0])])

    STEPS[f"aten::{name}"] = run
    STEPS[f"aten::{name}_"] = into_itself


_combined("addcmul", "Addcmul")
_combined("addcdiv", "Addcdiv")


def _interpolated(self: Any, end: Any, weight: Any) -> Work | None:
    kind = "lerp.Tensor" if isinstance(weight, Tensor) else "lerp.Scalar"
    spec = rule_of(kind)(self, end, weight)
    d = spec.dtype
    operator = "Lerp" if isinstance(weight, Tensor) else "Lerps"
    tensors = [t for t in (self, end, weight) if isinstance(t, Tensor)]
    if any(t.raw_dtype is not d for t in tensors) or not takes(operator, d):
        return None
    out = made(spec, self.raw_device)
    if not numel(spec.shape):
        return out, []
    last = weight if isinstance(weight, Tensor) else number(weight, d)
    return out, [(operator, (self, end, last, out))]


@steps("aten::lerp.Tensor", "aten::lerp.Scalar")
def lerp(self: Any, end: Any, weight: Any) -> Work | None:
    """A point between two operands."""
    return _interpolated(self, end, weight)


@steps("aten::lerp_.Tensor", "aten::lerp_.Scalar")
def lerp_(self: Any, end: Any, weight: Any) -> Work | None:
    """A point between two operands, written into the first."""
    work = _interpolated(self, end, weight)
    if work is None:
        return None
    check_inplace_result(self, work[0].raw_shape, work[0].raw_dtype)
    return self, [*work[1], *copied(self, work[0])]


# ---- others --------------------------------------------------------------------------------------


@steps("aten::nan_to_num")
def nan_to_num(
    self: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Work | None:
    """Numbers in place of NaN and infinities."""
    spec = rule_of("nan_to_num")(self, nan, posinf, neginf)
    d = self.raw_dtype
    out, calls = made(spec, self.raw_device), list[Call]()
    if d.category < FLOATING:
        return (written(out, self, calls) if numel(spec.shape) else out), calls
    if d.category == COMPLEX or not takes("NanToNum", d):
        return None
    if numel(spec.shape):
        bounds = (
            finfo(d).max if posinf is None else posinf,
            finfo(d).min if neginf is None else neginf,
        )
        calls.append(("NanToNum", (self, 0.0 if nan is None else nan, *bounds, out)))
    return out, calls


@steps("aten::complex")
def complex_(real: Any, imag: Any) -> Work:
    """Complex numbers of real and imaginary parts, copied to where they belong."""
    spec = rule_of("complex")(real, imag)
    out = made(spec, real.raw_device)
    calls: list[Call] = []
    for i, part in enumerate((real, imag)):
        calls += copied(_part(out, i, part.raw_dtype), part)
    return out, calls


def _part(t: Tensor, which: int, d: Any) -> Tensor:
    """The real or imaginary parts of complex numbers, as a view."""
    strides, offset = t.raw_geometry()
    steps_, at = tuple(2 * n for n in strides), 2 * offset + which
    storage = t.untyped_storage()
    data = RUNTIME.payload(storage, t.raw_shape, steps_, at, d)
    return make_tensor(data, t.raw_shape, d, t.raw_device, RUNTIME.key, storage, (steps_, at))
