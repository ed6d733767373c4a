"""Large eager ops: chunks that fit the cache, shared out over threads, into memory that is reused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .arrays import QUIET
from .pool import POOL
from .workers import share_out

__all__ = ["LARGE", "in_chunks"]

# From this many elements on, memory that is there already pays; from four chunks on, threads do.
LARGE: Final = 1 << 15
_CHUNK: Final = 1 << 16


def in_chunks(ufunc: Callable[..., Any], d: Any, *arrays: Any) -> Any:
    """``ufunc(*arrays)`` for large operands; None where they do not lie alike in memory.

    Args:
        ufunc: the NumPy function.
        d: NumPy dtype of the result.
        arrays: operands, of one shape or without dimensions.
    """
    first = arrays[0]
    shape = first.shape
    for a in arrays:
        if a.ndim and (a.shape != shape or not a.flags.c_contiguous):
            return None
    out = POOL.empty(shape, d)
    flat = out.reshape(-1)
    lines = [a.reshape(-1) if a.ndim else a for a in arrays]

    takes_out = isinstance(ufunc, np.ufunc)

    def chunk(start: int) -> None:
        part = slice(start, start + _CHUNK)
        given = [a[part] if a.ndim else a for a in lines]
        if takes_out:
            QUIET.run(ufunc, *given, out=flat[part])
        else:
            flat[part] = QUIET.run(ufunc, *given)

    share_out(chunk, range(0, first.size, _CHUNK))
    return out
