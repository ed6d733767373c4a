"""Cumulative sums, products and extremes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindtorch_core.backend import FLOATING, int64, wrap_dim

from ..arrays import HALVES, NUMPY_OF, converted, quietly, recast, row_major, wrap
from ..compiled import walk
from ..large import LARGE, many
from ..memory_pool import POOL
from ..register import kernel, register, rule_of

# What running totals are kept in, as PyTorch does: rounding errors would grow with the length.
_WIDE = {
    "float16": np.float32,
    "bfloat16": np.float32,
    "float32": np.float64,
    "complex64": np.complex128,
}
# Rows of so many elements are added as a whole.
_LONG = 256


def _totals(name: str, step: Any) -> None:
    rule, accumulate = rule_of(name), step.accumulate

    def run(self: Any, dim: int, *, dtype: Any = None) -> Any:
        d = rule(self, dim, dtype=dtype).dtype
        a = self.raw_data
        if a.dtype != NUMPY_OF[d]:
            a = converted(a, d)
        if not a.ndim:
            return wrap(a.copy(), d)
        axis = wrap_dim(dim, a.ndim)
        data = _by_walk(name, row_major(a), axis) if many(a) else None
        if data is not None:
            return wrap(data, d)
        data = totals(a, axis, _WIDE.get(d.name))
        if step is np.add and d.category >= FLOATING and data.size and _perhaps_zero(a, axis):
            quietly(np.add, data, data.dtype.type(0), data)  # they begin at 0: there is no -0
        return wrap(data, d)

    def totals(a: Any, axis: int, wide: Any) -> Any:
        if many(a):
            a = row_major(a)  # a copy costs less than steps from line to line
        if wide is not None and a.size >= LARGE and a.flags.c_contiguous:
            return quietly(_along_rows, step, a, axis, wide)
        data = quietly(accumulate, a, axis, wide or a.dtype)
        return row_major(data if wide is None else quietly(data.astype, a.dtype))

    register(name, run)


def _perhaps_zero(a: Any, axis: int) -> bool:
    """Whether the first elements may be 0; of few elements nothing is asked, which costs more."""
    return not many(a) or bool((a.take(0, axis) == 0).any())


def _by_walk(name: str, a: Any, axis: int) -> Any:
    """Running totals of a row-major array by a compiled loop, in several threads; None without one."""
    if a.dtype in HALVES:
        made = _by_walk(f"{name}_in_single", recast(a, np.float32), axis)
        return None if made is None else recast(made, a.dtype)
    loop = walk(name, a.dtype, a.size)
    if loop is None:
        return None
    out = POOL.empty(a.shape, a.dtype)
    rows, width = a.shape[axis], math.prod(a.shape[axis + 1 :])
    given, made = (t.reshape(-1, rows, width) for t in (a, out))

    def blocks(low: int, high: int) -> tuple[Any, ...]:
        return made[low:high], given[low:high], high - low, rows, width, width

    def columns(low: int, high: int) -> tuple[Any, ...]:
        part = slice(low, high)
        return made[0, :, part], given[0, :, part], 1, rows, high - low, width

    if len(given) > 1 or width == 1:
        loop.shared(len(given), blocks, max(LARGE // (rows * width), 8 if width == 1 else 1))
    else:
        loop.shared(width, columns, max(LARGE // rows, 64))
    return out


def _along_rows(step: Any, a: Any, axis: int, wide: Any) -> Any:
    """Running totals of a large array: row by row where rows are long, else one after another.

    The conversion to a wider dtype is made before: within ``accumulate`` it takes as long as that.
    """
    inside = math.prod(a.shape[axis + 1 :])
    out = np.empty(a.shape, a.dtype)
    if inside < _LONG:
        given = a.astype(wide)
        np.copyto(out, step.accumulate(given, axis, None, given), "unsafe")
        return out
    lines, target = (t.reshape(-1, a.shape[axis], inside) for t in (a, out))
    for i in range(len(lines)):
        total = lines[i, 0].astype(wide)
        target[i, 0] = lines[i, 0]
        for row, made in zip(lines[i, 1:], target[i, 1:], strict=True):
            step(total, row, total)
            made[...] = total
    return out


_totals("cumsum", np.add)
_totals("cumprod", np.multiply)


def _extremes_by_walk(name: str, a: Any, axis: int) -> Any:
    """Running extremes and where they are by a compiled loop; None without one."""
    loop = walk(name, a.dtype, a.size, 1) if a.size else None
    if loop is None:
        return None
    rows, width = a.shape[axis], math.prod(a.shape[axis + 1 :])
    if a.size < LARGE:
        out, places = np.empty(a.shape, a.dtype), np.empty(a.shape, np.int64)
        loop(out, places, row_major(a), a.size // (rows * width), rows, width)
        return out, places
    out, places = POOL.empty(a.shape, a.dtype), POOL.empty(a.shape, np.dtype(np.int64))
    parts = [t.reshape(-1, rows, width) for t in (out, places, row_major(a))]

    def blocks(low: int, high: int) -> tuple[Any, ...]:
        return *[t[low:high] for t in parts], high - low, rows, width

    loop.shared(len(parts[0]), blocks, max(1, LARGE // (rows * width)))
    return out, places


def _extremes(name: str, accumulate: Any) -> None:
    rule, walked = rule_of(name), "running_most" if name == "cummax" else "running_least"

    def run(self: Any, dim: int) -> Any:
        rule(self, dim)
        a = self.raw_data
        if not a.ndim:
            return wrap(a.copy(), self.raw_dtype), wrap(np.zeros((), np.int64), int64)
        axis = wrap_dim(dim, a.ndim)
        found = _extremes_by_walk(walked, a, axis)
        if found is not None:
            return wrap(found[0], self.raw_dtype), wrap(found[1], int64)
        values = quietly(accumulate, a, axis)
        attained = a == values
        if a.dtype.kind in "fV":
            attained |= a != a
        shape = [1] * a.ndim
        shape[axis] = -1
        positions = np.arange(a.shape[axis]).reshape(shape)
        indices = np.maximum.accumulate(attained * positions, axis)
        return wrap(row_major(values), self.raw_dtype), wrap(row_major(indices), int64)

    register(name, run)


_extremes("cummax", np.maximum.accumulate)
_extremes("cummin", np.minimum.accumulate)


@kernel("logcumsumexp")
def logcumsumexp(self: Any, dim: int) -> Any:
    """Cumulative log-sum-exp of real numbers; complex ones are left to the composition."""
    d = rule_of("logcumsumexp")(self, dim).dtype
    if d.is_complex:
        from mindtorch_core.backend import logcumsumexp_by_scan

        return logcumsumexp_by_scan(self, dim)
    a = self.raw_data
    wide = _WIDE.get(d.name, np.float64)
    a = quietly(a.astype, wide)
    data = quietly(np.logaddexp.accumulate, a, wrap_dim(dim, a.ndim)) if a.ndim else a
    return wrap(row_major(quietly(data.astype, NUMPY_OF[d])), d)
