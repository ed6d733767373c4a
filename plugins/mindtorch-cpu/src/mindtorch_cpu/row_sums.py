"""Sums of rows by compiled kernels, to the last bit as NumPy adds them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from .arrays import HALVES
from .compiled import computed_rows

__all__ = ["sums_of_rows"]

# Rows of fewer elements are added by columns, see `short_rows`.
_SHORTEST: Final = 17


def _added(tracer: Any, x: Any) -> list[Any]:
    return [tracer.reduced("row_add", x)]


def _added_in_single(tracer: Any, x: Any) -> list[Any]:
    return [tracer.reduced("row_add", x.astype(np.float32)).astype(x.dtype)]


def sums_of_rows(a: Any, axis: Sequence[int] | None, keepdims: bool) -> Any:
    """``np.add.reduce(a, axis)`` of a row-major array of floats along its last dimensions, or all.

    Half precision is added up in float32 and rounded once. None where NumPy has to do it.

    Args:
        a: the array.
        axis: the dimensions, counted from the front; None for all.
        keepdims: whether they stay with size 1.
    """
    if type(a) is not np.ndarray or not a.flags.c_contiguous:
        return None
    count = a.ndim if axis is None else len(axis)
    kept: tuple[int, ...] = ()
    width = a.size
    if count < a.ndim:
        kept = a.shape[: a.ndim - count]
        width //= math.prod(kept)
        if min(axis or ()) != len(kept):
            return None
    if width < _SHORTEST:
        return None
    out = np.empty((a.size // width, 1), a.dtype)
    trace = _added_in_single if a.dtype in HALVES else _added
    if not computed_rows(trace, trace, (a.reshape(-1, width),), (out,)):
        return None
    return out.reshape(kept + (1,) * count if keepdims else kept)
