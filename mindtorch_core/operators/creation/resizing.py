"""Giving a tensor another size in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dispatch.keys import AUTOGRAD
from ...opdefs.define import op
from ...opdefs.resizing import resize
from ...tensors.tensor import Tensor
from ...values.memory_formats import format_strides, memory_format, preserve_format, suggested
from .factory import checked_size


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
    fills=True,  # no element is written
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
    fills=True,  # no element is written
    crosses_devices=True,
)
