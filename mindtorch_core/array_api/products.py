"""Products of the array API standard, which stand in its main namespace and in ``linalg``."""

from __future__ import annotations

from collections.abc import Sequence

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from .manipulation import axes_of
from .operands import tensors_of

__all__ = ["matmul", "matrix_transpose", "tensordot", "vecdot"]


def matmul(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Product of matrices, with batches that broadcast, or vectors."""
    return fn.matmul(*tensors_of("matmul", x1, x2))


def matrix_transpose(x: Tensor, /) -> Tensor:
    """Matrices with their last two dimensions exchanged.

    Raises:
        ValueError: for fewer than two dimensions.
    """
    if x.ndim < 2:
        raise ValueError(f"matrix_transpose: the tensor has {x.ndim} dimensions, not two or more")
    return x.mT


def tensordot(
    x1: Tensor, x2: Tensor, /, *, axes: int | tuple[Sequence[int], Sequence[int]] = 2
) -> Tensor:
    """Sum of products along dimensions.

    Args:
        x1: a numeric tensor.
        x2: a numeric tensor.
        axes: how many of the last dimensions of x1 and of the first of x2, or which of both.
    """
    first, second = tensors_of("tensordot", x1, x2)
    dims = axes if isinstance(axes, int) else (list(axes[0]), list(axes[1]))
    return fn.tensordot(first, second, dims)


def vecdot(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Scalar products of vectors along a dimension, the first conjugated; the others broadcast.

    Raises:
        IndexError: if one of the two has no dimension ``axis``.
        ValueError: if the vectors differ in size.
    """
    first, second = tensors_of("vecdot", x1, x2)
    axes_of(axis, min(x1.ndim, x2.ndim))
    first, second = (x.movedim(axis, -1) for x in (first, second))
    if first.shape[-1] != second.shape[-1]:
        raise ValueError(f"vecdot: vectors of {first.shape[-1]} and of {second.shape[-1]} elements")
    product = fn.matmul(fn.conj_physical(first).unsqueeze(-2), second.unsqueeze(-1))
    return product.squeeze((-2, -1))
