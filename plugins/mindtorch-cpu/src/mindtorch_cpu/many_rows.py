"""Sums of many rows, by a compiled loop where there is one: the bits are those of `rows`."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from . import rows
from .compiled import walk

__all__ = ["sums"]

# Bytes of rows whose sums a loop makes sooner than NumPy's calls of BLAS for each.
_MANY: Final = 1 << 20


def sums(x: Any) -> Any:
    """What `rows.sums` gives."""
    return rows.sums(x, _counted)


def _counted(x: Any) -> Any:
    shape: Any = _rows_of(x) if x.nbytes >= _MANY else None
    loop = None if shape is None else walk("row_sums", x.dtype, x.size)
    if loop is None:
        return rows.counted(x)
    out = np.empty(x.shape[:-1], x.dtype)
    loop(out, x, *shape)
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
