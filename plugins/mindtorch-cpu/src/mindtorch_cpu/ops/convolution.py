"""Convolutions as a few large matrix products.

The padded input is laid out channels first, images one behind the other: (groups, channels, images *
rows * columns). The elements that all windows see at one position are then a slice of the last
dimension, so a window position costs one product of a weight's matrix with a slice, and nothing is
copied per position. Where windows do not fit into a row, the product computes elements that are
dropped. Strides split the input into phases, one per remainder, in which they are 1.
"""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from mindtorch_core.operators.nn.convolution_shapes import Geometry, geometry, weight_geometry

from ..arrays import NUMPY_OF, QUIET, WIDER, quietly, row_major, wrap
from ..pool import POOL
from ..register import composition_of, kernel
from ..workers import share_out

__all__ = ["Layout"]

# Elements of a slice: products of this length keep their operands in the cache.
_LENGTH = 1 << 12
# From so many channels on, a product per window position is as fast as one over all of them.
_DEEP = 32

_weight_decomposed: Any = composition_of("_convolution_weight")
_decomposed: Any = composition_of("convolution")


def _zeros(shape: Any, d: Any) -> Any:
    made = POOL.empty(shape, d)
    made.fill(0)
    return made


def _pitch(small: int, large: int, kernel: int, stride: int, padding: int, gap: int) -> int:
    """Elements from one row to the next: outputs and what the last window sees."""
    reach = (kernel - 1) * gap
    grid = small + reach // stride
    if stride > 1:
        return grid
    return grid - max(min(padding, grid - padding - large, reach), 0)


class Layout:
    """Where inputs and outputs of a convolution lie.

    Attributes:
        grid: spatial shape of a phase: what inputs and outputs are padded to. With stride 1 the
            padding behind a row, or an image, is also that before the next one.
        places: per window position its phase, and how far its elements lie behind their windows.
        phases: the phases that some position sees.
        length: elements from the first to the last window of an image.
        area: elements of a phase of an image.
        tail: elements behind the last image that windows see.
    """

    def __init__(self, at: Geometry, kernel: Any, small: Any, large: Any) -> None:
        """Lay out a convolution from inputs of the spatial shape ``large`` to ``small``."""
        n = len(kernel)
        self.at, self.kernel, self.small = at, kernel, small
        steps, gaps = at.stride, at.dilation
        self.grid = tuple(map(_pitch, small, large, kernel, steps, at.padding, gaps))
        self.area: int = math.prod(self.grid)
        strides = [math.prod(self.grid[i + 1 :]) for i in range(n)]
        self.places: list[tuple[tuple[int, ...], int]] = []
        for place in itertools.product(*map(range, kernel)):
            parts = [divmod(p * d, s) for p, d, s in zip(place, gaps, steps, strict=True)]
            shift = sum(q * stride for (q, _), stride in zip(parts, strides, strict=True))
            self.places.append((tuple(r for _, r in parts), shift))
        self.phases = sorted({phase for phase, _ in self.places})
        self.length: int = sum((o - 1) * s for o, s in zip(small, strides, strict=True)) + 1
        furthest = max(shift for _, shift in self.places)
        self.tail: int = max(furthest + self.length - self.area, 0)

    def images(self, batch: int) -> int:
        """How many images are computed together."""
        return max(1, min(batch, _LENGTH // self.area))

    def _window(self, phase: tuple[int, ...], sizes: Any) -> tuple[list[slice], list[slice]]:
        """The part of the grid that an image fills in a phase, and the part of the image."""
        inside, source = [], []
        for r, s, p, size, grid in zip(
            phase, self.at.stride, self.at.padding, sizes, self.grid, strict=True
        ):
            first = max(-((r - p) // s), 0)  # of the grid elements at r - p + s * i
            start = r - p + s * first
            count = max(min(-(-(size - start) // s), grid - first), 0)
            inside.append(slice(first, first + count))
            source.append(slice(start, start + s * (count - 1) + 1, s) if count else slice(0, 0))
        return inside, source

    def spread(self, x: Any, phase: tuple[int, ...]) -> Any:
        """A phase of images (images, C, *sizes) as (groups, C / groups, images * area)."""
        images, channels = x.shape[:2]
        inside, source = self._window(phase, x.shape[2:])
        full = not self.tail and all(
            s.stop - s.start == g for s, g in zip(inside, self.grid, strict=True)
        )
        size = images * self.area
        out = (POOL.empty if full else _zeros)((channels, size + self.tail), x.dtype)
        grid = out[:, :size].reshape(channels, images, *self.grid)
        part = x[(slice(None), slice(None), *source)]
        grid[(slice(None), slice(None), *inside)] = part.swapaxes(0, 1)
        return out.reshape(self.at.groups, channels // self.at.groups, size + self.tail)

    def gather(self, phase: tuple[int, ...], whole: Any, x: Any) -> None:
        """Write a phase (groups, C / groups, images * area) into images."""
        inside, source = self._window(phase, x.shape[2:])
        images, channels = x.shape[:2]
        flat = whole.reshape(channels, images * self.area + self.tail)
        grid = flat[:, : images * self.area].reshape(channels, images, *self.grid)
        part = grid[(slice(None), slice(None), *inside)]
        x[(slice(None), slice(None), *source)] = part.swapaxes(0, 1)

    def spread_small(self, y: Any) -> Any:
        """Outputs (images, O, *small) as (groups, O / groups, images * area), zeros between."""
        images, filters = y.shape[:2]
        inside = tuple(slice(0, s) for s in self.small)
        full = self.small == self.grid
        out = (POOL.empty if full else _zeros)((filters, images, *self.grid), y.dtype)
        out[(slice(None), slice(None), *inside)] = y.swapaxes(0, 1)
        return out.reshape(self.at.groups, filters // self.at.groups, images * self.area)

    def gather_small(self, whole: Any, y: Any) -> None:
        """Write (groups, O / groups, images * area) into outputs (images, O, *small)."""
        grid = whole.reshape(y.shape[1], y.shape[0], *self.grid)
        inside = tuple(slice(0, s) for s in self.small)
        np.copyto(y, grid[(slice(None), slice(None), *inside)].swapaxes(0, 1))

    def matrices(self, w: Any) -> Any:
        """A weight (O, C / groups, *kernel) as (position, groups, O / groups, C / groups)."""
        groups = self.at.groups
        flat = w.reshape(groups, w.shape[0] // groups, w.shape[1], len(self.places))
        return np.ascontiguousarray(flat.transpose(3, 0, 1, 2))


def _forward(x: Any, w: Any, plan: Layout, y: Any) -> None:
    """Outputs from inputs and weights."""
    matrices = plan.matrices(w)
    deep = w.shape[1] >= _DEEP or len(plan.places) == 1
    step = plan.images(len(x))
    for start in range(0, len(x), step):
        part = x[start : start + step]
        phases = {phase: plan.spread(part, phase) for phase in plan.phases}
        length = (len(part) - 1) * plan.area + plan.length
        whole = POOL.empty((*matrices.shape[1:3], len(part) * plan.area), x.dtype)
        out = whole[..., :length]
        if matrices.shape[2:] == (1, 1):
            _depthwise(matrices[:, :, 0], plan, phases, out[:, 0], length)
        elif deep:
            _by_position(matrices, plan, phases, out, length)
        else:
            stacked = _stacked(plan, phases, length)
            np.matmul(_joined(matrices), stacked, out=out)
        plan.gather_small(whole, y[start : start + step])


def _by_position(matrices: Any, plan: Layout, phases: Any, out: Any, length: int) -> None:
    extra = POOL.empty(out.shape, out.dtype)
    for i, (phase, shift) in enumerate(plan.places):
        seen = phases[phase][..., shift : shift + length]
        np.matmul(matrices[i], seen, out=extra if i else out)
        if i:
            np.add(out, extra, out)


def _depthwise(factors: Any, plan: Layout, phases: Any, out: Any, length: int) -> None:
    """One filter per channel: products with numbers, for channels that fit the cache."""
    rows = max(1, (1 << 14) // length)

    def work(first: int) -> None:
        part = slice(first, first + rows)
        target = out[part]
        extra = POOL.empty(target.shape, out.dtype)
        for i, (phase, shift) in enumerate(plan.places):
            seen = phases[phase][part, 0, shift : shift + length]
            np.multiply(seen, factors[i, part], out=extra if i else target)
            if i:
                np.add(target, extra, target)

    share_out(lambda first: quietly(work, first), range(0, len(out), rows))


def _stacked(plan: Layout, phases: Any, length: int) -> Any:
    """All positions' elements below each other: (groups, positions * C / groups, length)."""
    first = phases[plan.phases[0]]
    groups, channels = first.shape[:2]
    out = POOL.empty((groups, len(plan.places), channels, length), first.dtype)
    for i, (phase, shift) in enumerate(plan.places):
        out[:, i] = phases[phase][..., shift : shift + length]
    return out.reshape(groups, len(plan.places) * channels, length)


def _joined(matrices: Any) -> Any:
    """All positions' matrices beside each other: (groups, O / groups, positions * C / groups)."""
    count, groups, filters, channels = matrices.shape
    return matrices.transpose(1, 2, 0, 3).reshape(groups, filters, count * channels)


def _backward(y: Any, w: Any, plan: Layout, x: Any) -> None:
    """Inputs from outputs and weights: every position adds to the elements it sees."""
    matrices = plan.matrices(w).swapaxes(2, 3)
    step = plan.images(len(y))
    for start in range(0, len(y), step):
        part = y[start : start + step]
        given = plan.spread_small(part)
        size = len(part) * plan.area + plan.tail
        length = (len(part) - 1) * plan.area + plan.length
        given = given[..., :length]
        shape = (*matrices.shape[1:3], size)
        sums = {phase: _zeros(shape, y.dtype) for phase in plan.phases}
        _add_positions(matrices, plan, given, sums, length)
        target = x[start : start + step]
        target[...] = 0  # what no window sees
        for phase, whole in sums.items():
            plan.gather(phase, whole, target)


def _add_positions(matrices: Any, plan: Layout, given: Any, sums: Any, length: int) -> None:
    groups, channels = matrices.shape[1:3]
    if matrices.shape[3] == 1 and channels == 1:
        _add_depthwise(matrices[:, :, 0], plan, given[:, 0], sums, length)
        return
    if channels < _DEEP and len(plan.places) > 1:
        joined = matrices.transpose(1, 0, 2, 3).reshape(groups, -1, matrices.shape[3])
        made = np.matmul(joined, given).reshape(groups, len(plan.places), channels, length)
        for i, (phase, shift) in enumerate(plan.places):
            target = sums[phase][..., shift : shift + length]
            np.add(target, made[:, i], target)
        return
    extra = POOL.empty((groups, channels, length), given.dtype)
    for i, (phase, shift) in enumerate(plan.places):
        np.matmul(matrices[i], given, out=extra)
        target = sums[phase][..., shift : shift + length]
        np.add(target, extra, target)


def _add_depthwise(factors: Any, plan: Layout, given: Any, sums: Any, length: int) -> None:
    rows = max(1, (1 << 14) // length)

    def work(first: int) -> None:
        part = slice(first, first + rows)
        extra = POOL.empty(given[part].shape, given.dtype)
        for i, (phase, shift) in enumerate(plan.places):
            np.multiply(given[part], factors[i, part], out=extra)
            target = sums[phase][part, 0, shift : shift + length]
            np.add(target, extra, target)

    share_out(lambda first: quietly(work, first), range(0, len(given), rows))


def _weights(x: Any, y: Any, plan: Layout) -> Any:
    """Weights from inputs and outputs: (O, C / groups, *kernel)."""
    groups = plan.at.groups
    filters, channels = y.shape[1] // groups, x.shape[1] // groups
    out = np.zeros((len(plan.places), groups, filters, channels), x.dtype)
    step = plan.images(len(x))
    for start in range(0, len(x), step):
        part = slice(start, start + step)
        given = plan.spread_small(y[part])
        images = len(y[part])
        length = (images - 1) * plan.area + plan.length
        given = given[..., :length]
        phases = {phase: plan.spread(x[part], phase) for phase in plan.phases}
        if channels < _DEEP and len(plan.places) > 1 and (filters > 1 or channels > 1):
            stacked = _stacked(plan, phases, length)
            made = np.matmul(given, stacked.swapaxes(1, 2))
            made = made.reshape(groups, filters, len(plan.places), channels)
            out += made.transpose(2, 0, 1, 3)
            continue
        for i, (phase, shift) in enumerate(plan.places):
            seen = phases[phase][..., shift : shift + length]
            if filters == channels == 1:
                out[i, :, 0, 0] += np.einsum("gl,gl->g", given[:, 0], seen[:, 0])
            else:
                out[i] += np.matmul(given, seen.swapaxes(1, 2))
    flat = out.transpose(1, 2, 3, 0).reshape(groups * filters, channels, *plan.kernel)
    return np.ascontiguousarray(flat)


def _array(t: Any) -> Any:
    a = t._data
    return a.astype(np.float32) if t._dtype in WIDER else a


@kernel("convolution")
def convolution(input: Any, weight: Any, bias: Any, *options: Any) -> Any:
    """Cross-correlation or its transpose."""
    at = geometry(input, weight, bias, *options)
    if 0 in input._shape or 0 in weight._shape:
        return _decomposed(input, weight, bias, *options)
    x, w = _array(input), np.ascontiguousarray(_array(weight))
    channels = w.shape[1] * at.groups if at.transposed else w.shape[0]
    out = POOL.empty((len(x), channels, *at.out), x.dtype)
    if at.transposed:
        QUIET.run(_backward, x, w, Layout(at, w.shape[2:], x.shape[2:], at.out), out)
    elif _pointwise(w, at):
        matrix = w.reshape(at.groups, -1, w.shape[1])
        flat = row_major(x).reshape(len(x), at.groups, w.shape[1], -1)
        made = out.reshape(len(x), at.groups, matrix.shape[1], -1)
        QUIET.run(np.matmul, matrix, flat, out=made)
    else:
        QUIET.run(_forward, x, w, Layout(at, w.shape[2:], at.out, x.shape[2:]), out)
    if bias is not None:
        QUIET.run(np.add, out, _array(bias).reshape(-1, *(1,) * len(at.out)), out)
    d = input._dtype
    return wrap(out.astype(NUMPY_OF[d]) if d in WIDER else out, d)


def _pointwise(w: Any, at: Geometry) -> bool:
    """Whether every window is one element, and every element a window."""
    return math.prod(w.shape[2:]) == 1 and not any(at.padding) and all(s == 1 for s in at.stride)


@kernel("_convolution_weight")
def convolution_weight(
    input: Any, grad: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """Gradient of a convolution for its weight."""
    options = kernel_size, stride, padding, dilation, groups
    if 0 in input._shape or 0 in grad._shape:
        return _weight_decomposed(input, grad, *options)
    at, kernel_shape = weight_geometry(input, grad, *options)
    d = input._dtype
    plan = Layout(at, kernel_shape, grad._shape[2:], input._shape[2:])
    made = QUIET.run(_weights, _array(input), _array(grad), plan)
    return wrap(made.astype(NUMPY_OF[d]) if d in WIDER else made, d)
