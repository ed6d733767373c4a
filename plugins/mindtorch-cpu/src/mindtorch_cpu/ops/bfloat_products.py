"""Products of bfloat16 by the processor's instruction for pairs of them, added up in float32."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..memory_pool import POOL
from ..native.compiler import has_pairs
from ..native.synchronous import address, available
from .sliding_products import Products, Tiles, beginning, pitch_of

__all__ = ["multiply", "usable"]

_AT_ONCE: Final = 1 << 20  # results that stay float32 until they are rounded


def usable() -> bool:
    """Whether this process has a compiler, and its processor the instruction."""
    return available() and has_pairs()


def multiply(a: Any, b: Any, out: Any) -> bool:
    """Products of stacks (count, rows, inner) and (count, inner, columns); whether that was served."""
    count, rows, _ = a.shape
    columns = b.shape[2]
    tiles = Tiles("bf", 4, min(rows, 8), columns)
    step = max(8, _AT_ONCE // (count * tiles.tiles * tiles.wide) // 8 * 8)
    if tiles.kernel is None:
        return False
    pairs, pitch = _paired(b, tiles.wide * tiles.tiles)
    places = np.arange(len(pairs[0])) * 4
    left = _even(a)
    for first in range(0, rows, step):
        part = left[:, first : first + step]
        tiles = Tiles("bf", 4, part.shape[1], columns)
        if tiles.kernel is None:
            return False
        begin = beginning(None, count, part.shape[1], tiles, np.dtype(np.float32))
        found = POOL.empty((count, begin.shape[1], tiles.tiles * tiles.wide), begin.dtype)
        products = Products(tiles, part, places, begin, places * pitch, len(places))
        products.run(address(pairs), pairs.strides[0], found)
        out[:, first : first + step] = found[:, : part.shape[1], :columns]
    return True


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
    pairs = out.view(np.uint16).reshape(*out.shape, 2)[:, :, :columns]
    pairs[..., 0] = bits[:, ::2]
    pairs[:, : inner // 2, :, 1] = bits[:, 1::2]
    if inner % 2:
        pairs[:, -1, :, 1] = 0
    return out, pitch
