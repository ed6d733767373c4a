"""Placing elements where several meet, by masks, and by positions in the tensor read as one row."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_core.backend import FLOATING, wrap_dim

from ..arrays import WIDER, quietly, recast, row_major, wrap
from ..compiled import walk
from ..register import kernel, rule_of
from .flat import checked, combine_at, gathered_positions
from .indexing import copied

_UFUNCS: Final = {
    "sum": (np.add, 0),
    "mean": (np.add, 0),
    "prod": (np.multiply, 1),
    "amax": (np.maximum, None),
    "amin": (np.minimum, None),
    "max": (np.maximum, None),
    "min": (np.minimum, None),
}
# Loops over rows by what combines them.
_ROWS: Final = {np.add: "rows_add", np.maximum: "rows_most", np.minimum: "rows_least"}


@kernel("scatter_reduce_.two")
def scatter_reduce_(
    self: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """Combine elements with those at positions along a dimension, in place."""
    rule_of("scatter_reduce.two")(self, dim, index, src, reduce)
    out, i = self.raw_data, index.raw_data
    if not i.size:
        return self
    shape = out.shape or (1,)
    i = i.reshape(-1) if not i.ndim else i
    at = wrap_dim(dim, len(shape))
    given = src.raw_data.reshape(-1) if not src.raw_data.ndim else src.raw_data
    values = given[tuple(slice(n) for n in i.shape)]
    ufunc, neutral = _UFUNCS[reduce]
    # Half precision is combined in float32, and rounded once.
    wide = WIDER.get(self.raw_dtype)
    target = np.array(out, np.float32 if wide else out.dtype, order="C").reshape(shape)
    loop = _loop_of_rows(ufunc, target, i, at)
    if loop is not None:  # elements are rows, and there is a position for each
        i = i[(slice(None), *(0,) * (i.ndim - 1))]
        values = row_major(recast(values, target.dtype)).reshape(len(i), -1)
    checked("scatter_reduce", i, shape[at], at)
    flat = gathered_positions(i, shape, at) if loop is None else np.ascontiguousarray(i, np.int64)
    row = target.reshape(-1) if loop is None else target.reshape(len(target), -1)
    if not include_self:
        row[flat] = values if neutral is None else neutral
    if loop is None:
        combine_at(ufunc, target, flat, values, wide or self.raw_dtype)
    else:
        loop(row, values, flat, len(flat), *row.shape)
    if reduce == "mean":
        _divide(row, flat, include_self, self.raw_dtype.category >= FLOATING)
    quietly(np.copyto, out, target.reshape(out.shape), "unsafe")
    return self


def _loop_of_rows(ufunc: Any, target: Any, index: Any, at: int) -> Any:
    """The loop that combines rows, where positions along the first dimension are repeated along others."""
    whole = at == 0 and index.ndim > 1 and index.shape[1:] == target.shape[1:]
    if not whole or any(
        n > 1 and step for n, step in zip(index.shape[1:], index.strides[1:], strict=True)
    ):
        return None
    name = _ROWS.get(ufunc)
    return None if name is None else walk(name, target.dtype, index.size, 1)


def _divide(row: Any, flat: Any, include_self: bool, fractions: bool) -> None:
    """Divide sums by how many elements went into them; of integers the quotient is rounded down."""
    count = np.bincount(flat.reshape(-1), minlength=len(row))
    hit = np.flatnonzero(count)
    number = (count[hit] + include_self).reshape(-1, *(1,) * (row.ndim - 1))
    kind = row.real.dtype if fractions else row.dtype
    divide = np.true_divide if fractions else np.floor_divide
    row[hit] = quietly(divide, row[hit], number.astype(kind))


@kernel("scatter_reduce.two")
def scatter_reduce(
    self: Any, dim: int, index: Any, src: Any, reduce: str, *, include_self: bool = True
) -> Any:
    """A copy with elements combined with those at positions along a dimension."""
    return scatter_reduce_(copied(self), dim, index, src, reduce, include_self=include_self)


@kernel("masked_scatter")
def masked_scatter(self: Any, mask: Any, source: Any) -> Any:
    """A copy with elements of a source, one after another, where a mask holds."""
    shape = rule_of("masked_scatter")(self, mask, source).shape
    where = np.broadcast_to(mask.raw_data, shape)
    count = int(np.count_nonzero(where))
    given = source.raw_data.reshape(-1)
    if count > given.size:
        raise RuntimeError(
            f"masked_scatter: expected number of elements of source to be >= number of ones in mask, "
            f"but there are {given.size} for {count}"
        )
    out = np.array(np.broadcast_to(self.raw_data, shape), order="C")
    out[where] = given[:count]
    return wrap(out, self.raw_dtype)
