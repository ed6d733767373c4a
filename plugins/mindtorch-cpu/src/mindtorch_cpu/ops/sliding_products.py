"""Products of small matrices with rows that lie shifted in a buffer, by compiled kernels.

Each result is added up by one thread in one order: the bits do not depend on threads.
"""

from __future__ import annotations

import itertools
import math
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import get_num_threads

from ..addresses import address, arguments
from ..native.compiler import vector_bytes, vector_registers
from ..native.sharing import Call, in_calls
from ..native.sliding import Product, vectors_beside
from ..native.synchronous import served
from ..processor import first_cache

__all__ = ["DTYPES", "Products", "Tiles", "beginning", "even", "pitch_of"]

DTYPES: Final = {np.dtype(np.float32): "f4", np.dtype(np.float64): "f8"}
# Bytes of what a thread reads and writes again for each block of filters: they stay in its cache.
_CHUNK: Final = 1 << 18
# Rows of the buffer that are gone through at a time where each lies in a page of its own, of which a
# processor finds few at once, and bytes of a page; twice as many where they lie in as few pages.
_ROWS: Final = 48
_PAGE: Final = 1 << 12
# If there are as many, the vectors that a tile needs are copied to one place, which stays in a first-level
# cache, for all blocks of filters. Sums are the same wherever it ends.
_SCATTERED: Final = 256
_PLACE: Final = first_cache() * 3 // 4
# As many groups are shared out over threads, not the tiles of each; of fewer there are as many parts.
_GROUPS: Final = 8
_LINE: Final = 64  # bytes of a cache line


def pitch_of(elements: int, size: int) -> int:
    """Elements of a row that is not short of a number: rows do not meet in one place of the cache."""
    lines = -(-elements * size // _LINE)
    return (lines | 1) * _LINE // size


def even(count: int, most: int) -> tuple[int, int]:
    """Into how many parts of at most ``most`` a number is cut, and how large they are."""
    parts = -(-count // most)
    return parts, -(-count // parts)


class Tiles:
    """How a product's results are cut into blocks of rows and tiles along them.

    Attributes:
        blocks: how many blocks of rows there are.
        rows: of a block.
        tiles: how many tiles lie along a row.
        wide: elements of a tile.
        kernel: what computes them, or None.
    """

    def __init__(self, code: str, size: int, rows: int, length: int) -> None:
        """Cut ``rows`` of ``length`` elements of ``size`` bytes; ``code`` names the operands' dtype."""
        self.blocks, self.rows = even(rows, 8 if vector_registers() == 32 else 4)
        lanes = vector_bytes() // size
        most = vectors_beside(self.rows)
        cuts = [even(-(-length // lanes), count) for count in range(most, most // 2, -1)]
        self.tiles, vectors = min(cuts, key=math.prod)  # what is computed behind the end is in vain
        self.wide = vectors * lanes
        self.kernel: Any = served(Product(code, self.rows, vectors))


def beginning(bias: Any, groups: int, rows: int, tiles: Tiles, d: Any) -> Any:
    """What sums begin with: (groups, rows of all blocks)."""
    made = np.zeros((groups, tiles.blocks * tiles.rows), d)
    if bias is not None:
        made[:, :rows] = bias.reshape(groups, rows)
    return made


class Products:
    """Products of matrices, group by group, with shifted rows of a buffer."""

    def __init__(
        self, tiles: Tiles, matrices: Any, places: Any, first: Any, shifts: Any, rows: int,
        masks: Any = None,
    ) -> None:  # fmt: skip
        """Prepare products.

        Args:
            tiles: how results are cut.
            matrices: (groups, rows, ...).
            places: where a row's factors lie behind its first element, in bytes.
            first: what sums begin with.
            shifts: where the factors' rows begin in a group's buffer, in bytes.
            rows: of that buffer.
            masks: bits of the elements that are not left out, (factors, vectors, bytes), which are repeated;
                None if all are read.
        """
        self._kernel = tiles.kernel
        marks = None
        if masks is not None:
            marks = np.arange(len(masks)) * masks.strides[0] + address(masks)
            marks = np.tile(marks, len(shifts) // len(masks))
            self._bits = masks.shape[2] * (tiles.wide * first.itemsize // vector_bytes())
        self._tiles, self._held = tiles, (matrices, places, first, shifts, masks, marks)
        self._tables = address(shifts), address(places)
        self._marks = 0 if marks is None else address(marks)
        self._counts = len(shifts), matrices.shape[1], matrices.strides[1]
        self._begin = address(matrices), address(first)
        self._steps = matrices.strides[0], first.strides[0]
        groups, size = len(matrices), first.itemsize
        inner, of_tile = len(shifts), tiles.wide * size
        self._copies: Any = None
        if masks is not None or (rows >= _SCATTERED and tiles.blocks > 2):
            _, self._inner = even(inner, _PLACE // of_tile)
            self._copies = np.arange(self._inner) * of_tile
            kept = first.shape[1]
        elif rows > (beside := _ROWS if np.ptp(shifts) > _ROWS * _PAGE else 2 * _ROWS):
            self._inner, kept = max(1, inner * beside // rows), beside + first.shape[1]
        else:
            self._inner, kept = inner, rows
        most = max(1, _CHUNK // (kept * of_tile))
        parts, threads = -(-tiles.tiles // most), get_num_threads()
        together = 1  # groups of an item
        if groups < _GROUPS:  # threads get as much each
            least = _GROUPS if threads > 1 else 1
            parts = min(-(-max(parts, least) // threads) * threads, tiles.tiles)
        elif parts == 1 and self._copies is None and self._inner == inner:
            together = -(-groups // (2 * threads))
        ends = [tiles.tiles * i // parts for i in range(parts + 1)]
        self._items = [
            (group, min(together, groups - group), start, end - start)
            for group in range(0, groups, together)
            for start, end in itertools.pairwise(ends)
        ]

    def run(self, source: int, between: int, out: Any) -> None:
        """Compute ``out`` (groups, rows of all blocks, pitch).

        Args:
            source: address of the first group's buffer.
            between: bytes to the next group's.
            out: the results.
        """
        tiles, size = self._tiles, out.itemsize
        target, pitch, apart = address(out), out.strides[1], out.strides[0]
        inner, rows, step = self._counts

        (matrices, begin), (further, on) = self._begin, self._steps

        def calls_of(group: int, groups: int, start: int, count: int) -> list[Call]:
            along = start * tiles.wide * size
            copies, together = 0, count
            if self._copies is not None:
                copies, together = self._copies, 1
            per = count // together
            return [
                (
                    arguments(
                        source + group * between + along, matrices + group * further,
                        *(t + 8 * done for t in self._tables), begin + group * on,
                        target + group * apart + along, min(self._inner, inner - done), pitch, rows,
                        step, int(done > 0), copies, count, together,
                        self._marks and self._marks + 8 * done, self._marks and start * self._bits,
                        per, between, further, on, apart,
                    ),
                    0,
                    groups * per,
                )
                for done in range(0, inner, self._inner)
            ]  # fmt: skip

        items = [calls_of(*item) for item in self._items]
        in_calls(self._kernel, items, 0 if self._copies is None else _PLACE)
