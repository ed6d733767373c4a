"""Cutting an iteration shape into tiles that fit the cache."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from mindtorch_core.backend import Shape

__all__ = ["cut", "of_each_size", "spans", "tiles"]

Tile = tuple[slice, ...]


def tiles(shape: Shape, kept: int, elements: int) -> list[Tile]:
    """Index tuples of tiles that cover a shape, one slice for each dimension.

    Args:
        shape: the iteration shape, without zero sizes.
        kept: only the first ``kept`` dimensions are cut.
        elements: about how many elements a tile has.
    """
    inner = 1
    axis = len(shape)
    while axis > 0 and (axis > kept or inner * shape[axis - 1] <= elements):
        axis -= 1
        inner *= shape[axis]
    whole = tuple(slice(None) for _ in shape)
    if axis == 0:
        return [whole]
    cut_at = axis - 1
    step = max(1, elements // inner)
    step = -(
        -shape[cut_at] // -(-shape[cut_at] // step)
    )  # alike: small ones would be added otherwise
    chunks = [slice(s, min(s + step, shape[cut_at])) for s in range(0, shape[cut_at], step)]
    rest = whole[cut_at + 1 :]
    return [(*outer, chunk, *rest) for outer in _each(shape[:cut_at]) for chunk in chunks]


def spans(shape: Shape, elements: int) -> list[Tile]:
    """The tiles of a row-major array that may be cut anywhere, as parts of all its elements in a row."""
    found: list[Tile] = []
    end = 0
    for tile in tiles(shape, len(shape), elements):
        start = end
        end += math.prod(len(range(*s.indices(n))) for s, n in zip(tile, shape, strict=True))
        found.append((slice(start, end),))
    return found


def of_each_size(every: list[Tile], shape: Shape) -> list[Tile]:
    """One tile of each size, the first one first: others need other kernels.

    Args:
        every: what `tiles` gave.
        shape: for which.
    """
    found: dict[Shape, Tile] = {}
    for tile in every:
        size = tuple([len(range(*s.indices(n))) for s, n in zip(tile, shape, strict=True)])
        found.setdefault(size, tile)
    return list(found.values())


def _each(shape: Shape) -> Iterator[Tile]:
    """Every index of some leading dimensions, as slices of length one."""
    if not shape:
        yield ()
        return
    for outer in _each(shape[:-1]):
        for i in range(shape[-1]):
            yield (*outer, slice(i, i + 1))


def cut(array: Any, tile: Tile) -> Any:
    """The part of an operand that a tile needs, a view; dimensions of size 1 are broadcast and stay."""
    shape = array.shape
    lead = len(tile) - len(shape)
    parts = [slice(None) if n == 1 else s for n, s in zip(shape, tile[lead:], strict=True)]
    return array[(*parts, ...)]  # without `...` NumPy copies what has no dimensions
