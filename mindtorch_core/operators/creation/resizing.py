"""Giving a tensor another size in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...devices import TABLE
from ...dispatch.keys import AUTOGRAD
from ...memory_formats import format_strides, memory_format, preserve_format, suggested
from ...shapes import Shape, contiguous_strides, storage_extent
from ...storage import BEFORE_EXPORT, Storage
from ...tensor import Tensor
from ..define import fn, op
from .factory import checked_size

__all__ = ["resize"]


def resize(t: Tensor, shape: Shape, strides: Shape | None = None) -> None:
    """Change the shape of a tensor, keeping the elements its memory begins with.

    The memory is kept too if it is large enough. Otherwise the tensor gets memory of its own, and
    views made of it before keep the old one.

    Args:
        t: the tensor; it must not require grad.
        shape: its new shape.
        strides: its new strides, row-major if None.
    """
    for flush in BEFORE_EXPORT:  # a recorded op may have to read what the tensor was
        flush()
    storage, offset, d = t._settled()._own_storage(), t._geometry()[1], t._dtype
    steps = contiguous_strides(shape) if strides is None else strides
    if storage_extent(shape, steps, offset) * d.itemsize > storage.size_bytes:
        storage, offset = _grown(t, storage_extent(shape, steps, 0)), 0
        t._storage, t._base = storage, None
    t._shape, t._layout = shape, (steps, offset)
    t._data = TABLE[t._device.type].runtime.payload(storage, shape, steps, offset, d)


def _grown(t: Tensor, length: int) -> Storage:
    """A larger storage that begins with the elements of a tensor's memory, from its first on."""
    old = t._own_storage()
    kept = old.size_bytes // t._dtype.itemsize - t._geometry()[1]
    memory = fn.empty((length,), dtype=t._dtype, device=t._device)
    if kept > 0:
        memory.narrow(0, 0, kept).copy_(t.as_strided((kept,), (1,), t._geometry()[1]))
    storage = memory._settled()._own_storage()
    storage.version = old.version
    return storage


def _resize(
    self: Tensor, size: Sequence[int], *, memory_format: memory_format | None = None
) -> Tensor:
    if self._keys & AUTOGRAD:
        raise RuntimeError("cannot resize variables that require grad")
    shape = checked_size(size)
    strides = None if memory_format is None else format_strides(shape, memory_format)
    if shape != self._shape or (strides is not None and strides != self._geometry()[0]):
        resize(self, shape, strides)
    return self


op(
    "resize_(Tensor(a!) self, int[] size, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
    doc="Change the shape, keeping memory and elements as far as they fit; new elements are undefined.",
    decomposition=_resize,
    varargs="size",
    namespaces=("Tensor",),
)


def _resize_as(
    self: Tensor, the_template: Tensor, *, memory_format: memory_format | None = None
) -> Any:
    if memory_format is preserve_format:
        memory_format = suggested(the_template._shape, the_template._geometry()[0])
    return self.resize_(the_template._shape, memory_format=memory_format)


op(
    "resize_as_(Tensor(a!) self, Tensor the_template, *, MemoryFormat? memory_format=None) -> Tensor(a!)",
    doc="`resize_` to the shape of another tensor.",
    decomposition=_resize_as,
    crosses_devices=True,
)
