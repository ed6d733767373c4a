"""Floating numbers as such: their sign, exponent and mantissa; NaN and infinities."""

from __future__ import annotations

import math
from typing import Any, Final

from ...dispatch.functions import fn
from ...dispatch.opdef import NONDIFF, TensorSpec
from ...opdefs import rules
from ...opdefs.define import EVERYWHERE, op
from ...tensors.tensor import Tensor
from ...values.dtypes import (
    BOOL,
    COMPLEX,
    FLOATING,
    bfloat16,
    bool_,
    cast_number,
    dtype,
    float16,
    float32,
    float64,
    int16,
    int32,
    int64,
)
from ...values.promotion import WIDER, result_type, to_floating
from .composed import truth_of, two

# Of each type: the integer type of the same size, bits of the mantissa, the largest number.
_FORMAT: Final[dict[dtype, tuple[dtype, int, float]]] = {
    float16: (int16, 10, 65504.0),
    bfloat16: (int16, 7, (2 - 2.0**-7) * 2.0**127),
    float32: (int32, 23, (2 - 2.0**-23) * 2.0**127),
    float64: (int64, 52, (2 - 2.0**-52) * 2.0**1023),
}


def _bits(x: Tensor) -> Any:
    return x.view(_FORMAT[x._dtype][0])


# ---- signs --------------------------------------------------------------------------------------


def _signbit(x: Tensor) -> Any:
    return _bits(x) < 0 if x._dtype.category == FLOATING else x < 0


op(
    "signbit(Tensor self) -> Tensor",
    doc="True where the sign bit is set: for negative numbers and -0.0.",
    rule=rules.limited(rules.pointwise(bool_), "signbit", "bif", operands=1),
    kinds="bif",
    grad=NONDIFF,
    decomposition=lambda self: (
        self.new_zeros(self._shape, dtype=bool_) if self._dtype.category == BOOL else _signbit(self)
    ),
    out=True,
    tags=frozenset({"pointwise"}),
    out_needs=("dtype",),
)


def _copysign(size: Any, sign: Any) -> Any:
    return fn.where(_signbit(size) == _signbit(sign), size, -size)


two(
    "copysign",
    "The absolute value of ``input`` with the sign of ``other``.",
    {
        "self": lambda g, self, result: g * fn.where(self == 0, 0, result / self),
        "other": lambda g: fn.zeros_like(g),
    },
    lambda a, b: _copysign(*_both_float(a, b)),
    numbers=True,
    overloads=("Tensor", "Scalar"),
)


def _both_float(a: Any, b: Any) -> tuple[Any, Any]:
    """Tensors of one floating type: numbers too have a sign that comparisons do not see."""
    d = to_floating(result_type(a, b))
    if not hasattr(b, "_keys"):
        b = a.new_full((), cast_number(b, d), dtype=d)
    return a.to(d), b.to(d)


def _heaviside_rule(self: Tensor, values: Tensor) -> TensorSpec:
    if self._dtype is not values._dtype:
        raise RuntimeError(
            "heaviside is not yet implemented for tensors with different dtypes: convert one of them "
            f"with x.to(dtype), got {self._dtype} and {values._dtype}"
        )
    if self._dtype.category == COMPLEX:
        raise RuntimeError("heaviside is not yet implemented for complex tensors.")
    return rules.pointwise_spec((self, values), self._dtype)


two(
    "heaviside",
    "0 for negative elements, ``values`` at 0, 1 for positive ones.",
    NONDIFF,
    lambda x, values: fn.where(x == 0, values, (x > 0).to(values._dtype)),
    result=None,
    rule=_heaviside_rule,
    kinds="bif",
    signature="Tensor self, Tensor values",
    out_needs=("dtype",),
)

# ---- NaN and infinities -------------------------------------------------------------------------

for _name, _limit, _doc in (
    ("isposinf", math.inf, "True where plus infinity."),
    ("isneginf", -math.inf, "True where minus infinity."),
):
    op(
        f"{_name}(Tensor self) -> Tensor",
        doc=_doc,
        rule=rules.limited(rules.pointwise(bool_), _name, "bif", operands=1),
        kinds="bif",
        grad=NONDIFF,
        decomposition=truth_of(lambda self, _limit=_limit: self == _limit, "bif", _name),
        out=True,
        out_needs=("dtype",),
        tags=frozenset({"pointwise"}),
    )


def _extreme(name: str, doc: str, first: Any) -> None:
    """Define an op that takes the first operand where ``first`` says so or the second is NaN."""

    def mine(self: Any, other: Any) -> Any:
        return first(self, other) | (other != other)

    two(
        name,
        doc,
        {
            "self": lambda g, self, other: fn.where(mine(self, other), g, 0),
            "other": lambda g, self, other: fn.where(mine(self, other), 0, g),
        },
        lambda a, b: fn.where(mine(a, b), a, b),
        result=None,
        inplace=False,
    )


_extreme("fmax", "Larger of two elements; the other one where one is NaN.", lambda a, b: a >= b)
_extreme("fmin", "Smaller of two elements; the other one where one is NaN.", lambda a, b: a <= b)


def _nan_to_num(
    self: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Any:
    d = self._dtype
    if d.category == COMPLEX:
        parts = (_nan_to_num(part, nan, posinf, neginf) for part in (self.real, self.imag))
        return fn.complex(*parts)
    if d.category < FLOATING:
        return self.clone()
    largest = _FORMAT[d][2]
    result = fn.where(self != self, 0.0 if nan is None else nan, self)
    result = fn.where(self == math.inf, largest if posinf is None else posinf, result)
    return fn.where(self == -math.inf, -largest if neginf is None else neginf, result)


def _nan_to_num_rule(self: Tensor, *args: Any, **kwargs: Any) -> TensorSpec:
    if self._dtype.category < FLOATING:
        return rules.like(self)
    return rules.pointwise_spec((self,), self._dtype)


op(
    "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None) -> Tensor",
    doc="NaN replaced by ``nan`` (0), infinities by ``posinf`` and ``neginf`` (the largest numbers).",
    rule=_nan_to_num_rule,
    grad={"self": lambda g, self: g * self.isfinite()},
    decomposition=_nan_to_num,
    inplace=True,
    out=True,
    tags=frozenset({"pointwise"}),
    inplace_namespaces=EVERYWHERE,
    out_needs=("dtype",),
)

# ---- exponent and mantissa ----------------------------------------------------------------------


def _frexp_rule(self: Tensor) -> tuple[TensorSpec, TensorSpec]:
    if self._dtype.category != FLOATING:
        raise RuntimeError(
            f"torch.frexp() only supports floating-point dtypes, got {self._dtype}: use x.float()"
        )
    spec = rules.pointwise_spec((self,), self._dtype)
    return spec, TensorSpec(spec.shape, int32, spec.strides)


def _frexp(self: Any) -> tuple[Tensor, Tensor]:
    """The exponent's bits are read, and replaced by those of numbers from 1/2 to 1."""
    _frexp_rule(self)
    d = self._dtype
    whole, digits, _ = _FORMAT[d]
    field = (1 << (8 * d.itemsize - 1 - digits)) - 1
    half = (field >> 1) - 1  # the exponent's bits in numbers from 1/2 to 1
    lowest = 2.0 ** (1 - half - 1)
    tiny = (self.abs() < lowest) & (self != 0)
    normal = fn.where(tiny, self * 2.0 ** (digits + 1), self)
    bits = _bits(normal)
    exponents = fn.remainder(fn.floor_divide(bits, 1 << digits), field + 1)
    mantissa = (bits + (half - exponents).to(whole) * (1 << digits)).view(d)
    usual = self.isfinite() & (self != 0)
    exponents = exponents.to(int32) - half - fn.where(tiny, digits + 1, 0).to(int32)
    return fn.where(usual, mantissa, self), fn.where(usual, exponents, 0)


op(
    "frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)",
    doc="Mantissas from 1/2 to 1 and exponents: ``input == mantissa * 2**exponent``.",
    rule=_frexp_rule,
    kinds="f",
    grad={"self": lambda g, result1: g / fn.exp2(result1)},
    output_differentiability=(True, False),
    decomposition=_frexp,
    out=True,
    tags=frozenset({"pointwise"}),
)


def _power_of_two(self: Tensor, other: Tensor) -> Any:
    """``2**other``; of whole exponents in the dtype of the product or wider: it overflows last."""
    if other._dtype.category >= FLOATING:
        return 2.0**other
    d = to_floating(result_type(self, other))
    return 2.0 ** other.to(WIDER.get(d, d))


def _ldexp(self: Tensor, other: Tensor) -> Any:
    product = self * _power_of_two(self, other)
    whole = other._dtype.category < FLOATING
    return product.to(to_floating(result_type(self, other))) if whole else product


op(
    "ldexp.Tensor(Tensor self, Tensor other) -> Tensor",
    doc="``input * 2**other``.",
    decomposition=_ldexp,
    out=True,
    tags=frozenset({"pointwise"}),
)
op(
    "ldexp_(Tensor(a!) self, Tensor other) -> Tensor(a!)",
    doc="In-place version of `ldexp`.",
    decomposition=lambda self, other: self.mul_(_power_of_two(self, other)),
    namespaces=EVERYWHERE,
    tags=frozenset({"pointwise"}),
)
