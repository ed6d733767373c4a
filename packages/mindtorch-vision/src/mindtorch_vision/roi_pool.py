"""Regions of a picture at a fixed size, by the greatest or the mean of the pixels in each bin."""

from __future__ import annotations

import math
from collections.abc import Iterator

import mindtorch_core as torch
from mindtorch_core import Tensor

from .roi_align import _channels, _check

__all__ = ["ps_roi_pool", "ps_roi_pool_backward", "roi_pool", "roi_pool_backward"]


def _rounded(value: float) -> int:
    """The nearest whole number; halves away from zero."""
    return int(math.copysign(math.floor(abs(value) + 0.5), value))


def _bins(
    rois: Tensor, scale: float, pooled: tuple[int, int], size: tuple[int, int], extra: int
) -> Iterator[tuple[int, int, int, int, slice, slice]]:
    """Region, picture, row, column, and the pixels' rows and columns, of each bin."""
    for k, (picture, x1, y1, x2, y2) in enumerate(rois.tolist()):
        left, top = _rounded(x1 * scale), _rounded(y1 * scale)
        width = max(_rounded(x2 * scale) - left + extra, 1)
        height = max(_rounded(y2 * scale) - top + extra, 1)
        for i in range(pooled[0]):
            rows = _span(i, height / pooled[0], top, size[0])
            for j in range(pooled[1]):
                yield k, int(picture), i, j, rows, _span(j, width / pooled[1], left, size[1])


def _span(index: int, step: float, start: int, size: int) -> slice:
    first = math.floor(index * step) + start
    last = math.ceil((index + 1) * step) + start
    return slice(min(max(first, 0), size), min(max(last, 0), size))


def roi_pool(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int
) -> tuple[Tensor, Tensor]:
    """The greatest pixel in each bin of each region, and where in the picture it is; -1 for none.

    Args:
        input: pictures, N x C x H x W.
        rois: regions as ``(picture, x1, y1, x2, y2)``, K x 5.
        spatial_scale: from the regions' coordinates to pixels.
        pooled_height: bins from above to below.
        pooled_width: bins from left to right.
    """
    _check(input, rois)
    shape = (len(rois), input.shape[1], pooled_height, pooled_width)
    out, where = (
        input.new_zeros(shape),
        torch.full(shape, -1, dtype=torch.int32, device=input.device),
    )
    size = input.shape[2], input.shape[3]
    for k, n, i, j, rows, columns in _bins(rois, spatial_scale, shape[2:], size, 1):
        part = input[n, :, rows, columns]
        if part.shape[1] * part.shape[2] == 0:
            continue
        greatest, at = part.flatten(1).max(1)
        wide = part.shape[2]
        out[k, :, i, j] = greatest
        row = at.div(wide, rounding_mode="floor")
        where[k, :, i, j] = ((row + rows.start) * size[1] + at % wide + columns.start).int()
    return out, where


def roi_pool_backward(
    grad: Tensor, rois: Tensor, argmax: Tensor, spatial_scale: float, pooled_height: int,
    pooled_width: int, batch_size: int, channels: int, height: int, width: int,
) -> Tensor:  # fmt: skip
    """The gradient of `roi_pool` for the pictures."""
    made = grad.new_zeros((batch_size, channels, height * width))
    pictures = rois[:, 0].long().tolist()
    for k, picture in enumerate(pictures):
        where = argmax[k].long().flatten(1)
        made[picture].scatter_add_(1, where.clamp(min=0), grad[k].flatten(1) * (where >= 0))
    return made.reshape(batch_size, channels, height, width)


# ---- each bin from channels of its own ----------------------------------------------------------


def ps_roi_pool(
    input: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int
) -> tuple[Tensor, Tensor]:
    """The mean of the pixels in each bin, of channels of its own; also which channels these are."""
    _check(input, rois)
    channels = _channels(input.shape[1], pooled_height, pooled_width)
    out = input.new_zeros((len(rois), channels, pooled_height, pooled_width))
    size = input.shape[2] - 1, input.shape[3] - 1
    own = input.reshape(len(input), channels, pooled_height, pooled_width, *input.shape[2:])
    for k, n, i, j, rows, columns in _bins(
        rois, spatial_scale, (pooled_height, pooled_width), size, 0
    ):
        part = own[n, :, i, j, rows, columns]
        if part.shape[1] * part.shape[2]:
            out[k, :, i, j] = part.mean((1, 2))
    mapping = torch.arange(input.shape[1], dtype=torch.int32, device=input.device)
    mapping = mapping.reshape(1, channels, pooled_height, pooled_width)
    return out, mapping.expand(out.shape).contiguous()


def ps_roi_pool_backward(
    grad: Tensor, rois: Tensor, channel_mapping: Tensor, spatial_scale: float, pooled_height: int,
    pooled_width: int, batch_size: int, channels: int, height: int, width: int,
) -> Tensor:  # fmt: skip
    """The gradient of `ps_roi_pool` for the pictures."""
    made = grad.new_zeros((batch_size, grad.shape[1], pooled_height, pooled_width, height, width))
    size = height - 1, width - 1
    for k, n, i, j, rows, columns in _bins(
        rois, spatial_scale, (pooled_height, pooled_width), size, 0
    ):
        count = (rows.stop - rows.start) * (columns.stop - columns.start)
        if count > 0:
            made[n, :, i, j, rows, columns] += (grad[k, :, i, j] / count)[:, None, None]
    return made.reshape(batch_size, channels, height, width)
