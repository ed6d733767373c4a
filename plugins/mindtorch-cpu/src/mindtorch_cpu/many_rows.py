"""Sums of many rows, by compiled loops where there are any: the bits are those of `rows`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from . import rows
from .addresses import address
from .arrays import HALVES, recast
from .compiled import computed_rows, walk

__all__ = ["are_looped", "sums"]

# Bytes of rows whose sums a loop makes sooner than NumPy's calls of BLAS for each.
_MANY: Final = 1 << 20
_PART: Final = 1 << 16  # elements that a thread adds up at least


def sums(x: Any) -> Any:
    """What `rows.sums` gives, of half precision also: in float32."""
    return rows.sums(x, _counted_halves if x.dtype in HALVES else _counted)


def _counted_in_single(tracer: Any, x: Any) -> list[Any]:
    return [tracer.reduced("row_sum", x.astype(np.float32))]


def _counted_halves(x: Any) -> Any:
    out = np.empty((*x.shape[:-1], 1), np.float32)
    lines = x.reshape(-1, x.shape[-1]), out.reshape(-1, 1)
    trace = _counted_in_single
    if computed_rows(trace, trace, lines[:1], lines[1:]):
        return out[..., 0]
    return rows.counted(recast(x, np.float32))


def are_looped(x: Any) -> bool:
    """Whether a loop makes the sums of dense rows: threads share it, whatever is asked for."""
    return x.nbytes >= _MANY and walk("row_sums", x.dtype, x.size) is not None


def _counted(x: Any) -> Any:
    shape: Any = _rows_of(x) if x.nbytes >= _MANY else None
    loop = None if shape is None else walk("row_sums", x.dtype, x.size)
    if loop is None:
        return rows.counted(x)
    out = np.empty(x.shape[:-1], x.dtype)
    blocks, count, width, far, step = shape
    size, target, given = x.itemsize, address(out), address(x)

    def some_blocks(first: int, last: int) -> tuple[int, ...]:
        start = given + first * far * size
        return target + first * count * size, start, last - first, count, width, far, step

    def some_rows(first: int, last: int) -> tuple[int, ...]:
        return target + first * size, given + first * step * size, 1, last - first, width, far, step

    if blocks > 1:
        loop.shared(blocks, some_blocks, -(-_PART // (count * width)))
    else:
        loop.shared(count, some_rows, -(-_PART // width))
    return out


def _rows_of(a: Any) -> Any:
    """How many blocks of how many rows there are, of how many elements, and elements from each to the next.

    None where the rows are not dense, or are not seen so.
    """
    width, size = a.shape[-1], a.itemsize
    if a.flags.c_contiguous:
        return 1, a.size // width, width, 0, width
    if a.ndim > 3 or a.strides[-1] != size or any(s % size for s in a.strides):
        return None
    blocks, count = (1, *a.shape)[-3:-1]
    far, step = (0, *a.strides)[-3:-1]
    return blocks, count, width, far // size, step // size
