"""Sampling images and volumes at given positions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op, public
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING, int64
from ...values.memory_formats import contiguous_format
from ...values.shapes import Shape, show
from ...values.user_warnings import warn_user
from ..elementwise.composed import widened
from .resampling import far_weight, near_weight

_MODES: Final = ("bilinear", "nearest", "bicubic")
_PADDINGS: Final = ("zeros", "border", "reflection")

# Neighbours that are taken at once: of more the memory counts, not the calls.
_AT_ONCE: Final = 1 << 23


def _check(input: Tensor, grid: Tensor, n: int | None = None) -> int:
    """The number of spatial dimensions.

    Raises:
        RuntimeError: if input and grid do not fit together.
    """
    rank = len(input._shape)
    if input._device is not grid._device:
        raise RuntimeError(
            f"grid_sampler(): expected input and grid to be on same device, but input is on "
            f"{input._device} and grid is on {grid._device}"
        )
    if rank not in (4, 5) or len(grid._shape) != rank or (n is not None and rank != n + 2):
        raise RuntimeError(
            f"grid_sampler(): expected 4D or 5D input and grid with same number of dimensions, but got "
            f"input with sizes {show(input._shape)} and grid with sizes {show(grid._shape)}"
        )
    if input._shape[0] != grid._shape[0]:
        raise RuntimeError(
            f"grid_sampler(): expected grid and input to have same batch size, but got input with "
            f"sizes {show(input._shape)} and grid with sizes {show(grid._shape)}"
        )
    if grid._shape[-1] != rank - 2:
        raise RuntimeError(
            f"grid_sampler(): expected grid to have size {rank - 2} in last dimension, but got grid "
            f"with sizes {show(grid._shape)}"
        )
    if 0 in input._shape[2:]:
        raise RuntimeError(
            f"grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes "
            f"{show(input._shape)}"
        )
    if input._dtype is not grid._dtype:
        raise RuntimeError(
            f"grid_sampler(): expected input and grid to have same dtype, but got {input._dtype} and "
            f"{grid._dtype}"
        )
    return rank - 2


def _unscaled(at: Any, size: int, align: bool) -> Any:
    """Positions in elements, from those in [-1, 1]."""
    return (at + 1) * ((size - 1) / 2) if align else ((at + 1) * size - 1) / 2


def _reflected(at: Any, low: float, high: float) -> Any:
    """Positions folded back at both borders, as often as needed."""
    span = high - low
    if span == 0:
        return at * 0
    at = (at - low).abs()
    folds = (at / span).floor().detach()
    rest = at - folds * span
    return fn.where(folds.remainder(2) == 0, rest, span - rest) + low


def _bounded(at: Any, size: int, padding: int, align: bool) -> Any:
    """Positions moved inside as the padding says; those of ``zeros`` stay where they are."""
    if padding == 2:
        low, high = (0.0, size - 1.0) if align else (-0.5, size - 0.5)
        at = _reflected(at, low, high)
    if padding:
        at = at.clamp(0, size - 1)
    # Positions that are no numbers, or beyond all integers, are outside.
    return fn.where(at.abs() < 1 << 30, at, -100.0)


def _spots(near: list[Any], weights: list[Any] | None, sizes: Shape) -> tuple[Any, Any]:
    """Where neighbours stand in the spatial dimensions as a row, and what they weigh: (N, neighbours, *out).

    Args:
        near: integer positions (N, neighbours, *out) along each spatial dimension; a spot behind all elements
            stands for what is outside.
        weights: what they weigh along each; None for nothing.
        sizes: the spatial shape.
    """
    n, out = len(sizes), near[0]._shape[2:]
    index: Any = 0
    inside: Any = None
    weight: Any = None
    for i, (at, size) in enumerate(zip(near, sizes, strict=True)):
        shape = (at._shape[0], *(at._shape[1] if d == i else 1 for d in range(n)), *out)
        at = at.reshape(shape)
        fits = (at >= 0) & (at < size)
        inside = fits if inside is None else inside & fits
        index = index * size + at
        if weights is not None:
            own = weights[i].reshape(shape)
            weight = own if weight is None else weight * own
    index = fn.where(inside, index, math.prod(sizes))
    joined = (len(index), near[0]._shape[1] ** n, *out)
    return index.reshape(joined), None if weight is None else weight.reshape(joined)


def _blended(flat: Any, near: list[Any], weights: list[Any] | None, sizes: Shape) -> Any:
    """Elements (N, C, *out): sums of neighbours by weights, see `_spots`; without these the only one."""
    index, weight = _spots(near, weights, sizes)
    batch, channels = flat._shape[:2]
    count, out = index._shape[1], index._shape[2:]
    padded = fn.cat([flat, flat.new_zeros((batch, channels, 1))], 2)

    def taken(first: int, many: int) -> Any:
        part = index.narrow(1, first, many)
        spots = math.prod(part._shape[1:])
        rows = part.reshape(batch, 1, spots).expand(batch, channels, spots)
        found = padded.gather(2, rows).reshape(batch, channels, many, *out)
        return found if weight is None else found * weight.narrow(1, first, many).unsqueeze(1)

    if math.prod((batch, channels, count, *out)) <= _AT_ONCE:
        total, *others = taken(0, count).unbind(2)
    else:
        total, *others = (taken(k, 1).squeeze(2) for k in range(count))
    for part in others:
        total = total + part
    # Strides of dimensions of one element are those of the neighbours otherwise.
    return total.clone(memory_format=contiguous_format) if 1 in out else total.contiguous()


def _nearest(flat: Any, places: list[Any], sizes: Shape) -> Any:
    near = [at.detach().round().to(int64).unsqueeze(1) for at in places]
    return _blended(flat, near, None, sizes)


def _linear(flat: Any, places: list[Any], sizes: Shape) -> Any:
    first = [at.detach().floor() for at in places]
    weights = [fn.stack([low + 1 - at, at - low], 1) for at, low in zip(places, first, strict=True)]
    near = [fn.stack([low, low + 1], 1).to(int64) for low in first]
    return _blended(flat, near, weights, sizes)


def _cubic_weights(t: Any, a: float = -0.75) -> list[Any]:
    """Weights of four neighbours by cubic convolution (Keys, 1981)."""
    return [far_weight(t + 1, a), near_weight(t, a), near_weight(1 - t, a), far_weight(2 - t, a)]


def _cubic(flat: Any, places: list[Any], sizes: Shape, padding: int, align: bool) -> Any:
    first = [at.detach().floor() for at in places]
    weights = [fn.stack(_cubic_weights(at - low), 1) for at, low in zip(places, first, strict=True)]
    near = [
        _bounded(fn.stack([low + step for step in range(-1, 3)], 1), size, padding, align).to(int64)
        for low, size in zip(first, sizes, strict=True)
    ]
    return _blended(flat, near, weights, sizes)


def _spec(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> TensorSpec:
    n = _check(input, grid)
    if not 0 <= interpolation_mode < 3 or not 0 <= padding_mode < 3:
        raise RuntimeError(
            f"grid_sampler(): unknown interpolation mode {interpolation_mode} or padding mode "
            f"{padding_mode}; both are 0, 1 or 2"
        )
    if n == 3 and interpolation_mode == 2:
        raise RuntimeError("grid_sampler(): bicubic interpolation only supports 4D input")
    if input._dtype.category != FLOATING:
        raise NotImplementedError(f"\"grid_sampler\" not implemented for '{input._dtype.label}'")
    return TensorSpec((*input._shape[:2], *grid._shape[1:-1]), input._dtype)


def _sampled(
    input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool
) -> Any:
    _spec(input, grid, interpolation_mode, padding_mode, align_corners)  # refuses
    sizes = input._shape[2:]
    n = len(sizes)
    x: Any = widened(input).reshape(*input._shape[:2], math.prod(sizes))
    wide = widened(grid)
    # Positions come as x, y, z: the last dimension first.
    places = [
        _unscaled(wide.select(-1, n - 1 - i), size, align_corners) for i, size in enumerate(sizes)
    ]
    if interpolation_mode == 2:
        return _cubic(x, places, sizes, padding_mode, align_corners).to(input._dtype)
    places = [
        _bounded(at, size, padding_mode, align_corners)
        for at, size in zip(places, sizes, strict=True)
    ]
    interpolate = _nearest if interpolation_mode else _linear
    return interpolate(x, places, sizes).to(input._dtype)


_ARGS: Final = (
    "Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners"
)
for _name in ("grid_sampler", "grid_sampler_2d", "grid_sampler_3d"):
    op(
        f"{_name}({_ARGS}) -> Tensor",
        doc="Elements of (N, C, ...) at positions (N, ..., n) in [-1, 1]; modes are 0 bilinear, 1 "
        "nearest, 2 bicubic, and paddings 0 zeros, 1 border, 2 reflection.",
        rule=_spec,
        decomposition=_sampled,
        namespaces=("torch",),
    )


def _line(count: int, like: Tensor, align: bool) -> Any:
    if count <= 1:
        return fn.zeros((count,), dtype=like._dtype, device=like._device)
    end = 1.0 if align else (count - 1) / count
    step = 2 * end / (count - 1)
    return fn.arange(0, count, 1, dtype=like._dtype, device=like._device) * step - end


def _regular(like: Any, size: Any, align: bool) -> Any:
    """The points of a regular grid, (N, points, n + 1), with a 1 at the end of each."""
    n, shape = len(size) - 2, tuple(size[2:])
    base = fn.ones((*shape, n + 1), dtype=like._dtype, device=like._device)
    for i in range(n):
        line = _line(shape[i], like, align).view(-1, *(1,) * (n - 1 - i))
        base.select(-1, n - 1 - i).copy_(line)  # x comes first, which is the last dimension
    return base.view(1, -1, n + 1).expand(size[0], -1, n + 1)


def _affine_grid(theta: Tensor, size: Any, align_corners: bool) -> Any:
    n = len(size) - 2
    if n not in (2, 3):
        raise NotImplementedError(
            f"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. "
            f"Got size {show(tuple(size))}."
        )
    if len(theta._shape) != 3 or theta._shape[-2:] != (n, n + 1):
        raise ValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size "
            f"{show(tuple(size))}. Got {show(theta._shape)}."
        )
    if any(s <= 0 for s in size):
        raise ValueError(f"Expected non-zero, positive output size. Got {show(tuple(size))}")
    points = _regular(theta, size, align_corners).bmm(theta.transpose(1, 2))
    return points.reshape(size[0], *size[2:], n)


def _affine_gradient(g: Any, size: Any, align_corners: bool) -> Any:
    """That of the matrices; it needs nothing that a backward pass frees."""
    points = _regular(g, size, align_corners)
    return g.reshape(size[0], -1, len(size) - 2).transpose(1, 2).bmm(points)


op(
    "affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor",
    doc="Positions (N, ..., n) in [-1, 1] that matrices (N, n, n + 1) move those of a grid to.",
    decomposition=_affine_grid,
    grad={"theta": _affine_gradient},
    namespaces=("torch",),
)


# ---- as users call them -------------------------------------------------------------------------


def _corners(name: str, align_corners: bool | None) -> bool:
    if align_corners is None:
        warn_user(
            "Default grid_sample and affine_grid behavior has changed to align_corners=False since 1.3.0. "
            f"Say align_corners=False or True in the call of {name}."
        )
    return bool(align_corners)


@public("nn")
def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool | None = None,
) -> Tensor:
    """Elements of an image or volume at given positions (Jaderberg et al., 2015).

    Args:
        input: (N, C, H, W) or (N, C, D, H, W).
        grid: positions (N, ..., 2) as x, y or (N, ..., 3) as x, y, z, from -1 to 1.
        mode: how elements are made of their neighbours: ``bilinear`` (also of volumes),
            ``nearest`` or ``bicubic``.
        padding_mode: what is outside: ``zeros``, the nearest element of the ``border``, or
            the ``reflection`` at it.
        align_corners: whether -1 and 1 are the centres of the outermost elements, rather than
            their outer edges.

    Returns:
        (N, C, ...), with the sizes of ``grid`` between N and its last dimension.

    Raises:
        ValueError: for an unknown mode.
        RuntimeError: if shapes do not fit.

    Example:
        >>> image = torch.tensor([[[[1.0, 2.0], [3.0, 4.0]]]])
        >>> middle = torch.zeros(1, 1, 1, 2)
        >>> torch.nn.functional.grid_sample(image, middle, align_corners=False)
        tensor([[[[2.5000]]]])
    """
    if mode not in _MODES:
        raise ValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but "
            f"got: '{mode}'"
        )
    if padding_mode not in _PADDINGS:
        raise ValueError(
            f"nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or "
            f"'reflection', but got: '{padding_mode}'"
        )
    numbers = _MODES.index(mode), _PADDINGS.index(padding_mode)
    return fn.grid_sampler(input, grid, *numbers, _corners("grid_sample", align_corners))


@public("nn")
def affine_grid(theta: Tensor, size: Sequence[int], align_corners: bool | None = None) -> Tensor:
    """Positions for `grid_sample` that affine maps make of a regular grid.

    Args:
        theta: matrices (N, 2, 3) or (N, 3, 4).
        size: the shape of what `grid_sample` shall return, (N, C, H, W) or (N, C, D, H, W).
        align_corners: as for `grid_sample`.

    Returns:
        Positions (N, H, W, 2) or (N, D, H, W, 3).

    Raises:
        ValueError: if shapes do not fit.

    Example:
        >>> identity = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
        >>> torch.nn.functional.affine_grid(identity, (1, 1, 1, 2), align_corners=False)
        tensor([[[[-0.5000,  0.0000],
                  [ 0.5000,  0.0000]]]])
    """
    corners = _corners("affine_grid", align_corners)
    if theta._dtype.category != FLOATING:
        raise ValueError(f"Expected theta to have floating point type, but got {theta._dtype}")
    if corners and min(size[2:], default=0) == 1:
        warn_user(
            "Since version 1.3.0, affine_grid behavior has changed for unit-size grids when "
            "align_corners=True. This is not an intended use case of affine_grid. See the documentation of "
            "affine_grid for details."
        )
    return fn.affine_grid_generator(theta, size, corners)
