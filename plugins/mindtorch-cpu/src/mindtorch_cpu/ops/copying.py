"""Copies, fills and conversions."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_core.dtypes import COMPLEX
from mindtorch_core.memory_formats import contiguous_format, memory_format

from ..arrays import CPU, cast, exact, quietly, relaid, wrap
from ..register import kernel, rule_of


@kernel("clone")
def clone(self: Any, *, memory_format: memory_format | None = None) -> Any:
    """A copy; its order of dimensions is kept unless ``memory_format`` names another."""
    a = self._data
    if memory_format is contiguous_format or (memory_format is None and _is_row_major(a)):
        return wrap(a.copy(), self._dtype)
    return wrap(relaid(a, None, memory_format), self._dtype)


def _is_row_major(a: Any) -> bool:
    """Whether a copy in row-major order has the array's strides, those of sizes 1 included."""
    if not a.flags.c_contiguous:
        return False
    return a.ndim < 2 or 1 not in a.shape or a.strides == np.empty(a.shape, a.dtype).strides


@kernel("copy_")
def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Write a tensor's elements, broadcast and converted; the source may be on another device."""
    if src._shape != self._shape:
        rule_of("copy")(self, src)
    if src._device is not CPU:
        src = src.to(CPU)
    data = src._data
    if data.dtype.kind == "c" and self._dtype.category != COMPLEX:
        data = data.real
    quietly(np.copyto, self._data, data, "unsafe")
    return self


@kernel("fill_.Scalar")
def fill_(self: Any, value: Any) -> Any:
    """Write one number everywhere."""
    if hasattr(value, "_keys"):
        value = value.item()
    d = self._dtype
    self._data[...] = exact(value, d)
    return self


@kernel("zero_")
def zero_(self: Any) -> Any:
    """Write zeros."""
    self._data[...] = 0
    return self


@kernel("_to_dtype")
def to_dtype(self: Any, dtype: Any) -> Any:
    """A copy in another dtype."""
    a = self._data
    if _is_row_major(a):
        data = cast(self, dtype)
        return wrap(data.copy() if data is a or data.base is not None else data, dtype)
    from ..arrays import NUMPY_OF

    return wrap(
        relaid(a.real if a.dtype.kind == "c" and dtype.category < COMPLEX else a, NUMPY_OF[dtype]),
        dtype,
    )
