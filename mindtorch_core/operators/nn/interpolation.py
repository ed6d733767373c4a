"""``interpolate``: resizing by mode, to a size or by a factor."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Final

from ...shapes import show
from ...tensor import Tensor
from ..define import fn, fn_nn, op

_CORNERS: Final = ("linear", "bilinear", "bicubic", "trilinear", "lanczos")
_PLAIN: Final = {"nearest": "upsample_nearest{}d", "nearest-exact": "_upsample_nearest_exact{}d"}
_OPS: Final = {
    ("linear", 1): "upsample_linear1d",
    ("bilinear", 2): "upsample_bilinear2d",
    ("bicubic", 2): "upsample_bicubic2d",
    ("trilinear", 3): "upsample_trilinear3d",
}
_SMOOTH: Final = {
    "bilinear": "_upsample_bilinear2d_aa",
    "bicubic": "_upsample_bicubic2d_aa",
    "lanczos": "_upsample_lanczos2d_aa",
}


def _per_dimension(name: str, value: Any, input: Tensor) -> list[Any]:
    n = len(input._shape) - 2
    if not isinstance(value, list | tuple):
        return [value] * n
    if len(value) != n:
        raise ValueError(
            f"Input and {name} must have the same number of spatial dimensions, but got input with "
            f"spatial dimensions of {list(input._shape[2:])} and {name} of {value}"
        )
    return [*value]


def _target(
    input: Tensor, size: Any, scale_factor: Any, recompute: bool | None, mode: str
) -> tuple[list[int] | None, list[float] | None]:
    """The output size or the factors; one of them is None.

    Raises:
        ValueError: if both, neither, or as many as do not fit the input are given.
        TypeError: if a size is no integer.
    """
    if size is not None and scale_factor is not None:
        raise ValueError("only one of size or scale_factor should be defined")
    if size is None and scale_factor is None:
        raise ValueError("either size or scale_factor should be defined")
    if size is not None:
        if recompute:
            raise ValueError("recompute_scale_factor is not meaningful with an explicit size.")
        sizes = _per_dimension("output size", size, input)
        if not all(isinstance(s, int) for s in sizes):
            raise TypeError(f"expected size to be integers, one per spatial dimension, got {size}")
        return sizes, None
    factors = _per_dimension("scale_factor", scale_factor, input)
    if recompute or mode == "area":
        pairs = zip(input._shape[2:], factors, strict=True)
        return [int(s * f) for s, f in pairs], None
    return None, factors


def _interpolate(
    input: Tensor, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
    align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Any:  # fmt: skip
    n = len(input._shape) - 2
    if mode not in _CORNERS and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | "
            "bicubic | trilinear"
        )
    target: Sequence[Any] = _target(input, size, scale_factor, recompute_scale_factor, mode)
    if antialias and not (mode in _SMOOTH and n == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a "
            "4-D tensor as input"
        )
    corners = bool(align_corners)
    if 1 <= n <= 3 and mode == "area":
        return getattr(fn_nn, f"adaptive_avg_pool{n}d")(input, target[0])
    if 1 <= n <= 3 and mode in _PLAIN:
        return getattr(fn, _PLAIN[mode].format(n))(input, target[0], target[1])
    if antialias:
        if mode == "lanczos" and corners:
            raise ValueError("Lanczos mode does not support align_corners=True")
        return getattr(fn, _SMOOTH[mode])(input, target[0], corners, target[1])
    if mode == "lanczos" and n == 2:
        raise ValueError("Lanczos mode requires antialias=True")
    name = _OPS.get((mode, n))
    if name is not None:
        return getattr(fn, name)(input, target[0], corners, target[1])
    wanted = {m: rank + 2 for m, rank in _OPS}.get(mode)
    if wanted is not None and 1 <= n <= 3:
        raise NotImplementedError(f"Got {n + 2}D input, but {mode} mode needs {wanted}D input")
    raise NotImplementedError(
        f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {n + 2}D) for the modes: "
        f"nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact (got "
        f"{mode})"
    )


_ARGS: Final = "Tensor input, Any? size=None, Any? scale_factor=None"
op(
    f"nn_interpolate({_ARGS}, str mode='nearest', bool? align_corners=None, bool? "
    f"recompute_scale_factor=None, bool antialias=False) -> Tensor",
    doc="A tensor (N, C, ...) resized to a size or by a factor; ``mode`` says how: nearest, "
    "nearest-exact, linear, bilinear, bicubic, trilinear, area or lanczos.",
    decomposition=_interpolate,
    namespaces=("nn:interpolate",),
)


def _old(name: str, mode: str | None, corners: bool | None) -> Any:
    def resize(
        input: Tensor, size: Any = None, scale_factor: Any = None, given: str = "nearest",
        align_corners: bool | None = None,
    ) -> Any:  # fmt: skip
        warnings.warn(
            f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.",
            stacklevel=3,
        )
        if mode is None:
            return _interpolate(input, size, scale_factor, given, align_corners)
        chosen = "trilinear" if mode == "bilinear" and len(input._shape) == 5 else mode
        return _interpolate(input, size, scale_factor, chosen, corners)

    return resize


op(
    f"nn_upsample({_ARGS}, str mode='nearest', bool? align_corners=None) -> Tensor",
    doc="`interpolate` by its old name.",
    decomposition=lambda input, size=None, scale_factor=None, mode="nearest", align_corners=None: (
        _old("upsample", None, None)(input, size, scale_factor, mode, align_corners)
    ),
    namespaces=("nn:upsample",),
)
op(
    f"nn_upsample_nearest({_ARGS}) -> Tensor",
    doc="`interpolate` with ``mode='nearest'``, by its old name.",
    decomposition=_old("upsample_nearest", "nearest", None),
    namespaces=("nn:upsample_nearest",),
)
op(
    f"nn_upsample_bilinear({_ARGS}) -> Tensor",
    doc="`interpolate` with ``mode='bilinear'`` and aligned corners, by its old name.",
    decomposition=_old("upsample_bilinear", "bilinear", True),
    namespaces=("nn:upsample_bilinear",),
)


# ---- shuffling ----------------------------------------------------------------------------------


def _pixel_shuffle(self: Tensor, upscale_factor: int) -> Tensor:
    shape, r = self._shape, upscale_factor
    if len(shape) < 3:
        raise RuntimeError(
            f"pixel_shuffle expects input to have at least 3 dimensions, but got input with "
            f"{len(shape)} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    *lead, channels, high, wide = shape
    if channels % (r * r):
        raise RuntimeError(
            f"pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of "
            f"upscale_factor, but input.size(-3)={channels} is not divisible by {r * r}"
        )
    n = len(lead)
    parts = self.reshape(*lead, channels // (r * r), r, r, high, wide)
    order = (*range(n), n, n + 3, n + 1, n + 4, n + 2)
    return parts.permute(order).reshape(*lead, channels // (r * r), high * r, wide * r)


def _pixel_unshuffle(self: Tensor, downscale_factor: int) -> Tensor:
    shape, r = self._shape, downscale_factor
    if len(shape) < 3:
        raise RuntimeError(
            f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with "
            f"{len(shape)} dimension(s)"
        )
    if r <= 0:
        raise RuntimeError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    *lead, channels, high, wide = shape
    for name, size in (("height", high), ("width", wide)):
        if size % r:
            raise RuntimeError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but {size} is "
                f"not divisible by {r}"
            )
    n = len(lead)
    parts = self.reshape(*lead, channels, high // r, r, wide // r, r)
    order = (*range(n), n, n + 2, n + 4, n + 1, n + 3)
    return parts.permute(order).reshape(*lead, channels * r * r, high // r, wide // r)


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
    return parts.transpose(1, 2).reshape(shape)


op(
    "pixel_shuffle(Tensor self, int upscale_factor) -> Tensor",
    doc="Channels (..., C r r, H, W) laid out as pixels (..., C, H r, W r) (Shi et al., 2016).",
    decomposition=_pixel_shuffle,
    namespaces=("torch", "nn"),
)
op(
    "pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor",
    doc="Blocks of r by r pixels laid out as channels: undoes `pixel_shuffle`.",
    decomposition=_pixel_unshuffle,
    namespaces=("torch", "nn"),
)
for _name in ("channel_shuffle", "native_channel_shuffle"):
    op(
        f"{_name}(Tensor self, SymInt groups) -> Tensor",
        doc="Channels of all groups interleaved (Zhang et al., 2018).",
        decomposition=_channel_shuffle,
        namespaces=("torch", "nn") if _name == "channel_shuffle" else ("torch", f"nn:{_name}"),
    )
