"""Activations: a few passes over memory that stays in the cache, instead of an op for each step."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..native.quick import MANY, at_most, expm1, exponential, log1p, pays
from ..zeros import bounded
from .error_functions import MANY as FEW_GATES
from .error_functions import gate, gelu_fits
from .one_array import activation, number_like


def _bounded(ufunc: Any, a: Any, bound: float) -> Any:
    """Extremes of elements and a number; a zero at 0 keeps its sign."""
    fn, x, y = bounded(ufunc, a, number_like(bound, a))
    return fn(x, y)


def _leaky_relu(a: Any, slope: float = 0.01) -> Any:
    scaled = np.multiply(a, number_like(slope, a))
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
        below = np.multiply(below, number_like(input_scale, a))
    below = expm1(below) if pays(a) and input_scale > 0 else np.expm1(below)
    if alpha * scale != 1:
        below = np.multiply(below, number_like(alpha * scale, a))
    above = a if scale == 1 else np.multiply(a, number_like(scale, a))
    return np.where(a < 0, below, above)


def _silu(a: Any) -> Any:
    t = _exp(np.negative(a))
    return np.divide(a, np.add(t, number_like(1, a)))


def _soft_tail(a: Any) -> Any:
    """Logarithm of 1 and the exponential of numbers that are made negative."""
    below = np.negative(np.absolute(a))
    return log1p(exponential(below, falling=True)) if pays(a) else np.log1p(np.exp(below))


def _softplus(a: Any, beta: float = 1, threshold: float = 20) -> Any:
    scaled = a if beta == 1 else np.multiply(a, number_like(beta, a))
    if pays(a):
        above = np.where(np.greater(scaled, number_like(0, a)), scaled, number_like(0, a))
        curved = np.add(above, _soft_tail(scaled))
    else:
        curved = np.log1p(np.exp(scaled))
    if beta != 1:
        curved = np.divide(curved, number_like(beta, a))
    return np.where(scaled > threshold, a, curved)


def _mish(a: Any) -> Any:
    if pays(a):  # the tangent of a logarithm is a quotient
        e = exponential(at_most(a, number_like(20, a)))
        e = np.multiply(e, np.add(e, number_like(2, a)))
        return np.multiply(a, np.divide(e, np.add(e, number_like(2, a))))
    return np.multiply(a, np.tanh(_softplus(a)))


def _log_sigmoid(a: Any) -> Any:
    return np.subtract(np.minimum(a, number_like(0, a)), _soft_tail(a))


def _gate(a: Any) -> Any:
    return np.minimum(
        np.maximum(np.add(a, number_like(3, a)), number_like(0, a)), number_like(6, a)
    )


def _hardswish(a: Any) -> Any:
    return np.divide(np.multiply(a, _gate(a)), number_like(6, a))


def _hardsigmoid(a: Any) -> Any:
    return np.divide(_gate(a), number_like(6, a))


def _gelu(a: Any, *, approximate: str = "none") -> Any:
    if approximate == "tanh":
        inner = np.multiply(np.multiply(a, a), a)
        inner = np.add(a, np.multiply(inner, number_like(0.044715, a)))
        inner = np.tanh(np.multiply(inner, number_like(math.sqrt(2 / math.pi), a)))
        return np.multiply(np.multiply(a, number_like(0.5, a)), np.add(inner, number_like(1, a)))
    return gate(a)


def _hardshrink(a: Any, lambd: float = 0.5) -> Any:
    return np.where(np.less_equal(np.absolute(a), number_like(lambd, a)), number_like(0, a), a)


def _softshrink(a: Any, lambd: float = 0.5) -> Any:
    limit = number_like(lambd, a)
    below = np.where(
        np.less(a, np.negative(limit)), np.add(a, limit), np.multiply(a, number_like(0, a))
    )
    return np.where(np.greater(a, limit), np.subtract(a, limit), below)


def _threshold(a: Any, threshold: float, value: float) -> Any:
    return np.where(np.less_equal(a, number_like(threshold, a)), number_like(value, a), a)


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
