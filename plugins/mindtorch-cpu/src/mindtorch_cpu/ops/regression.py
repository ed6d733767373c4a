"""Losses of differences, in one pass over many elements."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import FLOATING

from ..arrays import WIDER, quietly, wrap
from ..compiled import computed, one_pass
from ..large import many
from ..memory_pool import POOL
from ..register import composition_of, register
from . import reduction as reductions

_NONE, _MEAN = range(2)  # reductions; 2 is the sum

# What a loss makes of differences and its option.
Formula = Callable[..., Any]


def _half_square(size: Any, factor: Any) -> Any:
    return np.multiply(np.multiply(size, size), factor)


def _smooth_l1(x: Any, beta: Any) -> Any:
    size, number = np.absolute(x), x.dtype.type
    small = _half_square(size, number(0.5 / beta))
    return np.where(np.less(size, number(beta)), small, np.subtract(size, number(beta * 0.5)))


def _huber(x: Any, delta: Any) -> Any:
    size, number = np.absolute(x), x.dtype.type
    far = np.multiply(np.subtract(size, number(delta * 0.5)), number(delta))
    return np.where(np.less_equal(size, number(delta)), _half_square(size, number(0.5)), far)


_LOSSES: Final[dict[str, Formula]] = {
    "mse_loss": lambda x: np.multiply(x, x),
    "smooth_l1_loss": _smooth_l1,
    "huber_loss": _huber,
}


def _register(name: str, formula: Formula) -> None:
    general: Any = composition_of(name)

    def run(self: Any, target: Any, reduction: int = _MEAN, *option: Any, **named: Any) -> Any:
        number = (*option, *named.values())
        if reduction not in (0, 1, 2) or any(n <= 0 for n in number) or not _alike(self, target):
            return general(self, target, reduction, *option, **named)
        a, b = self.raw_data, target.raw_data

        def trace(tracer: Any, x: Any, y: Any) -> list[Any]:
            return [formula(np.subtract(x, y), *number)]

        found = one_pass((name, *number), trace, a.dtype, a, b) if many(a) else None
        if found is None:
            found = np.asarray(quietly(trace, None, a, b)[0])
        losses = wrap(found, self.raw_dtype)
        if reduction == _NONE:
            return losses
        total = reductions.sum(losses)
        if reduction != _MEAN:
            return total
        return wrap(np.asarray(np.divide(total.raw_data, a.dtype.type(a.size))), self.raw_dtype)

    register(name, run)


def _alike(a: Any, b: Any) -> bool:
    """Whether tensors have elements, as many and of one floating dtype, that lie in row-major order."""
    d, x, y = a.raw_dtype, a.raw_data, b.raw_data
    return bool(
        d is b.raw_dtype
        and d.category == FLOATING
        and d not in WIDER
        and x.shape == y.shape
        and x.size
        and x.flags.c_contiguous
        and y.flags.c_contiguous
    )


for _name, _formula in _LOSSES.items():
    _register(_name, _formula)


# ---- gradients ----------------------------------------------------------------------------------


def _smooth_l1_slope(x: Any, beta: Any) -> Any:
    number = x.dtype.type
    far = np.greater_equal(np.absolute(x), number(beta))
    return np.where(far, np.copysign(number(1), x), np.divide(x, number(beta)))


def _huber_slope(x: Any, delta: Any) -> Any:
    number = x.dtype.type
    return np.minimum(number(delta), np.maximum(number(-delta), x))


_SLOPES: Final[dict[str, Formula]] = {
    "mse_loss_backward": lambda x: np.multiply(x, x.dtype.type(2)),
    "smooth_l1_loss_backward": _smooth_l1_slope,
    "huber_loss_backward": _huber_slope,
}


def _register_backward(name: str, slope: Formula) -> None:
    general: Any = composition_of(name)

    def run(grad_output: Any, self: Any, target: Any, reduction: int, *option: Any) -> Any:
        a, b, g = self.raw_data, target.raw_data, grad_output.raw_data
        served = many(a) and _alike(self, target) and g.dtype == a.dtype and not g.ndim
        if not served or any(n <= 0 for n in option):
            return general(grad_output, self, target, reduction, *option)
        share = np.asarray(np.divide(g, a.dtype.type(a.size))) if reduction == _MEAN else g

        def trace(tracer: Any, x: Any, y: Any, share: Any) -> list[Any]:
            return [np.multiply(slope(np.subtract(x, y), *option), share)]

        out = POOL.empty(a.shape, a.dtype)
        if computed((name, *option), trace, [a, b, share], [out]):
            return wrap(out, self.raw_dtype)
        return general(grad_output, self, target, reduction, *option)

    register(name, run)


for _name, _slope in _SLOPES.items():
    _register_backward(_name, _slope)
