"""Kernels of one operand: functions, rounding, activations.

As in `mindtorch_cpu.ops.pointwise`, the hot ones write the wrapping of results out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import (
    COMPLEX,
    FLOATING,
    bool_,
    check_inplace_result,
    dtype,
    fresh,
    to_floating,
)

from ..arrays import (
    CPU,
    KEYS,
    NUMPY_OF,
    QUIET,
    WIDER,
    ZEROS,
    as_operands_lie,
    converted,
    in_common_order,
    ndarray,
    quietly,
    recast,
    scalar,
    wrap,
)
from ..compiled import BY_SIZE, FEWEST, one_pass
from ..large import LARGE, SOME, in_chunks, many
from ..native.quick import MANY, exponential, pays
from ..powers import rsqrt
from ..register import composition_of, kernel, register
from ..zeros import ODD, bounded
from .error_functions import erf, erfc
from .pointwise import Ufunc, large, recover, refuse, served
from .ufuncs import note


def _in_single(name: str, ufunc: Ufunc) -> Callable[[Any], Any]:
    """A function of an array of half precision, computed in float32 and rounded once."""

    def each(a: Any) -> Any:
        return ufunc(a.astype(np.float32)).astype(a.dtype)

    def call(a: Any) -> Any:
        key = (name, "in single")
        data = in_chunks(each, a.dtype, a, key=key) if many(a) else None
        return recast(quietly(ufunc, recast(a, np.float32)), a.dtype) if data is None else data

    return call


def unary(
    name: str,
    ufunc: Ufunc,
    *,
    to_float: bool = False,
    result: dtype | None = None,
    widen: bool = False,
    real: bool = False,
) -> Callable[..., Any]:
    """A kernel for ``ufunc(self)``.

    Args:
        name: the op.
        ufunc: the NumPy function.
        to_float: compute integers in the default floating type.
        result: dtype of the result where it is not the input's.
        widen: compute half-precision types in float32.
        real: of complex numbers it is real.
    """
    allowed = served(name)
    native = isinstance(ufunc, np.ufunc)
    note(name, ufunc if allowed[FLOATING] else None)
    plain = tuple(
        ok and not (to_float and c < FLOATING) and not (real and c == COMPLEX)
        for c, ok in enumerate(allowed)
    )
    single = _in_single(name, ufunc)

    def run(self: Any) -> Any:
        d = self.raw_dtype
        a = self.raw_data
        shape = self.raw_shape
        if not plain[d.category]:
            if not allowed[d.category]:
                refuse(name, self)
            if real and d.category == COMPLEX:
                d = d.to_real()
            else:
                d = to_floating(d)
                a = converted(a, d)
        if widen and d in WIDER:
            return wrap(in_common_order(single(a), self.raw_data), result or d)
        if a.size < SOME or (a.size < LARGE and not (d in WIDER and many(a))):
            try:
                data = QUIET.__dict__["run"](ufunc, a) if native else quietly(ufunc, a)
            except (RuntimeError, TypeError) as error:
                data = recover(error, ufunc, a)
        else:
            data = large(ufunc, result or d, a)
        if len(shape) > 1 and not self.raw_data.flags.c_contiguous:
            data = in_common_order(data, self.raw_data)
        if result is not None:
            d = result
        if data.__class__ is not ndarray:
            data = np.array(data, NUMPY_OF[d])
        r = fresh()
        r.raw_data = data
        r.raw_shape = shape
        r.raw_layout = None
        r.raw_dtype = d
        r.raw_device = CPU
        r.raw_keys = KEYS
        r.raw_storage = None
        r.raw_base = None
        r.raw_autograd = None
        return r

    return run


def unary_inplace(
    name: str, ufunc: Ufunc, *, to_float: bool = False, plain: bool = False, widen: bool = False
) -> Callable[..., Any]:
    """A kernel that writes ``ufunc(self)`` into ``self``.

    Args:
        name: the op.
        ufunc: the NumPy function.
        to_float: integers are refused, whose results were floating.
        plain: the function takes no ``out``.
        widen: compute half-precision types in float32.
    """
    allowed = served(name)

    def run(self: Any) -> Any:
        d = self.raw_dtype
        if not allowed[d.category]:
            refuse(name, self)
        if to_float and d.category < FLOATING:
            check_inplace_result(self, self.raw_shape, to_floating(d))
        if plain or d in WIDER:
            a = converted(self.raw_data, WIDER[d]) if widen and d in WIDER else self.raw_data
            np.copyto(self.raw_data, quietly(ufunc, a), casting="unsafe")
        else:
            quietly(ufunc, self.raw_data, out=self.raw_data)
        return self

    return run


def function(
    name: str, ufunc: Ufunc, *, to_float: bool = True, plain: bool = False, widen: bool = False
) -> None:
    """Register an op of one operand and its in-place form."""
    register(name, unary(name, ufunc, to_float=to_float, widen=widen))
    register(f"{name}_", unary_inplace(name, ufunc, to_float=to_float, plain=plain, widen=widen))


def _sigmoid(a: Any) -> Any:
    quick = pays(a)
    if quick and type(a) is ndarray:
        made = one_pass("sigmoid", lambda tracer, x: [_sigmoid(x)], a.dtype, a)
        if made is not None:
            return made
    t = np.negative(a)
    t = exponential(t) if quick else np.exp(t)
    t = np.add(t, 1, out=t) if t.__class__ is ndarray else t + t.dtype.type(1)
    return np.reciprocal(t)


BY_SIZE.update({"aten::sigmoid": MANY, "aten::sigmoid_": MANY})


def _negative(a: Any, out: Any = None) -> Any:
    if out is None or out.flags.c_contiguous:
        return np.negative(a, out)
    np.copyto(out, np.negative(a))  # NumPy 2.4 skips elements of outputs with some strides
    return out


def _sign(a: Any) -> Any:
    """Sign; 0 for NaN, which NumPy's keeps."""
    if a.dtype.kind in "bu":
        return np.not_equal(a, 0).astype(a.dtype)
    return np.greater(a, 0).astype(a.dtype) - np.less(a, 0).astype(a.dtype)


function("sqrt", np.sqrt)
for _name in ("exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tanh"):
    function(_name, getattr(np, _name), widen=True)
function("sigmoid", _sigmoid, plain=True, widen=True)
function("rsqrt", rsqrt, plain=True, widen=True)
function("erf", erf, plain=True, widen=True)
function("reciprocal", lambda a: np.true_divide(a.dtype.type(1), a), plain=True)
register("neg", unary("neg", np.negative))
register("neg_", unary_inplace("neg", _negative))
function("sign", _sign, to_float=False, plain=True)
for _name, _ufunc in (
    ("floor", np.floor),
    ("ceil", np.ceil),
    ("trunc", np.trunc),
    ("round", np.rint),
):

    def _rounded(a: Any, out: Any = None, ufunc: Ufunc = _ufunc) -> Any:
        """Rounding leaves integers alone, whatever ufunc would make of them."""
        if a.dtype.kind in "iub":
            return np.positive(a, out=out)
        return ufunc(a, out=out)

    function(_name, _rounded, to_float=False)
    note(_name, _ufunc)

register("abs", unary("abs", np.absolute, real=True))

_RELU_SERVED: Final = served("relu")


@kernel("relu")
def relu(self: Any) -> Any:
    """Zero for negative elements; a zero keeps its sign."""
    d = self.raw_dtype
    if not _RELU_SERVED[d.category]:
        refuse("relu", self)
    a = self.raw_data
    shape = self.raw_shape
    if a.size >= SOME and many(a):
        fn, x, y = bounded(np.maximum, a, ZEROS[d], d)
        data = large(fn, d, x, y)
    elif d in ODD:
        data = quietly(*bounded(np.maximum, a, ZEROS[d], d))
    else:
        data = QUIET.__dict__["run"](np.maximum, ZEROS[d], a)
    if len(shape) > 1 and not a.flags.c_contiguous:
        data = in_common_order(data, a)
    if data.__class__ is not ndarray:
        data = np.array(data, NUMPY_OF[d])
    r = fresh()
    r.raw_data = data
    r.raw_shape = shape
    r.raw_layout = None
    r.raw_dtype = d
    r.raw_device = CPU
    r.raw_keys = KEYS
    r.raw_storage = None
    r.raw_base = None
    r.raw_autograd = None
    return r


@kernel("relu_")
def relu_(self: Any) -> Any:
    """Zero for negative elements, in place."""
    d = self.raw_dtype
    if not _RELU_SERVED[d.category]:
        refuse("relu", self)
    fn, x, y = bounded(np.maximum, self.raw_data, ZEROS[d], d)
    quietly(fn, x, y, out=self.raw_data)
    return self


_THRESHOLD_SERVED: Final = served("threshold_backward")
_threshold_backward: Any = composition_of("threshold_backward")


@kernel("threshold_backward")
def threshold_backward(grad_output: Any, self: Any, threshold: Any) -> Any:
    """The gradient where ``self`` is not at or below the threshold: NaN lets it pass."""
    d, g, a = grad_output.raw_dtype, grad_output.raw_data, self.raw_data
    if (
        self.raw_dtype is not d
        or a.shape != g.shape
        # Of operands that lie differently NumPy makes row-major results if one is row-major.
        or (a.strides != g.strides and not a.flags.c_contiguous)
        or not _THRESHOLD_SERVED[d.category]
    ):
        made = _threshold_backward(grad_output, self, threshold)
        return wrap(as_operands_lie(made.raw_data, self, grad_output), made.raw_dtype)
    bound = ZEROS[d] if threshold == 0 else scalar(threshold, d)
    if a.size < FEWEST:  # as `zeroed` does, without its calls
        mask = QUIET.__dict__["run"](np.less_equal, a, bound)
        return wrap(np.where(mask, ZEROS[d], g), d)
    if d.category == FLOATING:
        key = ("threshold_backward", repr(threshold))

        def trace(tracer: Any, g: Any, a: Any) -> list[Any]:
            return [np.where(np.less_equal(a, bound), g.dtype.type(0), g)]

        data = one_pass(key, trace, NUMPY_OF[d], g, a)
        if data is not None:
            return wrap(data, d)
    return wrap(zeroed(quietly(np.less_equal, a, bound), g), d)


_BITS: Final = {2: np.int16, 4: np.int32, 8: np.int64}


def zeroed(mask: Any, a: Any) -> Any:
    """Zero where the mask holds, ``a`` elsewhere, for arrays of one shape.

    Large arrays are multiplied by the mask as integers: 20 times faster than ``np.where``, whose
    branches a random mask makes unpredictable, and exact for infinities and NaN too.
    """
    if a.size < 512 or a.dtype.kind == "c" or a.itemsize not in _BITS or mask.shape != a.shape:
        return np.where(mask, a.dtype.type(0), a)
    bits = _BITS[a.itemsize]
    return np.multiply(a.view(bits), np.logical_not(mask, mask), dtype=bits).view(a.dtype)


register("logical_not", unary("logical_not", np.logical_not, result=bool_))
register("isnan", unary("isnan", np.isnan, result=bool_))
register("isinf", unary("isinf", np.isinf, result=bool_))
register("isfinite", unary("isfinite", np.isfinite, result=bool_))
function("bitwise_not", np.invert, to_float=False)


for _name in ("tan", "sinh", "cosh"):
    function(_name, getattr(np, _name), widen=True)
for _name in ("asin", "acos", "atan"):
    function(_name, getattr(np, f"arc{_name[1:]}"), widen=True)
function("erfc", erfc, plain=True)
function("frac", lambda a: a - np.trunc(a), to_float=False, plain=True)
