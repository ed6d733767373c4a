"""Element-wise kernels, made from NumPy ufuncs.

The factories write the wrapping of results out (see `mindtorch_cpu.arrays.wrap`): on small tensors
a Python call costs as much as the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_core.dispatch.registry import registry
from mindtorch_core.dtypes import BOOL, COMPLEX, FLOATING, bool_, dtype, float32
from mindtorch_core.operators.variants import check_inplace_result
from mindtorch_core.promotion import check_alpha, result_type, to_floating
from mindtorch_core.shapes import broadcast_all
from mindtorch_core.tensor import Tensor

from ..arrays import (
    CPU,
    KEYS,
    NUMPY_OF,
    QUIET,
    WIDER,
    array_of,
    cast,
    exact,
    in_common_order,
    ndarray,
    operands,
    quietly,
    scalar,
    wrap,
)
from ..large import LARGE, in_chunks
from ..register import kernel, register
from .ufuncs import note

Ufunc = Callable[..., Any]
_new: Callable[[type[Tensor]], Tensor] = object.__new__


def served(name: str) -> tuple[bool, ...]:
    """By category of dtype, whether an op serves it."""
    definition = registry.entry(name).definition
    kinds = "bifc" if definition is None else definition.kinds
    return tuple(kind in kinds for kind in "bifc")


def refuse(name: str, *args: Any) -> None:
    """Raise the error of the op's rule, for operands that it does not serve."""
    definition = registry.entry(name).definition
    if definition is not None and definition.rule is not None:
        definition.rule(*args)


def recover(error: Exception, ufunc: Ufunc, *arrays: Any) -> Any:
    """Explain a failed ufunc call, or repeat one that interrupted another of the same thread.

    Raises:
        RuntimeError: if the shapes do not broadcast, in PyTorch's words.
    """
    if isinstance(error, RuntimeError):
        return quietly(ufunc, *arrays)
    broadcast_all(a.shape for a in arrays)
    raise error


def large(ufunc: Ufunc, d: dtype, *arrays: Any) -> Any:
    """``ufunc(*arrays)`` for large operands: in chunks where they lie alike in memory."""
    data = in_chunks(ufunc, NUMPY_OF[d], *arrays)
    if data is not None:
        return data
    try:
        return QUIET.run(ufunc, *arrays)
    except (ValueError, RuntimeError) as error:
        return recover(error, ufunc, *arrays)


# ---- two operands -------------------------------------------------------------------------------


def binary(
    name: str,
    ufunc: Ufunc,
    *,
    result: dtype | None = None,
    compute: Callable[[dtype], dtype] | None = None,
    check: Callable[[dtype, Any], None] | None = None,
    guard: Callable[[Any, Any], None] | None = None,
    single: bool = False,
) -> Callable[..., Any]:
    """A kernel for ``ufunc(self, other)``.

    Args:
        name: the op.
        ufunc: the NumPy function.
        result: dtype of the result where it is not the operands' common one.
        compute: dtype to compute in, from the common one; also the result's.
        check: called with the common dtype and the second array; raises where the op is refused.
        guard: called with the operands where they differ in dtype; raises as well.
        single: halves meet numbers in float32, so that these are not rounded first, as PyTorch's
            products and quotients do (but not its sums).
    """
    allowed = served(name)
    note(name, ufunc if allowed[FLOATING] else None, refuses=check is not None)
    plain = allowed if compute is None and check is None else (False,) * 4
    always = all(plain)

    def run(self: Any, other: Any) -> Any:
        d = self._dtype
        if (always or plain[d.category]) and other.__class__ is Tensor and other._dtype is d:
            a, b = self._data, other._data
        else:
            if guard is not None:
                guard(self, other)
            d = result_type(self, other)
            if not allowed[d.category]:
                refuse(name, self, other)
            if compute is not None:
                d = compute(d)
            if single and d in WIDER and _is_number(other):
                return wrap(_in_single(ufunc, self, other, d), d)
            a, b = array_of(self, d), array_of(other, d)
            if check is not None:
                check(d, b)
        if a.size < LARGE:
            try:
                data = QUIET.run(ufunc, a, b)
            except (ValueError, RuntimeError) as error:
                data = recover(error, ufunc, a, b)
        else:
            data = large(ufunc, result or d, a, b)
        if data.ndim > 1 and (a.shape != b.shape or not a.flags.c_contiguous):
            data = in_common_order(data, a, b)
        if result is not None:
            d = result
        if data.__class__ is not ndarray:
            data = np.array(data, NUMPY_OF[d])
        r = _new(Tensor)
        r._data = data
        r._shape = data.shape
        r._layout = None
        r._dtype = d
        r._device = CPU
        r._keys = KEYS
        r._storage = None
        r._base = None
        r._autograd = None
        return r

    return run


def inplace(
    name: str,
    ufunc: Ufunc,
    *,
    result: dtype | None = None,
    compute: Callable[[dtype], dtype] | None = None,
    check: Callable[[dtype, Any], None] | None = None,
    guard: Callable[[Any, Any], None] | None = None,
    single: bool = False,
) -> Callable[..., Any]:
    """A kernel that writes ``ufunc(self, other)`` into ``self``."""
    allowed = served(name)
    limited = not all(allowed)

    def run(self: Any, other: Any) -> Any:
        out = self._data
        d = self._dtype
        if other.__class__ is Tensor and other._dtype is d and other._shape == self._shape:
            b = other._data
        else:
            if guard is not None:
                guard(self, other)
            a, b, d = operands(self, other)
            if not allowed[d.category]:
                refuse(name, self, other)
            if compute is not None:
                d = compute(d)
            if b.ndim or d is not self._dtype or result is not None:
                shape = broadcast_all((self._shape, b.shape))
                check_inplace_result(self, shape, result or d)
            if single and d in WIDER and d is self._dtype and _is_number(other):
                np.copyto(out, _in_single(ufunc, self, other, d))
                return self
            if a is not out:  # computed in a wider dtype than self's
                if check is not None:
                    check(d, b)
                np.copyto(out, quietly(ufunc, a, b), casting="unsafe")
                return self
        if limited and not allowed[d.category]:
            refuse(name, self, other)
        if check is not None:
            check(d, b)
        if result is not None or (compute is not None and compute(d) is not self._dtype):
            check_inplace_result(self, self._shape, result or compute(d) if compute else result)
            np.copyto(out, quietly(ufunc, out, b), casting="unsafe")
            return self
        try:
            QUIET.run(ufunc, out, b, out)
        except RuntimeError as error:
            recover(error, ufunc, out, b, out)
        return self

    return run


def _is_number(other: Any) -> bool:
    """Whether the second operand is a number, or stands for one: it has no dimensions."""
    return other.__class__ is not Tensor or not other._shape


def _in_single(ufunc: Ufunc, self: Any, other: Any, d: dtype) -> Any:
    """``ufunc`` of halves and a number, computed in float32 and rounded once."""
    return quietly(_rounded, ufunc, cast(self, float32), array_of(other, float32), NUMPY_OF[d])


def _rounded(ufunc: Ufunc, a: Any, b: Any, to: Any) -> Any:
    return in_common_order(ufunc(a, b), a, b).astype(to)


def arithmetic(name: str, ufunc: Ufunc, **options: Any) -> None:
    """Register an op of two operands and its in-place form."""
    register(name, binary(name, ufunc, **options))
    register(f"{name}_", inplace(name, ufunc, **options))


def scaled(name: str, ufunc: Ufunc, guard: Callable[[Any, Any], None] | None = None) -> None:
    """Register ``add`` or ``sub``, whose second operand may be multiplied by ``alpha``."""
    for suffix, make in (("", binary), ("_", inplace)):
        plain = make(name, ufunc, guard=guard)

        def run(self: Any, other: Any, *, alpha: Any = 1, plain: Any = plain) -> Any:
            if alpha == 1:
                return plain(self, other)
            if guard is not None:
                guard(self, other)
            d = self._dtype
            if (
                alpha.__class__ is float
                and other.__class__ is Tensor
                and other._dtype is d
                and d.category == FLOATING
            ):
                return plain(self, wrap(QUIET.run(np.multiply, other._data, scalar(alpha, d)), d))
            d = result_type(self, other)
            check_alpha(alpha, d)
            if not isinstance(other, Tensor):
                return plain(self, other * alpha)
            return plain(self, wrap(quietly(np.multiply, cast(other, d), scalar(alpha, d)), d))

        register(f"{name}{suffix}", run)


def _no_bool(self: Any, other: Any) -> None:
    kind = other.__class__
    if self._dtype is bool_ or kind is bool or (kind is Tensor and other._dtype is bool_):
        refuse("sub", self, other)


def _no_zero(d: dtype, divisor: Any) -> None:
    """Integer division by zero is an error, as in PyTorch."""
    if d.category < FLOATING and not np.all(divisor):
        raise RuntimeError("ZeroDivisionError")


def _no_negative_number(self: Any, exponent: Any) -> None:
    if exponent.__class__ is int and exponent < 0:
        refuse("pow", self, exponent)


def _power(base: Any, exponent: Any, out: Any = None) -> Any:
    """Power; a square is a product, which is exact and fast."""
    if exponent.ndim == 0 and exponent == 2:
        return np.multiply(base, base, out)
    if exponent.dtype.kind == "i" and (exponent < 0).any():
        return np.multiply(*_negative_power(base, exponent), out)
    return np.power(base, exponent, out)


def _negative_power(base: Any, exponent: Any) -> tuple[Any, Any]:
    """Factors of a power of integers: quotients are cut, so that only those of 1 and -1 remain."""
    below = exponent < 0
    whole = np.power(base, np.where(below, exponent & 1, exponent))
    return whole, np.where(below, np.abs(base) == 1, 1).astype(whole.dtype)


def _remainder(a: Any, b: Any, out: Any = None) -> Any:
    """Remainder with the divisor's sign; a zero has the dividend's, as in C."""
    left = np.remainder(a, b)
    if left.dtype.kind not in "iub":
        zero = left == 0
        if zero.any():
            left = np.copysign(left, np.where(zero, a, left))
    if out is None:
        return left
    out[...] = left
    return out


scaled("add", np.add)
scaled("sub", np.subtract, _no_bool)
arithmetic("mul", np.multiply, single=True)
arithmetic("pow", _power, guard=_no_negative_number)
arithmetic("floor_divide", np.floor_divide, check=_no_zero)
arithmetic("remainder", _remainder, check=_no_zero)
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

note("div", refuses=True)  # when it rounds
_true_div = binary("div", np.true_divide, single=True)
_float_div = binary("div", np.true_divide, compute=to_floating, single=True)
_floor_div = binary("floor_divide", np.floor_divide, check=_no_zero)


@kernel("div")
def div(self: Any, other: Any, *, rounding_mode: str | None = None) -> Any:
    """Quotient, true or rounded."""
    if rounding_mode is None:
        floating = self._dtype.category >= FLOATING
        return _true_div(self, other) if floating else _float_div(self, other)
    if rounding_mode == "floor":
        return _floor_div(self, other)
    if rounding_mode != "trunc":
        raise RuntimeError(
            f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found "
            f"'{rounding_mode}'"
        )
    a, b, d = operands(self, other)
    if d.category in (BOOL, COMPLEX):
        refuse("floor_divide", self, other)
    _no_zero(d, b)
    if d.category >= FLOATING:
        return wrap(quietly(lambda: np.trunc(np.true_divide(a, b))), d)
    quotient = quietly(np.floor_divide, a, b)
    inexact = (quotient * b != a) & ((a < 0) != (b < 0))
    return wrap(quotient + inexact.astype(quotient.dtype), d)


register("div_", lambda self, other, *, rounding_mode=None: _divided(self, other, rounding_mode))
_true_div_inplace = inplace("div", np.true_divide, compute=to_floating, single=True)


def _divided(self: Any, other: Any, rounding_mode: str | None) -> Any:
    if rounding_mode is None:
        return _true_div_inplace(self, other)
    result = div(self, other, rounding_mode=rounding_mode)
    check_inplace_result(self, result._shape, result._dtype)
    np.copyto(self._data, result._data, casting="unsafe")
    return self


# ---- selection ----------------------------------------------------------------------------------


@kernel("where.self")
def where(condition: Any, self: Any, other: Any) -> Any:
    """Elements of one or the other operand."""
    d = result_type(self, other)
    a, b = array_of(self, d), array_of(other, d)
    c = condition._data
    if c.dtype != np.bool_:
        refuse("where.self", condition, self, other)
        c = c.astype(np.bool_)
    try:
        return wrap(in_common_order(np.where(c, a, b), c, a, b), d)
    except ValueError:
        broadcast_all((c.shape, a.shape, b.shape))
        raise


@kernel("clamp")
def clamp(self: Any, min: Any = None, max: Any = None) -> Any:
    """Elements limited to a range."""
    d = result_type(self, min, max)
    if (min is None and max is None) or d.category in (BOOL, COMPLEX):
        refuse("clamp", self, min, max)
    data = cast(self, d)
    if min is not None:
        data = QUIET.run(np.maximum, data, exact(min, d))
    if max is not None:
        data = QUIET.run(np.minimum, data, exact(max, d))
    return wrap(data, d)


@kernel("_conj")
def conj(self: Any) -> Any:
    """Complex conjugate."""
    return wrap(np.conjugate(self._data), self._dtype)
