"""Sampling images at positions by a compiled loop, of which the core's composition takes some 80 passes."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from mindtorch_core.backend import FLOATING

from ..arrays import NUMPY_OF, WIDER, quietly, wrap
from ..compiled import walk
from ..memory_pool import POOL
from ..register import composition_of, kernel
from ..workers import in_parts

_composed: Final = composition_of("grid_sampler_2d")
# Elements of results that a thread is worth.
_SHARE: Final = 1 << 14


def _loop_for(x: Any, grid: Any, mode: int, padding: int) -> Any:
    """The loop where it serves, else None: of images, bilinearly, without reflections."""
    if mode or padding not in (0, 1) or x.raw_dtype.category != FLOATING:
        return None
    shape, points = x.raw_shape, grid.raw_shape
    fits = len(shape) == len(points) == 4 and shape[0] == points[0] and points[3] == 2
    if not fits or x.raw_dtype is not grid.raw_dtype or x.raw_device is not grid.raw_device:
        return None
    if not x.raw_data.size or not grid.raw_data.size:
        return None
    d = NUMPY_OF[WIDER.get(x.raw_dtype, x.raw_dtype)]
    return walk("sampled", d, x.raw_data.size + grid.raw_data.size, 1)


@kernel("grid_sampler", "grid_sampler_2d")
def grid_sampler(
    input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    """Images (N, C, H, W) at positions (N, high, wide, 2)."""
    loop = _loop_for(input, grid, interpolation_mode, padding_mode)
    if loop is None:
        return _composed(input, grid, interpolation_mode, padding_mode, align_corners)
    d = input.raw_dtype
    inner = NUMPY_OF[WIDER.get(d, d)]
    x, at = (np.ascontiguousarray(t.raw_data.astype(inner, copy=False)) for t in (input, grid))
    (images, channels, high, wide), counts = x.shape, at.shape[1:3]
    if align_corners:
        scales = np.array([(high - 1) / 2, (wide - 1) / 2, 0, 1], inner)
    else:
        scales = np.array([high, wide, 1, 0.5], inner)
    out = POOL.empty((images, channels, *counts), inner)
    points = counts[0] * counts[1]

    def work(low: int, up: int) -> None:
        parts = out[low:up], x[low:up], at[low:up]
        loop(*parts, scales, up - low, channels, high, wide, points, padding_mode)

    in_parts(work, images, max(1, _SHARE // (channels * points)))
    return wrap(quietly(out.astype, NUMPY_OF[d]) if d in WIDER else out, d)
