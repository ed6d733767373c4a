"""Arithmetic, comparisons and logic of two operands."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_core.backend import (
    BOOL,
    COMPLEX,
    FLOATING,
    Tensor,
    bool_,
    broadcast_all,
    check_alpha,
    check_inplace_result,
    dtype,
    result_type,
    to_floating,
)

from ..arrays import (
    NUMPY_OF,
    QUIET,
    WIDER,
    array_of,
    as_operands_lie,
    cast,
    exact,
    in_common_order,
    operands,
    quietly,
    recast,
    scalar,
    wrap,
)
from ..large import many
from ..powers import power, power_of_number
from ..register import composition_of, kernel, register, rule_of
from ..remainders import remainder
from .pointwise import Ufunc, arithmetic, binary, inplace, large, refuse, subtracted_from
from .ufuncs import note


def _scaled(name: str, ufunc: Ufunc, guard: Callable[[Any, Any], None] | None = None) -> None:
    """Register ``add`` or ``sub``, whose second operand may be multiplied by ``alpha``."""

    def multiplied(self: Any, other: Any, alpha: Any) -> Any:
        d = result_type(self, other)
        check_alpha(alpha, d)
        factor = exact(alpha, d)
        if not isinstance(other, Tensor):
            return other * alpha
        return wrap(quietly(np.multiply, cast(other, d), factor), d)

    def of_halves(self: Any, other: Any, alpha: Any) -> Any:
        """The result where it is of half precision, rounded once; else None.

        What is taken from a number is rounded before, as PyTorch does with fewer elements than a
        vector has.
        """
        d = result_type(self, other)
        if d not in WIDER or not self.raw_shape:
            return None
        check_alpha(alpha, d)
        a, b = array_of(self, d), array_of(other, d)
        broadcast_all((a.shape, b.shape))
        factor = exact(alpha, d).astype(np.float32)
        b = quietly(np.multiply, recast(b, np.float32), factor)
        data = quietly(_rounded, ufunc, recast(a, np.float32), b, NUMPY_OF[d])
        return wrap(as_operands_lie(data, self, other), d)

    def made_by(factory: Callable[..., Any]) -> Callable[..., Any]:
        def with_alpha(self: Any, other: Any, alpha: Any) -> Any:
            if alpha.__class__ is int and alpha == 1:
                return run(self, other)
            if guard is not None:
                guard(self, other)
            d = self.raw_dtype
            if (
                alpha.__class__ is float
                and other.__class__ is Tensor
                and other.raw_dtype is d
                and d.category == FLOATING
                and (d not in WIDER or not self.raw_shape)
            ):
                factor = scalar(alpha, d)
                return run(self, wrap(QUIET.run(np.multiply, other.raw_data, factor), d))
            found = of_halves(self, other, alpha)
            if found is None:
                return run(self, multiplied(self, other, alpha))
            if factory is binary:
                return found
            check_inplace_result(self, found.raw_shape, found.raw_dtype)
            np.copyto(self.raw_data, found.raw_data, casting="unsafe")
            return self

        run: Callable[..., Any] = factory(name, ufunc, guard=guard, option=with_alpha)
        return run

    register(name, made_by(binary))
    register(f"{name}_", made_by(inplace))


def _rounded(ufunc: Ufunc, a: Any, b: Any, to: Any) -> Any:
    return recast(ufunc(a, b), to)


def _no_bool(self: Any, other: Any) -> None:
    kind = other.__class__
    if self.raw_dtype is bool_ or kind is bool or (kind is Tensor and other.raw_dtype is bool_):
        refuse("sub", self, other)


def _from_scaled(self: Any, other: Any, alpha: Any) -> Any:
    return composition_of("rsub")(self, other, alpha=alpha)


def _no_zero(d: dtype, dividend: Any, divisor: Any) -> None:
    """Integer division by zero is an error, as in PyTorch, unless there is nothing to divide."""
    if d.category < FLOATING and dividend.size and not np.all(divisor):
        raise RuntimeError("ZeroDivisionError")


def _no_odd_number(self: Any, exponent: Any) -> None:
    """Let the rule look at what is negative, or too large for some integers."""
    if exponent.__class__ is int and not 0 <= exponent < 128:
        refuse("pow", self, exponent)


def _by_exponent(factory: Callable[..., Callable[..., Any]]) -> Callable[..., Any]:
    """A kernel of powers, made by `binary` or `inplace`."""
    of_tensor = factory("pow", power, guard=_no_odd_number)
    of_number = factory("pow", power_of_number, guard=_no_odd_number)

    def run(self: Any, exponent: Any) -> Any:
        return (of_tensor if isinstance(exponent, Tensor) else of_number)(self, exponent)

    return run


_scaled("add", np.add)
_scaled("sub", np.subtract, _no_bool)
register("rsub", binary("rsub", subtracted_from, guard=_no_bool, option=_from_scaled))
arithmetic("mul", np.multiply, single=True)
for _name, _factory in (("pow", binary), ("pow_", inplace)):
    register(_name, _by_exponent(_factory))
arithmetic("floor_divide", np.floor_divide, check=_no_zero)
arithmetic("remainder", remainder, check=_no_zero)
arithmetic("atan2", np.arctan2, compute=to_floating)
arithmetic("fmod", np.fmod, check=_no_zero)
arithmetic("nextafter", np.nextafter)
register("maximum", binary("maximum", np.maximum))
register("minimum", binary("minimum", np.minimum))
for _name, _ufunc in (
    ("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal),
    ("gt", np.greater), ("ge", np.greater_equal),
):  # fmt: skip
    arithmetic(_name, _ufunc, result=bool_)
for _name in ("and", "or", "xor"):
    arithmetic(f"logical_{_name}", getattr(np, f"logical_{_name}"), result=bool_)
    arithmetic(f"bitwise_{_name}", getattr(np, f"bitwise_{_name}"))

_floor_div = binary("floor_divide", np.floor_divide, check=_no_zero)


def _truncated(a: Any, b: Any) -> Any:
    return np.trunc(np.true_divide(a, b))


def _rounded_div(self: Any, other: Any, mode: str) -> Any:
    """Quotient rounded down or towards zero."""
    if mode not in ("floor", "trunc") or result_type(self, other).category in (BOOL, COMPLEX):
        rule_of("div")(self, other, rounding_mode=mode)  # which refuses these
    if mode == "floor":
        return _floor_div(self, other)
    a, b, d = operands(self, other)
    _no_zero(d, a, b)
    if d.category >= FLOATING:
        return wrap(large(_truncated, d, a, b) if many(a) else quietly(_truncated, a, b), d)
    quotient = quietly(np.floor_divide, a, b)
    inexact = (quotient * b != a) & ((a < 0) != (b < 0))
    return wrap(quotient + inexact.astype(quotient.dtype), d)


def _rounded_div_inplace(self: Any, other: Any, mode: str) -> Any:
    result = _rounded_div(self, other, mode)
    check_inplace_result(self, result.raw_shape, result.raw_dtype)
    np.copyto(self.raw_data, result.raw_data, casting="unsafe")
    return self


_quotient: dict[str, Any] = {"compute": to_floating, "single": True}
register("div", binary("div", np.true_divide, option=_rounded_div, **_quotient))
register("div_", inplace("div", np.true_divide, option=_rounded_div_inplace, **_quotient))
note("div", refuses=True)  # when it rounds


@kernel("_conj_physical")
def conj_physical(self: Any) -> Any:
    """Complex conjugate; a copy of what is real."""
    data = self.raw_data
    made = np.conjugate(data) if data.dtype.kind == "c" else data.copy("K")
    return wrap(in_common_order(made, data), self.raw_dtype)
