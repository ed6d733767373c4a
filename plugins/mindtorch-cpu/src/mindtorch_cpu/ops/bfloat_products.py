"""Products of bfloat16 by the processor's instruction for pairs of them, added up in float32."""

from __future__ import annotations

import functools
from typing import Any, Final

import numpy as np

from ..addresses import address
from ..arrays import recast_into
from ..compiled import computed
from ..memory_pool import POOL
from ..native.compiler import pairs_pay
from ..native.synchronous import available
from .sliding_products import Products, Tiles, beginning, pitch_of

__all__ = ["multiply", "usable"]

_AT_ONCE: Final = 1 << 20  # results that stay float32 until they are rounded


def usable() -> bool:
    """Whether this process has a compiler, and its processor gains by the instruction."""
    return available() and pairs_pay()


def multiply(a: Any, b: Any, out: Any) -> bool:
    """Products of stacks (count, rows, inner) and (count, inner, columns); whether that was served."""
    count, rows, _ = a.shape
    columns = b.shape[2]
    tiles = _tiles(min(rows, 8), columns)
    step = max(8, _AT_ONCE // (count * tiles.tiles * tiles.wide) // 8 * 8)
    if tiles.kernel is None:
        return False
    pairs, pitch = _paired(b, tiles.wide * tiles.tiles)
    places = np.arange(len(pairs[0])) * 4
    left = _even(a)
    for first in range(0, rows, step):
        part = left[:, first : first + step]
        tiles = _tiles(part.shape[1], columns)
        if tiles.kernel is None:
            return False
        begin = beginning(None, count, part.shape[1], tiles, np.dtype(np.float32))
        found = POOL.empty((count, begin.shape[1], tiles.tiles * tiles.wide), begin.dtype)
        products = Products(tiles, part, places, begin, places * pitch, len(places))
        products.run(address(pairs), pairs.strides[0], found)
        recast_into(found[:, : part.shape[1], :columns], out[:, first : first + step])
    return True


@functools.lru_cache(256)
def _tiles(rows: int, columns: int) -> Tiles:
    return Tiles("bf", 4, rows, columns)


def _even(a: Any) -> Any:
    """Rows of an even number of elements without gaps."""
    if a.shape[2] % 2:
        wide = np.zeros((*a.shape[:2], a.shape[2] + 1), a.dtype)
        wide[..., :-1] = a
        return wide
    return a if a.strides[2] == a.itemsize and a.strides[1] % 2 == 0 else np.ascontiguousarray(a)


def _paired(b: Any, wide: int) -> tuple[Any, int]:
    """Two rows after each other as one of pairs, with room for tiles; elements of such a row."""
    count, inner, columns = b.shape
    pitch = pitch_of(wide, 4)
    bits = b.view(np.uint16)
    out = POOL.empty((count, -(-inner // 2), pitch), np.dtype(np.uint32))
    whole = out[:, : inner // 2, :columns]
    low, high = bits[:, : inner // 2 * 2 : 2], bits[:, 1::2]
    if not computed("pairs", lambda tracer, *parts: [_joined(*parts)], [low, high], [whole]):
        np.left_shift(high, np.uint32(16), whole)  # without copies of everything
        np.bitwise_or(whole, low, whole)
    if inner % 2:
        out[:, -1, :columns] = bits[:, -1]
    return out, pitch


def _joined(low: Any, high: Any) -> Any:
    """Numbers of 32 bits of two of 16."""
    shift = np.uint32(16)
    return np.bitwise_or(np.left_shift(high.astype(np.uint32), shift), low.astype(np.uint32))
