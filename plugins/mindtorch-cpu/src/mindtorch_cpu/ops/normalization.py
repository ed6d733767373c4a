"""Layer and batch norm and their gradients, by blocks that fit the cache.

Mean and variance take two passes over a block: the squares of what deviates from the mean lose no
digits where the mean is large. Layouts other than row-major are left to the core's compositions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindtorch_core.backend import batch_norm_rule, statistics_dtype, update_running

from ..arrays import NUMPY_OF, WIDER, quietly, row_major, wrap
from ..broadcasting import in_long_runs
from ..compiled import FEWEST, computed_rows
from ..large import LARGE
from ..memory_pool import POOL
from ..register import composition_of, kernel, rule_of
from ..rows import BLOCK, FOLD, LONG_BLOCK, SHORTEST, broad, dots, folds, over_blocks, spread, sums
from ..summation import down
from .norms import (
    WIDE_OF,
    compute_dtype,
    deviation,
    is_served,
    means_of,
    normalised,
    packed,
    part_in,
    room_in,
    settle,
    statistic,
    widened,
)

Mask = Any


_layer_norm_backward: Any = composition_of("native_layer_norm_backward")
_batch_norm: Any = composition_of("native_batch_norm")
_batch_norm_backward: Any = composition_of("native_batch_norm_backward")
_layer_norm: Any = composition_of("native_layer_norm")


# ---- layer norm ---------------------------------------------------------------------------------


@kernel("native_layer_norm")
def layer_norm(input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Rows of the last dimensions."""
    specs = rule_of("native_layer_norm")(input, normalized_shape, weight, bias, eps)
    input = packed(input)
    if not is_served(input):
        out, mean, rstd = _layer_norm(input, normalized_shape, weight, bias, eps)
        return wrap(row_major(out.raw_data), out.raw_dtype), mean, rstd
    d = compute_dtype(input)
    width = math.prod(normalized_shape)
    x = input.raw_data.reshape(-1, width)
    w, b = widened(weight, d), widened(bias, d)
    out = POOL.empty(x.shape, x.dtype)
    means, factors = np.empty((len(x), 1), d), np.empty((len(x), 1), d)

    key = ("layer_norm", width, eps, w is None)
    given = [each for each in (x, w, b) if each is not None]
    # Of any size: NumPy makes a dozen calls of it.
    if x.size and computed_rows(key, _norm_of(width, eps, w), given, [out, means, factors]):
        return normalised(specs, out, means, factors)

    def work(part: slice) -> None:
        y = room_in(out, part, d)
        means[part], factors[part] = deviation(part_in(x, part, d), y, eps)
        np.multiply(y, spread(factors[part], width), y)
        lines, scales, offsets = broad(y, w, b)
        if w is not None:
            np.multiply(lines, scales, lines)
        if b is not None:
            np.add(lines, offsets, lines)
        settle(out, part, y)

    over_blocks(work, len(x), width)
    return normalised(specs, out, means, factors)


def _norm_of(width: int, eps: float, w: Any) -> Any:
    """What a compiled kernel computes of rows, weights and biases: the same, step by step."""

    def trace(tracer: Any, given: Any, *vectors: Any) -> list[Any]:
        x = given.astype(WIDE_OF.get(given.dtype, given.dtype), copy=False)
        count = x.dtype.type(width)
        mean = tracer.reduced("row_sum", x) / count
        y = np.subtract(x, mean)
        variance = tracer.reduced("row_dot", y, y) / count
        factor = 1 / np.sqrt(variance + x.dtype.type(eps))
        y = np.multiply(y, factor)
        if w is not None:
            y = np.multiply(y, vectors[0])
        if len(vectors) > (w is not None):
            y = np.add(y, vectors[-1])
        return [y.astype(given.dtype, copy=False), mean, factor]

    return trace


def layer_norm_of(width: int, eps: float) -> Any:
    """What a kernel computes of rows without weights, for explanations."""
    return _norm_of(width, eps, None)


def _slope_of(width: int, weighted: bool, mask: Mask) -> Any:
    """What a compiled kernel computes as the gradients for rows, see `_to_input`, weights and biases."""

    def trace(tracer: Any, x: Any, given: Any, mean: Any, factor: Any, *weight: Any) -> list[Any]:
        d = mean.dtype
        count = d.type(width)
        g = given.astype(d, copy=False)
        found = []
        if mask[0] or mask[1]:
            centred = np.subtract(x.astype(d, copy=False), mean)
        if mask[0]:
            scaled = np.multiply(g, weight[0]) if weighted else g
            level = tracer.reduced("row_sum", scaled) / count
            slope = tracer.reduced("row_dot", scaled, centred) * (factor * factor / count)
            y = np.add(np.multiply(centred, -slope), scaled)
            y = np.multiply(np.subtract(y, level), factor)
            found.append(y.astype(x.dtype, copy=False))
        if mask[1]:
            found.append(tracer.folded(np.multiply(np.multiply(g, centred), factor)))
        if mask[2]:
            found.append(tracer.folded(g))
        return found

    return trace


def _to_input(g: Any, centred: Any, factor: Any) -> None:
    """Gradient of standardised rows for the rows, written over the rows less their mean."""
    count = g.dtype.type(g.shape[1])
    mean = (sums(g) / count)[:, None]
    slope = dots(g, centred)[:, None] * (factor * factor / count)
    width = g.shape[1]
    np.multiply(centred, spread(-slope, width), centred)
    np.add(centred, g, centred)
    np.subtract(centred, spread(mean, width), centred)
    np.multiply(centred, spread(factor, width), centred)


@kernel("native_layer_norm_backward")
def layer_norm_backward(
    grad_out: Any, input: Any, normalized_shape: Any, mean: Any, rstd: Any, weight: Any,
    bias: Any, output_mask: Mask,
) -> Any:  # fmt: skip
    """What the mask asks for, from the saved statistics."""
    grad_out, input = packed(grad_out), packed(input)
    if not is_served(grad_out, input) or grad_out.raw_shape != input.raw_shape:
        return _layer_norm_backward(
            grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask
        )
    d = compute_dtype(input)
    width = math.prod(normalized_shape)
    x, g = input.raw_data.reshape(-1, width), grad_out.raw_data.reshape(-1, width)
    w = widened(weight, d)
    means, factors = means_of(x, mean, d), widened(rstd, d).reshape(-1, 1)
    out = POOL.empty(x.shape, x.dtype) if output_mask[0] else None
    weighted = bool(output_mask[1] and weight is not None)
    shifted = bool(output_mask[2] and bias is not None)
    mask = (out is not None, weighted, shifted)
    # Sums of some rows each, for the gradients of weight and bias.
    products, plain = (
        np.zeros((-(-len(x) // FOLD), width), d) if wanted else None for wanted in mask[1:]
    )
    given = [a for a in (x, g, means, factors, w) if a is not None]
    made = [a for a in (out, products, plain) if a is not None]
    if not mask[0] and not weighted:
        given = [g]  # all that is read

    def work(part: slice) -> None:
        gradient = part_in(g, part, d)
        folded = slice(part.start // FOLD, -(-min(part.stop, len(x)) // FOLD))
        if plain is not None:
            plain[folded] = folds(gradient)
        if out is None and products is None:
            return
        y = np.empty(gradient.shape, d) if out is None else room_in(out, part, d)
        np.subtract(part_in(x, part, d), spread(means[part], width), y)
        if products is not None:
            along = np.multiply(gradient, y)
            np.multiply(along, spread(factors[part], width), along)
            products[folded] = folds(along)
        if out is not None:
            if w is not None:
                lines, scales = broad(gradient, w)
                gradient = np.multiply(lines, scales).reshape(gradient.shape)
            _to_input(gradient, y, factors[part])
            settle(out, part, y)

    key = ("layer_norm_backward", width, w is None, mask)
    if (
        len(given) == 1
        or x.size < FEWEST
        or width < 2
        or not computed_rows(key, _slope_of(width, w is not None, mask), given, made)
    ):
        over_blocks(work, len(x), width, max(BLOCK // (FOLD * width), 1) * FOLD * width)
    return (
        None if out is None else wrap(out.reshape(input.raw_shape), input.raw_dtype),
        _added(products, weight),
        _added(plain, bias),
    )


def _added(folded: Any, like: Any) -> Any:
    """The gradient of a parameter, from sums of some rows each; None stays None."""
    if folded is None:
        return None
    return statistic(down(folded[None])[0], like.raw_shape, like.raw_dtype)


# ---- batch norm ---------------------------------------------------------------------------------


def _images(t: Any) -> Any:
    """(N, C, the rest)."""
    return t.raw_data.reshape(t.raw_shape[0], t.raw_shape[1], -1)


def _of_channels(x: Any, y: Any = None) -> Any:
    """Sums of ``x``, or ``x * y``, over all but the channels of (N, C, S), as (C, 1)."""
    if x.shape[2] >= _SHORT:
        each = sums(x) if y is None else dots(x, y)
        return down(each[None]).reshape(-1, 1)
    flat = (None if t is None else t.reshape(1, len(x), -1) for t in (x, y))
    each = down(*flat)
    return np.add.reduce(each.reshape(x.shape[1:]), 1)[:, None]


def _by_channel(ufunc: Any, x: Any, column: Any, out: Any) -> None:
    """``ufunc`` of (N, C, S) and a number per channel; of single elements for many rows at a time."""
    many = x.shape[2] == 1 and x.size >= LARGE
    if not many or in_long_runs(ufunc, x.dtype, x, column, out=out) is None:
        ufunc(x, column, out)


# Rows shorter than this are added up across, not along.
_SHORT = 32


@kernel("native_batch_norm", "_native_batch_norm_legit")
def batch_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool,
    momentum: float, eps: float,
) -> Any:  # fmt: skip
    """Channels of all images, by statistics of their own or given ones."""
    options = (running_mean, running_var, training, momentum, eps)
    specs = batch_norm_rule(input, weight, bias, *options)
    if not is_served(input):
        return _batch_norm(input, weight, bias, *options)
    d = compute_dtype(input)
    x = _images(input)
    w, b = _column(weight, d), _column(bias, d)
    out = POOL.empty(x.shape, x.dtype)
    means, factors = _given(running_mean, running_var, eps, d, len(x[0]), training=training)
    count = d.type(x.shape[0] * x.shape[2])

    def work(part: slice) -> None:
        at = (slice(None), part)
        seen, y = part_in(x, at, d), room_in(out, at, d)
        if training:
            means[part] = _of_channels(seen) / count
        _by_channel(np.subtract, seen, means[part], y)
        if training:
            factors[part] = 1 / np.sqrt(_of_channels(y, y) / count + d.type(eps))
        _by_channel(np.multiply, y, factors[part] if w is None else factors[part] * w[part], y)
        if b is not None:
            _by_channel(np.add, y, b[part], y)
        settle(out, at, y)

    over_blocks(work, x.shape[1], x.shape[0] * x.shape[2], LONG_BLOCK)
    if training:
        wide = WIDER.get(input.raw_dtype, input.raw_dtype)
        mean, factor = wrap(means.reshape(-1), wide), wrap(factors.reshape(-1), wide)
        update_running(running_mean, running_var, mean, factor, input, momentum, eps)
    saved = (means, factors) if training else (np.empty(0, d), np.empty(0, d))
    return normalised(specs, out, *saved)


def _column(t: Any, d: Any) -> Any:
    return None if t is None else widened(t, d).reshape(-1, 1)


def _given(mean: Any, var: Any, eps: float, d: Any, channels: int, *, training: bool) -> Any:
    """Statistics of channels: the running ones, or memory for the batch's."""
    if training:
        return np.empty((channels, 1), d), np.empty((channels, 1), d)
    return _column(mean, d), 1 / quietly(np.sqrt, _column(var, d) + d.type(eps))


def _sums_of(tracer: Any, x: Any, g: Any, mean: Any) -> list[Any]:
    return [
        tracer.reduced("row_sum", g),
        tracer.reduced("row_dot", g, np.subtract(x, mean)),
    ]


def _from_sums(
    tracer: Any, x: Any, g: Any, mean: Any, slope: Any, level: Any, by: Any
) -> list[Any]:
    y = np.add(np.multiply(np.subtract(x, mean), slope), g)
    return [np.multiply(np.subtract(y, level), by)]


def _in_two_passes(
    out: Any, x: Any, g: Any, w: Any, means: Any, factors: Any, slopes: Any, plain: Any
) -> bool:
    """Whether compiled kernels did what `batch_norm_backward` does with blocks, to the same bits."""
    images, channels, width = x.shape
    if width < SHORTEST or x.size < LARGE:
        return False
    rows = [each.reshape(-1, width) for each in (x, g)]
    mean = np.tile(means, (images, 1))
    found = [np.empty((images * channels, 1), x.dtype) for _ in range(2)]
    if not computed_rows("batch_norm_backward sums", _sums_of, [*rows, mean], found):
        return False
    step = max(
        1, BLOCK // (images * width)
    )  # as `over_blocks` cuts them: `down` adds by what lies beside
    for total, each in zip((plain, slopes), found, strict=True):
        for i in range(0, channels, step):
            sums_of_images = np.ascontiguousarray(each.reshape(images, channels)[:, i : i + step])
            total[i : i + step] = down(sums_of_images[None]).reshape(-1, 1)
    np.multiply(slopes, factors, slopes)
    count = x.dtype.type(images * width)
    by_channel = (-slopes * factors / count, plain / count, factors if w is None else factors * w)
    columns = [np.tile(each, (images, 1)) for each in by_channel]
    target = [out.reshape(-1, width)]
    return computed_rows("batch_norm_backward", _from_sums, [*rows, mean, *columns], target)


@kernel("native_batch_norm_backward")
def batch_norm_backward(
    grad_out: Any, input: Any, weight: Any, running_mean: Any, running_var: Any, save_mean: Any,
    save_invstd: Any, train: bool, eps: float, output_mask: Mask,
) -> Any:  # fmt: skip
    """What the mask asks for, from the saved statistics or the running ones."""
    saved = (save_mean, save_invstd)
    usable = not train or all(t is not None and t.raw_shape == input.raw_shape[1:2] for t in saved)
    if usable and is_served(input):
        grad_out = packed(grad_out)
    if not is_served(grad_out, input) or grad_out.raw_shape != input.raw_shape or not usable:
        return _batch_norm_backward(
            grad_out, input, weight, running_mean, running_var, *saved, train, eps, output_mask
        )
    d = compute_dtype(input)
    x, g, w = _images(input), _images(grad_out), _column(weight, d)
    rounded = train and NUMPY_OF[save_mean.raw_dtype].itemsize < d.itemsize
    if train:
        means, factors = (np.array(_column(t, d)) for t in (save_mean, save_invstd))
    else:
        means, factors = _given(running_mean, running_var, eps, d, len(x[0]), training=False)
    out = POOL.empty(x.shape, x.dtype) if output_mask[0] else None
    slopes, plain = np.empty((x.shape[1], 1), d), np.empty((x.shape[1], 1), d)
    count = d.type(x.shape[0] * x.shape[2])

    def work(part: slice) -> None:
        at = (slice(None), part)
        gradient = part_in(g, at, d)
        plain[part] = _of_channels(gradient)
        if out is None and not output_mask[1]:
            return
        y = np.empty(gradient.shape, d) if out is None else room_in(out, at, d)
        seen = part_in(x, at, d)
        if rounded:
            means[part] = _of_channels(seen) / count
        _by_channel(np.subtract, seen, means[part], y)
        if rounded:
            factors[part] = 1 / np.sqrt(_of_channels(y, y) / count + d.type(eps))
        slopes[part] = _of_channels(gradient, y) * factors[part]
        if out is None:
            return
        factor = factors[part] if w is None else factors[part] * w[part]
        if train:
            _by_channel(np.multiply, y, -slopes[part] * factors[part] / count, y)
            np.add(y, gradient, y)
            _by_channel(np.subtract, y, plain[part] / count, y)
            _by_channel(np.multiply, y, factor, y)
        else:
            _by_channel(np.multiply, gradient, factor, y)
        settle(out, at, y)

    plainly = train and out is not None and not rounded and x.dtype == g.dtype == d
    if not (plainly and _in_two_passes(out, x, g, w, means, factors, slopes, plain)):
        over_blocks(work, x.shape[1], x.shape[0] * x.shape[2])
    kept = statistics_dtype(input, weight)
    return (
        None if out is None else wrap(out.reshape(input.raw_shape), input.raw_dtype),
        statistic(slopes, (-1,), kept) if output_mask[1] else None,
        statistic(plain, (-1,), kept) if output_mask[2] else None,
    )
