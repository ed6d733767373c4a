"""Products of few rows with matrices that lie the other way around, as linear layers make them.

OpenBLAS packs such a matrix element by element, which takes longer than the product where that has few
rows. The bits are the same with compiled loops and without: these only copy.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..blas import is_openblas, multiplied
from ..turned import row_major_copy

__all__ = ["MANY", "UNPACKED", "as_packed", "by_few_rows"]

# OpenBLAS computes so many results without packing; from so many rows on, packing matters little.
UNPACKED: Final = 1 << 10
MANY: Final = 64
_STACKED: Final = 128  # the same of matrices of a stack
_SHORT, _NARROW, _SMALL = 64, 16, 1 << 14  # rows, columns and matrices that are packed in no time
_SINGLE: Final = np.dtype(np.float32)


def by_few_rows(a: Any, b: Any) -> Any:
    """``a @ b`` as ``(b.T @ a.T).T``, of up to `MANY` rows; None where BLAS does as well.

    Args:
        a: a matrix.
        b: another one of the same dtype, whose columns may lie one after the other.
    """
    if (
        b.dtype is not _SINGLE or b.size < _SMALL
        or a.shape[1] < _SHORT or b.shape[1] < _NARROW
        or not (b.flags.f_contiguous and a.flags.c_contiguous and is_openblas())
    ):  # fmt: skip
        return None
    return row_major_copy(multiplied(a.size * b.shape[1], np.dot, b.T, a.T).T)


def as_packed(a: Any, b: Any) -> Any:
    """Matrices ``b`` of a stack, in another order if the products ``a @ b`` gain more than that costs."""
    (rows, inner), columns = a.shape[-2:], b.shape[-1]
    if rows > _STACKED or rows * columns <= UNPACKED or min(inner, columns) < _NARROW:
        return b
    lies = b.strides[-2:] == (b.itemsize, inner * b.itemsize) and b.dtype is _SINGLE
    return row_major_copy(b) if lies and is_openblas() else b
