"""Memory formats: in which order the dimensions of a dense tensor lie in memory."""

from __future__ import annotations

from typing import Final

from .shapes import (
    CHANNELS_LAST,
    Shape,
    contiguous_strides,
    dense_in_order,
    is_contiguous,
    is_dense,
    pointwise_strides,
    strides_in_order,
)

__all__ = [
    "channels_last",
    "channels_last_3d",
    "contiguous_format",
    "format_strides",
    "has_format",
    "like_strides",
    "memory_format",
    "preserve_format",
    "suggested",
]


class memory_format:
    """An order of dimensions in memory.

    Instances are singletons: compare them with ``is``.

    Attributes:
        name: as in ``torch.channels_last``.
        order: dimensions from the innermost outwards; empty where the rank does not fix it.
    """

    __slots__ = ("name", "order")

    def __init__(self, name: str, order: tuple[int, ...] = ()) -> None:
        self.name = name
        self.order = order

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> str:
        return self.name


contiguous_format: Final = memory_format("contiguous_format")
preserve_format: Final = memory_format("preserve_format")
channels_last: Final = memory_format("channels_last", CHANNELS_LAST[4])
channels_last_3d: Final = memory_format("channels_last_3d", CHANNELS_LAST[5])


def format_strides(shape: Shape, wanted: memory_format) -> Shape:
    """Strides of a fresh tensor in a memory format.

    Raises:
        RuntimeError: if the format does not fit the rank, or depends on another tensor.
    """
    if wanted is contiguous_format:
        return contiguous_strides(shape)
    order = wanted.order
    if not order:
        raise RuntimeError(
            "unsupported memory format Preserve: there is no tensor whose format could be kept"
        )
    if len(shape) != len(order):
        raise RuntimeError(f"required rank {len(order)} tensor to use {wanted.name} format")
    return strides_in_order(shape, order)


def has_format(shape: Shape, strides: Shape, asked: memory_format) -> bool:
    """Whether a layout is dense in the order of a memory format."""
    if not asked.order:
        return is_contiguous(shape, strides)
    return dense_in_order(shape, strides, asked.order)


def suggested(shape: Shape, strides: Shape) -> memory_format:
    """The memory format that a layout is taken for: row-major unless channels clearly lie innermost."""
    for each in (channels_last, channels_last_3d):
        if len(shape) == len(each.order) and _ascends(shape, strides, each.order):
            return each
    return contiguous_format


def _ascends(shape: Shape, strides: Shape, order: Shape) -> bool:
    """Whether strides grow in an order of dimensions, gaps allowed; not where sizes of 1 leave it open."""
    least = 0
    if not strides[1]:
        return False
    for dim in order:
        undecided = dim == 0 and least == strides[1]
        if not shape[dim] or strides[dim] < least or undecided:
            return False
        least = strides[dim] * max(shape[dim], 1)
    return True


def like_strides(shape: Shape, strides: Shape, wanted: memory_format | None = None) -> Shape:
    """Strides of a fresh tensor that is like one of the given layout.

    Args:
        shape: its sizes.
        strides: the other tensor's.
        wanted: the memory format; None keeps the other tensor's.
    """
    if wanted is not None and wanted is not preserve_format:
        return format_strides(shape, wanted)
    if is_dense(shape, strides):
        return strides
    return pointwise_strides(shape, [(shape, strides)])
