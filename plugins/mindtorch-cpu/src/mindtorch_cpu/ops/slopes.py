"""Gradients of element-wise functions: the incoming one times a slope, in one pass over memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_core.backend import FLOATING

from ..arrays import (
    NUMPY_OF,
    WIDER,
    as_operands_lie,
    converted,
    in_common_order,
    quietly,
    recast,
    wrap,
)
from ..compiled import BY_SIZE, FEWEST, one_pass
from ..large import LARGE, in_chunks
from ..register import composition_of, register

__all__ = ["Arguments", "slope"]

# What a kernel takes, as the tensors, in the order in which the result lies as they do, and numbers.
Arguments = tuple[Any, Any, list[Any]]


def slope(
    name: str,
    compute: Callable[..., Any],
    *,
    many: int = 0,
    split: Callable[..., Arguments] | None = None,
    fits: Callable[..., bool] | None = None,
) -> None:
    """Register ``compute(gradient, array, *numbers)`` as the gradient that an op gives, for floating tensors.

    Args:
        name: the op.
        compute: makes a fresh array; it may be given a part of a large one.
        many: elements from which it has another formula than for fewer; 0 if it has one.
        split: sorts the op's arguments, where they are not the two tensors and numbers.
        fits: of an array, its wide dtype and the numbers, whether it may be compiled; always if None.
    """
    general = composition_of(name)

    def run(*args: Any, **kwargs: Any) -> Any:
        if split is None:
            first, second, *numbers = args
        else:
            first, second, numbers = split(*args, **kwargs)
        d, g, a = first.raw_dtype, first.raw_data, second.raw_data
        if second.raw_dtype is not d or g.shape != a.shape or d.category != FLOATING:
            made = general(*args, **kwargs)
            return wrap(as_operands_lie(made.raw_data, first, second), made.raw_dtype)
        wide = NUMPY_OF[WIDER.get(d, d)]
        if a.size >= FEWEST and (fits is None or fits(a, wide, *numbers)):

            def trace(tracer: Any, g: Any, a: Any) -> list[Any]:
                if few:
                    tracer.size = FEWEST
                pair = g.astype(wide, copy=False), a.astype(wide, copy=False)
                return [compute(*pair, *numbers).astype(a.dtype, copy=False)]

            few = a.size < many
            key = (name, *map(repr, numbers)) if numbers else name
            data = one_pass(("few", key) if few else key, trace, a.dtype, g, a)
            if data is not None:
                return wrap(data, d)
        given = [converted(x, WIDER[d]) for x in (g, a)] if d in WIDER else (g, a)
        data = None
        if a.size >= LARGE:
            data = in_chunks(lambda g, a: compute(g, a, *numbers), wide, *given)
        if data is None:
            data = quietly(compute, *given, *numbers)
        if d in WIDER:
            data = recast(data, NUMPY_OF[d])
        return wrap(in_common_order(data, g, a), d)

    register(name, run)
    BY_SIZE[f"aten::{name}"] = many


def _sigmoid(g: Any, y: Any) -> Any:
    return np.multiply(g, np.multiply(np.subtract(y.dtype.type(1), y), y))


def _tanh(g: Any, y: Any) -> Any:
    return np.multiply(g, np.subtract(y.dtype.type(1), np.multiply(y, y)))


slope("sigmoid_backward", _sigmoid)
slope("tanh_backward", _tanh)
