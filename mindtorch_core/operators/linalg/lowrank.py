"""Approximations of large matrices by matrices of low rank."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn, fn_linalg
from ...opdefs.define import public
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING
from ...values.shapes import show
from .matrices import adjoint

__all__ = ["pca_lowrank", "svd_lowrank"]


def _range(a: Any, q: int, niter: int, mean: Any) -> Any:
    """Orthonormal columns that nearly span the columns of ``a - mean``.

    Random vectors are multiplied by the matrix and its adjoint in turn (Halko, Martinsson and
    Tropp, 2011, algorithm 4.4).
    """

    def times(x: Any) -> Any:
        return a.matmul(x) if mean is None else a.matmul(x) - mean.matmul(x)

    def back(x: Any) -> Any:
        made = adjoint(a).matmul(x)
        return made if mean is None else made - adjoint(mean).matmul(x)

    start = fn.randn(a._shape[-1], q, dtype=a._dtype, device=a._device)
    columns = fn_linalg.qr(times(start))[0]
    for _ in range(niter):
        columns = fn_linalg.qr(times(fn_linalg.qr(back(columns))[0]))[0]
    return columns


@public("torch")
def svd_lowrank(
    A: Tensor, q: int | None = 6, niter: int | None = 2, M: Tensor | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """U, S and V with ``A - M`` nearly ``U @ diag(S) @ V^H``, by a randomized algorithm.

    Args:
        A: matrices.
        q: how many singular values, all of them where it is larger than a size of the matrices; a little more
            than the rank gives good accuracy.
        niter: how often the random subspace is improved.
        M: matrices that are subtracted, broadcast to A's shape.

    Raises:
        RuntimeError: if ``q`` is negative.
    """
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    m, n = A._shape[-2:]
    if q < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {q}: {[min(m, n), q]}")
    if M is not None:
        M = M.expand(A._shape)
    wide = m < n
    a: Any = adjoint(A) if wide else A
    mean = None if M is None else (adjoint(M) if wide else M)
    columns = _range(a, q, niter, mean)
    small = adjoint(columns).matmul(a if mean is None else a - mean)
    u, s, vh = fn_linalg.svd(small, False)
    u, v = columns.matmul(u), adjoint(vh)
    return (v, s, u) if wide else (u, s, v)


@public("torch")
def pca_lowrank(
    A: Tensor, q: int | None = None, center: bool = True, niter: int = 2
) -> tuple[Tensor, Tensor, Tensor]:
    """Principal components of the rows of a matrix, by a randomized algorithm.

    Args:
        A: matrices whose rows are samples.
        q: how many components; by default 6, or the smaller size if that is less.
        center: whether the mean of each column is subtracted.
        niter: how often the random subspace is improved.

    Raises:
        ValueError: if the input is no floating-point matrix, or ``q`` or ``niter`` out of range.
    """
    if A._dtype.category < FLOATING:
        raise ValueError(f"input must be floating, got {A._dtype}")
    if len(A._shape) < 2:
        raise ValueError(f"input must be a matrix, got shape {show(A._shape)}")
    m, n = A._shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(
            f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}"
        )
    if niter < 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    if not center:
        return svd_lowrank(A, q, niter)
    moved: Any = A.mean(dim=-2, keepdim=True)
    return svd_lowrank(A - moved, q, niter)
