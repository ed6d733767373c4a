"""Pooling to a given shape by compiled loops: of NumPy's calls it takes a dozen for each step in a window."""

from __future__ import annotations

import functools
import math
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import Shape, int64

from ..arrays import NUMPY_OF, WIDER, quietly, wrap
from ..compiled import walk
from ..memory_pool import POOL
from ..register import composition_of, register_in_format, rule_of
from ..workers import in_parts
from .few_windows import largest_in_parts

# Elements of results that a thread is worth.
_SHARE: Final = 1 << 13


@functools.lru_cache(256)
def _parts(size: int, count: int) -> Any:
    """Where windows begin, how many elements they have, and by what sums are divided."""
    reached = np.arange(count + 1, dtype=np.int64) * size
    starts = reached[:-1] // count
    lengths = -(-reached[1:] // count) - starts
    return np.stack([starts, lengths, lengths], 1)


@functools.lru_cache(256)
def _seen_by(size: int, count: int) -> Any:
    """The same of the windows that see an element, whose gradients are added up."""
    parts = _parts(size, count)
    starts, ends = parts[:, 0], parts[:, 0] + parts[:, 1]
    places = np.arange(size)
    first = np.searchsorted(ends, places, "right")
    lengths = np.searchsorted(starts, places, "right") - first
    return np.stack([first, lengths, np.ones(size, np.int64)], 1)


def _along(loop: Any, a: Any, axis: int, windows: Any) -> Any:
    """Means along one dimension."""
    size, inner, count = a.shape[axis], math.prod(a.shape[axis + 1 :]), len(windows)
    out = POOL.empty((*a.shape[:axis], count, *a.shape[axis + 1 :]), a.dtype)
    planes, made = a.reshape(-1, size * inner), out.reshape(-1, count * inner)

    def work(low: int, high: int) -> None:
        loop(made[low:high], planes[low:high], windows, high - low, count, size, inner)

    in_parts(work, len(planes), max(1, _SHARE // (count * inner)))
    return out


def _loop(t: Any, n: int, sizes: Shape, counts: Shape) -> Any:
    """The loop for a tensor, and its elements; None where there is none."""
    if not t.raw_data.size or any(count > size for count, size in zip(counts, sizes, strict=True)):
        return None
    a = t.raw_data.astype(np.float32) if t.raw_dtype in WIDER else t.raw_data
    if 0 in counts or (loop := walk("means_along", a.dtype, a.size, 1)) is None:
        return None
    return loop, np.ascontiguousarray(a)


def _means(n: int) -> Any:
    name = f"_adaptive_avg_pool{n}d"
    rule, decomposed = rule_of(name), composition_of(name)

    def run(self: Any, output_size: Any) -> Any:
        counts = rule(self, output_size).shape[-n:]
        sizes, d = self.raw_shape[-n:], self.raw_dtype
        found = _loop(self, n, sizes, counts)
        if found is None:
            return decomposed(self, output_size)
        loop, a = found
        for axis, size, count in zip(range(a.ndim - n, a.ndim), sizes, counts, strict=True):
            if size != count:
                a = _along(loop, a, axis, _parts(size, count))
        a = a.copy() if a is self.raw_data else a
        return wrap(a.astype(NUMPY_OF[d]) if d in WIDER else a, d)

    return run


def _means_backward(n: int) -> Any:
    name = f"_adaptive_avg_pool{n}d_backward"
    rule, decomposed = rule_of(name), composition_of(name)

    def run(grad_output: Any, self: Any) -> Any:
        rule(grad_output, self)
        counts, sizes, d = grad_output.raw_shape[-n:], self.raw_shape[-n:], grad_output.raw_dtype
        found = _loop(grad_output, n, sizes, counts)
        if found is None:
            return decomposed(grad_output, self)
        loop, g = found
        for axis in reversed(range(g.ndim - n, g.ndim)):
            size, count = self.raw_shape[axis], g.shape[axis]
            if size != count:
                lengths = _parts(size, count)[:, 1].astype(g.dtype)
                g = g / lengths.reshape(-1, *(1,) * (g.ndim - 1 - axis))
                g = _along(loop, g, axis, _seen_by(size, count))
        g = g.copy() if g is grad_output.raw_data else g
        return wrap(quietly(g.astype, NUMPY_OF[d]) if d in WIDER else g, d)

    return run


def _maxima(n: int) -> Any:
    name = f"adaptive_max_pool{n}d"
    rule, decomposed = rule_of(name), composition_of(name)

    def run(self: Any, output_size: Any) -> Any:
        counts = rule(self, output_size)[0].shape[-n:]
        sizes, d = self.raw_shape[-n:], self.raw_dtype
        found = None
        if 0 not in counts and any(s % c for s, c in zip(sizes, counts, strict=True)):
            a = self.raw_data.astype(np.float32) if d in WIDER else self.raw_data
            parts = [_parts(size, count) for size, count in zip(sizes, counts, strict=True)]
            found = largest_in_parts(a, parts, sizes)
        if found is None:
            return decomposed(self, output_size)
        values, places = found
        return wrap(values.astype(NUMPY_OF[d]) if d in WIDER else values, d), wrap(places, int64)

    return run


for _n in (2, 3):
    register_in_format(f"_adaptive_avg_pool{_n}d", _means(_n))
    register_in_format(f"_adaptive_avg_pool{_n}d_backward", _means_backward(_n))
    register_in_format(f"adaptive_max_pool{_n}d", _maxima(_n))
