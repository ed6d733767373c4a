"""Reductions."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_core.dtypes import COMPLEX, FLOATING, bool_, int64, uint8
from mindtorch_core.operators.reductions.reduction import degrees_of_freedom
from mindtorch_core.shapes import wrap_dims
from mindtorch_core.tensor import Tensor

from ..arrays import CPU, KEYS, NUMPY_OF, QUIET, WIDER, ndarray, quietly, row_major, wrap
from ..large import LARGE
from ..register import kernel, register, rule_of
from ..rows import large_sum

_new = object.__new__
_add_reduce: Any = np.add.reduce


def axes(dim: Any, rank: int) -> Any:
    """A reduction's dimensions as NumPy's ``axis``: None for all."""
    if dim is None:
        return None
    found = wrap_dims(dim, rank)
    return None if len(found) == rank else found


@kernel("sum")
def sum(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Sum; integers as int64, half precision through float32."""
    d = self._dtype
    a = self._data
    if dtype is not None:
        d = dtype
        if a.dtype != NUMPY_OF[d]:
            a = quietly(a.astype, NUMPY_OF[d])
    elif d.category < FLOATING:
        d = int64
    axis = None if dim is None else axes(dim, a.ndim)
    if d.category < FLOATING or d in WIDER:
        inner = np.int64 if d is int64 else np.float32 if d in WIDER else NUMPY_OF[d]
        data = quietly(np.add.reduce, a, axis, inner, None, keepdim)
        return wrap(row_major(quietly(data.astype, NUMPY_OF[d]) if d in WIDER else data), d)
    data = large_sum(a, axis, keepdim) if a.size >= LARGE else None
    if data is None:
        data = QUIET.run(_add_reduce, a, axis, None, None, keepdim)
    if data.__class__ is not ndarray:
        data = np.array(data)
    elif data.ndim > 1:
        data = row_major(data)
    r = _new(Tensor)
    r._data = data
    r._shape = data.shape
    r._layout = None
    r._dtype = d
    r._device = CPU
    r._keys = KEYS
    r._storage = None
    r._base = None
    r._autograd = None
    return r


@kernel("prod")
def prod(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """Product; integers as int64, half precision through float32."""
    d = dtype or (int64 if self._dtype.category < FLOATING else self._dtype)
    inner = NUMPY_OF[WIDER.get(d, d)]
    a = quietly(self._data.astype, NUMPY_OF[d])
    data = quietly(np.multiply.reduce, a, axes(dim, a.ndim), inner, None, keepdim)
    return wrap(row_major(quietly(data.astype, NUMPY_OF[d]) if d in WIDER else data), d)


def _spread(name: str, root: bool) -> None:
    rule = rule_of(f"{name}.correction")

    def run(self: Any, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
        spec = rule(self, dim, correction=correction, keepdim=keepdim)
        a = self._data
        if self._dtype in WIDER:
            a = quietly(a.astype, np.float32)
        free = degrees_of_freedom(self._shape, dim, correction)
        axis = None if dim is None else axes(dim, a.ndim)
        data = quietly(_variance, a, axis, free, keepdim, root)
        if data.dtype != NUMPY_OF[spec.dtype]:
            data = data.astype(NUMPY_OF[spec.dtype])
        return wrap(row_major(data), spec.dtype)

    register(f"{name}.correction", run)


def _variance(a: Any, axis: Any, free: Any, keepdim: bool, root: bool) -> Any:
    """Squared deviations over the degrees of freedom, or the root of that."""
    total = _add_reduce(a, axis, None, None, True)
    centred = a - total / a.dtype.type(a.size // max(total.size, 1))
    if a.dtype.kind == "c":
        squares = np.square(centred.real) + np.square(centred.imag)
    else:
        squares = np.multiply(centred, centred, centred if a.ndim else None)
    found = _add_reduce(squares, axis, None, None, keepdim)
    found = np.divide(found, found.dtype.type(free))
    return np.sqrt(found) if root else found


_spread("var", False)
_spread("std", True)


def _extreme(name: str, reduce: Any) -> None:
    rule = rule_of(name)

    def run(self: Any, dim: Any = (), keepdim: bool = False) -> Any:
        a = self._data
        if not a.size or self._dtype.category == COMPLEX:
            shape = rule(self, dim, keepdim).shape
            return wrap(np.empty(shape, a.dtype), self._dtype)
        return wrap(row_major(reduce(a, axes(dim, a.ndim), None, None, keepdim)), self._dtype)

    register(name, run)


_extreme("amax", np.maximum.reduce)
_extreme("amin", np.minimum.reduce)


def _position(name: str, find: Any) -> None:
    rule = rule_of(name)
    served = (False, True, True, False)

    def run(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
        a = self._data
        if not served[self._dtype.category] or not a.size or (dim is not None and not a.ndim):
            return wrap(np.zeros(rule(self, dim, keepdim).shape, np.int64), int64)
        (axis,) = (None,) if dim is None else wrap_dims(dim, a.ndim)
        return wrap(row_major(find(a, axis, None, keepdims=keepdim)), int64)

    register(name, run)


_position("argmax", np.argmax)
_position("argmin", np.argmin)


def _extreme_along(name: str, reduce: Any, find: str) -> None:
    """``max`` and ``min`` along a dimension: two passes, which cost less than gathering values."""
    rule = rule_of(f"{name}.dim")

    def run(self: Any, dim: int, keepdim: bool = False) -> Any:
        a = self._data
        if not a.size or not a.ndim or self._dtype.category == COMPLEX:
            values, indices = rule(self, dim, keepdim)
            empty = np.empty(values.shape, a.dtype)
            if a.size:
                empty[...] = a
            return wrap(empty, self._dtype), wrap(np.zeros(indices.shape, np.int64), int64)
        (axis,) = wrap_dims(dim, a.ndim)
        values = reduce(a, axis, None, None, keepdim)
        indices = getattr(a, find)(axis, None, keepdims=keepdim)
        return wrap(row_major(values), self._dtype), wrap(row_major(indices), int64)

    register(f"{name}.dim", run)


_extreme_along("max", np.maximum.reduce, "argmax")
_extreme_along("min", np.minimum.reduce, "argmin")


def _truth(name: str, reduce: Any) -> None:
    def run(self: Any, dim: Any = None, keepdim: bool = False) -> Any:
        a = self._data
        d = uint8 if self._dtype is uint8 else bool_
        axis = (
            ()
            if dim is not None and dim.__class__ is not int and not len(dim)
            else axes(dim, a.ndim)
        )
        found = row_major(reduce(a, axis, np.bool_, None, keepdim))
        return wrap(found if d is bool_ else np.asarray(found).astype(np.uint8), d)

    register(name, run)


_truth("any", np.logical_or.reduce)
_truth("all", np.logical_and.reduce)
