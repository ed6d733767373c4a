"""Geometry of windows that slide over the spatial dimensions of a tensor."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Iterator, Sequence
from typing import Any

from ...tensors.tensor import Tensor
from ...values.shapes import Shape

__all__ = ["offsets", "slid", "spread", "window_count", "windows_of"]


def spread(value: Any, count: int, name: str) -> Shape:
    """One number per spatial dimension, from a single number or a list.

    Raises:
        RuntimeError: if a list has neither one number nor one per dimension.
        TypeError: if something is no integer.
    """
    if not isinstance(value, list | tuple):
        return (operator.index(value),) * count
    if len(value) not in (1, count):
        raise RuntimeError(
            f"expected {name} to be a single integer value or a list of {count} values to match the "
            f"spatial dimensions, but got {name}={list(value)}"
        )
    given = tuple(operator.index(v) for v in value)
    return given * count if len(given) == 1 else given


def window_count(size: int, kernel: int, stride: int, padding: int, dilation: int) -> int:
    """How many windows fit into ``size`` elements with padding on both sides."""
    return (size + 2 * padding - dilation * (kernel - 1) - 1) // stride + 1


def offsets(kernel: Shape) -> Iterator[Shape]:
    """Positions inside a window, in row-major order."""
    return itertools.product(*map(range, kernel))


def slid(self: Tensor, at: Sequence[int], count: Shape, stride: Shape) -> Tensor:
    """The view (..., *count) of the elements that windows see at one position.

    Args:
        self: (..., *spatial).
        at: the position in the first window, in elements of each spatial dimension.
        count: number of windows along each.
        stride: elements from one window to the next.
    """
    n = len(count)
    strides, offset = self._geometry()
    lead, spatial = strides[:-n], strides[-n:]
    start = offset + sum(a * s for a, s in zip(at, spatial, strict=True))
    steps = tuple(s * step for s, step in zip(spatial, stride, strict=True))
    return self.as_strided((*self._shape[:-n], *count), (*lead, *steps), start)


def windows_of(self: Tensor, count: Shape, kernel: Shape, stride: Shape, dilation: Shape) -> Tensor:
    """The view (..., *count, *kernel) of all windows of a tensor (..., *spatial)."""
    n = len(count)
    strides, offset = self._geometry()
    lead, spatial = strides[:-n], strides[-n:]
    outer = tuple(s * step for s, step in zip(spatial, stride, strict=True))
    inner = tuple(s * step for s, step in zip(spatial, dilation, strict=True))
    return self.as_strided((*self._shape[:-n], *count, *kernel), (*lead, *outer, *inner), offset)
