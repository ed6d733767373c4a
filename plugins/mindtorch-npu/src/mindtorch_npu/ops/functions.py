"""Functions of one tensor, element by element."""

from __future__ import annotations

from typing import Any, Final

from mindtorch_core.backend import FLOATING, check_inplace_result, numel, to_floating

from .operands import cast, computed_in, empty, made, packed, written
from .steps import STEPS, Call, Work, accepts, inputs, known, outputs, rule_of, takes_strides

__all__ = ["unary"]


def unary(name: str, operator: str, *, inplace: bool = True, whole: str = "") -> None:
    """Define the steps of ``name(self)`` and, if there is one, of its in-place form.

    Args:
        name: the op.
        operator: what computes it.
        inplace: whether the op has an in-place form.
        whole: what it makes of whole numbers: ``float`` in the default dtype, the number itself
            (``same``), or nothing special.
    """
    rule = rule_of(name)
    writing = f"Inplace{operator}"

    def forward(self: Any) -> Work | None:
        spec = rule(self)
        calls: list[Call] = []
        if whole == "same" and self.raw_dtype.category < FLOATING:
            out = made(spec, self.raw_device)
            return (written(out, self, calls) if numel(spec.shape) else out), calls
        d = to_floating(self.raw_dtype) if whole == "float" else self.raw_dtype
        wide = computed_in(operator, d, result="" if _retyped(spec, d) else outputs(operator)[0])
        if wide is None:
            return None
        out = made(spec, self.raw_device)
        if not numel(spec.shape):
            return out, calls
        source = packed(operator, inputs(operator)[0], cast(self, wide, calls), calls)
        kept = spec.dtype if _retyped(spec, d) else wide
        target = out
        if kept is not spec.dtype or not (
            out.raw_layout is None or takes_strides(operator, outputs(operator)[0])
        ):
            target = empty(spec.shape, kept, self.raw_device)
        calls.append((operator, (source, target)))
        return written(out, target, calls), calls

    def into_itself(self: Any) -> Work | None:
        spec = rule(self)
        check_inplace_result(self, spec.shape, spec.dtype)
        if not numel(spec.shape) or (whole == "same" and self.raw_dtype.category < FLOATING):
            return self, []
        if (
            spec.dtype is self.raw_dtype
            and known(writing)
            and accepts(writing, inputs(writing)[0], spec.dtype)
        ):
            return self, [(writing, (self,))]
        work = forward(self)
        return None if work is None else (written(self, work[0], work[1]), work[1])

    STEPS[f"aten::{name}"] = forward
    if inplace:
        STEPS[f"aten::{name}_"] = into_itself


def _retyped(spec: Any, d: Any) -> bool:
    """Whether a result is of another dtype than what is computed: a truth value, a real part."""
    return spec.dtype is not d


_FLOAT_VALUED: Final = (
    ("exp", "Exp"), ("expm1", "Expm1"), ("log", "Log"), ("log1p", "Log1p"), ("log2", "Log2"),
    ("log10", "Log10"), ("sqrt", "Sqrt"), ("rsqrt", "Rsqrt"), ("reciprocal", "Reciprocal"),
    ("sin", "Sin"), ("cos", "Cos"), ("tan", "Tan"), ("asin", "Asin"), ("acos", "Acos"),
    ("atan", "Atan"), ("sinh", "Sinh"), ("cosh", "Cosh"), ("tanh", "Tanh"), ("erf", "Erf"),
    ("erfc", "Erfc"), ("sigmoid", "Sigmoid"),
)  # fmt: skip

for _name, _operator in _FLOAT_VALUED:
    unary(_name, _operator, whole="float")
for _name, _operator in (
    ("floor", "Floor"),
    ("ceil", "Ceil"),
    ("trunc", "Trunc"),
    ("round", "Round"),
):
    unary(_name, _operator, whole="same")
unary("frac", "Frac")
unary("neg", "Neg")
unary("abs", "Abs", inplace=False)
unary("sign", "Sign")
unary("relu", "Relu")
unary("logical_not", "LogicalNot", inplace=False)
unary("bitwise_not", "BitwiseNot")
unary("isfinite", "IsFinite", inplace=False)
unary("isinf", "IsInf", inplace=False)
