"""Gradients of activations, see `slopes`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..native.quick import MANY, at_most, exponential, pays
from ..register import rule_of
from .error_functions import MANY as FEW_GATES
from .error_functions import gate_slope, gelu_fits
from .one_array import number_like
from .slopes import Arguments, slope


def _exp(a: Any, *, falling: bool = False) -> Any:
    return exponential(a, falling=falling) if pays(a) else np.exp(a)


# ---- piecewise linear and quadratic -------------------------------------------------------------


def _leaky_relu(a: Any, g: Any, negative_slope: float) -> Any:
    return np.where(
        np.greater(a, number_like(0, a)), g, np.multiply(g, number_like(negative_slope, a))
    )


def _between(g: Any, a: Any, low: float, high: float) -> Any:
    """The gradient where an array is between two numbers, zero elsewhere."""
    zero = number_like(0, a)
    within = np.where(np.less(a, number_like(high, a)), g, zero)
    return np.where(np.greater(a, number_like(low, a)), within, zero)


def _shrunk(g: Any, a: Any, lambd: float) -> Any:
    return np.where(np.greater(np.absolute(a), number_like(lambd, a)), g, number_like(0, a))


def _hardsigmoid(g: Any, a: Any) -> Any:
    return _between(np.divide(g, number_like(6, a)), a, -3, 3)


def _hardswish(g: Any, a: Any) -> Any:
    middle = np.add(np.divide(a, number_like(3, a)), number_like(0.5, a))
    above = np.where(np.greater_equal(a, number_like(3, a)), g, np.multiply(g, middle))
    return np.where(np.less_equal(a, number_like(-3, a)), number_like(0, a), above)


def _leaky_arguments(g: Any, a: Any, negative_slope: float, is_result: bool) -> Arguments:
    if is_result:
        rule_of("leaky_relu_backward")(g, a, negative_slope, is_result)
    return a, g, [negative_slope]


slope("leaky_relu_backward", _leaky_relu, split=_leaky_arguments)
slope("hardtanh_backward", _between)
slope("hardshrink_backward", _shrunk)
slope("softshrink_backward", _shrunk)
slope("hardsigmoid_backward", _hardsigmoid)
slope("hardswish_backward", _hardswish)

# ---- exponential ones ---------------------------------------------------------------------------


def _elu(g: Any, a: Any, alpha: float, scale: float, input_scale: float, is_result: bool) -> Any:
    negative = number_like(alpha * scale, a)
    if is_result:
        below = np.add(a, negative)
    else:
        scaled = np.multiply(at_most(a, number_like(0, a)), number_like(input_scale, a))
        below = np.multiply(_exp(scaled, falling=input_scale > 0), negative)
    below = np.multiply(np.multiply(g, below), number_like(input_scale, a))
    return np.where(np.greater(a, number_like(0, a)), np.multiply(g, number_like(scale, a)), below)


def _silu(g: Any, a: Any) -> Any:
    one = a.dtype.type(1)
    s = np.reciprocal(np.add(_exp(np.negative(a)), one))
    return np.multiply(g, np.multiply(s, np.add(np.multiply(a, np.subtract(one, s)), one)))


def _mish(g: Any, a: Any) -> Any:
    """By one exponential e: the tangent is e(e + 2) / (e(e + 2) + 2), and of both all else is made."""
    one, two = number_like(1, a), number_like(2, a)
    # Of more, the square is 0, and infinity times 0 is the NaN of PyTorch.
    e = _exp(at_most(a, number_like(30 if a.dtype.itemsize == 4 else 300, a)))
    part = np.multiply(e, np.add(e, two))
    over = np.reciprocal(np.add(part, two))
    steep = np.multiply(np.multiply(e, np.add(e, one)), np.multiply(over, over))
    steep = np.multiply(steep, number_like(4, a))
    return np.multiply(g, np.add(np.multiply(part, over), np.multiply(a, steep)))


def _softplus(g: Any, a: Any, beta: float, threshold: float) -> Any:
    scaled = a if beta == 1 else np.multiply(a, number_like(beta, a))
    curved = np.divide(g, np.add(_exp(np.negative(scaled)), number_like(1, a)))
    return np.where(np.greater(scaled, number_like(threshold, a)), g, curved)


def _log_sigmoid(g: Any, a: Any) -> Any:
    return np.divide(g, np.add(_exp(a), number_like(1, a)))


def _elu_arguments(g: Any, *numbers_and_array: Any) -> Arguments:
    *numbers, is_result, a = numbers_and_array
    if is_result:
        rule_of("elu_backward")(g, *numbers, is_result, a)
    return g, a, [*numbers, is_result]


slope("elu_backward", _elu, many=MANY, split=_elu_arguments)
slope("silu_backward", _silu, many=MANY)
slope("mish_backward", _mish, many=MANY)
slope("softplus_backward", _softplus, many=MANY)
slope("log_sigmoid_backward", _log_sigmoid, many=MANY, split=lambda g, a, buffer: (g, a, []))


def _gelu(g: Any, a: Any, approximate: str) -> Any:
    if approximate == "none":
        return np.multiply(g, gate_slope(a))
    square = np.multiply(a, a)
    inner = np.multiply(np.add(np.multiply(square, number_like(0.044715, a)), number_like(1, a)), a)
    t = np.tanh(np.multiply(inner, number_like(math.sqrt(2 / math.pi), a)))
    steep = np.add(np.multiply(square, number_like(3 * 0.044715, a)), number_like(1, a))
    steep = np.multiply(np.multiply(steep, a), number_like(math.sqrt(2 / math.pi), a))
    steep = np.multiply(steep, np.subtract(number_like(1, a), np.multiply(t, t)))
    return np.multiply(
        g, np.multiply(np.add(np.add(t, steep), number_like(1, a)), number_like(0.5, a))
    )


def _gelu_arguments(g: Any, a: Any, *, approximate: str = "none") -> Arguments:
    if approximate not in ("none", "tanh"):
        rule_of("gelu_backward")(g, a, approximate=approximate)
    return g, a, [approximate]


slope("gelu_backward", _gelu, many=FEW_GATES, split=_gelu_arguments, fits=gelu_fits)
