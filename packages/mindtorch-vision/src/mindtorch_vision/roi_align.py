"""Regions of a picture at a fixed size, by samples between its pixels.

Samples lie on grids, so a region is two products of matrices: what each row of the result takes of the
picture's rows, and each column of its columns.
"""

from __future__ import annotations

import mindtorch_core as torch
from mindtorch_core import Tensor

__all__ = ["ps_roi_align", "ps_roi_align_backward", "roi_align", "roi_align_backward"]


def _shares(start: Tensor, length: Tensor, bins: int, size: int, sampling_ratio: int) -> Tensor:
    """What each bin along one axis takes of each pixel: regions x bins x pixels.

    Args:
        start: where each region starts, in pixels.
        length: how long it is.
        bins: how many parts it has.
        size: pixels of the picture.
        sampling_ratio: samples in a bin; as many as it has pixels if it is not positive.
    """
    step = length / bins
    if sampling_ratio > 0:
        samples = torch.full_like(step, float(sampling_ratio))
    else:
        samples = step.ceil().clamp(min=0)
    most = int(samples.max().item()) if len(samples) else 0
    bin_ = torch.arange(bins, dtype=start.dtype, device=start.device)[:, None]
    sample = torch.arange(most, dtype=start.dtype, device=start.device)
    per_bin = samples.clamp(min=1)
    within = (sample + 0.5) / per_bin[:, None, None]
    at = start[:, None, None] + (bin_ + within) * step[:, None, None]  # regions x bins x samples
    taken = (sample < samples[:, None, None]) & (at >= -1) & (at <= size)
    at = at.clamp(0, size - 1)
    pixels = torch.arange(size, dtype=start.dtype, device=start.device)
    share = (1 - (at[..., None] - pixels).abs()).clamp(min=0)
    share = torch.where(taken[..., None], share, 0.0)
    return share.sum(2) / per_bin[:, None, None]


def _both(
    rois: Tensor,
    scale: float,
    pooled: tuple[int, int],
    size: tuple[int, int],
    ratio: int,
    shift: float,
    least: float | None,
) -> tuple[Tensor, Tensor]:
    """The shares along the height and along the width."""
    x1, y1, x2, y2 = (rois[:, 1:] * scale - shift).unbind(1)
    height, width = y2 - y1, x2 - x1
    if least is not None:
        height, width = height.clamp(min=least), width.clamp(min=least)
    return (
        _shares(y1, height, pooled[0], size[0], ratio),
        _shares(x1, width, pooled[1], size[1], ratio),
    )


def _taken(input: Tensor, rois: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """Regions x channels x pooled height x pooled width."""
    return rows[:, None] @ input[rois[:, 0].long()] @ columns[:, None].transpose(-1, -2)


def _given(grad: Tensor, rois: Tensor, rows: Tensor, columns: Tensor, batch: int) -> Tensor:
    """The gradient for the pictures, of one for the regions."""
    each = rows[:, None].transpose(-1, -2) @ grad @ columns[:, None]
    return each.new_zeros((batch, *each.shape[1:])).index_add(0, rois[:, 0].long(), each)


def _check(input: Tensor, rois: Tensor) -> None:
    torch._check(
        rois.dim() == 2 and rois.size(1) == 5, lambda: "rois must have shape as Tensor[K, 5]"
    )
    torch._check(
        input.dtype == rois.dtype,
        lambda: (
            f"Expected tensor for input to have the same type as tensor for rois; but type "
            f"{input.dtype} does not equal {rois.dtype}"
        ),
    )


def roi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
    aligned: bool,
) -> Tensor:
    """Mean of samples in each bin of each region.

    Args:
        input: pictures, N x C x H x W.
        rois: regions as ``(picture, x1, y1, x2, y2)``, K x 5.
        spatial_scale: from the regions' coordinates to pixels.
        pooled_height: bins from above to below.
        pooled_width: bins from left to right.
        sampling_ratio: samples in a bin and direction; not positive for one per pixel.
        aligned: whether pixels' centres have whole coordinates minus a half.
    """
    _check(input, rois)
    rows, columns = _both(
        rois, spatial_scale, (pooled_height, pooled_width), (input.shape[2], input.shape[3]),
        sampling_ratio, 0.5 if aligned else 0.0, None if aligned else 1.0,
    )  # fmt: skip
    return _taken(input, rois, rows, columns)


def roi_align_backward(
    grad: Tensor, rois: Tensor, spatial_scale: float, pooled_height: int, pooled_width: int,
    batch_size: int, channels: int, height: int, width: int, sampling_ratio: int, aligned: bool,
) -> Tensor:  # fmt: skip
    """The gradient of `roi_align` for the pictures."""
    rows, columns = _both(
        rois, spatial_scale, (pooled_height, pooled_width), (height, width),
        sampling_ratio, 0.5 if aligned else 0.0, None if aligned else 1.0,
    )  # fmt: skip
    return _given(grad, rois, rows, columns, batch_size)


# ---- each bin from channels of its own ----------------------------------------------------------


def ps_roi_align(
    input: Tensor,
    rois: Tensor,
    spatial_scale: float,
    pooled_height: int,
    pooled_width: int,
    sampling_ratio: int,
) -> tuple[Tensor, Tensor]:
    """As `roi_align`, but each bin from channels of its own; also which channels these are."""
    _check(input, rois)
    channels = _channels(input.shape[1], pooled_height, pooled_width)
    rows, columns = _both(
        rois, spatial_scale, (pooled_height, pooled_width), (input.shape[2], input.shape[3]),
        sampling_ratio, 0.5, None,
    )  # fmt: skip
    shape = (len(rois), channels, pooled_height, pooled_width, pooled_height, pooled_width)
    all_ = _taken(input, rois, rows, columns).reshape(shape)
    own = all_.diagonal(0, 2, 4).diagonal(0, 2, 3).contiguous()
    mapping = torch.arange(input.shape[1], dtype=torch.int32, device=input.device)
    mapping = mapping.reshape(1, channels, pooled_height, pooled_width)
    return own, mapping.expand(own.shape).contiguous()


def ps_roi_align_backward(
    grad: Tensor, rois: Tensor, channel_mapping: Tensor, spatial_scale: float, pooled_height: int,
    pooled_width: int, sampling_ratio: int, batch_size: int, channels: int, height: int, width: int,
) -> Tensor:  # fmt: skip
    """The gradient of `ps_roi_align` for the pictures."""
    rows, columns = _both(
        rois,
        spatial_scale,
        (pooled_height, pooled_width),
        (height, width),
        sampling_ratio,
        0.5,
        None,
    )
    own = torch.zeros(
        (*grad.shape, pooled_height, pooled_width), dtype=grad.dtype, device=grad.device
    )
    own.diagonal(0, 2, 4).diagonal(0, 2, 3).copy_(grad)
    flat = own.reshape(len(rois), channels, pooled_height, pooled_width)
    return _given(flat, rois, rows, columns, batch_size)


def _channels(channels: int, height: int, width: int) -> int:
    torch._check(
        channels % (height * width) == 0,
        lambda: "input channels must be a multiple of pooling height * pooling width",
    )
    return channels // (height * width)
