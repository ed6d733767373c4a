"""Memory for what a group makes, and what its tiles were reduced to; and the same without a group."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_core.backend import Tensor, contiguous_strides

from ..arrays import NUMPY_OF, laid_out, quietly
from ..memory_pool import POOL
from ..workers import share_out
from .limits import LIMITS
from .tiles import spans

__all__ = ["joined", "reduced_by_tiles", "room_for"]


def room_for(t: Tensor) -> Any:
    """An array for a whole result, laid out as the tensor that was handed out for it."""
    shape, d = t.raw_shape, NUMPY_OF[t.raw_dtype]
    strides = contiguous_strides(shape) if t.raw_layout is None else t.raw_layout[0]
    if strides == contiguous_strides(shape):
        return POOL.empty(shape, d)
    return laid_out(shape, strides, lambda s: POOL.empty(s, d))


def joined(join: np.ufunc, partial: list[Any], d: Any) -> Any:
    """The reduction of what each tile was reduced to, of a NumPy dtype."""
    parts = np.array([p.item() for p in partial])
    total = quietly(join.reduce, parts)
    return np.array(quietly(np.asarray(total).astype, d))


def reduced_by_tiles(a: Any, reduce: Callable[[Any], Any], join: np.ufunc) -> Any:
    """A row-major array of floats reduced to one element, as a group that makes it would do it.

    So the bits are the same in a pipeline and outside.

    Args:
        a: the array.
        reduce: reduces the elements of a tile.
        join: see `joined`.
    """
    flat = a.reshape(-1)
    parts = spans(a.shape, LIMITS.tile_elements)
    partial: list[Any] = [None] * len(parts)

    def work(number: int) -> None:
        partial[number] = reduce(flat[parts[number]])

    share_out(work, range(len(parts)))
    return joined(join, partial, a.dtype)
