"""Layouts that memory has or has not."""

from __future__ import annotations

from collections.abc import Sequence

from .shapes import show, storage_extent

__all__ = ["check_within"]


def check_within(
    size: Sequence[int], stride: Sequence[int], at: int, itemsize: int, have: int
) -> None:
    """Refuse a layout that memory of so many bytes does not have.

    Raises:
        RuntimeError: if lengths differ, a size, stride or the offset is negative, or an element lies beyond.
    """
    if len(size) != len(stride):
        raise RuntimeError(
            f"mismatch in length of strides and shape: {show(size)} and {show(stride)}"
        )
    for name, given in (("sizes", size), ("strides", stride)):
        if any(s < 0 for s in given):
            raise RuntimeError(
                f"as_strided: Negative {name} are not supported at the moment, got {name}: {show(given)}"
            )
    need = storage_extent(tuple(size), tuple(stride), at) * itemsize
    if need > have or at < 0:
        raise RuntimeError(
            f"setStorage: sizes {show(size)}, strides {show(stride)}, storage offset {at}, and itemsize "
            f"{itemsize} requiring a storage size of {need} are out of bounds for storage of size {have}"
        )
