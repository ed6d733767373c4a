"""Gradient formulas too long for their op's row."""

from __future__ import annotations

from typing import Any

from ..shapes import Shape, numel, storage_extent
from ..tensor import Tensor

__all__ = ["as_strided_backward"]

Geometry = tuple[Shape, Shape, int]


def overlaps(shape: Shape, strides: Shape) -> bool:
    """Whether two elements of a layout may share memory (a cautious answer)."""
    step = 0
    for stride, size in sorted(zip(strides, shape, strict=True)):
        if size == 0:
            return False
        if size == 1:
            continue
        if stride <= step:
            return True
        step += stride * (size - 1)
    return False


def as_strided_backward(g: Tensor, base: Geometry, view: Geometry) -> Tensor:
    """Gradient of ``base.as_strided(*view)``.

    The gradient is laid out over the storage both share, where elements that the view shows
    several times add up; the base's part is read from there. Memory that several elements of the
    base share is divided among them.

    Args:
        g: gradient of the view.
        base: shape, strides and offset of the base.
        view: shape, strides and offset of the view.
    """
    from ..operators.define import fn

    def at(geometry: Geometry) -> Any:
        shape, strides, offset = geometry
        index = fn.arange(0, size, 1, device=g._device)
        return index.as_strided(shape, strides, offset).reshape(-1)

    size = max(storage_extent(*base), storage_extent(*view))
    memory: Any = g.new_zeros((size,))
    if numel(view[0]):
        if overlaps(view[0], view[1]):
            memory = memory.index_add(0, at(view), g.reshape(-1))
        else:
            memory.as_strided(*view).copy_(g)
    if overlaps(base[0], base[1]):
        shared = at(base)
        ones = g.new_ones((size,)).index_select(0, shared)
        counts = g.new_zeros((size,)).index_add(0, shared, ones)
        memory = memory / fn.where(counts == 0, 1.0, counts)
    result: Tensor = memory.as_strided(*base)
    return result
