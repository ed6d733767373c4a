"""Bringing a gradient to the shape and dtype of the input it belongs to."""

from __future__ import annotations

from typing import Any

from ..tensors.tensor import Tensor
from ..values.dtypes import COMPLEX, dtype
from ..values.shapes import Shape

__all__ = ["conform", "sum_to"]


def sum_to(g: Tensor, shape: Shape) -> Tensor:
    """Sum a gradient over the dimensions along which its input was broadcast."""
    if g._shape == shape:
        return g
    lead = len(g._shape) - len(shape)
    dims = [*range(lead)] + [
        i + lead for i, n in enumerate(shape) if n == 1 and g._shape[i + lead] != 1
    ]
    if lead and len(dims) == lead:
        return g.sum(dims)
    summed: Any = g.sum(dims, True) if dims else g
    out: Tensor = summed.reshape(shape) if lead else summed
    return out


def conform(g: Any, shape: Shape, d: dtype) -> Any:
    """Sum ``g`` to ``shape`` and convert it to ``d``.

    A complex gradient of a real input loses its imaginary part.
    """
    if g is None:
        return None
    g = sum_to(g, shape)
    if g._dtype is not d:
        if g._dtype.category == COMPLEX and d.category != COMPLEX:
            g = g.real
        g = g.to(d)
    return g
