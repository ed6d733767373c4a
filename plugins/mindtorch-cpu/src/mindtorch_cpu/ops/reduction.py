"""Reductions."""

from __future__ import annotations

import functools
import math
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import (
    COMPLEX,
    FLOATING,
    bool_,
    degrees_of_freedom,
    fresh,
    int64,
    tell_of_lost_parts,
    uint8,
    wrap_dims,
)

from ..arrays import (
    CPU,
    HALVES,
    KEYS,
    NUMPY_OF,
    QUIET,
    WIDER,
    cast,
    converted,
    ndarray,
    quietly,
    recast,
    row_major,
    wrap,
)
from ..large import LARGE, SOME
from ..many_columns import placed
from ..register import composition_of, kernel, register, rule_of
from ..row_sums import sums_of_rows
from ..rows import dots
from ..short_rows import FEW_IN_ROWS, reduce_rows
from ..summation import FEW, deviations, long_sums, mean_of_large, naive, total
from ..whole_sums import SHARED, whole_sums
from ..workers import share_out

_new = object.__new__
_add_reduce: Any = np.add.reduce


def axes(dim: Any, rank: int) -> Any:
    """A reduction's dimensions as NumPy's ``axis``: None for all."""
    if dim is None:
        return None
    found = wrap_dims(dim, rank)
    return None if len(found) == rank else found


def reduced(found: Any, axis: Any, keepdim: bool) -> Any:
    """What was reduced along dimensions that stayed with size 1, as it is asked for."""
    if keepdim:
        return found
    if axis is None:
        return found.reshape(())
    return found.reshape([n for i, n in enumerate(found.shape) if i not in axis])


def rounded(data: Any, d: Any) -> Any:
    """A row-major array in a tensor's dtype."""
    return row_major(data if data.dtype == NUMPY_OF[d] else recast(data, NUMPY_OF[d]))


@kernel("sum")
def sum(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Sum; integers as int64, half precision through float32."""
    d = self.raw_dtype
    a = self.raw_data
    if dtype is not None:
        tell_of_lost_parts(d, dtype)
        d = dtype
        if a.dtype != NUMPY_OF[d]:
            a = converted(a, d)
    elif d.category < FLOATING:
        d = int64
    axis = None if dim is None else axes(dim, a.ndim)
    if d.category < FLOATING:
        inner = np.int64 if d is int64 else NUMPY_OF[d]
        add = whole_sums if a.size >= SHARED else _one_after_another
        return wrap(row_major(quietly(add, a, axis, inner, keepdim)), d)
    if a.size > FEW and (a.size >= LARGE or naive(a, axis)):
        if axis is None and not keepdim and d not in WIDER and _in_tiles(a):
            return wrap(_by_tiles(a, _sums_of_tiles, np.add), d)
        return wrap(rounded(reduced(total(a, axis), axis, keepdim), d), d)
    data = None
    if a.size < FEW_IN_ROWS:
        if d in WIDER:
            return wrap(rounded(quietly(_add_reduce, a, axis, np.float32, None, keepdim), d), d)
        data = QUIET.run(_add_reduce, a, axis, None, None, keepdim)
    elif d.category == FLOATING:
        data = sums_of_rows(a, axis, keepdim)
    if data is None:
        wide = recast(a, np.float32) if d in WIDER else a
        data = QUIET.run(reduce_rows, np.add, wide, axis, None, keepdim)
        if wide is not a:
            return wrap(rounded(data, d), d)
    if data.__class__ is not ndarray:
        data = np.array(data)
    elif data.ndim > 1:
        data = row_major(data)
    r = fresh()
    r.raw_data = data
    r.raw_shape = data.shape
    r.raw_layout = None
    r.raw_dtype = d
    r.raw_device = CPU
    r.raw_keys = KEYS
    r.raw_storage = None
    r.raw_base = None
    r.raw_autograd = None
    return r


def _one_after_another(a: Any, axis: Any, inner: Any, keepdim: bool) -> Any:
    return reduce_rows(np.add, a, axis, inner, keepdim)


def _in_tiles(a: Any) -> bool:
    """Whether a group of a pipeline would reduce an array to one element tile by tile."""
    if a.size < LARGE or a.dtype.kind != "f" or not a.flags.c_contiguous:
        return False
    return bool(a.size > _limits().tile_elements)


@functools.cache
def _limits() -> Any:
    from ..fusion.limits import LIMITS  # imported with the first large one: it brings all of fusion

    return LIMITS


def _by_tiles(a: Any, reduce: Any, join: np.ufunc) -> Any:
    """One element, added up or chosen as a group does it: the bits are the same in a pipeline."""
    from ..fusion.results import reduced_by_tiles

    return reduced_by_tiles(a, reduce, join)


def _sums_of_tiles(rows: Any) -> Any:
    if rows.shape[1] >= LARGE:
        return quietly(long_sums, rows)  # as `total` adds up a row
    return quietly(_add_reduce, rows, 1)


@kernel("prod")
def prod(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Product; integers as int64, half precision through float32."""
    d = dtype or (int64 if self.raw_dtype.category < FLOATING else self.raw_dtype)
    tell_of_lost_parts(self.raw_dtype, d)
    inner = NUMPY_OF[WIDER.get(d, d)]
    a = cast(self, d)
    axis = None if dim is None else axes(dim, a.ndim)
    data = quietly(reduce_rows, np.multiply, a, axis, inner, keepdim)
    return wrap(row_major(quietly(data.astype, NUMPY_OF[d]) if d in WIDER else data), d)


def _spread(name: str, root: bool) -> None:
    rule = rule_of(f"{name}.correction")

    def run(self: Any, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
        a, d = self.raw_data, self.raw_dtype
        if d.category != FLOATING:
            d = rule(self, dim, correction=correction, keepdim=keepdim).dtype
        free = degrees_of_freedom(self.raw_shape, dim, correction, name)
        axis = None if dim is None else axes(dim, a.ndim)
        data = quietly(_variance, a, axis, free, root)
        return wrap(rounded(reduced(data, axis, keepdim), d), d)

    register(f"{name}.correction", run)


def _variance(a: Any, axis: Any, free: Any, root: bool) -> Any:
    """Squared deviations over the degrees of freedom, or the root of that; all in float64."""
    if a.size >= LARGE:
        squares = deviations(a, axis)
    elif a.dtype.kind == "c":
        squares = _deviations(a.real, axis) + _deviations(a.imag, axis)
    else:
        squares = _deviations(a, axis)
    found = np.divide(squares, free)
    return np.sqrt(found) if root else found


def _deviations(a: Any, axis: Any) -> Any:
    """Sums of squared deviations from the mean of few real numbers."""
    x = a.astype(np.float64)
    mean = _add_reduce(x, axis, None, None, True)
    count = max(x.size // max(mean.size, 1), 1)
    mean = np.divide(mean, count)
    if a.dtype == np.float64 and not np.isfinite(mean).all():
        mean = mean_of_large(x, axis, count)
    x = np.subtract(x, mean)
    return _add_reduce(np.multiply(x, x), axis, None, None, True)


_spread("var", False)
_spread("std", True)


# Elements of a part of a large array: its extremes are found, and then their places, while it is cached.
_PART: Final = 1 << 19
# Elements of rows from which a product with themselves pays.
_WIDE_ROWS: Final = 32
# Columns from which extremes along the first dimension are sought row by row.
_WIDE: Final = 256


def _in_parts(work: Any, a: Any) -> list[Any] | None:
    """What is found of parts of a large row-major array along its first dimension, in several threads.

    None for others, which are not worth it.
    """
    if a.size < 4 * _PART or len(a) < 4 or not a.flags.c_contiguous:
        return None
    step = max(1, min(len(a) * _PART // a.size, len(a) // 4))
    found: list[Any] = [None] * -(-len(a) // step)

    def part(i: int) -> None:
        found[i] = work(a[i * step : (i + 1) * step])

    share_out(part, range(len(found)))
    return found


def _extremes(a: Any, join: np.ufunc, axis: Any, keepdim: bool) -> Any:
    """Extremes along dimensions; those of parts are joined where the first is one of them."""

    def kept(part: Any) -> Any:
        return QUIET.run(reduce_rows, join, part, axis, None, True)

    parts = None if axis is None else _in_parts(kept, a)
    if parts is None:
        return QUIET.run(reduce_rows, join, a, axis, None, keepdim)
    found = np.concatenate(parts)
    return reduced(kept(found) if 0 in axis else found, axis, keepdim)


def _first_places(a: Any, values: Any) -> Any:
    """Where values first stand along the first dimension, of which each has one."""
    found = np.empty(values.shape, np.int64)
    for i in range(len(a) - 1, -1, -1):
        np.copyto(found, i, where=np.equal(a[i], values))
    return found


def _comparable(a: Any) -> Any:
    """Many numbers of half precision as float32, which NumPy compares many times faster."""
    return recast(a, np.float32) if a.size >= SOME and a.dtype in HALVES else a


def _extreme(name: str, join: np.ufunc) -> None:
    rule = rule_of(name)
    reduce: Any = join.reduce

    def reduce_rows(rows: Any) -> Any:
        return reduce(rows, 1)

    def run(self: Any, dim: Any = (), keepdim: bool = False) -> Any:
        a = self.raw_data
        if not a.size or self.raw_dtype.category == COMPLEX:
            shape = rule(self, dim, keepdim).shape
            return wrap(np.empty(shape, a.dtype), self.raw_dtype)
        axis = axes(dim, a.ndim)
        if axis is None and not keepdim and self.raw_dtype not in WIDER and _in_tiles(a):
            return wrap(_by_tiles(a, reduce_rows, join), self.raw_dtype)
        wide = _comparable(a)
        found = _extremes(wide, join, axis, keepdim)
        if wide is not a:
            found = recast(found, a.dtype)
        return wrap(row_major(found), self.raw_dtype)

    register(name, run)


_extreme("amax", np.maximum)
_extreme("amin", np.minimum)


def _position(name: str, join: np.ufunc, find: Any) -> None:
    rule = rule_of(name)
    served = (False, True, True, False)

    def run(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
        a = self.raw_data
        if not served[self.raw_dtype.category] or not a.size or (dim is not None and not a.ndim):
            return wrap(np.zeros(rule(self, dim, keepdim).shape, np.int64), int64)
        a = _comparable(a)
        if dim is None:
            return wrap(row_major(find(a, None, None, keepdims=keepdim)), int64)
        (axis,) = wrap_dims(dim, a.ndim)
        in_rows = 0 < axis == a.ndim - 1 and a.flags.c_contiguous
        if a.size >= SOME and not in_rows:
            found = _with_places(a, join, name, axis)[1]
            return wrap(row_major(reduced(found, (axis,), keepdim)), int64)
        parts = _in_parts(lambda part: find(part, axis, None, keepdims=keepdim), a)
        found = find(a, axis, None, keepdims=keepdim) if parts is None else np.concatenate(parts)
        return wrap(row_major(found), int64)

    register(name, run)


_position("argmax", np.maximum, np.argmax)
_position("argmin", np.minimum, np.argmin)


def _with_places(a: Any, join: np.ufunc, find: str, axis: int) -> tuple[Any, Any]:
    """Extremes along a dimension, which stays with size 1, and where they first are."""
    if not a.flags.c_contiguous:
        order = sorted(range(a.ndim), key=lambda i: -a.strides[i])
        turned = np.ascontiguousarray(a.transpose(order))
        values, places = _with_places(turned, join, find, order.index(axis))
        back = sorted(range(a.ndim), key=order.__getitem__)
        return values.transpose(back), places.transpose(back)
    shape = (*a.shape[:axis], 1, *a.shape[axis + 1 :])
    if shape[axis + 1 :] and a.size > math.prod(shape[:axis]) * a.shape[axis]:
        found = placed(a.reshape(math.prod(shape[:axis]), a.shape[axis], -1), join is np.maximum)
        if found is not None:
            return found[0].reshape(shape), found[1].reshape(shape)
    if axis == 0 and a.size // len(a) >= _WIDE:  # NumPy turned it around first
        values = _extremes(a, join, (0,), True)
        if a.dtype.kind not in "fV" or not np.isnan(values).any():
            places = _first_places(a, values[0])[None]
            return np.take_along_axis(a, places, 0), places

    def places_of(part: Any) -> Any:
        return getattr(part, find)(axis, None, keepdims=True)

    parts = _in_parts(places_of, a) if axis else None
    places = places_of(a) if parts is None else np.concatenate(parts)
    return np.take_along_axis(a, places, axis), places


def _extreme_along(name: str, join: np.ufunc, find: str) -> None:
    """``max`` and ``min`` along a dimension."""
    rule = rule_of(f"{name}.dim")
    reduce: Any = join.reduce

    def run(self: Any, dim: int, keepdim: bool = False) -> Any:
        a = self.raw_data
        if not a.size or not a.ndim or self.raw_dtype.category == COMPLEX:
            values, indices = rule(self, dim, keepdim)
            empty = np.empty(values.shape, a.dtype)
            if a.size:
                empty[...] = a
            return wrap(empty, self.raw_dtype), wrap(np.zeros(indices.shape, np.int64), int64)
        (axis,) = wrap_dims(dim, a.ndim)
        if a.size >= SOME:
            both = _with_places(_comparable(a), join, find, axis)
            values, indices = (reduced(found, (axis,), keepdim) for found in both)
            values = rounded(values, self.raw_dtype)
        else:
            if a.size < FEW_IN_ROWS:
                values = QUIET.run(reduce, a, axis, None, None, keepdim)
            else:
                values = QUIET.run(reduce_rows, join, a, axis, None, keepdim)
            indices = getattr(a, find)(axis, None, keepdims=keepdim)
        return wrap(row_major(values), self.raw_dtype), wrap(row_major(indices), int64)

    register(f"{name}.dim", run)


_extreme_along("max", np.maximum, "argmax")
_extreme_along("min", np.minimum, "argmin")


def _truth(name: str, join: np.ufunc) -> None:
    reduce: Any = join.reduce

    def run(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
        a = self.raw_data
        d = uint8 if self.raw_dtype is uint8 else bool_
        axis = () if isinstance(dim, list | tuple) and not dim else axes(dim, a.ndim)
        if a.size < FEW_IN_ROWS:
            found = row_major(reduce(a, axis, np.bool_, None, keepdim))
        else:
            found = row_major(reduce_rows(join, a, axis, np.bool_, keepdim))
        return wrap(found if d is bool_ else np.asarray(found).astype(np.uint8), d)

    register(name, run)


_truth("any", np.logical_or)
_truth("all", np.logical_and)


_vector_norm: Any = composition_of("linalg_vector_norm")
_vector_norm_rule = rule_of("linalg_vector_norm")


@kernel("linalg_vector_norm")
def vector_norm(
    self: Any, ord: Any = 2, dim: Any = None, keepdim: bool = False, *, dtype: Any = None
) -> Any:
    """Roots of sums of squares; half precision through float32."""
    a = self.raw_data
    if ord != 2 or dtype is not None or self.raw_dtype.category != FLOATING or not a.ndim:
        return _vector_norm(self, ord, dim, keepdim, dtype=dtype)
    d = _vector_norm_rule(self, ord, dim, keepdim).dtype
    a = recast(a, np.float32) if d in WIDER else a
    axis = tuple(range(a.ndim)) if dim is None else wrap_dims(dim, a.ndim)
    found = QUIET.run(np.sqrt, quietly(_sum_of_squares, a, axis))
    return wrap(rounded(reduced(found, axis, keepdim), d), d)


def _sum_of_squares(a: Any, axis: Any) -> Any:
    """Sums of squares of float32 or float64 along dimensions, which stay with size 1."""
    count = len(axis)
    kept = a.shape[: a.ndim - count]
    width = math.prod(a.shape[a.ndim - count :])
    if a.size >= SOME and width >= _WIDE_ROWS and a.flags.c_contiguous and min(axis) == len(kept):
        lines = a.reshape(-1, width)
        return dots(lines, lines).reshape(*kept, *(1,) * count)
    squares = np.multiply(a, a)
    if a.size > FEW and (a.size >= LARGE or naive(squares, axis)):
        return total(squares, axis)
    return _add_reduce(squares, axis, None, None, True)
