"""``interpolate``: resizing by mode, to a size or by a factor."""

from __future__ import annotations

from collections.abc import Sequence
from operator import index
from typing import Any, Final

from ...dispatch.functions import fn, fn_nn
from ...opdefs.define import public
from ...tensors.tensor import Tensor
from ...values.dtypes import INTEGER
from ...values.shapes import numel
from ...values.user_warnings import warn_user

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


def _whole(size: Any) -> Any:
    """A size as an int, where it is one of NumPy's or a tensor of one integer."""
    if isinstance(size, Tensor):
        return int(size) if size._dtype.category == INTEGER and numel(size._shape) == 1 else size
    return index(size) if hasattr(size, "__index__") else size


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
        sizes = [_whole(s) for s in _per_dimension("output size", size, input)]
        if not all(isinstance(s, int) for s in sizes):
            raise TypeError(f"expected size to be integers, one per spatial dimension, got {size}")
        return sizes, None
    factors = _per_dimension("scale_factor", scale_factor, input)
    if recompute or mode == "area":
        pairs = zip(input._shape[2:], factors, strict=True)
        return [int(s * f) for s, f in pairs], None
    return None, factors


@public("nn")
def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
    recompute_scale_factor: bool | None = None,
    antialias: bool = False,
) -> Tensor:
    """Resize the spatial dimensions of a tensor (N, C, ...) to a size or by a factor.

    Args:
        input: (N, C, L), (N, C, H, W) or (N, C, D, H, W).
        size: the spatial shape wanted, or
        scale_factor: the factors to it.
        mode: ``nearest`` (by PyTorch's rounding), ``nearest-exact``, ``area``, or by rank
            ``linear``, ``bilinear``, ``bicubic``, ``lanczos`` or ``trilinear``.
        align_corners: whether the outermost elements keep their places, rather than the borders.
        recompute_scale_factor: use the factors between the sizes, which are integers, rather than
            those given.
        antialias: average over what one result covers when shrinking; for ``bilinear``,
            ``bicubic`` and ``lanczos``.

    Returns:
        (N, C, ...) with the new sizes.

    Raises:
        ValueError: if options do not go together.
        NotImplementedError: if the mode does not serve tensors of this rank.

    Example:
        >>> x = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> torch.nn.functional.interpolate(x, scale_factor=2)
        tensor([[[[1., 1., 2., 2.],
                  [1., 1., 2., 2.],
                  [3., 3., 4., 4.],
                  [3., 3., 4., 4.]]]])
        >>> torch.nn.functional.interpolate(x, size=(2, 3), mode="bilinear", align_corners=True)
        tensor([[[[1.0000, 1.5000, 2.0000],
                  [3.0000, 3.5000, 4.0000]]]])
    """
    n = len(input._shape) - 2
    if (mode == "area" or mode in _PLAIN) and align_corners is not None:
        raise ValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | "
            "bicubic | trilinear"
        )
    target: Any = _target(input, size, scale_factor, recompute_scale_factor, mode)
    if antialias and not (mode in _SMOOTH and n == 2):
        raise ValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a "
            "4-D tensor as input"
        )
    made: Tensor = _resized(input, target, mode, corners=bool(align_corners), antialias=antialias)
    return made


def _resized(input: Tensor, target: Any, mode: str, *, corners: bool, antialias: bool) -> Any:
    """The op that a mode means for tensors of a rank, called.

    Raises:
        ValueError: if the mode needs other options.
        NotImplementedError: if there is none.
    """
    n = len(input._shape) - 2
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


# ---- old names ----------------------------------------------------------------------------------


def _warn_of_age(name: str) -> None:
    warn_user(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.")


@public("nn")
def upsample(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """`interpolate` by its old name."""
    _warn_of_age("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@public("nn")
def upsample_nearest(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """`interpolate` with ``mode='nearest'``, by its old name."""
    _warn_of_age("upsample_nearest")
    return interpolate(input, size, scale_factor)


@public("nn")
def upsample_bilinear(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
) -> Tensor:
    """`interpolate` with ``mode='bilinear'`` and aligned corners, by its old name."""
    _warn_of_age("upsample_bilinear")
    return interpolate(input, size, scale_factor, "bilinear", True)
