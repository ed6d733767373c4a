"""Layer, group and batch norm and their gradients, by blocks that fit the cache.

Mean and variance take two passes over a block: the squares of what deviates from the mean lose no
digits where the mean is large. Layouts other than row-major are left to the core's compositions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindtorch_core.dtypes import FLOATING
from mindtorch_core.operators.nn.batch_normalization import batch_norm_rule, update_running
from mindtorch_core.operators.nn.normalization import statistics_dtype

from ..arrays import NUMPY_OF, WIDER, quietly, wrap
from ..pool import POOL
from ..register import composition_of, kernel, rule_of
from ..rows import dots, over_blocks, sums, total_of

Mask = Any


_layer_norm_backward: Any = composition_of("native_layer_norm_backward")
_group_norm_backward: Any = composition_of("native_group_norm_backward")
_batch_norm: Any = composition_of("native_batch_norm")
_batch_norm_backward: Any = composition_of("native_batch_norm_backward")
_layer_norm: Any = composition_of("native_layer_norm")
_group_norm: Any = composition_of("native_group_norm")


def _served(*tensors: Any) -> bool:
    """Whether tensors are real, floating, row-major and not empty."""
    return all(
        t._dtype.category == FLOATING and t._data.flags.c_contiguous and t._data.size
        for t in tensors
    )


def _wide(t: Any, d: Any) -> Any:
    """A parameter as a flat array of a dtype; None stays None."""
    return None if t is None else t._data.astype(d, copy=False).reshape(-1)


def _compute_dtype(t: Any) -> Any:
    return NUMPY_OF[WIDER.get(t._dtype, t._dtype)]


def _block(a: Any, part: Any, d: Any) -> Any:
    """A block of elements in the dtype that is computed in."""
    found = a[part]
    return found if found.dtype == d else found.astype(d)


def _target(out: Any, part: Any, d: Any) -> Any:
    """Where a block is computed: in the result itself, unless that is of half precision."""
    found = out[part]
    return found if found.dtype == d else np.empty(found.shape, d)


def _settle(out: Any, part: Any, made: Any) -> None:
    if out.dtype != made.dtype:
        out[part] = made


def _deviation(x: Any, out: Any, eps: float) -> tuple[Any, Any]:
    """Write rows less their mean; give the means and 1 / sqrt(variance + eps), both (rows, 1)."""
    count = x.dtype.type(x.shape[1])
    mean = (sums(x) / count)[:, None]
    np.subtract(x, mean, out)
    variance = (dots(out, out) / count)[:, None]
    return mean, 1 / np.sqrt(variance + x.dtype.type(eps))


def _statistic(data: Any, shape: Any, d: Any) -> Any:
    return wrap(data.astype(NUMPY_OF[d], copy=False).reshape(shape), d)


def _normalised(specs: Any, out: Any, means: Any, factors: Any) -> Any:
    """Results of a norm: the elements, and the statistics that its gradient needs."""
    spec, kept, _ = specs
    saved = (_statistic(t, kept.shape, kept.dtype) for t in (means, factors))
    return wrap(out.reshape(spec.shape), spec.dtype), *saved


# ---- layer norm ---------------------------------------------------------------------------------


@kernel("native_layer_norm")
def layer_norm(input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> Any:
    """Rows of the last dimensions."""
    specs = rule_of("native_layer_norm")(input, normalized_shape, weight, bias, eps)
    if not _served(input):
        return _layer_norm(input, normalized_shape, weight, bias, eps)
    d = _compute_dtype(input)
    width = math.prod(normalized_shape)
    x = input._data.reshape(-1, width)
    w, b = _wide(weight, d), _wide(bias, d)
    out = POOL.empty(x.shape, x.dtype)
    means, factors = np.empty((len(x), 1), d), np.empty((len(x), 1), d)

    def work(part: slice) -> None:
        y = _target(out, part, d)
        means[part], factors[part] = _deviation(_block(x, part, d), y, eps)
        np.multiply(y, factors[part], y)
        if w is not None:
            np.multiply(y, w, y)
        if b is not None:
            np.add(y, b, y)
        _settle(out, part, y)

    over_blocks(work, len(x), width)
    return _normalised(specs, out, means, factors)


def _means(x: Any, saved: Any, d: Any) -> Any:
    """The rows' means (rows, 1), computed again where they were rounded to half precision."""
    if NUMPY_OF[saved._dtype].itemsize >= d.itemsize:
        return _wide(saved, d).reshape(-1, 1)
    found = np.empty((len(x), 1), d)

    def work(part: slice) -> None:
        found[part, 0] = sums(_block(x, part, d)) / d.type(x.shape[1])

    over_blocks(work, len(x), x.shape[1])
    return found


def _to_input(g: Any, centred: Any, factor: Any) -> None:
    """Gradient of standardised rows for the rows, written over the rows less their mean."""
    count = g.dtype.type(g.shape[1])
    mean = (sums(g) / count)[:, None]
    slope = dots(g, centred)[:, None] * (factor * factor / count)
    np.multiply(centred, -slope, centred)
    np.add(centred, g, centred)
    np.subtract(centred, mean, centred)
    np.multiply(centred, factor, centred)


@kernel("native_layer_norm_backward")
def layer_norm_backward(
    grad_out: Any, input: Any, normalized_shape: Any, mean: Any, rstd: Any, weight: Any,
    bias: Any, output_mask: Mask,
) -> Any:  # fmt: skip
    """What the mask asks for, from the saved statistics."""
    if not _served(grad_out, input) or grad_out._shape != input._shape:
        return _layer_norm_backward(
            grad_out, input, normalized_shape, mean, rstd, weight, bias, output_mask
        )
    d = _compute_dtype(input)
    width = math.prod(normalized_shape)
    x, g = input._data.reshape(-1, width), grad_out._data.reshape(-1, width)
    w = _wide(weight, d)
    means, factors = _means(x, mean, d), _wide(rstd, d).reshape(-1, 1)
    out = POOL.empty(x.shape, x.dtype) if output_mask[0] else None
    weighted = output_mask[1] and weight is not None
    shifted = output_mask[2] and bias is not None
    products: dict[int, Any] = {}  # what blocks add to the gradients of weight and bias
    gradients: dict[int, Any] = {}

    def work(part: slice) -> None:
        gradient = _block(g, part, d)
        if shifted:
            gradients[part.start] = np.add.reduce(gradient, 0)
        if out is None and not weighted:
            return
        y = np.empty(gradient.shape, d) if out is None else _target(out, part, d)
        np.subtract(_block(x, part, d), means[part], y)
        if weighted:
            products[part.start] = np.matmul(factors[part].T, gradient * y)[0]
        if out is not None:
            _to_input(gradient if w is None else gradient * w, y, factors[part])
            _settle(out, part, y)

    over_blocks(work, len(x), width)
    return (
        None if out is None else wrap(out.reshape(input._shape), input._dtype),
        _statistic(total_of(products), weight._shape, weight._dtype) if weighted else None,
        _statistic(total_of(gradients), bias._shape, bias._dtype) if shifted else None,
    )


# ---- group norm ---------------------------------------------------------------------------------


@kernel("native_group_norm")
def group_norm(
    input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> Any:
    """Rows of the groups; weights and biases belong to channels in them."""
    specs = rule_of("native_group_norm")(input, weight, bias, N, C, HxW, group, eps)
    if not _served(input):
        return _group_norm(input, weight, bias, N, C, HxW, group, eps)
    d = _compute_dtype(input)
    each = C // group
    x = input._data.reshape(N * group, each * HxW)
    w, b = _by_group(weight, d, N, group), _by_group(bias, d, N, group)
    out = POOL.empty(x.shape, x.dtype)
    means, factors = np.empty((len(x), 1), d), np.empty((len(x), 1), d)

    def work(part: slice) -> None:
        y = _target(out, part, d)
        means[part], factors[part] = _deviation(_block(x, part, d), y, eps)
        channels = y.reshape(-1, each, HxW)
        factor = factors[part] if w is None else factors[part] * w[part]
        np.multiply(channels, factor[:, :, None], channels)
        if b is not None:
            np.add(channels, b[part][:, :, None], channels)
        _settle(out, part, y)

    over_blocks(work, len(x), each * HxW)
    return _normalised(specs, out, means, factors)


def _by_group(t: Any, d: Any, images: int, groups: int) -> Any:
    """A vector over channels as (images * groups, channels of a group)."""
    if t is None:
        return None
    return np.tile(_wide(t, d).reshape(groups, -1), (images, 1))


@kernel("native_group_norm_backward")
def group_norm_backward(
    grad_out: Any, input: Any, mean: Any, rstd: Any, weight: Any, N: int, C: int, HxW: int,
    group: int, output_mask: Mask,
) -> Any:  # fmt: skip
    """What the mask asks for, from the saved statistics."""
    if not _served(grad_out, input) or grad_out._shape != input._shape:
        return _group_norm_backward(
            grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask
        )
    d = _compute_dtype(input)
    each = C // group
    x, g = (t._data.reshape(N * group, each * HxW) for t in (input, grad_out))
    w = _by_group(weight, d, N, group)
    means, factors = _means(x, mean, d), _wide(rstd, d).reshape(-1, 1)
    found: list[Any] = [None, None, None]
    if output_mask[0]:
        out = POOL.empty(x.shape, x.dtype)

        def to_input(part: slice) -> None:
            y, gw = _target(out, part, d), _block(g, part, d)
            np.subtract(_block(x, part, d), means[part], y)
            if w is not None:
                gw = gw.reshape(-1, each, HxW) * w[part][:, :, None]
                gw = gw.reshape(y.shape)
            _to_input(gw, y, factors[part])
            _settle(out, part, y)

        over_blocks(to_input, len(x), each * HxW)
        found[0] = wrap(out.reshape(input._shape), input._dtype)
    if output_mask[1] or output_mask[2]:
        along, plain = _channel_sums(x, g, means, each, d, products=output_mask[1])
        for i, total in ((1, along * factors), (2, plain)):
            if output_mask[i]:
                found[i] = _statistic(total.reshape(N, C).sum(0), (C,), rstd._dtype)
    return tuple(found)


def _channel_sums(x: Any, g: Any, means: Any, each: int, d: Any, *, products: bool) -> Any:
    """Sums over a channel of ``g * (x - mean)``, if wanted, and of ``g``, both (rows, each)."""
    along, plain = np.zeros((len(x), each), d), np.empty((len(x), each), d)

    def work(part: slice) -> None:
        gradient = _block(g, part, d).reshape(-1, each, x.shape[1] // each)
        plain[part] = sums(gradient)
        if products:
            centred = np.subtract(_block(x, part, d), means[part])
            along[part] = dots(gradient, centred.reshape(gradient.shape))

    over_blocks(work, len(x), x.shape[1])
    return along, plain


# ---- batch norm ---------------------------------------------------------------------------------


def _images(t: Any) -> Any:
    """(N, C, the rest)."""
    return t._data.reshape(t._shape[0], t._shape[1], -1)


def _of_channels(x: Any, y: Any = None) -> Any:
    """Sums of ``x``, or ``x * y``, over all but the channels of (N, C, S), as (C, 1)."""
    if x.shape[2] >= _SHORT:
        each = sums(x) if y is None else dots(x, y)
        return np.add.reduce(each, 0)[:, None]
    each = np.add.reduce(x if y is None else x * y, 0)
    return np.add.reduce(each, 1)[:, None]


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
    if not _served(input):
        return _batch_norm(input, weight, bias, *options)
    d = _compute_dtype(input)
    x = _images(input)
    w, b = _column(weight, d), _column(bias, d)
    out = POOL.empty(x.shape, x.dtype)
    means, factors = _given(running_mean, running_var, eps, d, len(x[0]), training=training)
    count = d.type(x.shape[0] * x.shape[2])

    def work(part: slice) -> None:
        at = (slice(None), part)
        seen, y = _block(x, at, d), _target(out, at, d)
        if training:
            means[part] = _of_channels(seen) / count
        np.subtract(seen, means[part], y)
        if training:
            factors[part] = 1 / np.sqrt(_of_channels(y, y) / count + d.type(eps))
        np.multiply(y, factors[part] if w is None else factors[part] * w[part], y)
        if b is not None:
            np.add(y, b[part], y)
        _settle(out, at, y)

    over_blocks(work, x.shape[1], x.shape[0] * x.shape[2])
    if training:
        wide = WIDER.get(input._dtype, input._dtype)
        mean, factor = wrap(means.reshape(-1), wide), wrap(factors.reshape(-1), wide)
        update_running(running_mean, running_var, mean, factor, input, momentum, eps)
    saved = (means, factors) if training else (np.empty(0, d), np.empty(0, d))
    return _normalised(specs, out, *saved)


def _column(t: Any, d: Any) -> Any:
    return None if t is None else _wide(t, d).reshape(-1, 1)


def _given(mean: Any, var: Any, eps: float, d: Any, channels: int, *, training: bool) -> Any:
    """Statistics of channels: the running ones, or memory for the batch's."""
    if training:
        return np.empty((channels, 1), d), np.empty((channels, 1), d)
    return _column(mean, d), 1 / quietly(np.sqrt, _column(var, d) + d.type(eps))


@kernel("native_batch_norm_backward")
def batch_norm_backward(
    grad_out: Any, input: Any, weight: Any, running_mean: Any, running_var: Any, save_mean: Any,
    save_invstd: Any, train: bool, eps: float, output_mask: Mask,
) -> Any:  # fmt: skip
    """What the mask asks for, from the saved statistics or the running ones."""
    saved = (save_mean, save_invstd)
    usable = not train or all(t is not None and t._shape == input._shape[1:2] for t in saved)
    if not _served(grad_out, input) or grad_out._shape != input._shape or not usable:
        return _batch_norm_backward(
            grad_out, input, weight, running_mean, running_var, *saved, train, eps, output_mask
        )
    d = _compute_dtype(input)
    x, g, w = _images(input), _images(grad_out), _column(weight, d)
    rounded = train and NUMPY_OF[save_mean._dtype].itemsize < d.itemsize
    if train:
        means, factors = (np.array(_column(t, d)) for t in (save_mean, save_invstd))
    else:
        means, factors = _given(running_mean, running_var, eps, d, len(x[0]), training=False)
    out = POOL.empty(x.shape, x.dtype) if output_mask[0] else None
    slopes, plain = np.empty((x.shape[1], 1), d), np.empty((x.shape[1], 1), d)
    count = d.type(x.shape[0] * x.shape[2])

    def work(part: slice) -> None:
        at = (slice(None), part)
        gradient = _block(g, at, d)
        plain[part] = _of_channels(gradient)
        if out is None and not output_mask[1]:
            return
        y = np.empty(gradient.shape, d) if out is None else _target(out, at, d)
        seen = _block(x, at, d)
        if rounded:
            means[part] = _of_channels(seen) / count
        np.subtract(seen, means[part], y)
        if rounded:
            factors[part] = 1 / np.sqrt(_of_channels(y, y) / count + d.type(eps))
        slopes[part] = _of_channels(gradient, y) * factors[part]
        if out is None:
            return
        factor = factors[part] if w is None else factors[part] * w[part]
        if train:
            np.multiply(y, -slopes[part] * factors[part] / count, y)
            np.add(y, gradient, y)
            np.subtract(y, plain[part] / count, y)
            np.multiply(y, factor, y)
        else:
            np.multiply(gradient, factor, y)
        _settle(out, at, y)

    over_blocks(work, x.shape[1], x.shape[0] * x.shape[2])
    kept = statistics_dtype(input, weight)
    return (
        None if out is None else wrap(out.reshape(input._shape), input._dtype),
        _statistic(slopes, (-1,), kept) if output_mask[1] else None,
        _statistic(plain, (-1,), kept) if output_mask[2] else None,
    )
