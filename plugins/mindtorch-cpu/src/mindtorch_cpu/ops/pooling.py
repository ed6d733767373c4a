"""Pooling: one pass of a ufunc over a strided slice per window position."""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from mindtorch_core.backend import Averaging, Shape, divisors, int64, pool_sizes

from ..arrays import NUMPY_OF, WIDER, quietly, wrap
from ..compiled import walk
from ..large import SOME
from ..memory_pool import POOL
from ..register import composition_of, register_in_format
from ..workers import share_out
from . import few_windows

# Elements of a group of images and channels that is worked on at a time: at most, and at least where there
# are fewer groups than so many. The dozens of calls that a group takes cost more than caches save.
_BLOCK = 1 << 18
_LEAST = 1 << 15
_GROUPS = 8


def _slices(place: Any, count: Any, stride: Any, dilation: Any) -> tuple[slice, ...]:
    """What all windows see at a position."""
    return tuple(
        slice(p * d, p * d + (c - 1) * s + 1, s)
        for p, c, s, d in zip(place, count, stride, dilation, strict=True)
    )


def _planes(a: Any, n: int) -> Any:
    return np.ascontiguousarray(a).reshape(-1, *a.shape[a.ndim - n :])


def _padded(part: Any, before: Any, reach: Any, value: Any) -> Any:
    """Planes with a border, up to where the last windows end."""
    shape = tuple(max(r, b + s) for r, b, s in zip(reach, before, part.shape[1:], strict=True))
    if shape == part.shape[1:]:
        return part
    out = np.full((len(part), *shape), value, part.dtype)
    inside = tuple(slice(b, b + s) for b, s in zip(before, part.shape[1:], strict=True))
    out[(slice(None), *inside)] = part
    return out


def _over_blocks(work: Any, planes: int, size: int) -> None:
    """Call ``work`` with slices of planes of so many elements, in several threads."""
    block = min(_BLOCK, max(_LEAST, planes * size // _GROUPS))
    step = max(1, block // max(size, 1))
    share_out(lambda first: quietly(work, slice(first, first + step)), range(0, planes, step))


def _max_pool(n: int) -> Any:
    name = f"max_pool{n}d"
    decomposed = composition_of(f"{name}_with_indices")

    def run(
        self: Any, kernel_size: Any, stride: Any = (), padding: Any = 0, dilation: Any = 1,
        ceil_mode: bool = False,
    ) -> Any:  # fmt: skip
        options = kernel_size, stride, padding, dilation, ceil_mode
        if self.raw_dtype.name == "bool" or self.raw_dtype.category == 3:
            return decomposed(self, *options)
        kernel, steps, pads, gaps, count = pool_sizes(n, self, *options, name)
        d = self.raw_dtype
        a = self.raw_data.astype(np.float32) if d in WIDER else self.raw_data
        found = few_windows.largest_of_few(a, kernel, steps, pads, gaps, count)
        if found is not None:
            values, places = found
            values = values.astype(NUMPY_OF[d]) if d in WIDER else values
            return wrap(values, d), wrap(places, int64)
        planes = _planes(a, n)
        lowest = -np.inf if a.dtype.kind == "f" else np.iinfo(a.dtype).min
        sizes = a.shape[a.ndim - n :]
        known = _windows if math.prod(count) < SOME else _windows.__wrapped__
        windows = known(sizes, kernel, steps, pads, gaps, count)
        seen_from, reach, table, first, first_inside = windows
        out = POOL.empty((len(planes), *count), a.dtype)
        where = POOL.empty(out.shape, NUMPY_OF[int64])
        small = np.uint8 if len(seen_from) < 256 else np.int32

        def work(part: slice) -> None:
            x = _padded(planes[part], pads, reach, lowest)
            best, at = out[part], np.zeros(out[part].shape, small)
            np.copyto(best, x[seen_from[0]])
            for i, place in enumerate(seen_from[1:], 1):
                seen = x[place]
                better = np.greater(seen, best)
                np.maximum(best, seen, out=best)
                np.maximum(at, np.multiply(better, i, dtype=small), out=at)
            if a.dtype.kind == "f" and np.isnan(best).any():
                _mark_nan(x, at, seen_from)
            np.add(table.take(at), first, out=where[part])
            if any(pads):
                np.copyto(where[part], first_inside, where=at == 0)
            if a.dtype.kind == "f" and not best.all():  # NumPy's maximum of 0 and -0 is either
                seen, places = (t[part].reshape(len(best), -1) for t in (planes, where))
                best[...] = np.take_along_axis(seen, places, 1).reshape(best.shape)

        size = planes[:1].size
        _over_blocks(work, len(planes), size)
        shape = (*a.shape[: a.ndim - n], *count)
        values = out.reshape(shape)
        values = values.astype(NUMPY_OF[d]) if d in WIDER else values
        return wrap(values, d), wrap(where.reshape(shape), int64)

    return run


def _mark_nan(x: Any, at: Any, seen_from: Any) -> None:
    """A window with NaN has its maximum there."""
    for i, place in enumerate(seen_from):
        at[np.isnan(x[place])] = i


class _Windows(NamedTuple):
    """What max pooling of planes of one size needs to know.

    Attributes:
        seen_from: what all windows see at each position in them.
        reach: elements up to where the last windows end.
        table: how far each position is from the window's start, flat.
        first: where windows start, flat.
        first_inside: where they start in the planes: where all that a window sees is the lowest number, the
            padding must not be the maximum.
    """

    seen_from: list[tuple[slice, ...]]
    reach: list[int]
    table: Any
    first: Any
    first_inside: Any


@functools.lru_cache(64)
def _windows(
    sizes: Shape, kernel: Shape, steps: Shape, pads: Shape, gaps: Shape, count: Shape
) -> _Windows:
    places = list(itertools.product(*map(range, kernel)))
    starts = [
        np.arange(c, dtype=np.int64) * s - p for c, s, p in zip(count, steps, pads, strict=True)
    ]
    inside = [
        np.where(at < 0, np.minimum(at % g, size - 1), at)
        for at, g, size in zip(starts, gaps, sizes, strict=True)
    ]
    reach = [
        (c - 1) * s + g * (k - 1) + 1 for c, s, g, k in zip(count, steps, gaps, kernel, strict=True)
    ]
    return _Windows(
        [(slice(None), *_slices(place, count, steps, gaps)) for place in places],
        reach,
        _positions(places, gaps, sizes),
        _flat(starts, sizes),
        _flat(inside, sizes),
    )


def _positions(places: Any, gaps: Any, sizes: Any) -> Any:
    """How far each position in a window is from the window's start, flat."""
    found = []
    for place in places:
        flat = 0
        for p, g, s in zip(place, gaps, sizes, strict=True):
            flat = flat * s + p * g
        found.append(flat)
    return np.array(found, np.int64)


def _flat(starts: Any, sizes: Any) -> Any:
    """Flat positions of windows, from where they start along each dimension."""
    flat: Any = np.zeros((), np.int64)
    for i, (start, size) in enumerate(zip(starts, sizes, strict=True)):
        flat = flat * size + start.reshape(-1, *(1,) * (len(starts) - 1 - i))
    return flat


def _max_pool_backward(n: int) -> Any:
    name = f"max_pool{n}d_with_indices_backward"
    decomposed = composition_of(name)

    def run(grad_output: Any, self: Any, *rest: Any) -> Any:
        indices = rest[-1].raw_data
        g = grad_output.raw_data
        d = grad_output.raw_dtype
        if g.shape != indices.shape or g.dtype.kind != "f" or not g.size:
            return decomposed(grad_output, self, *rest)
        shape = self.raw_shape
        area = int(np.prod(shape[-n:]))
        rows = np.ascontiguousarray(indices).reshape(-1, int(np.prod(indices.shape[-n:])))
        flat = np.ascontiguousarray(g.astype(np.float32) if d in WIDER else g).reshape(rows.shape)
        out = POOL.empty((len(rows), area), flat.dtype)
        loop = walk("scatter_add", flat.dtype, flat.size) if rows.dtype == np.int64 else None
        each = rows.shape[1]

        def work(part: slice) -> None:
            target, picked = out[part], rows[part]
            target.fill(0)
            if loop is not None:
                counts = (len(picked), 1, each, area, area, 1, 0)
                if loop(target, flat[part], picked, *counts):
                    return
            first = np.arange(len(picked), dtype=np.int64).reshape(-1, 1) * area
            np.add.at(target.reshape(-1), (picked + first).reshape(-1), flat[part].reshape(-1))

        _over_blocks(work, len(rows), area)
        made = out.reshape(shape)
        return wrap(made.astype(NUMPY_OF[d]) if d in WIDER else made, d)

    return run


def _divided(t: Any, at: Averaging, n: int) -> None:
    """Divide sums by what their windows count."""
    by: Any = divisors(at)
    if not isinstance(by, int):
        by = [np.array(f).reshape(-1, *(1,) * (n - 1 - i)) for i, f in enumerate(by)]
        total = by[0]
        for factors in by[1:]:
            total = total * factors
        by = total.astype(t.dtype)
    else:
        by = t.dtype.type(by)
    np.divide(t, by, out=t)


def _average(n: int) -> Any:
    name = f"avg_pool{n}d"
    decomposed = composition_of(name)

    def run(
        self: Any, kernel_size: Any, stride: Any = (), padding: Any = 0, ceil_mode: bool = False,
        count_include_pad: bool = True, divisor_override: Any = None,
    ) -> Any:  # fmt: skip
        options = (kernel_size, stride, padding, ceil_mode, count_include_pad)
        if self.raw_dtype.category != 2:
            return decomposed(self, *options, *((divisor_override,) if n > 1 else ()))
        at = Averaging(n, self, *options, divisor_override, name)
        d = self.raw_dtype
        a = self.raw_data.astype(np.float32) if d in WIDER else self.raw_data
        few = few_windows.means_of_few(a, at)
        if few is not None:
            return wrap(few.astype(NUMPY_OF[d]) if d in WIDER else few, d)
        planes = _planes(a, n)
        out = POOL.empty((len(planes), *at.count), a.dtype)
        reach = [at.reach(i) for i in range(n)]

        def work(part: slice) -> None:
            x = _padded(planes[part], at.padding, reach, 0)
            for i in range(n):
                before = (slice(None),) * (1 + i)
                last = (at.count[i] - 1) * at.stride[i] + 1
                views = [
                    x[(*before, slice(k, k + last, at.stride[i]))] for k in range(at.kernel[i])
                ]
                x = np.add(views[0], views[1]) if len(views) > 1 else views[0]
                for view in views[2:]:
                    np.add(x, view, out=x)
            target = out[part]
            np.copyto(target, x)
            _divided(target, at, n)

        _over_blocks(work, len(planes), planes[:1].size)
        made = out.reshape(*a.shape[: a.ndim - n], *at.count)
        return wrap(made.astype(NUMPY_OF[d]) if d in WIDER else made, d)

    return run


def _average_backward(n: int) -> Any:
    name = f"avg_pool{n}d"
    decomposed = composition_of(f"{name}_backward")

    def run(grad_output: Any, self: Any, *options: Any) -> Any:
        d = grad_output.raw_dtype
        *given, divisor = options
        kernel, stride, padding, ceil_mode, include = given
        at = Averaging(n, self, kernel, stride, padding, ceil_mode, include, divisor, name)
        if d.category != 2 or grad_output.raw_shape[-n:] != at.count:
            return decomposed(grad_output, self, *options)
        g = grad_output.raw_data.astype(np.float32) if d in WIDER else grad_output.raw_data
        planes = _planes(g, n)
        out = POOL.empty((len(planes), *at.sizes), g.dtype)

        def work(part: slice) -> None:
            x = planes[part].copy()
            _divided(x, at, n)
            for i in range(n):
                whole = max(at.reach(i), at.sizes[i] + at.padding[i])
                wide = np.zeros((*x.shape[: 1 + i], whole, *x.shape[2 + i :]), x.dtype)
                last = (at.count[i] - 1) * at.stride[i] + 1
                before = (slice(None),) * (1 + i)
                for k in range(at.kernel[i]):
                    target = wide[(*before, slice(k, k + last, at.stride[i]))]
                    np.add(target, x, out=target)
                first = at.padding[i]
                x = wide[(*before, slice(first, first + at.sizes[i]))]
            out[part] = x

        _over_blocks(work, len(planes), out[:1].size)
        made = out.reshape(self.raw_shape)
        return wrap(made.astype(NUMPY_OF[d]) if d in WIDER else made, d)

    return run


for _n in (1, 2, 3):
    register_in_format(f"max_pool{_n}d_with_indices", _max_pool(_n))
    register_in_format(f"max_pool{_n}d_with_indices_backward", _max_pool_backward(_n))
    register_in_format(f"avg_pool{_n}d", _average(_n))
    register_in_format(f"avg_pool{_n}d_backward", _average_backward(_n))
