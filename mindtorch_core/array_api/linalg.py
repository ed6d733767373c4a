"""The extension ``linalg`` of the array API standard."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..dispatch.functions import fn, fn_linalg
from ..tensors.tensor import Tensor
from ..values.dtypes import dtype
from ..values.shapes import broadcast_shapes
from .manipulation import axes_of
from .operands import tensors_of
from .products import matmul, matrix_transpose, tensordot, vecdot
from .statistics import sum as _sum

__all__ = [
    "cholesky",
    "cross",
    "det",
    "diagonal",
    "eigh",
    "eigvalsh",
    "inv",
    "matmul",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "matrix_transpose",
    "outer",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "svd",
    "svdvals",
    "tensordot",
    "trace",
    "vecdot",
    "vector_norm",
]


class Eigh(NamedTuple):
    """What `eigh` returns."""

    eigenvalues: Tensor
    eigenvectors: Tensor


class QR(NamedTuple):
    """What `qr` returns."""

    Q: Tensor
    R: Tensor


class Slogdet(NamedTuple):
    """What `slogdet` returns."""

    sign: Tensor
    logabsdet: Tensor


class SVD(NamedTuple):
    """What `svd` returns."""

    U: Tensor
    S: Tensor
    Vh: Tensor


def cholesky(x: Tensor, /, *, upper: bool = False) -> Tensor:
    """Lower triangular factor of positive definite matrices, or the upper one.

    Raises:
        RuntimeError: if a matrix is not positive definite.
    """
    return fn_linalg.cholesky(x, upper=upper)


def cross(x1: Tensor, x2: Tensor, /, *, axis: int = -1) -> Tensor:
    """Vector products of vectors with three elements along a dimension; the others broadcast.

    Raises:
        IndexError: if one of the two has no dimension ``axis``.
        ValueError: if a vector has another size.
    """
    first, second = tensors_of("cross", x1, x2)
    axes_of(axis, min(x1.ndim, x2.ndim))
    if first.shape[axis] != 3 or second.shape[axis] != 3:
        raise ValueError(
            f"cross: vectors must have 3 elements, not {first.shape[axis]} and {second.shape[axis]}"
        )
    shape = broadcast_shapes(first.shape, second.shape)
    return fn_linalg.cross(first.expand(shape), second.expand(shape), dim=axis)


def det(x: Tensor, /) -> Tensor:
    """Determinants of matrices."""
    return fn_linalg.det(x)


def diagonal(x: Tensor, /, *, offset: int = 0) -> Tensor:
    """A diagonal of matrices, above the main one if ``offset`` is positive; a view."""
    return fn.diagonal(x, offset, -2, -1)


def eigh(x: Tensor, /) -> Eigh:
    """Eigenvalues and eigenvectors of symmetric or Hermitian matrices."""
    result: Any = fn_linalg.eigh(x)
    return Eigh(*result)


def eigvalsh(x: Tensor, /) -> Tensor:
    """Eigenvalues of symmetric or Hermitian matrices."""
    return fn_linalg.eigvalsh(x)


def inv(x: Tensor, /) -> Tensor:
    """Inverses of matrices.

    Raises:
        RuntimeError: if one is singular.
    """
    return fn_linalg.inv(x)


def matrix_norm(x: Tensor, /, *, keepdims: bool = False, ord: float | str | None = "fro") -> Tensor:
    """Norms of matrices: ``"fro"``, ``"nuc"``, 1, 2, inf and their negatives; None is ``"fro"``."""
    return fn_linalg.matrix_norm(x, "fro" if ord is None else ord, (-2, -1), keepdims)


def matrix_power(x: Tensor, n: int, /) -> Tensor:
    """Powers of square matrices; of their inverses, if ``n`` is negative."""
    return fn_linalg.matrix_power(x, n)


def matrix_rank(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """Ranks of matrices: how many singular values exceed ``rtol`` times the greatest.

    Args:
        x: matrices.
        rtol: a number, or one for each matrix; by default the larger side times the dtype's eps.

    Raises:
        ValueError: for fewer than two dimensions.
    """
    if x.ndim < 2:
        raise ValueError(f"matrix_rank: the tensor has {x.ndim} dimensions, not two or more")
    return fn_linalg.matrix_rank(x, rtol=rtol)


def outer(x1: Tensor, x2: Tensor, /) -> Tensor:
    """Products of each element of one vector with each of another."""
    return fn.outer(*tensors_of("outer", x1, x2))


def pinv(x: Tensor, /, *, rtol: float | Tensor | None = None) -> Tensor:
    """Pseudo-inverses of matrices; singular values up to ``rtol`` times the greatest count as 0."""
    return fn_linalg.pinv(x, rtol=rtol)


def qr(x: Tensor, /, *, mode: str = "reduced") -> QR:
    """Matrices as products of an orthonormal and an upper triangular one.

    Args:
        x: matrices.
        mode: ``"reduced"``, or ``"complete"`` for a square Q.
    """
    result: Any = fn_linalg.qr(x, mode)
    return QR(*result)


def slogdet(x: Tensor, /) -> Slogdet:
    """Sign and logarithm of the absolute value of determinants."""
    result: Any = fn_linalg.slogdet(x)
    return Slogdet(*result)


def solve(x1: Tensor, x2: Tensor, /) -> Tensor:
    """The solution of systems of linear equations.

    Args:
        x1: square matrices.
        x2: one vector, if it has one dimension, else matrices; batches broadcast.
    """
    matrices, right = tensors_of("solve", x1, x2)
    if right.ndim == 1:
        return fn_linalg.solve(matrices, right.unsqueeze(-1)).squeeze(-1)
    # With all batches written out, as PyTorch's takes some shapes of x2 for vectors.
    batch = broadcast_shapes(matrices.shape[:-2], right.shape[:-2])
    return fn_linalg.solve(
        matrices.expand((*batch, *matrices.shape[-2:])), right.expand((*batch, *right.shape[-2:]))
    )


def svd(x: Tensor, /, *, full_matrices: bool = True) -> SVD:
    """Singular values of matrices, descending, with the vectors on both sides."""
    result: Any = fn_linalg.svd(x, full_matrices=full_matrices)
    return SVD(*result)


def svdvals(x: Tensor, /) -> Tensor:
    """Singular values of matrices, descending."""
    return fn_linalg.svdvals(x)


def trace(x: Tensor, /, *, offset: int = 0, dtype: dtype | None = None) -> Tensor:
    """Sums of a diagonal of matrices; ``dtype`` as in `sum`."""
    return _sum(diagonal(x, offset=offset), axis=-1, dtype=dtype)


def vector_norm(
    x: Tensor,
    /,
    *,
    axis: int | tuple[int, ...] | None = None,
    keepdims: bool = False,
    ord: float = 2,
) -> Tensor:
    """Norms of vectors along dimensions; of all elements, if ``axis`` is None.

    Args:
        x: a floating tensor.
        axis: dimensions.
        keepdims: whether they stay, with size 1.
        ord: a number, inf or -inf.
    """
    if axis == ():  # each element is a vector
        return fn_linalg.vector_norm(x.unsqueeze(-1), ord, -1)
    return fn_linalg.vector_norm(x, ord, axes_of(axis, x.ndim) or None, keepdims)
