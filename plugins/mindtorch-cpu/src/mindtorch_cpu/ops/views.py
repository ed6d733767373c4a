"""Views that are cheaper through NumPy than through the core's geometry."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import (
    Storage,
    bfloat16,
    contiguous_strides,
    expand_strides,
    make_view,
    view_around,
    view_strides,
    wrap_dim,
)

from ..arrays import CPU, KEYS, ndarray
from ..register import composition_of, kernel, rule_of

_reshape: Any = composition_of("reshape")
_split: Any = composition_of("split")
_split_with_sizes: Any = composition_of("split_with_sizes")
_unbind: Any = composition_of("unbind")


def general(name: str, self: Any, *args: Any) -> Any:
    """The view as the op's rule gives it: for unusual cases, and to raise the rule's errors."""
    spec = rule_of(name)(self, *args)
    return make_view(self, spec.shape, spec.strides, spec.offset)


class _Told(dict[tuple[Any, ...], bool]):
    """Whether NumPy gives a view of another shape the strides that the op's rule gives it.

    By shape, strides in bytes and size of an element. Strides of sizes of 1 may be any, and decide over
    those of a view; NumPy forgets them.
    """

    def __missing__(self, key: tuple[Any, ...]) -> bool:
        if len(self) >= _TOLD:
            self.clear()
        shape, strides, itemsize = key
        found: bool = strides == tuple([s * itemsize for s in contiguous_strides(shape)])
        self[key] = found
        return found


_TOLD: Final = 4096
_STRIDES_SAY_SO: Final = _Told()


@functools.lru_cache(4096)
def _shown_in(shape: tuple[int, ...], strides: tuple[int, ...], size: tuple[int, ...]) -> Any:
    """Shape and strides of a view of row-major elements whose sizes of 1 have any strides; or None."""
    count = math.prod(shape)
    inferred = count // -(math.prod(size) or 1)
    new = tuple([inferred if n == -1 else n for n in size])
    if math.prod(new) != count or min(new, default=1) < 1:
        return None
    found = view_strides(shape, strides, new)
    return None if found is None else (new, found)


def _shown(self: Any, a: Any, size: Any) -> Any:
    """Another shape of row-major elements whose sizes of 1 have any strides; None if that is no view."""
    if self.raw_dtype is bfloat16:
        return None
    found = _shown_in(a.shape, a.strides, size)
    if found is None:
        return None
    shape, strides = found
    return view_around(self, ndarray(shape, a.dtype, a, 0, strides), shape, KEYS)


@kernel("view")
def view(self: Any, size: Any) -> Any:
    """Another shape of a row-major tensor."""
    a = self.raw_data
    if a.flags.c_contiguous and a.size:
        if self.raw_storage is None and self.raw_autograd is None:  # as `untyped_storage` makes it
            self.raw_storage = Storage(a, a.nbytes, CPU)
        own = self.raw_shape
        try:
            if 1 not in own or _STRIDES_SAY_SO[own, a.strides, a.itemsize]:
                data = a.reshape(size)
                shape = data.shape
                if shape == size or -1 in size or min(size) >= 0:  # NumPy takes any for -1
                    return view_around(self, data, shape, KEYS)
            elif (found := _shown(self, a, size)) is not None:
                return found
        except (ValueError, TypeError):
            pass
    return general("view", self, size)


@kernel("reshape")
def reshape(self: Any, shape: Any) -> Any:
    """Another shape: a view where strides allow it, a copy otherwise."""
    a = self.raw_data
    if a.flags.c_contiguous and a.size:
        own = self.raw_shape
        try:
            if 1 not in own or _STRIDES_SAY_SO[own, a.strides, a.itemsize]:
                data = a.reshape(shape)
                new = data.shape
                if new == shape or -1 in shape or min(shape) >= 0:
                    return view_around(self, data, new, KEYS)
            elif (found := _shown(self, a, shape)) is not None:
                return found
        except (ValueError, TypeError):
            pass
    return _reshape(self, shape)


@kernel("expand")
def expand(self: Any, size: Any, *, implicit: bool = False) -> Any:
    """Dimensions of size 1 repeated by strides of 0."""
    a = self.raw_data
    if self.raw_dtype is not bfloat16:
        if a.ndim:
            shape, strides = expand_strides(a.shape, a.strides, size, self.raw_dtype)
            if a.flags.c_contiguous and a.size and 0 not in shape:
                return view_around(self, ndarray(shape, a.dtype, a, 0, strides), shape, KEYS)
        elif -1 not in size:  # which NumPy would make any number of
            try:
                data = ndarray(size, a.dtype, a, 0, (0,) * len(size))
            except (TypeError, ValueError):  # the rule's error comes without NumPy's
                data = a
            if data.ndim and 0 not in (shape := data.shape):
                return view_around(self, data, shape, KEYS)
    return general("expand", self, size)


@kernel("transpose")
def transpose(self: Any, dim0: int, dim1: int) -> Any:
    """Two dimensions exchanged."""
    try:
        data = self.raw_data.swapaxes(dim0, dim1)
        if data.size:  # NumPy forgets where arrays of nothing lie
            return view_around(self, data, data.shape, KEYS)
    except (np.exceptions.AxisError, TypeError):
        pass  # outside of this block, so that the rule's error comes without NumPy's
    return general("transpose", self, dim0, dim1)


@kernel("t")
def t(self: Any) -> Any:
    """A matrix with its dimensions exchanged."""
    data = self.raw_data.T
    if data.ndim == 2 and data.size:
        return view_around(self, data, data.shape, KEYS)
    return general("t", self)


@kernel("permute")
def permute(self: Any, dims: Any) -> Any:
    """Dimensions in another order."""
    try:
        data = self.raw_data.transpose(dims)
        if data.size:  # NumPy forgets where arrays of nothing lie
            return view_around(self, data, data.shape, KEYS)
    except (ValueError, TypeError):
        pass
    return general("permute", self, dims)


@kernel("diagonal")
def diagonal(self: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """A diagonal, as the last dimension."""
    try:
        data = self.raw_data.diagonal(offset, dim1, dim2)
        if data.size:  # NumPy forgets where arrays of nothing lie
            data.flags.writeable = self.raw_data.flags.writeable
            return view_around(self, data, data.shape, KEYS)
    except (ValueError, TypeError):
        pass
    return general("diagonal", self, offset, dim1, dim2)


@kernel("select")
def select(self: Any, dim: int, index: int) -> Any:
    """One slice along a dimension."""
    a = self.raw_data
    if dim == 0 and index.__class__ is int and a.ndim > 1:
        try:
            part = a[index]
            if part.size:
                return view_around(self, part, part.shape, KEYS)
        except IndexError:
            pass
    elif a.ndim and a.size:
        at = wrap_dim(dim, a.ndim)
        if -a.shape[at] <= index < a.shape[at]:
            part = a[(*(slice(None),) * at, index, ...)]
            if part.__class__ is ndarray:
                return view_around(self, part, part.shape, KEYS)
    return general("select", self, dim, index)


@kernel("slice")
def slice_(self: Any, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Any:
    """A range along a dimension."""
    a = self.raw_data
    if a.ndim and step > 0 and a.size:
        at = wrap_dim(dim, a.ndim)
        part = a[(*(slice(None),) * at, slice(start, end, step))]
        if part.size:
            return view_around(self, part, part.shape, KEYS)
    return general("slice", self, dim, start, end, step)


@kernel("unsqueeze")
def unsqueeze(self: Any, dim: int) -> Any:
    """A dimension of size 1 put in."""
    a = self.raw_data
    if a.flags.c_contiguous and a.size and self.raw_dtype is not bfloat16:
        sizes, steps = a.shape, a.strides
        at = wrap_dim(dim, len(sizes) + 1)
        step = sizes[at] * steps[at] if at < len(sizes) else a.itemsize
        shape = (*sizes[:at], 1, *sizes[at:])
        data = ndarray(shape, a.dtype, a, 0, (*steps[:at], step, *steps[at:]))
        return view_around(self, data, shape, KEYS)
    return general("unsqueeze", self, dim)


@kernel("squeeze")
def squeeze(self: Any) -> Any:
    """Without dimensions of size 1."""
    a = self.raw_data
    if a.size:
        data = a.squeeze()
        return view_around(self, data, data.shape, KEYS)
    return general("squeeze", self)


@kernel("squeeze.dim")
def squeeze_dim(self: Any, dim: int) -> Any:
    """Without one dimension, if it is of size 1."""
    a = self.raw_data
    if a.size and a.ndim:
        at = wrap_dim(dim, a.ndim)
        data = a.squeeze(at) if a.shape[at] == 1 else a.view()
        return view_around(self, data, data.shape, KEYS)
    return general("squeeze.dim", self, dim)


def _ranges(self: Any, dim: int, sizes: Iterable[int]) -> tuple[Any, ...]:
    """Parts of some sizes, none of them 0, that follow each other along a dimension."""
    a = self.raw_data
    before = (slice(None),) * wrap_dim(dim, a.ndim)
    start, found = 0, []
    for size in sizes:
        part = a[(*before, slice(start, start + size))]
        found.append(view_around(self, part, part.shape, KEYS))
        start += size
    return tuple(found)


@kernel("split")
def split(self: Any, split_size: int, dim: int = 0) -> Any:
    """Parts of one size; the last may be smaller."""
    a = self.raw_data
    if not a.ndim or not a.size or split_size <= 0:
        return _split(self, split_size, dim)
    count = -(-a.shape[wrap_dim(dim, a.ndim)] // split_size)
    return _ranges(self, dim, (split_size,) * count)


@kernel("split_with_sizes")
def split_with_sizes(self: Any, split_sizes: Any, dim: int = 0) -> Any:
    """Parts of the given sizes."""
    a = self.raw_data
    if not a.ndim or not a.size or min(split_sizes, default=0) <= 0:
        return _split_with_sizes(self, split_sizes, dim)
    if sum(split_sizes) != a.shape[wrap_dim(dim, a.ndim)]:
        return _split_with_sizes(self, split_sizes, dim)  # which says so
    return _ranges(self, dim, split_sizes)


@kernel("unbind")
def unbind(self: Any, dim: int = 0) -> Any:
    """Slices along a dimension."""
    a = self.raw_data
    if not a.ndim or not a.size:
        return _unbind(self, dim)
    at = wrap_dim(dim, a.ndim)
    before = (slice(None),) * at
    parts = [a[(*before, i, ...)] for i in range(a.shape[at])]
    return tuple([view_around(self, part, part.shape, KEYS) for part in parts])
