"""Memory for what a group makes, and what its tiles were reduced to."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_core.backend import Tensor, contiguous_strides

from ..arrays import NUMPY_OF, laid_out, quietly, wrap
from ..memory_pool import POOL
from .classify import Reduction

__all__ = ["joined", "room_for"]


def room_for(t: Tensor) -> Any:
    """An array for a whole result, laid out as the tensor that was handed out for it."""
    shape, d = t.raw_shape, NUMPY_OF[t.raw_dtype]
    strides = contiguous_strides(shape) if t.raw_layout is None else t.raw_layout[0]
    if strides == contiguous_strides(shape):
        return POOL.empty(shape, d)
    return laid_out(shape, strides, lambda s: POOL.empty(s, d))


def joined(t: Tensor, partial: list[Any], reduction: Reduction) -> Tensor:
    """The reduction of what each tile was reduced to."""
    d = t.raw_dtype
    parts = np.array([p.item() if p.ndim == 0 else p for p in partial])
    total = quietly(reduction.join.reduce, parts)
    return wrap(np.array(quietly(np.asarray(total).astype, NUMPY_OF[d])), d)
