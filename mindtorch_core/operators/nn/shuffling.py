"""Moving channels: into pixels and back, and from group to group."""

from __future__ import annotations

from ...opdefs.define import op
from ...opdefs.formats import in_format
from ...tensors.tensor import Tensor
from ...values.memory_formats import contiguous_format
from ...values.shapes import Shape, show


def _check_image(name: str, shape: Shape, factor: int) -> None:
    kind = "upscale" if name == "pixel_shuffle" else "downscale"
    if len(shape) < 3:
        raise RuntimeError(
            f"{name} expects input to have at least 3 dimensions, but got input with {len(shape)} "
            f"dimension(s)"
        )
    if factor <= 0:
        raise RuntimeError(f"{name} expects a positive {kind}_factor, but got {factor}")


def _pixel_shuffle(self: Tensor, upscale_factor: int) -> Tensor:
    shape, r = self._shape, upscale_factor
    _check_image("pixel_shuffle", shape, r)
    *lead, channels, high, wide = shape
    if channels % (r * r):
        raise RuntimeError(
            f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
            f"upscale_factor, but input.size(-3)={channels} is not divisible by {r * r}"
        )
    n = len(lead)
    parts = self.reshape(*lead, channels // (r * r), r, r, high, wide)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    moved = parts.permute(order).clone(
        memory_format=contiguous_format
    )  # no view, even of one pixel
    return moved.reshape(*lead, channels // (r * r), high * r, wide * r)


def _pixel_unshuffle(self: Tensor, downscale_factor: int) -> Tensor:
    shape, r = self._shape, downscale_factor
    _check_image("pixel_unshuffle", shape, r)
    *lead, channels, high, wide = shape
    for name, at in (("height", -2), ("width", -1)):
        if shape[at] % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but "
                f"input.size({at})={shape[at]} is not divisible by {r}"
            )
    n = len(lead)
    parts = self.reshape(*lead, channels, high // r, r, wide // r, r)
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    moved = parts.permute(order).clone(
        memory_format=contiguous_format
    )  # no view, even of one pixel
    return moved.reshape(*lead, channels * r * r, high // r, wide // r)


def _channel_shuffle(self: Tensor, groups: int) -> Tensor:
    shape = self._shape
    if len(shape) < 3:
        raise RuntimeError(
            f"channel_shuffle expects input with > 2 dims, but got input with sizes {show(shape)}"
        )
    if groups <= 0:
        raise RuntimeError(f"Number of groups to divide channels in must be positive, not {groups}")
    if shape[1] % groups:
        raise RuntimeError(
            f"Number of channels must be divisible by groups. Got {shape[1]} channels and {groups} "
            f"groups."
        )
    parts = self.reshape(shape[0], groups, shape[1] // groups, *shape[2:])
    return parts.transpose(1, 2).clone(memory_format=contiguous_format).reshape(shape)


op(
    "pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
    doc="Channels (..., C r r, H, W) laid out as pixels (..., C, H r, W r) (Shi et al., 2016).",
    decomposition=in_format(_pixel_shuffle),
    namespaces=("torch", "nn"),
)
op(
    "pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
    doc="Blocks of r by r pixels laid out as channels: undoes `pixel_shuffle`.",
    decomposition=in_format(_pixel_unshuffle),
    namespaces=("torch", "nn"),
)
for _name in ("channel_shuffle", "native_channel_shuffle"):
    op(
        f"{_name}(Tensor self, SymInt groups) -> Tensor",
        doc="Channels of all groups interleaved (Zhang et al., 2018).",
        decomposition=in_format(_channel_shuffle),
        namespaces=("torch", "nn") if _name == "channel_shuffle" else ("torch", f"nn:{_name}"),
    )
