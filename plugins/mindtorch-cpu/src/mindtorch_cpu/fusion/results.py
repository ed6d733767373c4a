"""Memory for what a group makes, and what its tiles were reduced to; and the same without a group."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import Shape, Tensor, contiguous_strides

from ..arrays import NUMPY_OF, quietly, room
from ..many_rows import are_looped
from ..memory_pool import POOL
from ..workers import in_parts
from .limits import LIMITS
from .tiles import spans

__all__ = ["joined", "reduced_by_tiles", "room_for"]

_ROWS: Final = 8  # of tiles that a thread reduces by one call at least


def room_for(t: Tensor) -> Any:
    """An array for a whole result, laid out as the tensor that was handed out for it."""
    shape, d = t.raw_shape, NUMPY_OF[t.raw_dtype]
    strides = contiguous_strides(shape) if t.raw_layout is None else t.raw_layout[0]
    if strides == contiguous_strides(shape):
        return POOL.empty(shape, d)
    return room(shape, strides, d)


def joined(join: np.ufunc, partial: list[Any], d: Any) -> Any:
    """The reduction of what each tile was reduced to, of a NumPy dtype."""
    return _joined(join, np.array([p.item() for p in partial]), d)


def _joined(join: np.ufunc, parts: Any, d: Any) -> Any:
    found = np.empty((), d)
    quietly(np.copyto, found, quietly(join.reduce, parts), "unsafe")
    return found


def reduced_by_tiles(a: Any, reduce: Callable[[Any], Any], join: np.ufunc) -> Any:
    """A row-major array of floats reduced to one element, as a group that makes it would do it.

    So the bits are the same in a pipeline and outside.

    Args:
        a: the array.
        reduce: reduces the rows of a matrix, each of which is a tile.
        join: see `joined`.
    """
    flat = a.reshape(-1)
    length, alike, others = _tiles_of(a.shape, LIMITS.tile_elements)
    rows = flat[: alike * length].reshape(alike, length)
    partial = np.empty(alike + len(others), a.dtype)

    def work(first: int, last: int) -> None:
        partial[first:last] = reduce(rows[first:last])

    if join is np.add and are_looped(rows):
        work(0, alike)  # which is shared out
    else:
        in_parts(work, alike, _ROWS)
    for at, other in enumerate(others, alike):
        partial[at : at + 1] = reduce(flat[None, other])
    return _joined(join, partial.astype(np.float64), a.dtype)


@functools.lru_cache(256)
def _tiles_of(shape: Shape, elements: int) -> tuple[int, int, list[slice]]:
    """Length and number of the tiles alike that come first, and the other tiles."""
    every = [tile for (tile,) in spans(shape, elements)]
    length = every[0].stop
    alike = next((n for n, t in enumerate(every) if t.stop - t.start != length), len(every))
    return length, alike, every[alike:]
