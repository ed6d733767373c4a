"""Gradient formulas too long for their op's row."""

from __future__ import annotations

from typing import Any

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from ..values.dtypes import dtype
from ..values.overlap import Geometry, may_repeat
from ..values.shapes import numel, storage_extent

__all__ = ["as_strided_backward"]


def as_strided_backward(
    g: Tensor, base: Geometry, view: Geometry, base_dtype: dtype | None = None
) -> Tensor:
    """Gradient of ``base.as_strided(*view)``.

    The gradient is laid out over the storage both share, where elements that the view shows
    several times add up; the base's part is read from there. Memory that several elements of the
    base share is divided among them.

    Args:
        g: gradient of the view.
        base: shape, strides and offset of the base.
        view: shape, strides and offset of the view.
        base_dtype: of the base, if not the view's: one of both is complex, the other shows its parts.
    """
    kind = g._dtype if base_dtype is None else base_dtype
    extent = storage_extent(*base) * kind.itemsize

    def at(geometry: Geometry) -> Any:
        shape, strides, offset = geometry
        index = fn.arange(0, size, 1, device=g._device)
        return index.as_strided(shape, strides, offset).reshape(-1)

    size = max(-(-extent // g._dtype.itemsize), storage_extent(*view))
    if kind.itemsize > g._dtype.itemsize:
        size += size % 2  # whole complex numbers
    memory: Any = g.new_zeros((size,))
    if numel(view[0]):
        if may_repeat(view[0], view[1]):
            memory = memory.index_add(0, at(view), g.reshape(-1))
        else:
            memory.as_strided(*view).copy_(g)
    if kind.is_complex and not g._dtype.is_complex:
        memory = fn.view_as_complex(memory.view(-1, 2))
    elif g._dtype.is_complex and not kind.is_complex:
        memory = fn.view_as_real(memory).view(-1)
    size = memory._shape[0]
    if may_repeat(base[0], base[1]):
        shared = at(base)
        ones = g.new_ones((size,)).index_select(0, shared)
        counts = g.new_zeros((size,)).index_add(0, shared, ones)
        memory = memory / fn.where(counts == 0, 1.0, counts)
    result: Tensor = memory.as_strided(*base)
    return result
