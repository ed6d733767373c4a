"""Element-wise kernels, made from NumPy ufuncs.

The factories write the wrapping of results out (see `mindtorch_cpu.arrays.wrap`): on small tensors
a Python call costs as much as the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from mindtorch_core.dtypes import BOOL, COMPLEX, FLOATING, bool_, dtype
from mindtorch_core.ops.variants import check_inplace_result
from mindtorch_core.promotion import result_type, to_floating
from mindtorch_core.shapes import broadcast_all
from mindtorch_core.tensor import Tensor

from ..arrays import CPU, KEYS, NUMPY_OF, QUIET, WIDER, array_of, cast, ndarray, operands, quietly, scalar, wrap
from ..register import kernel, register

Ufunc = Callable[..., Any]
_new: Callable[[type[Tensor]], Tensor] = object.__new__


def recover(error: Exception, ufunc: Ufunc, *arrays: Any) -> Any:
    """Explain a failed ufunc call, or repeat one that interrupted another of the same thread.

    Raises:
        RuntimeError: if the shapes do not broadcast, in PyTorch's words.
    """
    if isinstance(error, RuntimeError):
        return quietly(ufunc, *arrays)
    broadcast_all(a.shape for a in arrays)
    raise error


# ---- two operands -------------------------------------------------------------------------------


def binary(
    ufunc: Ufunc,
    *,
    result: dtype | None = None,
    compute: Callable[[dtype], dtype] | None = None,
    check: Callable[[dtype, Any], None] | None = None,
) -> Callable[..., Any]:
    """A kernel for ``ufunc(self, other)``.

    Args:
        ufunc: the NumPy function.
        result: dtype of the result where it is not the operands' common one.
        compute: dtype to compute in, from the common one; also the result's.
        check: called with the common dtype and the second array; raises where the op is refused.
    """
    plain = compute is None and check is None

    def run(self: Any, other: Any) -> Any:
        d = self._dtype
        if plain and other.__class__ is Tensor and other._dtype is d:
            a, b = self._data, other._data
        else:
            a, b, d = operands(self, other)
            if check is not None:
                check(d, b)
            if compute is not None:
                wide = compute(d)
                if wide is not d:
                    d = wide
                    a, b = a.astype(NUMPY_OF[d]), b.astype(NUMPY_OF[d])
        try:
            data = QUIET.run(ufunc, a, b)
        except (ValueError, RuntimeError) as error:
            data = recover(error, ufunc, a, b)
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
    ufunc: Ufunc,
    *,
    result: dtype | None = None,
    compute: Callable[[dtype], dtype] | None = None,
    check: Callable[[dtype, Any], None] | None = None,
) -> Callable[..., Any]:
    """A kernel that writes ``ufunc(self, other)`` into ``self``."""

    def run(self: Any, other: Any) -> Any:
        out = self._data
        d = self._dtype
        if other.__class__ is Tensor and other._dtype is d and other._shape == self._shape:
            b = other._data
        else:
            a, b, d = operands(self, other)
            if compute is not None:
                d = compute(d)
            shape = broadcast_all((self._shape, b.shape))
            check_inplace_result(self, shape, result or d)
            if a is not out:  # computed in a wider dtype than self's
                if check is not None:
                    check(d, b)
                np.copyto(out, quietly(ufunc, a, b), casting="unsafe")
                return self
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


def arithmetic(name: str, ufunc: Ufunc, **options: Any) -> None:
    """Register an op of two operands and its in-place form."""
    register(name, binary(ufunc, **options))
    register(f"{name}_", inplace(ufunc, **options))


def scaled(name: str, ufunc: Ufunc, check: Callable[[dtype, Any], None] | None = None) -> None:
    """Register ``add`` or ``sub``, whose second operand may be multiplied by ``alpha``."""
    for suffix, make in (("", binary), ("_", inplace)):
        plain = make(ufunc, check=check)

        def run(self: Any, other: Any, *, alpha: Any = 1, plain: Any = plain) -> Any:
            if alpha == 1:
                return plain(self, other)
            d = result_type(self, other)
            if d.category < FLOATING and isinstance(alpha, float):
                raise RuntimeError(
                    "For integral input tensors, argument alpha must not be a floating point number."
                )
            if not isinstance(other, Tensor):
                return plain(self, other * alpha)
            return plain(self, wrap(quietly(np.multiply, cast(other, d), scalar(alpha, d)), d))

        register(f"{name}{suffix}", run)


def _no_bool(d: dtype, _: Any) -> None:
    if d.category == BOOL:
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
            "`logical_xor()` operator instead."
        )


def _no_zero(d: dtype, divisor: Any) -> None:
    """Integer division by zero is an error, as in PyTorch."""
    if d.category < FLOATING and not np.all(divisor):
        raise RuntimeError("ZeroDivisionError")


def _no_negative_power(d: dtype, exponent: Any) -> None:
    if d.category < FLOATING and np.any(exponent < 0):
        raise RuntimeError("Integers to negative integer powers are not allowed.")


def _whole(name: str) -> Callable[[dtype, Any], None]:
    def check(d: dtype, _: Any) -> None:
        if d.category >= FLOATING:
            raise NotImplementedError(f'"{name}_cpu" not implemented for \'{d.label}\'')

    return check


def _power(base: Any, exponent: Any, out: Any = None) -> Any:
    """Power; a square is a product, which is exact and fast."""
    if exponent.ndim == 0 and exponent == 2:
        return np.multiply(base, base, out)
    return np.power(base, exponent, out)


scaled("add", np.add)
scaled("sub", np.subtract, _no_bool)
arithmetic("mul", np.multiply)
arithmetic("pow", _power, check=_no_negative_power)
arithmetic("floor_divide", np.floor_divide, check=_no_zero)
arithmetic("remainder", np.remainder, check=_no_zero)
arithmetic("atan2", np.arctan2, compute=to_floating)
register("maximum", binary(np.maximum))
register("minimum", binary(np.minimum))
for _name, _ufunc in (
    ("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal),
    ("gt", np.greater), ("ge", np.greater_equal),
):  # fmt: skip
    arithmetic(_name, _ufunc, result=bool_)
for _name in ("and", "or", "xor"):
    arithmetic(f"logical_{_name}", getattr(np, f"logical_{_name}"), result=bool_)
    arithmetic(
        f"bitwise_{_name}", getattr(np, f"bitwise_{_name}"), check=_whole(f"bitwise_{_name}")
    )

_true_div = binary(np.true_divide)
_float_div = binary(np.true_divide, compute=to_floating)
_floor_div = binary(np.floor_divide, check=_no_zero)


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
    _no_zero(d, b)
    if d.category >= FLOATING:
        return wrap(quietly(lambda: np.trunc(np.true_divide(a, b))), d)
    quotient = quietly(np.floor_divide, a, b)
    inexact = (quotient * b != a) & ((a < 0) != (b < 0))
    return wrap(quotient + inexact.astype(quotient.dtype), d)


register("div_", lambda self, other, *, rounding_mode=None: _divided(self, other, rounding_mode))
_true_div_inplace = inplace(np.true_divide, compute=to_floating)


def _divided(self: Any, other: Any, rounding_mode: str | None) -> Any:
    if rounding_mode is None:
        return _true_div_inplace(self, other)
    result = div(self, other, rounding_mode=rounding_mode)
    check_inplace_result(self, result._shape, result._dtype)
    np.copyto(self._data, result._data, casting="unsafe")
    return self


# ---- one operand --------------------------------------------------------------------------------


def unary(
    ufunc: Ufunc, *, to_float: bool = False, result: dtype | None = None, widen: bool = False
) -> Callable[..., Any]:
    """A kernel for ``ufunc(self)``.

    Args:
        ufunc: the NumPy function.
        to_float: compute integers in the default floating type.
        result: dtype of the result where it is not the input's.
        widen: compute half-precision types in float32.
    """

    def run(self: Any) -> Any:
        d = self._dtype
        a = self._data
        if to_float and d.category < FLOATING:
            d = to_floating(d)
            a = a.astype(NUMPY_OF[d])
        if widen and d in WIDER:
            return wrap(quietly(ufunc, a.astype(np.float32)).astype(a.dtype), result or d)
        try:
            data = QUIET.run(ufunc, a)
        except RuntimeError as error:
            data = recover(error, ufunc, a)
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


def unary_inplace(ufunc: Ufunc, *, to_float: bool = False, plain: bool = False) -> Callable[..., Any]:
    """A kernel that writes ``ufunc(self)`` into ``self``; ``plain`` if ufunc takes no ``out``."""

    def run(self: Any) -> Any:
        d = self._dtype
        if to_float and d.category < FLOATING:
            check_inplace_result(self, self._shape, to_floating(d))
        if plain or d in WIDER:
            np.copyto(self._data, quietly(ufunc, self._data), casting="unsafe")
        else:
            quietly(ufunc, self._data, self._data)
        return self

    return run


def function(name: str, ufunc: Ufunc, *, to_float: bool = True, plain: bool = False, widen: bool = False) -> None:
    """Register an op of one operand and its in-place form."""
    register(name, unary(ufunc, to_float=to_float, widen=widen))
    register(f"{name}_", unary_inplace(ufunc, to_float=to_float, plain=plain or widen))


def _sigmoid(a: Any) -> Any:
    t = np.exp(np.negative(a))
    t = np.add(t, 1, out=t) if t.__class__ is ndarray else t + t.dtype.type(1)
    return np.reciprocal(t)


def _rsqrt(a: Any) -> Any:
    return np.reciprocal(np.sqrt(a))


def _erf(a: Any) -> Any:
    from scipy.special import erf

    return erf(a)


for _name in ("exp", "expm1", "log", "log1p", "log2", "log10", "sqrt", "sin", "cos", "tanh"):
    function(_name, getattr(np, _name))
function("sigmoid", _sigmoid, plain=True)
function("rsqrt", _rsqrt, plain=True)
function("erf", _erf, plain=True, widen=True)
function("reciprocal", lambda a: np.true_divide(a.dtype.type(1), a), plain=True)
function("neg", np.negative, to_float=False)
function("sign", np.sign, to_float=False)
for _name, _ufunc in (("floor", np.floor), ("ceil", np.ceil), ("trunc", np.trunc), ("round", np.rint)):
    def _rounded(a: Any, out: Any = None, ufunc: Ufunc = _ufunc) -> Any:
        """Rounding leaves integers alone, whatever ufunc would make of them."""
        if a.dtype.kind in "iub":
            return a.copy() if out is None else out
        return ufunc(a) if out is None else ufunc(a, out)

    function(_name, _rounded, to_float=False)

_absolute = unary(np.absolute)


@kernel("abs")
def absolute(self: Any) -> Any:
    """Absolute value; real for complex input."""
    if self._dtype.category == COMPLEX:
        d = self._dtype.to_real()
        return wrap(np.absolute(self._data), d)
    return _absolute(self)


ZEROS: Final = {d: np.zeros((), n) for d, n in NUMPY_OF.items()}


@kernel("relu")
def relu(self: Any) -> Any:
    """Zero for negative elements."""
    d = self._dtype
    data = QUIET.run(np.maximum, self._data, ZEROS[d])
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


@kernel("relu_")
def relu_(self: Any) -> Any:
    """Zero for negative elements, in place."""
    quietly(np.maximum, self._data, ZEROS[self._dtype], self._data)
    return self


@kernel("threshold_backward")
def threshold_backward(grad_output: Any, self: Any, threshold: Any) -> Any:
    """The gradient where ``self`` is above the threshold."""
    d = grad_output._dtype
    bound = ZEROS[d] if threshold == 0 else scalar(threshold, d)
    return wrap(np.where(np.greater(self._data, bound), grad_output._data, ZEROS[d]), d)


register("logical_not", unary(np.logical_not, result=bool_))
register("isnan", unary(np.isnan, result=bool_))
register("isinf", unary(np.isinf, result=bool_))
register("isfinite", unary(np.isfinite, result=bool_))
function("bitwise_not", np.invert, to_float=False)

# ---- selection ----------------------------------------------------------------------------------


@kernel("where.self")
def where(condition: Any, self: Any, other: Any) -> Any:
    """Elements of one or the other operand."""
    d = result_type(self, other)
    a, b = array_of(self, d), array_of(other, d)
    c = condition._data
    if c.dtype != np.bool_:
        c = c.astype(np.bool_)
    try:
        return wrap(np.where(c, a, b), d)
    except ValueError:
        broadcast_all((c.shape, a.shape, b.shape))
        raise


@kernel("clamp")
def clamp(self: Any, min: Any = None, max: Any = None) -> Any:
    """Elements limited to a range."""
    bounds = [x for x in (min, max) if x is not None]
    if not bounds:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    d = result_type(self, *bounds)
    data = cast(self, d)
    if min is not None:
        data = np.maximum(data, scalar(min, d))
    if max is not None:
        data = np.minimum(data, scalar(max, d))
    return wrap(data, d)


@kernel("_real")
def real(self: Any) -> Any:
    """Real part."""
    return wrap(self._data.real.copy(), self._dtype.to_real())


@kernel("_imag")
def imag(self: Any) -> Any:
    """Imaginary part."""
    return wrap(self._data.imag.copy(), self._dtype.to_real())


@kernel("_conj")
def conj(self: Any) -> Any:
    """Complex conjugate."""
    return wrap(np.conjugate(self._data), self._dtype)
