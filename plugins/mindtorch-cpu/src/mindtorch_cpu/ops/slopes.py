"""Gradients of element-wise functions: the incoming one times a slope, in one pass over memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_core.backend import FLOATING

from ..arrays import NUMPY_OF, WIDER, converted, in_common_order, quietly, wrap
from ..compiled import BY_SIZE, FEWEST, one_pass
from ..large import LARGE, in_chunks
from ..register import composition_of, register, rule_of

__all__ = ["slope"]


def slope(name: str, compute: Callable[[Any, Any], Any], *, many: int = 0) -> None:
    """Register ``compute(gradient, array)`` as the gradient that an op gives, for floating tensors.

    Args:
        name: the op.
        compute: makes a fresh array.
        many: elements from which it has another formula than for fewer; 0 if it has one.
    """
    general = composition_of(name)

    def run(grad_output: Any, other: Any) -> Any:
        d = other.raw_dtype
        if d.category != FLOATING or grad_output.raw_dtype is not d:
            return general(grad_output, other)
        operands = grad_output.raw_data, other.raw_data
        wide = NUMPY_OF[WIDER.get(d, d)]
        if grad_output.raw_shape != other.raw_shape:
            rule_of(name)(grad_output, other)
            made = quietly(compute, *(a.astype(wide, copy=False) for a in operands))
            return wrap(in_common_order(quietly(made.astype, NUMPY_OF[d]), *operands), d)

        def trace(tracer: Any, g: Any, a: Any) -> list[Any]:
            if few:
                tracer.size = FEWEST
            found = compute(g.astype(wide, copy=False), a.astype(wide, copy=False))
            return [found.astype(a.dtype, copy=False)]

        few = operands[0].size < many
        data = one_pass(("few", name) if few else name, trace, NUMPY_OF[d], *operands)
        if data is not None:
            return wrap(data, d)
        given = [converted(a, WIDER[d]) for a in operands] if d in WIDER else operands
        if given[0].size >= LARGE:
            data = in_chunks(compute, wide, *given)
        if data is None:
            data = quietly(compute, *given)
        if d in WIDER:
            data = quietly(data.astype, NUMPY_OF[d])
        return wrap(in_common_order(data, *operands), d)

    register(name, run)
    BY_SIZE[f"aten::{name}"] = many


def _sigmoid(g: Any, y: Any) -> Any:
    return np.multiply(g, np.multiply(np.subtract(y.dtype.type(1), y), y))


def _tanh(g: Any, y: Any) -> Any:
    return np.multiply(g, np.subtract(y.dtype.type(1), np.multiply(y, y)))


slope("sigmoid_backward", _sigmoid)
slope("tanh_backward", _tanh)
