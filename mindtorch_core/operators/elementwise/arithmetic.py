"""Element-wise ops: arithmetic, comparisons, logic."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dispatch.calls.binding import plain_number
from ...dispatch.functions import fn
from ...dispatch.opdef import NONDIFF
from ...opdefs import rules
from ...opdefs.define import EVERYWHERE, op
from ...opdefs.formulas import conj
from ...opdefs.operands import as_operand
from ...tensors.tensor import Tensor
from ...values.dtypes import (
    BOOL,
    COMPLEX,
    FLOATING,
    INTEGER,
    bool_,
    checked_number,
    dtype,
    of_number,
)
from ...values.promotion import check_alpha, result_type, to_floating
from . import elementary


def unary(name: str, doc: str, grad: Any, *, to_float: bool = False, **more: Any) -> None:
    """Define ``name(self)``; ``to_float`` for functions whose value on integers is a float.

    Unless it is said otherwise, the in-place form is a function of ``torch`` too.
    """
    properties: dict[str, Any] = {
        "doc": doc,
        "rule": rules.pointwise(to_floating if to_float else None),
        "kinds": "bifc",
        "grad": grad if isinstance(grad, str) else {"self": grad},
        "primitive": "decomposition" not in more,
        "promotes": to_float,
        "compute_dtype": rules.floating if to_float else result_type,
        "inplace": True,
        "out": True,
        "tags": frozenset({"pointwise"}),
    } | more
    if properties["inplace"]:
        properties.setdefault("inplace_namespaces", EVERYWHERE)
    rule = properties["rule"] = rules.limited(properties["rule"], name, properties["kinds"])
    if "decomposition" in more and properties["kinds"] != "bifc":
        properties["decomposition"] = _checked(rule, more["decomposition"])
    op(f"{name}(Tensor self) -> Tensor", **properties)


def _checked(rule: Callable[..., Any], formula: Callable[..., Any]) -> Callable[..., Any]:
    """A composition that refuses what the op's rule refuses."""

    def composed(self: Any) -> Any:
        rule(self)
        return formula(self)

    return composed


def binary(
    name: str,
    doc: str,
    grad: Any,
    *,
    result: Callable[[dtype], dtype] | None = None,
    signature: str = "Tensor self, Tensor other",
    limited: bool = True,
    **more: Any,
) -> None:
    """Define ``name(self, other)`` with broadcasting and promotion.

    Unless it is ``limited``, its rule refuses dtypes itself.
    """
    properties: dict[str, Any] = {
        "doc": doc,
        "rule": rules.pointwise(result, count=2),
        "kinds": "bifc",
        "grad": grad,
        "primitive": "decomposition" not in more,
        "numbers": True,
        "promotes": True,
        "broadcasts": True,
        "inplace": True,
        "out": True,
        "tags": frozenset({"pointwise"}),
    } | more
    if limited:
        properties["rule"] = rules.limited(properties["rule"], name, properties["kinds"])
    op(f"{name}({signature}) -> Tensor", **properties)


# ---- arithmetic ---------------------------------------------------------------------------------


def _sub_dtype(self: Any, other: Any, *, alpha: Any = 1) -> dtype:
    """Subtraction of booleans is refused, as in PyTorch."""
    kinds = [getattr(x, "_dtype", None) or of_number(x) for x in (self, other)]
    if kinds == [bool_, bool_]:
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead."
        )
    if bool_ in kinds:
        raise RuntimeError(
            "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying "
            "to invert a mask, use the `~` or `logical_not()` operator instead."
        )
    return result_type(self, other)


def _sub_rule(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    _sub_dtype(self, other)
    return _add_rule(self, other, alpha=alpha)


def _add_rule(self: Any, other: Any, *, alpha: Any = 1) -> Any:
    d = result_type(self, other)
    if alpha.__class__ is not int:
        check_alpha(alpha, d)
    return rules.pointwise_spec((self, other), d)


binary(
    "add",
    "Sum ``input + alpha * other``.",
    {"self": lambda g: g, "other": lambda g, alpha: g if alpha == 1 else g * alpha},
    rule=_add_rule,
    signature="Tensor self, Tensor other, *, Scalar alpha=1",
    operators=("__add__", "__radd__"),
    number_first="any",
    older_form=True,
)
binary(
    "sub",
    "Difference ``input - alpha * other``.",
    {"self": lambda g: g, "other": lambda g, alpha: g.neg() if alpha == 1 else g * -alpha},
    rule=_sub_rule,
    compute_dtype=_sub_dtype,
    kinds="ifc",
    signature="Tensor self, Tensor other, *, Scalar alpha=1",
    operators=("__sub__",),
    number_first="any",
    older_form=True,
)
binary(
    "rsub",
    "Difference ``other - alpha * input``.",
    {"self": lambda g, alpha: g * -alpha, "other": lambda g: g},
    rule=_sub_rule,
    kinds="ifc",
    signature="Tensor self, Tensor other, *, Scalar alpha=1",
    operators=("__rsub__",),
    decomposition=lambda self, other, *, alpha=1: _rsub(self, other, alpha),
    node_names=("RsubBackward1",),  # of a number, as nearly always
    primitive=False, inplace=False, out=False,
)  # fmt: skip


def _rsub(self: Tensor, other: Any, alpha: Any) -> Tensor:
    if self._dtype is bool_ or isinstance(other, bool):
        _sub_dtype(other, self)
    return fn.sub(as_operand(self, other), self, alpha=alpha)


binary(
    "mul",
    "Product, element by element.",
    {"self": lambda g, other: g * conj(other), "other": lambda g, self: g * conj(self)},
    operators=("__mul__", "__rmul__"),
    number_first="any",
)


def _div_rule(self: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    if rounding_mode not in (None, "trunc", "floor"):
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
            f"'{rounding_mode}'"
        )
    d = result_type(self, other)
    if d.category in (BOOL, COMPLEX) and rounding_mode is not None:
        raise NotImplementedError(f"\"div_{rounding_mode}\" not implemented for '{d.label}'")
    return rules.pointwise_spec((self, other), to_floating(d) if rounding_mode is None else d)


def _div_dtype(*args: Any, rounding_mode: str | None = None) -> dtype:
    d = result_type(*args)
    return to_floating(d) if rounding_mode is None else d


binary(
    "div",
    "Quotient; ``rounding_mode`` is None (true division), ``'trunc'`` or ``'floor'``.",
    {
        "self": lambda g, other, rounding_mode: (
            g / conj(other) if rounding_mode is None else fn.zeros_like(g)
        ),
        "other": lambda g, self, other, rounding_mode: (
            -g * conj(self / other / other) if rounding_mode is None else fn.zeros_like(g)
        ),
    },
    rule=_div_rule,
    compute_dtype=_div_dtype,
    signature="Tensor self, Tensor other, *, str? rounding_mode=None",
    overloads=("Tensor", "Scalar", "Tensor_mode", "Scalar_mode"),
    operators=("__truediv__", "__div__"),
    number_first="quotient",
)
op(
    "true_divide(Tensor self, Tensor other) -> Tensor",
    doc="Alias of `div` without rounding.",
    decomposition=lambda self, other: self / other,
    numbers=True,
    number_first="quotient",
    inplace=True,
    out=True,
    out_needs=("cast",),
)
op(
    "divide(Tensor self, Tensor other, *, str? rounding_mode=None) -> Tensor",
    overloads=("Tensor", "Scalar", "Tensor_mode", "Scalar_mode"),
    doc="Alias of `div`.",
    decomposition=lambda self, other, *, rounding_mode=None: fn.div(
        self, other, rounding_mode=rounding_mode
    ),
    numbers=True,
    number_first="quotient",
    inplace=True,
    out=True,
    out_needs=("cast",),
)
op(
    "_rdiv(Tensor self, Tensor other) -> Tensor",
    doc="Quotient ``other / input``.",
    decomposition=lambda self, other: self.reciprocal() * other,
    numbers=True,
    operators=("__rtruediv__", "__rdiv__"),
    namespaces=(),
)
binary(
    "floor_divide",
    "Quotient rounded towards minus infinity.",
    NONDIFF,
    kinds="if",
    overloads=("", "Scalar"),
    operators=("__floordiv__",),
    number_first="any",
)
op(
    "_rfloordiv(Tensor self, Tensor other) -> Tensor",
    doc="Quotient ``other // input``.",
    decomposition=lambda self, other: fn.floor_divide(as_operand(self, other), self),
    numbers=True,
    kinds="if",
    operators=("__rfloordiv__",),
    namespaces=(),
)
binary(
    "remainder",
    "Remainder with the sign of the divisor, as Python's ``%``.",
    {
        "self": lambda g: g,
        "other": lambda g, self, other: -g * fn.div(self, other, rounding_mode="floor"),
    },
    kinds="if",
    operators=("__mod__",),
    number_first="tensor",
)
binary(
    "fmod",
    "Remainder with the sign of the dividend, as C's ``fmod``.",
    {
        "self": lambda g: g,
        "other": lambda g, self, other: -g * fn.div(self, other, rounding_mode="trunc"),
    },
    kinds="if",
    primitive=False,
    decomposition=lambda self, other: _fmod(self, other),
)


def _fmod(self: Any, other: Any) -> Any:
    """From the other remainder, whose sign is the divisor's: exact in every dtype."""
    b = as_operand(self, other)
    d = result_type(self, b)
    a, b = self.to(d), b.to(d)
    if d.category == FLOATING:
        return fn.remainder(a.abs(), b.abs()).copysign(a)
    rest = fn.remainder(a, b)
    return fn.where((rest != 0) & ((a < 0) != (b < 0)), rest - b, rest)


op(
    "_rmod(Tensor self, Tensor other) -> Tensor",
    doc="Remainder ``other % input``.",
    decomposition=lambda self, other: fn.remainder(as_operand(self, other), self),
    numbers=True,
    kinds="if",
    operators=("__rmod__",),
    namespaces=(),
)


def _pow_dtype(self: Any, other: Any) -> dtype:
    d = result_type(self, other)
    if d.category == BOOL and other.__class__ is not bool:  # itself, or True to the power of False
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    if d.category == INTEGER and isinstance(other, int):
        if other < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        checked_number(other, d)
    return d


def _pow_rule(self: Any, other: Any) -> Any:
    return rules.pointwise_spec((self, other), _pow_dtype(self, other))


def _pow_grad_base(g: Any, self: Any, exponent: Any) -> Any:
    if not hasattr(exponent, "_keys"):
        if exponent == 0:
            return fn.zeros_like(g)
        return g * conj(self ** (exponent - 1) * exponent)
    slope = g * conj(exponent * self ** (exponent - 1))
    return fn.where(exponent == 0, 0.0, slope)


def _pow_grad_exponent(g: Any, self: Any, exponent: Any, result: Any) -> Any:
    slope = conj(result * self.log())
    size = exponent.real if exponent._dtype.category == COMPLEX else exponent
    return g * fn.where((self == 0) & (size >= 0), 0.0, slope)


binary(
    "pow",
    "Power ``input ** exponent``.",
    {"self": _pow_grad_base, "exponent": _pow_grad_exponent},
    rule=_pow_rule,
    limited=False,
    compute_dtype=_pow_dtype,
    kinds="ifc",
    signature="Tensor self, Tensor exponent",
    overloads=("Tensor_Tensor", "Tensor_Scalar"),
    operators=("__pow__",),
)
op(
    "pow.Scalar(Scalar self, Tensor exponent) -> Tensor",
    doc="Power ``input ** exponent``.",
    decomposition=lambda self, exponent: fn.pow(as_operand(exponent, plain_number(self)), exponent),
    out=True,
    namespaces=("torch",),
    tags=frozenset({"pointwise"}),
)
op(
    "_rpow(Tensor self, Tensor other) -> Tensor",
    doc="Power ``other ** input``.",
    decomposition=lambda self, other: fn.pow(as_operand(self, other), self),
    numbers=True,
    kinds="ifc",
    operators=("__rpow__",),
    namespaces=(),
)
binary(
    "maximum",
    "Larger of two elements; NaN if either is NaN.",
    {
        "self": lambda g, self, other: _share(g, self, other, self < other),
        "other": lambda g, self, other: _share(g, self, other, other < self),
    },
    kinds="bif",
    inplace=False,
    numbers=False,
)
binary(
    "minimum",
    "Smaller of two elements; NaN if either is NaN.",
    {
        "self": lambda g, self, other: _share(g, self, other, self > other),
        "other": lambda g, self, other: _share(g, self, other, other > self),
    },
    kinds="bif",
    inplace=False,
    numbers=False,
)


def _share(g: Tensor, self: Tensor, other: Tensor, loses: Tensor) -> Tensor:
    """The gradient of one of two operands: none where it loses, half of it where they are equal."""
    tied: Any = self == other
    return fn.where(loses, 0, fn.where(tied, g / 2, g))


def _squared_distance(self: Any, other: Any) -> Any:
    """Of points from the origin, where infinity stands for 0: an angle there has no slope."""
    square = self * self + other * other
    return fn.where(square == 0, float("inf"), square)


binary(
    "atan2",
    "Angle of the point (other, input) in radians.",
    {
        "self": lambda g, self, other: g * other / _squared_distance(self, other),
        "other": lambda g, self, other: g * -self / _squared_distance(self, other),
    },
    result=to_floating,
    compute_dtype=rules.floating,
    kinds="bif",
    numbers=False,
)

_NO_NEGATIVE = (
    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
    "mask, use the `~` or `logical_not()` operator instead."
)
unary(
    "neg",
    "Negative.",
    lambda g: g.neg(),
    operators=("__neg__",),
    rule=rules.pointwise(rules.not_bool(_NO_NEGATIVE)),
    kinds="ifc",
    out_needs=("dtype",),
)


def _positive(self: Tensor) -> Tensor:
    rules.not_bool("The `+` operator, on a bool tensor is not supported.")(self._dtype)
    return self


op(
    "positive(Tensor(a) self) -> Tensor(a)",
    doc="The tensor itself.",
    decomposition=_positive,
    kinds="ifc",
    operators=("__pos__",),
    tags=frozenset({"pointwise"}),
)


_abs_rule = rules.pointwise(lambda d: d.to_real())


def _abs_inplace_rule(self: Tensor) -> Any:
    """Absolute values are real: complex memory has no place for them."""
    if self._dtype.category == COMPLEX:
        raise RuntimeError("In-place abs is not supported for complex tensors.")
    return _abs_rule(self)


def _abs_inplace(self: Any) -> Any:
    _abs_inplace_rule(self)
    return self.copy_(self.abs())


unary(
    "abs",
    "Absolute value.",
    lambda g, self: g * self.sgn(),
    operators=("__abs__",),
    inplace_decomposition=_abs_inplace,
    inplace_rule=_abs_inplace_rule,
    rule=_abs_rule,
    kinds="ifc",
    out_needs=("own dtype",),
)
unary(
    "sign", "-1, 0 or 1 by sign.", lambda g: fn.zeros_like(g), kinds="bif",
    decomposition=elementary.sign, inplace_namespaces=("Tensor",), out_needs=("dtype",),
)  # fmt: skip
op(
    "sgn(Tensor self) -> Tensor",
    doc="Sign; for complex numbers the number divided by its absolute value.",
    decomposition=lambda self: (
        fn.where(self == 0, 0, self / fn.where(self == 0, 1, self.abs()))
        if self._dtype.category == COMPLEX
        else self.sign()
    ),
    inplace=True,
    out=True,
    tags=frozenset({"pointwise"}),
    out_needs=("dtype",),
)
op(
    "square(Tensor self) -> Tensor",
    doc="Square.",
    decomposition=lambda self: self**2,
    inplace=True,
    inplace_namespaces=EVERYWHERE,
    out=True,
    tags=frozenset({"pointwise"}),
)
