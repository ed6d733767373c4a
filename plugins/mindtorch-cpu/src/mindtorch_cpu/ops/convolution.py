"""Convolutions as a few large matrix products.

The padded input is laid out channels first, images one behind the other: (groups, channels, images *
rows * columns). The elements that all windows see at one position are then a slice of the last
dimension, so a window position costs one product of a weight's matrix with a slice, and nothing is
copied per position. Where windows do not fit into a row, the product computes elements that are
dropped. Strides split the input into phases, one per remainder, in which they are 1.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindtorch_core.backend import (
    ConvolutionGeometry,
    convolution_geometry,
    convolution_weight_geometry,
    format_of_any,
)

from ..arrays import NUMPY_OF, QUIET, WIDER, quietly, relaid, row_major, wrap
from ..blas import multiplied, over_batches
from ..memory_pool import POOL
from ..register import composition_of, kernel
from ..workers import share_out
from .convolution_layout import Layout, zeros

# Products from which a compiled kernel pays, even if it has to be made.
_WORTH = 1 << 21
# Elements of an image from which it is worth a product of its own.
_LONG = 128
# From so many channels on, a product per window position is as fast as one over all of them.
_DEEP = 32

_weight_decomposed: Any = composition_of("_convolution_weight")
_decomposed: Any = composition_of("convolution")


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
        sums = {phase: zeros(shape, y.dtype) for phase in plan.phases}
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
    a = t.raw_data
    return a.astype(np.float32) if t.raw_dtype in WIDER else a


def _wrapped(made: Any, *operands: Any) -> Any:
    """A tensor of a row-major result, with channels innermost where those of an operand are."""
    d = operands[0].raw_dtype
    if d in WIDER:
        made = made.astype(NUMPY_OF[d])
    for t in operands:
        steps = t.raw_data.strides
        if steps[1] <= steps[-1] and len(steps) > 3:
            lies = format_of_any(*operands)
            return wrap(relaid(made, None, lies) if lies.order else made, d)
    return wrap(made, d)


def _worth(d: Any, products: int) -> bool:
    """Whether a compiled kernel computes so many products: that depends on nothing else in a process."""
    if products < _WORTH or d not in (np.float32, np.float64):
        return False
    from ..native.synchronous import available  # loaded with the first that is large

    return available()


@kernel("convolution")
def convolution(input: Any, weight: Any, bias: Any, *options: Any) -> Any:
    """Cross-correlation or its transpose."""
    at = convolution_geometry(input, weight, bias, *options)
    if 0 in input.raw_shape or 0 in weight.raw_shape:
        return _decomposed(input, weight, bias, *options)
    x, w = _array(input), np.ascontiguousarray(_array(weight))
    channels = w.shape[1] * at.groups if at.transposed else w.shape[0]
    out = POOL.empty((len(x), channels, *at.out), x.dtype)
    b = None if bias is None else _array(bias)
    if not _served(x, w, b, at, out):
        if at.transposed:
            quietly(_backward, x, w, Layout(at, w.shape[2:], x.shape[2:], at.out), out)
        else:
            quietly(_forward, x, w, Layout(at, w.shape[2:], at.out, x.shape[2:]), out)
        if b is not None:
            QUIET.run(np.add, out, b.reshape(-1, *(1,) * len(at.out)), out)
    return _wrapped(out, input, weight)


def _served(x: Any, w: Any, b: Any, at: ConvolutionGeometry, out: Any) -> bool:
    """Whether a product, or a compiled kernel, has computed a convolution with its bias."""
    if _pointwise(w, at):
        matrix = w.reshape(at.groups, -1, w.shape[1])
        matrix = matrix.swapaxes(1, 2) if at.transposed else matrix
        flat = row_major(x).reshape(len(x), at.groups, matrix.shape[2], -1)
        made = out.reshape(len(x), at.groups, matrix.shape[1], -1)

        def multiply(part: slice) -> None:
            quietly(np.matmul, matrix, flat[part], made[part])

        over_batches(multiply, made[0].size * matrix.shape[2], len(x))
        if b is not None:
            QUIET.run(np.add, made, b.reshape(at.groups, -1, 1), made)
        return True
    small = x.shape if at.transposed else out.shape
    if not _worth(x.dtype, len(x) * math.prod(small[2:]) * w.size):
        return False
    from . import direct_convolution as direct
    from . import plane_convolution as planes

    if planes.fits(w, at):
        return (planes.backward if at.transposed else planes.forward)(x, w, b, at, out)
    return (direct.backward if at.transposed else direct.forward)(x, w, b, at, out)


def _pointwise(w: Any, at: ConvolutionGeometry) -> bool:
    """Whether every window is one element, and every element a window."""
    return (
        math.prod(w.shape[2:]) == 1
        and not any(at.padding)
        and not any(at.output_padding)
        and all(s == 1 for s in at.stride)
    )


def _long_rows(at: ConvolutionGeometry, kernel: Any) -> bool:
    """Whether windows are elements, of which there are so many that a product per image pays."""
    plain = math.prod(kernel) == 1 and not any(at.padding) and all(s == 1 for s in at.stride)
    return plain and math.prod(at.out) >= _LONG


def _pointwise_weights(x: Any, y: Any, groups: int) -> Any:
    """Weights (groups, O / groups, C / groups) of windows of one element."""
    rows, given = (row_major(t).reshape(len(t), groups, t.shape[1] // groups, -1) for t in (x, y))
    made = np.zeros((groups, given.shape[2], rows.shape[2]), x.dtype)
    work = given.shape[2] * rows[0, 0].size
    for seen, found in zip(rows, given, strict=True):
        product = multiplied(work, quietly, np.matmul, found, seen.swapaxes(1, 2))
        QUIET.run(np.add, made, product, made)
    return made


@kernel("_convolution_weight")
def convolution_weight(
    input: Any, grad: Any, kernel_size: Any, stride: Any, padding: Any, dilation: Any, groups: int
) -> Any:
    """Gradient of a convolution for its weight."""
    options = kernel_size, stride, padding, dilation, groups
    if 0 in input.raw_shape or 0 in grad.raw_shape:
        return _weight_decomposed(input, grad, *options)
    at, kernel_shape = convolution_weight_geometry(input, grad, *options)
    x, y = _array(input), _array(grad)
    if _long_rows(at, kernel_shape):
        made = _pointwise_weights(x, y, groups).reshape(grad.raw_shape[1], -1, *kernel_shape)
        return _wrapped(made, input, grad)
    plan = Layout(at, kernel_shape, grad.raw_shape[2:], input.raw_shape[2:])
    made = None
    count = math.prod(grad.raw_shape) * input.raw_shape[1] // groups * len(plan.places)
    if _worth(x.dtype, count):
        from . import direct_convolution as direct
        from . import plane_convolution as planes

        if x.ndim <= 4 and x.shape[1] == y.shape[1] == groups:
            made = planes.weights(x, y, at, kernel_shape)
        else:
            made = direct.weights(x, y, plan)
    if made is None:
        made = quietly(_weights, x, y, plan)
        if not np.isfinite(made).all():  # zeros between the lines met what is infinite or NaN
            return _weight_decomposed(input, grad, *options)
    return _wrapped(made, input, grad)
