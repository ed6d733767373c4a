"""Activations: a few passes over memory that stays in the cache, instead of an op for each step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_core.backend import FLOATING

from ..arrays import NUMPY_OF, WIDER, converted, in_common_order, quietly, wrap
from ..compiled import BY_SIZE, FEWEST, one_pass
from ..large import LARGE, in_chunks
from ..native.quick import MANY, at_most, expm1, exponential, log1p, pays
from ..register import composition_of, register, rule_of
from ..zeros import bounded
from .error_functions import MANY as FEW_GATES
from .error_functions import gate, gelu_fits

Compute = Callable[..., Any]


def activation(
    name: str,
    compute: Compute,
    *,
    inplace: bool = True,
    many: int = 0,
    fits: Callable[..., bool] | None = None,
    checked: bool = False,
) -> None:
    """Register ``compute(array, *arguments)`` for floating tensors, and the op's in-place form.

    Args:
        name: the op.
        compute: makes a fresh array; it may be given a part of a large one.
        inplace: whether there is an in-place form.
        many: elements from which it has another formula than for fewer; 0 if it has one.
        fits: of an array and arguments, whether it may be compiled; always if None.
        checked: whether the op's rule refuses some arguments.
    """
    rule, general = rule_of(name), composition_of(name)

    def compiled(a: Any, wide: Any, args: Any, kwargs: Any) -> Any:
        """What a compiled kernel gives, or None."""

        def trace(tracer: Any, part: Any) -> list[Any]:
            tracer.size = FEWEST if few else tracer.size
            x = part.astype(wide, copy=False)
            return [compute(x, *args, **kwargs).astype(part.dtype, copy=False)]

        few = a.size < many
        key = (name, repr(args), repr(kwargs)) if args or kwargs else name
        return one_pass(("few", key) if few else key, trace, a.dtype, a)

    def data_of(self: Any, args: Any, kwargs: Any) -> Any:
        d, a = self.raw_dtype, self.raw_data
        wide = NUMPY_OF[WIDER.get(d, d)]
        if a.size >= FEWEST and (fits is None or fits(a, wide, *args, **kwargs)):
            data = compiled(a, wide, args, kwargs)
            if data is not None:
                return data
        if d in WIDER:
            a = converted(a, WIDER[d])

        def each(part: Any) -> Any:
            return compute(part, *args, **kwargs)

        data = in_chunks(each, a.dtype, a) if a.size >= LARGE else None
        if data is None:
            data = quietly(each, a)
        if d in WIDER:
            data = quietly(data.astype, NUMPY_OF[d])
        return in_common_order(data, self.raw_data)

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        if checked and (args or kwargs):
            rule(self, *args, **kwargs)
        if self.raw_dtype.category != FLOATING:
            return general(self, *args, **kwargs)
        return wrap(data_of(self, args, kwargs), self.raw_dtype)

    def run_inplace(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.raw_dtype.category != FLOATING:
            return self.copy_(run(self, *args, **kwargs))
        np.copyto(self.raw_data, data_of(self, args, kwargs))
        return self

    register(name, run)
    if inplace:
        register(f"{name}_", run_inplace)
    BY_SIZE.update({f"aten::{name}": many, f"aten::{name}_": many})


def _number(value: float, a: Any) -> Any:
    return a.dtype.type(value)


def _bounded(ufunc: Any, a: Any, bound: float) -> Any:
    """Extremes of elements and a number; a zero at 0 keeps its sign."""
    fn, x, y = bounded(ufunc, a, _number(bound, a))
    return fn(x, y)


def _leaky_relu(a: Any, slope: float = 0.01) -> Any:
    scaled = np.multiply(a, _number(slope, a))
    if 0 <= slope <= 1:
        return np.maximum(a, scaled)
    return np.where(a > 0, a, scaled)


def _hardtanh(a: Any, low: float = -1, high: float = 1) -> Any:
    return _bounded(np.minimum, _bounded(np.maximum, a, low), high)


def _exp(a: Any) -> Any:
    return exponential(a) if pays(a) else np.exp(a)


def _elu(a: Any, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Any:
    below = _bounded(np.minimum, a, 0)
    if input_scale != 1:
        below = np.multiply(below, _number(input_scale, a))
    below = expm1(below) if pays(a) and input_scale > 0 else np.expm1(below)
    if alpha * scale != 1:
        below = np.multiply(below, _number(alpha * scale, a))
    above = a if scale == 1 else np.multiply(a, _number(scale, a))
    return np.where(a < 0, below, above)


def _silu(a: Any) -> Any:
    t = _exp(np.negative(a))
    return np.divide(a, np.add(t, _number(1, a)))


def _soft_tail(a: Any) -> Any:
    """Logarithm of 1 and the exponential of numbers that are made negative."""
    below = np.negative(np.absolute(a))
    return log1p(exponential(below, falling=True)) if pays(a) else np.log1p(np.exp(below))


def _softplus(a: Any, beta: float = 1, threshold: float = 20) -> Any:
    scaled = a if beta == 1 else np.multiply(a, _number(beta, a))
    if pays(a):
        above = np.where(np.greater(scaled, _number(0, a)), scaled, _number(0, a))
        curved = np.add(above, _soft_tail(scaled))
    else:
        curved = np.log1p(np.exp(scaled))
    if beta != 1:
        curved = np.divide(curved, _number(beta, a))
    return np.where(scaled > threshold, a, curved)


def _mish(a: Any) -> Any:
    if pays(a):  # the tangent of a logarithm is a quotient
        e = exponential(at_most(a, _number(20, a)))
        e = np.multiply(e, np.add(e, _number(2, a)))
        return np.multiply(a, np.divide(e, np.add(e, _number(2, a))))
    return np.multiply(a, np.tanh(_softplus(a)))


def _log_sigmoid(a: Any) -> Any:
    return np.subtract(np.minimum(a, _number(0, a)), _soft_tail(a))


def _gate(a: Any) -> Any:
    return np.minimum(np.maximum(np.add(a, _number(3, a)), _number(0, a)), _number(6, a))


def _hardswish(a: Any) -> Any:
    return np.divide(np.multiply(a, _gate(a)), _number(6, a))


def _hardsigmoid(a: Any) -> Any:
    return np.divide(_gate(a), _number(6, a))


def _gelu(a: Any, *, approximate: str = "none") -> Any:
    if approximate == "tanh":
        inner = np.multiply(np.multiply(a, a), a)
        inner = np.add(a, np.multiply(inner, _number(0.044715, a)))
        inner = np.tanh(np.multiply(inner, _number(math.sqrt(2 / math.pi), a)))
        return np.multiply(np.multiply(a, _number(0.5, a)), np.add(inner, _number(1, a)))
    return gate(a)


def _hardshrink(a: Any, lambd: float = 0.5) -> Any:
    return np.where(np.less_equal(np.absolute(a), _number(lambd, a)), _number(0, a), a)


def _softshrink(a: Any, lambd: float = 0.5) -> Any:
    limit = _number(lambd, a)
    below = np.where(
        np.less(a, np.negative(limit)), np.add(a, limit), np.multiply(a, _number(0, a))
    )
    return np.where(np.greater(a, limit), np.subtract(a, limit), below)


def _threshold(a: Any, threshold: float, value: float) -> Any:
    return np.where(np.less_equal(a, _number(threshold, a)), _number(value, a), a)


def _logit(a: Any, eps: float | None = None) -> Any:
    if eps is not None:
        low, high = _number(eps, a), _number(1 - eps, a)
        a = np.where(np.less(a, low), low, np.where(np.greater(a, high), high, a))
    return np.log(np.divide(a, np.subtract(_number(1, a), a)))


activation("leaky_relu", _leaky_relu)
activation("hardtanh", _hardtanh)
activation("elu", _elu, many=MANY)
activation("silu", _silu, many=MANY)
activation("softplus", _softplus, inplace=False, many=MANY)
activation("mish", _mish, many=MANY)
activation("log_sigmoid", _log_sigmoid, inplace=False, many=MANY)
activation("hardswish", _hardswish)
activation("hardsigmoid", _hardsigmoid)
activation("gelu", _gelu, many=FEW_GATES, fits=gelu_fits, checked=True)
activation("hardshrink", _hardshrink, inplace=False)
activation("softshrink", _softshrink, inplace=False, checked=True)
activation("threshold", _threshold)
activation("logit", _logit)
