"""Adding up rows that positions assign to others: a product with a sparse matrix of ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arrays import HALVES, quietly, recast, recast_into, wrap
from ..compiled import walk
from ..large import LARGE
from ..register import composition_of, kernel
from ..workers import in_parts
from .flat import checked

__all__ = ["added_in_blocks", "added_in_single", "added_rows"]

# Shorter rows cost more to find than to add.
_SHORT = 8
# Elements of a block for which a call of a loop pays.
_BLOCK = 1 << 12

_decomposed: Any = composition_of("embedding_dense_backward")


def added_rows(index: Any, rows: Any, count: int) -> Any:
    """The sum of the rows of each position, (count, width); None where that is slower.

    Args:
        index: positions in range, one per row.
        rows: (n, width) of any strides.
        count: how many positions there are.
    """
    if rows.dtype.kind not in "fc" or rows.dtype.itemsize < 4:  # SciPy has no half precision
        return None
    n, width = rows.shape
    if rows.size < LARGE or width < _SHORT or count * width > 16 * rows.size:
        return None
    loop = walk("rows_add", rows.dtype, rows.size)
    if loop is not None and rows.flags.c_contiguous:
        found = np.zeros((count, width), rows.dtype)
        loop(found, rows, np.ascontiguousarray(index, np.int64), n, count, width)
        return found
    from scipy.sparse import csc_array

    small = np.int32 if max(n, count) < 1 << 31 else np.int64
    parts = (np.ones(n, rows.dtype), index.astype(small), np.arange(n + 1, dtype=small))
    matrix = csc_array(parts, shape=(count, n))
    return quietly(lambda: matrix @ np.ascontiguousarray(rows))


def added_in_single(out: Any, index: Any, rows: Any) -> bool:
    """Whether rows of half precision were added to those of positions: in float32, rounded once.

    Args:
        out: what is added to, in place.
        index: positions in range, one per row.
        rows: as many, of any strides.
    """
    loop = walk("rows_add", np.dtype(np.float32), rows.size)
    if loop is None or rows.dtype not in HALVES or rows.dtype != out.dtype:
        return False
    target, given = (np.ascontiguousarray(recast(a, np.float32)) for a in (out, rows))
    counts = index.size, len(out), rows.size // index.size
    loop(target, given, np.ascontiguousarray(index, np.int64), *counts)
    recast_into(target, out)
    return True


def added_in_blocks(out: Any, index: Any, parts: Any, at: int) -> bool:
    """Whether slices were added at positions along a dimension that is not the first, in place and in order.

    Args:
        out: what is added to.
        index: positions in range, one per slice.
        parts: as many slices, of any strides.
        at: the dimension.
    """
    width, blocks = math.prod(out.shape[at + 1 :]), math.prod(out.shape[:at])
    if not out.flags.c_contiguous or parts.dtype != out.dtype or np.may_share_memory(out, parts):
        return False
    if width < _SHORT or index.size * width < _BLOCK:
        return False
    loop = walk("rows_add", out.dtype, parts.size)
    if loop is None:
        return False
    target = out.reshape(blocks, out.shape[at], width)
    given, places = parts.reshape(blocks, index.size, width), np.ascontiguousarray(index, np.int64)

    def some(low: int, high: int) -> None:
        for i in range(low, high):
            rows = np.ascontiguousarray(given[i])
            loop(target[i], rows, places, index.size, out.shape[at], width)

    in_parts(some, blocks, max(1, LARGE // (index.size * width)))
    return True


@kernel("embedding_dense_backward")
def embedding_dense_backward(
    grad_output: Any, indices: Any, num_weights: int, padding_idx: int, scale_grad_by_freq: bool
) -> Any:
    """Gradient rows added up by word."""
    options = (num_weights, padding_idx, scale_grad_by_freq)
    g, index = grad_output.raw_data, indices.raw_data
    if scale_grad_by_freq or g.size < LARGE or g.size != index.size * g.shape[-1]:
        return _decomposed(grad_output, indices, *options)
    flat = checked("index_add", index.reshape(-1), num_weights, 0, IndexError)
    rows = g.reshape(flat.size, -1)
    if g.dtype in HALVES:  # in float32, rounded once
        rows = recast(rows, np.float32)
    found = added_rows(flat, rows, num_weights)
    if found is None:
        return _decomposed(grad_output, indices, *options)
    found = recast(found, g.dtype) if found.dtype != g.dtype else found
    if 0 <= padding_idx < num_weights:
        found[padding_idx] = 0
    return wrap(found, grad_output.raw_dtype)
