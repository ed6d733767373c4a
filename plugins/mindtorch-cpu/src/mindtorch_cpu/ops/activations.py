"""Activations: a few passes over memory that stays in the cache, instead of an op for each step."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_core.dtypes import FLOATING

from ..arrays import NUMPY_OF, WIDER, converted, in_common_order, quietly, wrap
from ..large import LARGE, in_chunks
from ..register import composition_of, register, rule_of

Compute = Callable[..., Any]


def activation(name: str, compute: Compute, *, inplace: bool = True) -> None:
    """Register ``compute(array, *arguments)`` for floating tensors, and the op's in-place form.

    Args:
        name: the op.
        compute: makes a fresh array; it may be given a part of a large one.
        inplace: whether there is an in-place form.
    """
    rule, general = rule_of(name), composition_of(name)

    def data_of(self: Any, args: Any, kwargs: Any) -> Any:
        d = self._dtype
        a = self._data
        if d in WIDER:
            a = converted(a, WIDER[d])

        def each(part: Any) -> Any:
            return compute(part, *args, **kwargs)

        data = in_chunks(each, a.dtype, a) if a.size >= LARGE else None
        if data is None:
            data = in_common_order(quietly(each, a), a)
        return data.astype(NUMPY_OF[d]) if d in WIDER else data

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            rule(self, *args, **kwargs)
        if self._dtype.category != FLOATING:
            return general(self, *args, **kwargs)
        return wrap(data_of(self, args, kwargs), self._dtype)

    def run_inplace(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self._dtype.category != FLOATING:
            return self.copy_(run(self, *args, **kwargs))
        np.copyto(self._data, data_of(self, args, kwargs))
        return self

    register(name, run)
    if inplace:
        register(f"{name}_", run_inplace)


def _number(value: float, a: Any) -> Any:
    return a.dtype.type(value)


def _leaky_relu(a: Any, slope: float = 0.01) -> Any:
    scaled = np.multiply(a, _number(slope, a))
    if 0 <= slope <= 1:
        return np.maximum(a, scaled)
    return np.where(a > 0, a, scaled)


def _hardtanh(a: Any, low: float = -1, high: float = 1) -> Any:
    return np.minimum(np.maximum(a, _number(low, a)), _number(high, a))


def _elu(a: Any, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Any:
    below = np.minimum(a, _number(0, a))
    if input_scale != 1:
        below = np.multiply(below, _number(input_scale, a))
    below = np.expm1(below)
    if alpha * scale != 1:
        below = np.multiply(below, _number(alpha * scale, a))
    above = a if scale == 1 else np.multiply(a, _number(scale, a))
    return np.where(a > 0, above, below)


def _silu(a: Any) -> Any:
    t = np.exp(np.negative(a))
    return np.divide(a, np.add(t, _number(1, a)))


def _softplus(a: Any, beta: float = 1, threshold: float = 20) -> Any:
    scaled = a if beta == 1 else np.multiply(a, _number(beta, a))
    curved = np.log1p(np.exp(scaled))
    if beta != 1:
        curved = np.divide(curved, _number(beta, a))
    return np.where(scaled > threshold, a, curved)


def _mish(a: Any) -> Any:
    return np.multiply(a, np.tanh(_softplus(a)))


def _log_sigmoid(a: Any) -> Any:
    tail = np.log1p(np.exp(np.negative(np.absolute(a))))
    return np.subtract(np.minimum(a, _number(0, a)), tail)


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
    erfc = importlib.import_module("scipy.special").erfc
    share = erfc(np.multiply(a, _number(-math.sqrt(0.5), a)))
    return np.multiply(np.multiply(a, _number(0.5, a)), share)


activation("leaky_relu", _leaky_relu)
activation("hardtanh", _hardtanh)
activation("elu", _elu)
activation("silu", _silu)
activation("softplus", _softplus, inplace=False)
activation("mish", _mish)
activation("log_sigmoid", _log_sigmoid, inplace=False)
activation("hardswish", _hardswish)
activation("hardsigmoid", _hardsigmoid)
activation("gelu", _gelu)
