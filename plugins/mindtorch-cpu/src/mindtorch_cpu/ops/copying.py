"""Copies, fills and conversions."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_core.backend import FLOAT8, bfloat16, contiguous_format, memory_format

from ..arrays import (
    CPU,
    NUMPY_OF,
    cast,
    exact,
    of_float8,
    quietly,
    relaid,
    without_imaginary,
    words,
    wrap,
)
from ..register import kernel, rule_of
from ..turned import copied, row_major_copy


@kernel("clone")
def clone(self: Any, *, memory_format: memory_format | None = None) -> Any:
    """A copy; its order of dimensions is kept unless ``memory_format`` names another."""
    a = self.raw_data
    if memory_format is contiguous_format or (
        memory_format is None and (len(self.raw_shape) < 2 or _is_row_major(a))
    ):
        return wrap(row_major_copy(a), self.raw_dtype)
    if not a.size:
        return _nothing(self, self.raw_dtype, memory_format)
    return wrap(relaid(a, None, memory_format), self.raw_dtype)


def _nothing(self: Any, dtype: Any, memory_format: Any = None) -> Any:
    """A copy without elements; its strides stand beside the array."""
    made = wrap(np.empty(self.raw_shape, NUMPY_OF[dtype]), dtype)
    strides = rule_of("clone")(self, memory_format=memory_format).strides
    made.raw_layout = None if strides is None else (strides, 0)
    return made


def _is_row_major(a: Any) -> bool:
    """Whether a copy in row-major order has the array's strides, those of sizes 1 included."""
    if not a.flags.c_contiguous or not a.size:
        return False
    return a.ndim < 2 or 1 not in a.shape or a.strides == np.empty(a.shape, a.dtype).strides


@kernel("copy_")
def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Write a tensor's elements, broadcast and converted; the source may be on another device."""
    if src.raw_shape != self.raw_shape:
        rule_of("copy")(self, src)
    if src.raw_device is not CPU:
        src = src.to(CPU)
    data = without_imaginary(src.raw_data, self.raw_data.dtype)
    if data.dtype is not self.raw_data.dtype and (data.dtype.names or self.raw_data.dtype.names):
        data = of_float8(data, self.raw_dtype)
    if data.dtype is self.raw_data.dtype:
        copied(words(self.raw_data), words(data))
    else:
        quietly(np.copyto, self.raw_data, data, "unsafe")
    return self


@kernel("fill_.Scalar")
def fill_(self: Any, value: Any) -> Any:
    """Write one number everywhere."""
    if hasattr(value, "raw_keys"):
        value = value.item()
    d = self.raw_dtype
    if d is bfloat16:
        words(self.raw_data)[...] = words(exact(value, d))
    else:
        self.raw_data[...] = exact(value, d)
    return self


@kernel("zero_")
def zero_(self: Any) -> Any:
    """Write zeros."""
    data = self.raw_data
    (words(data) if self.raw_dtype is bfloat16 else data)[...] = 0
    return self


@kernel("_to_dtype")
def to_dtype(self: Any, dtype: Any) -> Any:
    """A copy in another dtype."""
    a = self.raw_data
    if _is_row_major(a):
        data = cast(self, dtype)
        return wrap(data.copy() if data is a else data, dtype)
    if not a.size:
        return _nothing(self, dtype)
    if a.dtype.names is not None or dtype.name in FLOAT8:
        return wrap(of_float8(a, dtype), dtype)
    return wrap(relaid(a, NUMPY_OF[dtype]), dtype)
