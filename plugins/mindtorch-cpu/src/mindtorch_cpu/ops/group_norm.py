"""Group norm and its gradients: statistics of groups by their rows, all else channel by channel."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import wrap
from ..compiled import FEWEST, computed, computed_rows
from ..memory_pool import POOL
from ..register import composition_of, kernel, rule_of
from ..rows import dots, over_blocks, sums
from ..summation import down
from .norms import (
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

_group_norm: Any = composition_of("native_group_norm")
_group_norm_backward: Any = composition_of("native_group_norm_backward")


@kernel("native_group_norm")
def group_norm(
    input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> Any:
    """Rows of the groups; weights and biases belong to channels in them."""
    specs = rule_of("native_group_norm")(input, weight, bias, N, C, HxW, group, eps)
    if not is_served(input):
        return _group_norm(input, weight, bias, N, C, HxW, group, eps)
    d = compute_dtype(input)
    each = C // group
    x = input.raw_data.reshape(N * group, each * HxW)
    w, b = _by_group(weight, d, N, group), _by_group(bias, d, N, group)
    out = POOL.empty(x.shape, x.dtype)
    means, factors = _moments(x, d, eps)
    scales = factors.repeat(each, 0) if w is None else (factors * w).reshape(-1, 1)
    lines = [means.repeat(each, 0), scales, *([] if b is None else [b.reshape(-1, 1)])]
    given, target = (a.reshape(N * C, HxW) for a in (x, out))
    key = ("group_norm", b is None)
    if x.size < FEWEST or not computed(key, _scaled, [given, *lines], [target]):

        def work(part: slice) -> None:
            y = room_in(target, part, d)
            np.subtract(part_in(given, part, d), lines[0][part], y)
            np.multiply(y, lines[1][part], y)
            if b is not None:
                np.add(y, lines[2][part], y)
            settle(target, part, y)

        over_blocks(work, N * C, HxW)
    return normalised(specs, out, means, factors)


def _scaled(tracer: Any, x: Any, mean: Any, scale: Any, *shift: Any) -> list[Any]:
    """What a compiled kernel makes of channels."""
    y = np.multiply(np.subtract(x.astype(mean.dtype, copy=False), mean), scale)
    for b in shift:
        y = np.add(y, b)
    return [y.astype(x.dtype, copy=False)]


def _moments(x: Any, d: Any, eps: float) -> tuple[Any, Any]:
    """Means and 1 / sqrt(variance + eps) of rows, both (rows, 1)."""
    width = x.shape[1]
    means, factors = np.empty((len(x), 1), d), np.empty((len(x), 1), d)

    def trace(tracer: Any, given: Any) -> list[Any]:
        x = given.astype(d, copy=False)
        count = d.type(width)
        mean = tracer.reduced("row_sum", x) / count
        y = np.subtract(x, mean)
        variance = tracer.reduced("row_dot", y, y) / count
        return [mean, 1 / np.sqrt(variance + d.type(eps))]

    def work(part: slice) -> None:
        seen = part_in(x, part, d)
        means[part], factors[part] = deviation(seen, np.empty(seen.shape, d), eps)

    key = ("moments", width, eps)
    if x.size < FEWEST or not computed_rows(key, trace, [x], [means, factors]):
        over_blocks(work, len(x), width)
    return means, factors


def _by_group(t: Any, d: Any, images: int, groups: int) -> Any:
    """A vector over channels as (images * groups, channels of a group)."""
    if t is None:
        return None
    vector = widened(t, d)
    made = np.empty((images, vector.size), d)
    made[...] = vector
    return made.reshape(images * groups, -1)


@kernel("native_group_norm_backward")
def group_norm_backward(
    grad_out: Any, input: Any, mean: Any, rstd: Any, weight: Any, N: int, C: int, HxW: int,
    group: int, output_mask: Mask,
) -> Any:  # fmt: skip
    """What the mask asks for, from the saved statistics and sums over channels."""
    if is_served(input):
        grad_out = packed(grad_out)
    if not is_served(grad_out, input) or grad_out.raw_shape != input.raw_shape:
        return _group_norm_backward(
            grad_out, input, mean, rstd, weight, N, C, HxW, group, output_mask
        )
    d = compute_dtype(input)
    each = C // group
    x, g = (t.raw_data.reshape(N * C, HxW) for t in (input, grad_out))
    w = _by_group(weight, d, N, group)
    means = means_of(x.reshape(N * group, -1), mean, d)
    factors = widened(rstd, d).reshape(-1, 1)
    centres = means.reshape(-1, 1).repeat(each, 0)
    along, plain = (t.reshape(N * group, each) for t in _channel_sums(x, g, centres, d))
    found: list[Any] = [None, None, None]
    if output_mask[0]:
        out = POOL.empty(x.shape, x.dtype)
        sums_of = (along, plain) if w is None else (along * w, plain * w)
        slopes, levels = (np.add.reduce(t, 1, keepdims=True) for t in sums_of)
        count = d.type(each * HxW)
        slopes = slopes * (factors * factors / count)
        columns = [
            -slopes,
            levels / count,
            factors,
            np.ones((len(means), each), d) if w is None else w,
        ]
        lines = [centres, *(
            (c.repeat(each, 0) if c.shape[1] < each else c).reshape(-1, 1) for c in columns
        )]  # fmt: skip
        _to_channels(x, g, lines, out, d)
        found[0] = wrap(out.reshape(input.raw_shape), input.raw_dtype)
    for i, total in ((1, along * factors), (2, plain)):
        if output_mask[i]:
            found[i] = statistic(down(total.reshape(1, N, C)), (C,), rstd.raw_dtype)
    return tuple(found)


def _to_channels(x: Any, g: Any, lines: Any, out: Any, d: Any) -> None:
    """Write the gradient of channels, each with its mean, slope, level, factor and weight."""

    def compute(x: Any, g: Any, mean: Any, slope: Any, level: Any, factor: Any, weight: Any) -> Any:
        y = np.add(np.multiply(np.subtract(x, mean), slope), np.multiply(g, weight))
        return np.multiply(np.subtract(y, level), factor)

    def trace(tracer: Any, x: Any, g: Any, *columns: Any) -> list[Any]:
        found = compute(x.astype(d, copy=False), g.astype(d, copy=False), *columns)
        return [found.astype(x.dtype, copy=False)]

    def work(part: slice) -> None:
        out[part] = compute(part_in(x, part, d), part_in(g, part, d), *(c[part] for c in lines))

    if x.size < FEWEST or not computed("group_norm_backward", trace, [x, g, *lines], [out]):
        over_blocks(work, *x.shape)


def _channel_sums(x: Any, g: Any, centres: Any, d: Any) -> Any:
    """Sums over channels, which are rows, of ``g * (x - centre)`` and of ``g``, both (rows, 1)."""
    along, plain = np.empty((len(x), 1), d), np.empty((len(x), 1), d)

    def trace(tracer: Any, x: Any, g: Any, centre: Any) -> list[Any]:
        gradient = g.astype(d, copy=False)
        centred = np.subtract(x.astype(d, copy=False), centre)
        return [tracer.reduced("row_dot", gradient, centred), tracer.reduced("row_sum", gradient)]

    def work(part: slice) -> None:
        gradient = part_in(g, part, d)
        plain[part, 0] = sums(gradient)
        along[part, 0] = dots(gradient, np.subtract(part_in(x, part, d), centres[part]))

    if x.size < FEWEST or not computed_rows("channel_sums", trace, [x, g, centres], [along, plain]):
        over_blocks(work, *x.shape)
    return along, plain
