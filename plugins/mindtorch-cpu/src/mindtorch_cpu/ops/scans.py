"""Cumulative sums, products and extremes."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_core.dtypes import int64
from mindtorch_core.shapes import wrap_dim

from ..arrays import NUMPY_OF, quietly, row_major, wrap
from ..register import kernel, register, rule_of

# What running totals are kept in, as PyTorch does: rounding errors would grow with the length.
_WIDE = {
    "float16": np.float32,
    "bfloat16": np.float32,
    "float32": np.float64,
    "complex64": np.complex128,
}


def _totals(name: str, accumulate: Any) -> None:
    rule = rule_of(name)

    def run(self: Any, dim: int, *, dtype: Any = None) -> Any:
        d = rule(self, dim, dtype=dtype).dtype
        a = self._data
        if a.dtype != NUMPY_OF[d]:
            a = quietly(a.astype, NUMPY_OF[d])
        if not a.ndim:
            return wrap(a.copy(), d)
        wide = _WIDE.get(d.name)
        data = quietly(accumulate, a, wrap_dim(dim, a.ndim), wide or a.dtype)
        return wrap(row_major(data if wide is None else quietly(data.astype, NUMPY_OF[d])), d)

    register(name, run)


_totals("cumsum", np.add.accumulate)
_totals("cumprod", np.multiply.accumulate)


def _extremes(name: str, accumulate: Any) -> None:
    rule = rule_of(name)

    def run(self: Any, dim: int) -> Any:
        rule(self, dim)
        a = self._data
        if not a.ndim:
            return wrap(a.copy(), self._dtype), wrap(np.zeros((), np.int64), int64)
        axis = wrap_dim(dim, a.ndim)
        values = quietly(accumulate, a, axis)
        attained = a == values
        if a.dtype.kind in "fV":
            attained |= a != a
        shape = [1] * a.ndim
        shape[axis] = -1
        positions = np.arange(a.shape[axis]).reshape(shape)
        indices = np.maximum.accumulate(attained * positions, axis)
        return wrap(row_major(values), self._dtype), wrap(row_major(indices), int64)

    register(name, run)


_extremes("cummax", np.maximum.accumulate)
_extremes("cummin", np.minimum.accumulate)


@kernel("logcumsumexp")
def logcumsumexp(self: Any, dim: int) -> Any:
    """Cumulative log-sum-exp of real numbers; complex ones are left to the composition."""
    d = rule_of("logcumsumexp")(self, dim).dtype
    if d.is_complex:
        from mindtorch_core.operators.cumulative import _logcumsumexp

        return _logcumsumexp(self, dim)
    a = self._data
    wide = _WIDE.get(d.name, np.float64)
    a = quietly(a.astype, wide)
    data = quietly(np.logaddexp.accumulate, a, wrap_dim(dim, a.ndim)) if a.ndim else a
    return wrap(row_major(quietly(data.astype, NUMPY_OF[d])), d)
