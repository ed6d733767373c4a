"""Picking and placing elements."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindtorch_core.backend import (
    Tensor,
    index_shape,
    int64,
    numel,
    wrap_dim,
)

from ..arrays import (
    WIDER,
    exact,
    laid_as,
    laid_out,
    ndarray,
    quietly,
    row_major,
    scalar,
    wrap,
)
from ..compiled import walk
from ..large import LARGE, many
from ..memory_pool import POOL
from ..register import kernel, rule_of
from ..workers import in_parts
from .flat import checked, combine_at, few, gathered_positions, indexed_positions

_new = object.__new__


def positions(indices: Any) -> tuple[Any, ...]:
    """NumPy's index tuple for integer index tensors; None takes a whole dimension."""
    return tuple(slice(None) if t is None else t.raw_data for t in indices)


def out_of_bounds(error: IndexError) -> IndexError:
    """NumPy's error in PyTorch's words."""
    return IndexError(str(error).replace("axis", "dimension"))


@kernel("_index_positions")
def index(self: Any, indices: Any) -> Any:
    """Elements at integer positions."""
    spec = rule_of("_index_positions")(self, indices)
    try:
        found = _picked(self.raw_data, indices)
    except IndexError as error:
        raise out_of_bounds(error) from None
    if found.__class__ is ndarray and found.base is not None:
        found = found.copy()  # indices of no dimensions only: NumPy gives a view
    if spec.strides is not None:
        return laid_as(found, spec)
    return wrap(row_major(found), self.raw_dtype)


def _picked(a: Any, indices: Any) -> Any:
    """Elements at positions; along one dimension behind others NumPy's `take` is ten times as fast."""
    given = [at for at, t in enumerate(indices) if t is not None]
    if len(given) == 1 and given[0] and a.size:
        return a.take(indices[given[0]].raw_data, given[0])
    return a[positions(indices)]


@kernel("_index_put_positions_")
def index_put(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """Put or add values at integer positions."""
    rule_of("_index_put_positions")(self, indices, values, accumulate)
    at = positions(indices)
    try:
        if accumulate:
            _add_at(self, at, indices, values.raw_data)
        else:
            self.raw_data[at] = values.raw_data
    except IndexError as error:
        raise out_of_bounds(error) from None
    return self


@kernel("index_fill_.int_Scalar")
def index_fill_(self: Any, dim: int, index: Any, value: Any) -> Any:
    """Write a number into slices."""
    rule_of("index_fill.int_Scalar")(self, dim, index, value)
    a = self.raw_data if self.raw_shape else self.raw_data.reshape(1)
    at = (*(slice(None),) * wrap_dim(dim, a.ndim), index.raw_data)
    try:
        a[at] = exact(value, self.raw_dtype)
    except IndexError as error:
        raise out_of_bounds(error) from None
    return self


def _add_at(self: Any, at: Any, indices: Any, values: Any) -> None:
    """Add values at positions, some of which may be the same."""
    shape = index_shape(self.raw_shape, indices)
    if (few(shape) and self.raw_dtype not in WIDER) or all(t is None for t in indices):
        quietly(np.add.at, self.raw_data, at, values)
        return
    rows = indices[0] is not None and all(t is None for t in indices[1:])
    if rows and numel(shape) >= LARGE and 0 not in self.raw_data.strides:
        added = _rows_added(self.raw_data, indices[0].raw_data, np.broadcast_to(values, shape))
        if added is not None:
            quietly(np.add, self.raw_data, added, self.raw_data)
            return
    flat = indexed_positions(self.raw_shape, [t if t is None else t.raw_data for t in indices])
    combine_at(np.add, self.raw_data, flat, values, self.raw_dtype)


def _rows_added(out: Any, index: Any, values: Any) -> Any:
    """The sum of the rows at each position along the first dimension; None where that is slower."""
    from .accumulation import added_rows

    count = out.shape[0]
    if out.ndim < 2 or not index.size or index.min() < -count or index.max() >= count:
        return None
    place = np.where(index < 0, index + count, index).reshape(-1)
    added = added_rows(place, values.reshape(place.size, -1), count)
    return None if added is None else added.reshape(out.shape)


@kernel("nonzero")
def nonzero(self: Any) -> Any:
    """Positions of non-zero elements, those along one dimension side by side in memory."""
    a = self.raw_data
    if not a.ndim:
        return wrap(np.empty((int(bool(a)), 0), np.int64), int64)
    if many(a) and a.dtype.kind != "b":
        a = a != 0  # which NumPy counts and finds many times faster
    return wrap((_places(a) if many(a) and a.ndim > 1 else np.array(a.nonzero())).T, int64)


def _places(chosen: Any) -> Any:
    """Where an array of booleans is true, by dimension: from places in a row, which NumPy finds faster."""
    at = chosen.reshape(-1).nonzero()[0]
    found = np.empty((chosen.ndim, at.size), np.int64)
    for d in range(chosen.ndim - 1, 0, -1):
        above = at // chosen.shape[d]
        np.subtract(at, above * chosen.shape[d], found[d])
        at = above
    found[0] = at
    return found


def open_grid(index: Any, at: int) -> tuple[Any, ...]:
    """Index tuple in which ``index`` runs along one dimension and the others count up."""
    grid = list(np.ogrid[tuple(slice(n) for n in index.shape)]) if index.ndim else []
    grid[at] = index
    return tuple(grid)


@kernel("gather")
def gather(self: Any, dim: int, index: Any, *, sparse_grad: bool = False) -> Any:
    """Elements picked along a dimension."""
    rule_of("gather")(self, dim, index)
    a, i = self.raw_data, index.raw_data
    if not i.size:
        return wrap(np.empty(i.shape, a.dtype), self.raw_dtype)
    a = a.reshape(-1) if not a.ndim else a
    at = wrap_dim(dim, a.ndim)
    if (line := _line_of(i, at)) is not None:  # whole slices
        checked("gather", line, a.shape[at], at)
        part = a[tuple(slice(None if k == at else n) for k, n in enumerate(i.shape))]
        return wrap(row_major(part.take(line, at)), self.raw_dtype)
    found = np.empty(i.shape, a.dtype) if a.flags.c_contiguous and i.ndim else None
    if found is not None and _walked("gather", found, i, a, at, a.shape):
        return wrap(found, self.raw_dtype)
    checked("gather", i, a.shape[at], at)
    i = i.reshape(-1) if not i.ndim else i
    if a.flags.c_contiguous:
        found = a.reshape(-1).take(gathered_positions(i, a.shape, at))
    else:
        found = row_major(a[open_grid(i, at)])
    return wrap(found.reshape(index.raw_shape), self.raw_dtype)


def _line_of(i: Any, at: int) -> Any:
    """The positions along a dimension, where those beside them are the same, seen again; else None."""
    if i.ndim < 2 or any(
        step and n > 1
        for k, (n, step) in enumerate(zip(i.shape, i.strides, strict=True))
        if k != at
    ):
        return None
    return i[tuple(slice(None) if k == at else 0 for k in range(i.ndim))]


def _walked(name: str, out: Any, i: Any, given: Any, at: int, shape: Any) -> bool:
    """Whether a compiled loop picked or added elements at positions along a dimension.

    Args:
        name: the loop's.
        out: what it writes.
        i: the positions.
        given: what it reads.
        at: the dimension.
        shape: of what the positions are in.
    """
    others = (*shape[:at], *shape[at + 1 :])
    if i.size < LARGE or others != (*i.shape[:at], *i.shape[at + 1 :]) or i.dtype != np.int64:
        return False
    if not (out.flags.c_contiguous and given.flags.c_contiguous):
        return False
    loop = walk(name, out.dtype, i.size)
    if loop is None:
        return False
    i = np.ascontiguousarray(i)  # that of some channels is often that of one, repeated
    size, blocks, inside = shape[at], math.prod(shape[:at]), math.prod(shape[at + 1 :])
    counts = (i.shape[at], inside) if inside > 1 else (1, i.shape[at])
    steps = (size * inside, inside, int(inside > 1))
    if name != "gather":  # nothing may be written where a position is wrong
        return bool(loop(out, given, i, blocks, *counts, size, *steps))
    parts = [a.reshape(blocks, -1) for a in (out, given, i)]

    def some(low: int, high: int) -> tuple[Any, ...]:
        return (*(a[low:high] for a in parts), high - low, *counts, size, *steps)

    return bool(loop.shared(blocks, some, -(-LARGE * blocks // i.size)))


def _scattered(self: Any, dim: int, index: Any, src: Any, name: str, accumulate: bool) -> Any:
    """Put or add elements into ``self`` in place."""
    out, i = self.raw_data, index.raw_data
    if not i.size:
        return self
    out = out.reshape(-1) if not out.ndim else out  # a view
    at = wrap_dim(dim, out.ndim)
    given = src.raw_data if isinstance(src, Tensor) else exact(src, self.raw_dtype)
    apart = accumulate and given.shape == i.shape != () and not np.may_share_memory(out, given)
    if apart and _walked("scatter_add", out, i, given, at, out.shape):
        return self
    checked(name, i, out.shape[at], at)
    i = i.reshape(-1) if not i.ndim else i
    part: Any = given
    if given.shape != i.shape:
        part = given[tuple(slice(n) for n in i.shape)] if given.ndim else given.reshape(-1)
    if accumulate:
        combine_at(np.add, out, gathered_positions(i, out.shape, at), part, self.raw_dtype)
    elif out.flags.c_contiguous:
        out.reshape(-1)[gathered_positions(i, out.shape, at)] = part
    else:
        out[open_grid(i, at)] = part
    return self


@kernel("scatter_add_")
def scatter_add_(self: Any, dim: int, index: Any, src: Any) -> Any:
    """Add elements at positions along a dimension, in place."""
    rule_of("scatter_add")(self, dim, index, src)
    return _scattered(self, dim, index, src, "scatter_add", True)


@kernel("scatter_.src")
def scatter_(self: Any, dim: int, index: Any, src: Any) -> Any:
    """Put elements at positions along a dimension, in place."""
    rule_of("scatter.src")(self, dim, index, src)
    return _scattered(self, dim, index, src, "scatter", False)


@kernel("scatter_.value")
def scatter_value_(self: Any, dim: int, index: Any, value: Any) -> Any:
    """Put a number at positions along a dimension, in place."""
    rule_of("scatter.value")(self, dim, index, value)
    return _scattered(self, dim, index, value, "scatter", False)


def copied(self: Any) -> Any:
    """A fresh tensor with the same elements."""
    return wrap(self.raw_data.copy(), self.raw_dtype)


@kernel("scatter_add")
def scatter_add(self: Any, dim: int, index: Any, src: Any) -> Any:
    """A copy with elements added at positions along a dimension."""
    return scatter_add_(copied(self), dim, index, src)


@kernel("scatter.src")
def scatter(self: Any, dim: int, index: Any, src: Any) -> Any:
    """A copy with elements put at positions along a dimension."""
    return scatter_(copied(self), dim, index, src)


@kernel("scatter.value")
def scatter_value(self: Any, dim: int, index: Any, value: Any) -> Any:
    """A copy with a number at positions along a dimension."""
    return scatter_value_(copied(self), dim, index, value)


@kernel("index_select")
def index_select(self: Any, dim: int, index: Any) -> Any:
    """Slices at positions along a dimension."""
    rule_of("index_select")(self, dim, index)
    a = self.raw_data
    if not a.ndim:
        checked("index_select", index.raw_data, 1, 0, IndexError)
        return wrap(a.copy(), self.raw_dtype)
    at = wrap_dim(dim, a.ndim)
    i = checked("index_select", index.raw_data.reshape(-1), a.shape[at], at, IndexError)
    return wrap(_taken(a, i, at), self.raw_dtype)


def _taken(a: Any, i: Any, at: int) -> Any:
    """Slices at positions that are in range, along a dimension; many of the first in several threads."""
    size = i.size * math.prod(a.shape[1:])
    if at or size < 4 * LARGE:
        return a.take(i, at)
    out = POOL.empty((i.size, *a.shape[1:]), a.dtype)

    def some(low: int, high: int) -> None:
        a.take(i[low:high], 0, out[low:high], "clip")  # other modes have it copied

    in_parts(some, i.size, -(-LARGE * i.size // size))
    return out


@kernel("embedding")
def embedding(
    weight: Any, indices: Any, padding_idx: int = -1, scale_grad_by_freq: bool = False,
    sparse: bool = False,
) -> Any:  # fmt: skip
    """Rows of a table."""
    spec = rule_of("embedding")(weight, indices, padding_idx, scale_grad_by_freq, sparse)
    a = weight.raw_data
    i = checked("embedding", indices.raw_data.reshape(-1), a.shape[0], 0, IndexError)
    return wrap(_taken(a, i, 0).reshape(spec.shape), weight.raw_dtype)


def flat_positions(index: Any, count: int) -> Any:
    """Positions in elements that are read as one row, the last of which may be counted from behind.

    Raises:
        IndexError: if one is out of range.
    """
    outside = (index < -count) | (index >= count)
    if outside.any():
        raise IndexError(
            f"out of range: tried to access index {index[outside][0]} on a tensor of {count} elements."
        )
    return index


@kernel("take")
def take(self: Any, index: Any) -> Any:
    """Elements at positions in an array that is read as one row."""
    spec = rule_of("take")(self, index)
    row = self.raw_data.reshape(-1)
    at = flat_positions(index.raw_data.reshape(-1), row.size)
    return wrap(row[at].reshape(spec.shape), self.raw_dtype)


@kernel("put")
def put(self: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """A copy with elements put, or added, at positions in an array that is read as one row."""
    strides = rule_of("put")(self, index, source, accumulate).strides
    made = copied(self)
    row, values = made.raw_data.reshape(-1), source.raw_data.reshape(-1)
    i = flat_positions(index.raw_data.reshape(-1), row.size)
    if accumulate:
        combine_at(np.add, row, np.where(i < 0, i + row.size, i), values, self.raw_dtype)
    else:
        row[i] = values
    if strides is None:
        return made
    out = laid_out(self.raw_shape, strides, lambda shape: np.empty(shape, row.dtype))
    out[...] = made.raw_data
    return wrap(out, self.raw_dtype)


@kernel("_one_hot_of")
def one_hot(self: Any, num_classes: int) -> Any:
    """Rows of zeros with a one at each class."""
    classes = self.raw_data
    if classes.min() < 0:
        raise RuntimeError("Class values must be non-negative.")
    if (largest := classes.max()) >= num_classes:
        raise RuntimeError(
            f"Class values must be smaller than num_classes, got {largest} and {num_classes}"
        )
    made = np.zeros((classes.size, num_classes), np.int64)
    made[np.arange(classes.size), classes.reshape(-1)] = 1
    return wrap(made.reshape(*classes.shape, num_classes), int64)


@kernel("index_add_")
def index_add_(self: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """Add slices at positions along a dimension, in place."""
    rule_of("index_add")(self, dim, index, source, alpha=alpha)
    out = self.raw_data
    part = source.raw_data if alpha == 1 else source.raw_data * scalar(alpha, self.raw_dtype)
    if not out.ndim:
        checked("index_add", index.raw_data, 1, 0, IndexError)
        quietly(np.copyto, out, out + part.sum(dtype=out.dtype))
        return self
    at = wrap_dim(dim, out.ndim)
    i = checked("index_add", index.raw_data.reshape(-1), out.shape[at], at, IndexError)
    if few(part.shape) and self.raw_dtype not in WIDER:
        quietly(np.add.at, out, (*(slice(None),) * at, i), part)
        return self
    if at == 0 and out.ndim > 1 and part.size >= LARGE:
        from .accumulation import added_in_single, added_rows

        if added_in_single(out, i, part):
            return self
        found = added_rows(i, part.reshape(i.size, -1), out.shape[0])
        if found is not None:
            quietly(np.add, out, found.reshape(out.shape), out)
            return self
    if at and part.size >= LARGE:
        from .accumulation import added_in_blocks

        if added_in_blocks(out, i, part, at):
            return self
    along = i.reshape((-1,) + (1,) * (out.ndim - at - 1))
    flat = gathered_positions(np.broadcast_to(along, part.shape), out.shape, at)
    combine_at(np.add, out, flat, part, self.raw_dtype)
    return self


@kernel("index_add")
def index_add(self: Any, dim: int, index: Any, source: Any, *, alpha: Any = 1) -> Any:
    """A copy with slices added at positions along a dimension."""
    return index_add_(copied(self), dim, index, source, alpha=alpha)
