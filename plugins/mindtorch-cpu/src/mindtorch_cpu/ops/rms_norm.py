"""Normalisation by root mean squares, by blocks that fit the cache or by one compiled pass."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..arrays import NUMPY_OF, wrap
from ..compiled import computed_rows
from ..memory_pool import POOL
from ..register import composition_of, kernel, rule_of
from ..rows import broad, over_blocks, spread, sums
from .norms import (
    WIDE_OF,
    compute_dtype,
    is_served,
    part_in,
    room_in,
    settle,
    statistic,
    widened,
)

_decomposed: Any = composition_of("_fused_rms_norm")


@kernel("_fused_rms_norm")
def rms_norm(input: Any, normalized_shape: Any, weight: Any, eps: float | None) -> Any:
    """Rows of the last dimensions, and what each is multiplied by."""
    spec, kept = rule_of("_fused_rms_norm")(input, normalized_shape, weight, eps)
    d = compute_dtype(input)
    if not is_served(input) or (weight is not None and not _fits(weight, d)):
        return _decomposed(input, normalized_shape, weight, eps)
    width = math.prod(normalized_shape)
    x, w = input.raw_data.reshape(-1, width), widened(weight, d)
    small = d.type(np.finfo(d).eps if eps is None else eps)
    out = POOL.empty(x.shape, x.dtype)
    factors = np.empty((len(x), 1), d)
    given = [x] if w is None else [x, w]
    key = ("rms_norm", width, float(small), w is None)
    if not computed_rows(key, _norm_of(width, small), given, [out, factors]):
        _by_blocks(x, w, small, out, factors)
    return wrap(out.reshape(spec.shape), spec.dtype), statistic(factors, kept.shape, kept.dtype)


def _fits(weight: Any, d: Any) -> bool:
    """Whether a weight is real, and no wider than what is computed in."""
    own = NUMPY_OF[weight.raw_dtype]
    return bool(own == d or WIDE_OF.get(own) == d)


def _norm_of(width: int, small: Any) -> Any:
    """What a compiled kernel computes of rows and weights: the same as `_by_blocks`, step by step."""

    def trace(tracer: Any, given: Any, *weight: Any) -> list[Any]:
        x = given.astype(WIDE_OF.get(given.dtype, given.dtype), copy=False)
        mean = tracer.reduced("row_sum", np.multiply(x, x)) / x.dtype.type(width)
        factor = 1 / np.sqrt(mean + small)
        y = np.multiply(x, factor)
        if weight:
            y = np.multiply(y, weight[0])
        return [y.astype(given.dtype, copy=False), factor]

    return trace


def _by_blocks(x: Any, w: Any, small: Any, out: Any, factors: Any) -> None:
    """Normalise rows by NumPy."""
    width, d = x.shape[1], factors.dtype

    def work(part: slice) -> None:
        y, seen = room_in(out, part, d), part_in(x, part, d)
        np.multiply(seen, seen, y)
        factors[part] = 1 / np.sqrt((sums(y) / d.type(width))[:, None] + small)
        np.multiply(seen, spread(factors[part], width), y)
        if w is not None:
            lines, scales = broad(y, w)
            np.multiply(lines, scales, lines)
        settle(out, part, y)

    over_blocks(work, len(x), width)
