"""What gradients and decompositions of several families of ops are made of.

It stands below the rows, so that the first op of a family does not define another family's.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from ..values.devices import row_of
from ..values.dtypes import COMPLEX, FLOATING
from ..values.promotion import WIDER
from ..values.shapes import numel, wrap_dims
from ..values.user_warnings import warn_user

__all__ = [
    "conj",
    "degrees_of_freedom",
    "has_elements",
    "in_single",
    "reduced_count",
    "selected_grad",
    "shared_grad",
    "unreduce",
]

Dims = Any


def conj(value: Any) -> Any:
    """Complex conjugate of a tensor or number, written out; real values are returned as they are."""
    if value.__class__ is Tensor or isinstance(value, Tensor):  # a parameter is one
        return value if value._dtype.category != COMPLEX else value.conj_physical()
    return value.conjugate() if isinstance(value, complex) else value


def in_single(composition: Callable[..., Any]) -> Callable[..., Any]:
    """Compute a composition in float32 where its input is of half precision, rounding once."""

    def computed(self: Tensor, *args: Any, **kwargs: Any) -> Any:
        wide = WIDER.get(self._dtype)
        if wide is None:
            return composition(self, *args, **kwargs)
        return composition(self.to(wide), *args, **kwargs).to(self._dtype)

    return computed


def unreduce(g: Tensor, shape: Any, dim: Dims, keepdim: bool) -> Tensor:
    """Give a reduced gradient its dimensions back, as size 1, and expand it to ``shape``."""
    if not keepdim and g._shape:
        for d in sorted(wrap_dims(dim, len(shape))):
            g = g.unsqueeze(d)
    return g.expand(shape)


def reduced_count(shape: Any, dim: Dims) -> int:
    """Number of elements that go into one result."""
    if dim is None:
        return numel(shape)
    return numel(tuple(shape[d] for d in wrap_dims(dim, len(shape))))


def has_elements(t: Tensor) -> bool:
    """Whether an argument can be checked by its elements: meta tensors have none."""
    return bool(row_of(t._device.type).runtime.executes)


def shared_grad(g: Any, self: Any, result: Any) -> Any:
    """Share the gradient evenly among the elements that equal the result, or are NaN as it is."""
    hit = self == result
    if self._dtype.category == FLOATING:
        hit = hit | (self.isnan() & result.isnan())
    return fn.where(hit, g / hit.sum(), 0)


def selected_grad(g: Any, shape: Any, dim: int, indices: Any, keepdim: bool) -> Any:
    """Gradient of a choice of one element along a dimension: it goes to the one that was chosen."""
    if shape and not keepdim:
        g, indices = g.unsqueeze(dim), indices.unsqueeze(dim)
    return g.new_zeros(shape).scatter(dim, indices, g)


def degrees_of_freedom(shape: Any, dim: Dims, correction: Any, name: str = "") -> Any:
    """What squared deviations are divided by.

    Args:
        shape: of the numbers.
        dim: along which they deviate.
        correction: what their count is lessened by; 1 if None.
        name: of the op that warns where nothing is left.
    """
    free = reduced_count(shape, dim) - (1 if correction is None else correction)
    if name and free <= 0:
        warn_user(
            f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the "
            "reduction factor (input numel divided by output numel)."
        )
    return max(free, 0)
