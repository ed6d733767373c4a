"""Functions of the array API standard that change shapes, join and divide tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from ..values.shapes import broadcast_shapes
from .operands import tensors_of

__all__ = [
    "axes_of",
    "broadcast_arrays",
    "broadcast_to",
    "concat",
    "expand_dims",
    "flip",
    "moveaxis",
    "permute_dims",
    "repeat",
    "reshape",
    "roll",
    "squeeze",
    "stack",
    "tile",
    "unstack",
]


def axes_of(axis: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Dimensions that an argument names, from 0; all for None.

    Raises:
        IndexError: if there is no such dimension.
        ValueError: if one is named twice.
    """
    if axis is None:
        return tuple(range(ndim))
    named = (axis,) if isinstance(axis, int) else tuple(axis)
    for each in named:
        if not -ndim <= each < ndim:
            raise IndexError(f"axis {each} is out of range for a tensor with {ndim} dimensions")
    axes = tuple(each % ndim for each in named)
    if len(set(axes)) < len(axes):
        raise ValueError(f"axis {axis} names a dimension twice")
    return axes


def broadcast_arrays(*arrays: Tensor) -> list[Tensor]:
    """Tensors, all of the shape that they broadcast to."""
    shape = broadcast_shapes(*(x.shape for x in arrays))
    return [x.expand(shape) for x in arrays]


def broadcast_to(x: Tensor, /, shape: tuple[int, ...]) -> Tensor:
    """A tensor, broadcast to a shape."""
    return x.expand(shape)


def concat(arrays: Sequence[Tensor], /, *, axis: int | None = 0) -> Tensor:
    """Tensors one after the other along a dimension, in the dtype they meet in; None flattens them."""
    parts = tensors_of("concat", *arrays)
    if axis is None:
        return fn.cat([x.reshape(-1) for x in parts])
    # PyTorch's leaves out what has one dimension and no element, whatever the others' shapes are.
    ndim = parts[0].ndim
    (at,) = axes_of(axis, ndim)
    for x in parts:
        if x.ndim != ndim:
            raise ValueError(
                f"concat: tensors must have the same number of dimensions, got {ndim} and {x.ndim}"
            )
    return fn.cat(parts, at)


def expand_dims(x: Tensor, /, axis: int | tuple[int, ...] = 0) -> Tensor:
    """A tensor with dimensions of size 1 more, which the result has at ``axis``.

    Raises:
        IndexError: if the result has no such dimension.
    """
    result = x
    named = (axis,) if isinstance(axis, int) else axis
    for each in sorted(axes_of(named, x.ndim + len(named))):
        result = result.unsqueeze(each)
    return result


def flip(x: Tensor, /, *, axis: int | tuple[int, ...] | None = None) -> Tensor:
    """The elements in the opposite order along dimensions; along all by default."""
    return fn.flip(x, axes_of(axis, x.ndim))


def moveaxis(
    x: Tensor, source: int | tuple[int, ...], destination: int | tuple[int, ...], /
) -> Tensor:
    """Dimensions moved to other places; the others keep their order."""
    return fn.moveaxis(x, source, destination)


def permute_dims(x: Tensor, /, axes: tuple[int, ...]) -> Tensor:
    """Dimensions in another order."""
    return x.permute(axes)


def repeat(x: Tensor, repeats: int | Tensor, /, *, axis: int | None = None) -> Tensor:
    """Each element several times, along a dimension; flattened if None.

    Args:
        x: any tensor.
        repeats: how often: a number, or one for each element along the dimension.
        axis: the dimension.
    """
    flat, at = (x.reshape(-1), 0) if axis is None else (x, axes_of(axis, x.ndim)[0])
    if isinstance(repeats, Tensor):
        repeats = repeats.reshape(-1).long()
        if repeats.numel() == 1:
            repeats = repeats.expand(flat.shape[at])
    return fn.repeat_interleave(flat, repeats, dim=at)


def reshape(x: Tensor, /, shape: tuple[int, ...], *, copy: bool | None = None) -> Tensor:
    """A tensor in another shape.

    Args:
        x: any tensor.
        shape: sizes; one may be -1, and follows from the others.
        copy: True copies always, False never, None where strides demand it.

    Raises:
        ValueError: if a copy is needed and refused.
    """
    if copy:
        return x.clone().reshape(shape)
    if copy is None:
        return x.reshape(shape)
    try:
        return x.view(shape)
    except RuntimeError as error:
        raise ValueError(f"reshape: {error}") from error


def roll(
    x: Tensor,
    /,
    shift: int | tuple[int, ...],
    *,
    axis: int | tuple[int, ...] | None = None,
) -> Tensor:
    """The elements moved along dimensions, those that leave at one end entering at the other.

    Args:
        x: any tensor.
        shift: by how many places; a number for all dimensions, or one for each.
        axis: the dimensions; if None, it is rolled as if it were flat.
    """
    if axis is None:
        if not isinstance(shift, int):
            (shift,) = shift
        return fn.roll(x.reshape(-1), shift).reshape(x.shape)
    axes = (axis,) if isinstance(axis, int) else tuple(axis)
    shifts = (shift,) * len(axes) if isinstance(shift, int) else tuple(shift)
    return fn.roll(x, shifts, axes)


def squeeze(x: Tensor, /, axis: int | tuple[int, ...]) -> Tensor:
    """A tensor without dimensions of size 1.

    Raises:
        IndexError: if there is no such dimension.
        ValueError: if one is of another size.
    """
    axes = axes_of(axis, x.ndim)
    for each in axes:
        if x.shape[each] != 1:
            raise ValueError(f"squeeze: dimension {each} has size {x.shape[each]}, not 1")
    return x.squeeze(axes) if axes else x


def stack(arrays: Sequence[Tensor], /, *, axis: int = 0) -> Tensor:
    """Tensors of one shape along a new dimension, in the dtype they meet in."""
    return fn.stack(tensors_of("stack", *arrays), axis)


def tile(x: Tensor, repetitions: tuple[int, ...], /) -> Tensor:
    """A tensor several times along each dimension."""
    return fn.tile(x, repetitions)


def unstack(x: Tensor, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """Views of a tensor along a dimension, which they lack."""
    parts: Any = fn.unbind(x, axis)
    return tuple(parts)
