"""Functions of the array API standard that search, sort and select elements."""

from __future__ import annotations

from typing import Any

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from .manipulation import axes_of
from .operands import tensors_of

__all__ = [
    "argmax",
    "argmin",
    "argsort",
    "count_nonzero",
    "nonzero",
    "searchsorted",
    "sort",
    "take",
    "take_along_axis",
    "where",
]


def _kept(result: Tensor, x: Tensor, axis: Any, keepdims: bool) -> Tensor:
    """The result of a reduction of all dimensions, with as many as the tensor if they are kept."""
    return result.reshape((1,) * x.ndim) if keepdims and axis is None else result


def argmax(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Position of the greatest element along a dimension, the first of equals; of all, if None."""
    return _kept(fn.argmax(x, axis, keepdims and axis is not None), x, axis, keepdims)


def argmin(x: Tensor, /, *, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Position of the least element along a dimension, the first of equals; of all, if None."""
    return _kept(fn.argmin(x, axis, keepdims and axis is not None), x, axis, keepdims)


def argsort(
    x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True
) -> Tensor:
    """Positions that sort a real tensor along a dimension."""
    return fn.argsort(x, dim=axis, descending=descending, stable=stable)


def sort(x: Tensor, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """A real tensor sorted along a dimension."""
    result: Any = fn.sort(x, dim=axis, descending=descending, stable=stable)
    values: Tensor = result.values
    return values


def count_nonzero(
    x: Tensor, /, *, axis: int | tuple[int, ...] | None = None, keepdims: bool = False
) -> Tensor:
    """How many elements differ from zero, along dimensions."""
    return (
        fn.sum(x != 0, axes_of(axis, x.ndim), keepdim=keepdims) if axis != () else (x != 0).long()
    )


def nonzero(x: Tensor, /) -> tuple[Tensor, ...]:
    """Positions of the elements that differ from zero: a tensor for each dimension.

    Raises:
        ValueError: for a tensor without dimensions.
    """
    if x.ndim == 0:
        raise ValueError("nonzero: the tensor must have a dimension at least")
    found: Any = fn.nonzero(x, as_tuple=True)
    return tuple(found)


def searchsorted(
    x1: Tensor, x2: Tensor, /, *, side: str = "left", sorter: Tensor | None = None
) -> Tensor:
    """Where the elements of x2 would be inserted into the sorted x1, so that it stays sorted.

    Args:
        x1: one dimension; ascending, if ``sorter`` is not given.
        x2: of any shape, which is the result's.
        side: ``"left"`` or ``"right"`` of elements that are equal.
        sorter: positions that sort x1.
    """
    boundaries, values = tensors_of("searchsorted", x1, x2)
    order = None if sorter is None else sorter.long()
    return fn.searchsorted(boundaries, values, side=side, sorter=order)


def _from_start(indices: Tensor, size: int) -> Tensor:
    """Positions, those that count from the end made to count from the start."""
    indices = indices.long()
    return fn.where(indices < 0, indices + size, indices)


def take(x: Tensor, indices: Tensor, /, *, axis: int | None = None) -> Tensor:
    """The elements at positions along a dimension.

    Args:
        x: any tensor.
        indices: one dimension of integers; negative ones count from the end.
        axis: the dimension; it may be left out where there is one alone.

    Raises:
        IndexError: if a position does not exist.
        ValueError: if ``axis`` is left out where there are several.
    """
    if axis is None:
        if x.ndim != 1:
            raise ValueError("take: axis must be given for a tensor of several dimensions")
        axis = 0
    (at,) = axes_of(axis, x.ndim)
    return fn.index_select(x, at, _from_start(indices, x.shape[at]))


def take_along_axis(x: Tensor, indices: Tensor, /, *, axis: int = -1) -> Tensor:
    """The elements at positions along a dimension, which differ for each place in the others.

    Args:
        x: any tensor.
        indices: integers, with as many dimensions; the other sizes broadcast with those of x.
        axis: the dimension.
    """
    (at,) = axes_of(axis, x.ndim)
    return fn.take_along_dim(x, _from_start(indices, x.shape[at]), at)


def where(condition: Tensor, x1: Any, x2: Any, /) -> Tensor:
    """The elements of x1 where a condition holds, else those of x2; one of the two may be a number.

    Two numbers meet in the default dtype of their kind.
    """
    if not isinstance(x1, Tensor) and not isinstance(x2, Tensor):
        return fn.where(condition, x1, x2)
    first, second = tensors_of("where", x1, x2)
    return fn.where(condition, first, second)
