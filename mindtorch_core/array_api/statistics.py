"""Reductions of the array API standard, cumulative sums, and differences."""

from __future__ import annotations

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from ..values.dtypes import INTEGER, dtype, int64, uint64
from .manipulation import axes_of

__all__ = [
    "all",
    "any",
    "cumulative_prod",
    "cumulative_sum",
    "diff",
    "max",
    "mean",
    "min",
    "prod",
    "std",
    "sum",
    "var",
]

Axis = int | tuple[int, ...] | None


def _summed_in(x: Tensor, given: dtype | None) -> dtype:
    """The dtype of a sum or product: integers are summed in the widest type of their signedness."""
    if given is not None:
        return given
    d = x.dtype
    if d.category > INTEGER:
        return d
    return int64 if d.is_signed or d.category < INTEGER else uint64


def all(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether all elements along dimensions differ from zero; True where there are none."""
    axes = axes_of(axis, x.ndim)
    return fn.all(x != 0, axes, keepdims) if axes else x != 0


def any(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Whether an element along dimensions differs from zero."""
    axes = axes_of(axis, x.ndim)
    return fn.any(x != 0, axes, keepdims) if axes else x != 0


def max(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Greatest of the elements along dimensions; NaN if one is."""
    axes = axes_of(axis, x.ndim)
    return fn.amax(x, axes, keepdims) if axes else x.clone()


def min(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Least of the elements along dimensions; NaN if one is."""
    axes = axes_of(axis, x.ndim)
    return fn.amin(x, axes, keepdims) if axes else x.clone()


def mean(x: Tensor, /, *, axis: Axis = None, keepdims: bool = False) -> Tensor:
    """Arithmetic mean of the elements along dimensions."""
    axes = axes_of(axis, x.ndim)
    return fn.mean(x, axes, keepdims) if axes else x.clone()


def sum(
    x: Tensor, /, *, axis: Axis = None, dtype: dtype | None = None, keepdims: bool = False
) -> Tensor:
    """Sum of the elements along dimensions.

    Args:
        x: a numeric tensor.
        axis: dimensions; all if None.
        dtype: that of the sum; by default that of x, or for integers the widest of their signedness.
        keepdims: whether the dimensions stay, with size 1.
    """
    axes = axes_of(axis, x.ndim)
    d = _summed_in(x, dtype)
    return fn.sum(x, axes, keepdims, dtype=d) if axes else x.to(d, copy=True)


def prod(
    x: Tensor, /, *, axis: Axis = None, dtype: dtype | None = None, keepdims: bool = False
) -> Tensor:
    """Product of the elements along dimensions; arguments as in `sum`."""
    axes = axes_of(axis, x.ndim)
    d = _summed_in(x, dtype)
    if not axes:
        return x.to(d, copy=True)
    result = x
    for each in sorted(axes, reverse=True):  # PyTorch's takes one dimension
        result = fn.prod(result, each, keepdims, dtype=d)
    return result


def std(
    x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """Standard deviation of the elements along dimensions; arguments as in `var`."""
    axes = axes_of(axis, x.ndim)
    if not axes:
        return fn.sqrt(var(x, axis=axis, correction=correction, keepdims=keepdims))
    return fn.std(x, axes, correction=correction, keepdim=keepdims)


def var(
    x: Tensor, /, *, axis: Axis = None, correction: float = 0.0, keepdims: bool = False
) -> Tensor:
    """Variance of the elements along dimensions.

    Args:
        x: a real floating tensor.
        axis: dimensions; all if None.
        correction: what is subtracted from the number of elements that the sum of squares is divided by.
        keepdims: whether the dimensions stay, with size 1.
    """
    axes = axes_of(axis, x.ndim)
    if not axes:  # one element, whose square of differences is 0
        return (x - x) / float(1 - correction if correction < 1 else 0)
    return fn.var(x, axes, correction=correction, keepdim=keepdims)


def _cumulated(
    op: str, first: int, x: Tensor, axis: int | None, d: dtype, include_initial: bool
) -> Tensor:
    if axis is None:
        if x.ndim != 1:
            raise ValueError(
                f"cumulative_{op[3:]}: axis must be given for a tensor of {x.ndim} dimensions"
            )
        axis = 0
    (at,) = axes_of(axis, x.ndim)
    result: Tensor = getattr(fn, op)(x, at, dtype=d)
    if not include_initial:
        return result
    shape = list(x.shape)
    shape[at] = 1
    return fn.cat([fn.full(shape, first, dtype=d, device=x.device), result], at)


def cumulative_prod(
    x: Tensor,
    /,
    *,
    axis: int | None = None,
    dtype: dtype | None = None,
    include_initial: bool = False,
) -> Tensor:
    """Products of the first elements along a dimension; arguments as in `cumulative_sum`."""
    return _cumulated("cumprod", 1, x, axis, _summed_in(x, dtype), include_initial)


def cumulative_sum(
    x: Tensor,
    /,
    *,
    axis: int | None = None,
    dtype: dtype | None = None,
    include_initial: bool = False,
) -> Tensor:
    """Sums of the first elements along a dimension.

    Args:
        x: a numeric tensor.
        axis: the dimension; it may be left out where there is one alone.
        dtype: as in `sum`.
        include_initial: whether the sum of no element stands before the others.

    Raises:
        ValueError: if ``axis`` is left out where there is not one dimension.
    """
    return _cumulated("cumsum", 0, x, axis, _summed_in(x, dtype), include_initial)


def diff(
    x: Tensor,
    /,
    *,
    axis: int = -1,
    n: int = 1,
    prepend: Tensor | None = None,
    append: Tensor | None = None,
) -> Tensor:
    """Differences of neighbours along a dimension, ``n`` times.

    Args:
        x: a numeric tensor.
        axis: the dimension.
        n: how often.
        prepend: what stands before x.
        append: what stands behind it.
    """
    (at,) = axes_of(axis, x.ndim)
    return fn.diff(x, n, at, prepend, append)
