"""Convolution whose filters look at places that are given for each pixel of the result."""

from __future__ import annotations

import mindtorch_core as torch
from mindtorch_core import Tensor

__all__ = ["deform_conv2d", "deform_conv2d_backward"]


def deform_conv2d(
    input: Tensor, weight: Tensor, offset: Tensor, mask: Tensor, bias: Tensor,
    stride_h: int, stride_w: int, pad_h: int, pad_w: int, dilation_h: int, dilation_w: int,
    groups: int, offset_groups: int, use_mask: bool,
) -> Tensor:  # fmt: skip
    """The convolution, with zeros around the pictures.

    Args:
        input: pictures, N x C x H x W.
        weight: filters, O x C/groups x KH x KW.
        offset: how far from its regular place each filter's element looks, down and to the right:
            N x 2*offset_groups*KH*KW x OH x OW.
        mask: factors, N x offset_groups*KH*KW x OH x OW; used if ``use_mask``.
        bias: O.
        stride_h: as in a convolution.
        stride_w: as in a convolution.
        pad_h: as in a convolution.
        pad_w: as in a convolution.
        dilation_h: as in a convolution.
        dilation_w: as in a convolution.
        groups: as in a convolution.
        offset_groups: groups of channels with offsets of their own.
        use_mask: whether there are factors.
    """
    n, channels, height, width = input.shape
    out_channels, _, kh, kw = weight.shape
    oh, ow = offset.shape[2:]
    shifts = offset.reshape(n, offset_groups, kh, kw, 2, oh, ow)

    def places(size: int, stride: int, pad: int, dilation: int, taps: int) -> Tensor:
        """Regular places along one axis: taps x results."""
        start = torch.arange(size, dtype=offset.dtype, device=offset.device) * stride - pad
        tap = torch.arange(taps, dtype=offset.dtype, device=offset.device) * dilation
        return tap[:, None] + start

    y = places(oh, stride_h, pad_h, dilation_h, kh)[:, None, :, None] + shifts[:, :, :, :, 0]
    x = places(ow, stride_w, pad_w, dilation_w, kw)[None, :, None, :] + shifts[:, :, :, :, 1]
    pixels = input.reshape(n, offset_groups, channels // offset_groups, height * width)
    seen = _between(pixels, y.flatten(2), x.flatten(2), height, width)
    if use_mask:
        seen = seen * mask.reshape(n, offset_groups, 1, kh * kw * oh * ow)
    columns = seen.reshape(n, groups, channels // groups * kh * kw, oh * ow)
    filters = weight.reshape(groups, out_channels // groups, -1)
    made = (filters @ columns).reshape(n, out_channels, oh, ow)
    return made + bias.reshape(1, -1, 1, 1)


def _between(pixels: Tensor, y: Tensor, x: Tensor, height: int, width: int) -> Tensor:
    """Values between pixels; outside the picture they are 0.

    Args:
        pixels: N x groups x channels x H*W.
        y: places from above, N x groups x P.
        x: places from the left, alike.
        height: H.
        width: W.

    Returns:
        N x groups x channels x P.
    """
    top, left = y.floor(), x.floor()
    down, right = y - top, x - left
    made = None
    for dy, fy in ((0, 1 - down), (1, down)):
        for dx, fx in ((0, 1 - right), (1, right)):
            row, column = top + dy, left + dx
            inside = (row >= 0) & (row < height) & (column >= 0) & (column < width)
            at = row.clamp(0, height - 1).long() * width + column.clamp(0, width - 1).long()
            value = pixels.gather(3, at[:, :, None].expand(*pixels.shape[:3], at.shape[2]))
            part = value * torch.where(inside, fy * fx, 0.0)[:, :, None]
            made = part if made is None else made + part
    assert made is not None
    return made


def deform_conv2d_backward(
    grad: Tensor, input: Tensor, weight: Tensor, offset: Tensor, mask: Tensor, bias: Tensor,
    stride_h: int, stride_w: int, pad_h: int, pad_w: int, dilation_h: int, dilation_w: int,
    groups: int, offset_groups: int, use_mask: bool,
) -> tuple[Tensor, ...]:  # fmt: skip
    """Gradients of `deform_conv2d` for its tensors: input, weight, offset, mask, bias."""
    tensors = [t.detach().requires_grad_() for t in (input, weight, offset, mask, bias)]
    with torch.enable_grad():
        x, filters, shifts, factors, shift = tensors
        out = deform_conv2d(
            x, filters, shifts, factors, shift, stride_h, stride_w, pad_h, pad_w, dilation_h,
            dilation_w, groups, offset_groups, use_mask,
        )  # fmt: skip
    found = torch.autograd.grad(out, tensors, grad, allow_unused=True)
    return tuple(
        torch.zeros_like(t) if g is None else g for t, g in zip(tensors, found, strict=True)
    )
