"""Functions of ``torch.linalg``.

Written by `docs/make.py` from the ops' schemas. Do not edit.
"""

# mypy: disable-error-code="overload-overlap, overload-cannot-match, misc, assignment"

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, overload

from numpy import ndarray  # for type checkers alone: where it is not installed, it is of no type

from mindtorch_core.gradients.handles import RemovableHandle
from mindtorch_core.values.devices import device as _device
from mindtorch_core.values.dtypes import dtype as _dtype
from ..random import Generator
from ..tensors.tensor import Tensor
from . import results

__all__: list[str] = [
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

def cholesky(input: Tensor, *, upper: _bool = False, out: Tensor | None = None) -> Tensor:
    """Cholesky factor ``L`` of a Hermitian positive-definite matrix ``L @ L^H``; or ``U`` with
    ``U^H @ U``."""

def cholesky_ex(
    input: Tensor,
    *,
    upper: _bool = False,
    check_errors: _bool = False,
    out: tuple[Tensor, ...] | None = None,
) -> results.linalg_cholesky_ex:
    """Cholesky factors ``L @ L^H`` of positive-definite matrices, with the order of the leading
    minor that is not positive-definite, or 0, for each."""

@overload
def cond(
    input: Tensor,
    p: _float | _complex | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Condition number: the norm of a matrix times the norm of its inverse; by default the largest
    over the smallest singular value."""
@overload
def cond(input: Tensor, p: _str, *, out: Tensor | None = None) -> Tensor:
    """Condition number: the norm of a matrix times the norm of its inverse; by default the largest
    over the smallest singular value."""

def cross(input: Tensor, other: Tensor, *, dim: _int = -1, out: Tensor | None = None) -> Tensor:
    """Cross product of vectors with three elements along one dimension."""

def det(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Determinant of a square matrix."""

def diagonal(A: Tensor, *, offset: _int = 0, dim1: _int = -2, dim2: _int = -1) -> Tensor:
    """View of the diagonals of matrices as the last dimension."""

def eig(input: Tensor, *, out: tuple[Tensor, ...] | None = None) -> results.linalg_eig:
    """Eigenvalues of a square matrix, in no order, and its eigenvectors of length 1 as columns;
    both are complex."""

def eigh(
    input: Tensor,
    UPLO: _str = 'L',
    *,
    out: tuple[Tensor, ...] | None = None,
) -> results.linalg_eigh:
    """Eigenvalues of a Hermitian matrix in ascending order, and its eigenvectors as columns; the
    lower triangle is read, or the upper ('U')."""

def eigvals(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues of a square matrix, in no order."""

def eigvalsh(input: Tensor, UPLO: _str = 'L', *, out: Tensor | None = None) -> Tensor:
    """Eigenvalues of a Hermitian matrix in ascending order."""

def householder_product(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor:
    """The first columns of the product of the reflections ``1 - tau v v^H`` that `torch.geqrf`
    gives."""

def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Inverse of a square matrix."""

def inv_ex(
    A: Tensor,
    *,
    check_errors: _bool = False,
    out: tuple[Tensor, ...] | None = None,
) -> results.linalg_inv_ex:
    """Inverse matrices, and for each the place of the first zero on the diagonal of U, or 0."""

def ldl_factor(
    input: Tensor,
    *,
    hermitian: _bool = False,
    out: tuple[Tensor, ...] | None = None,
) -> results.linalg_ldl_factor:
    """``A = L D L^T`` (``L D L^H`` if ``hermitian``) packed in one matrix, and the pivots."""

def ldl_factor_ex(
    input: Tensor,
    *,
    hermitian: _bool = False,
    check_errors: _bool = False,
    out: tuple[Tensor, ...] | None = None,
) -> results.linalg_ldl_factor_ex:
    """``A = L D L^T`` (``L D L^H`` if ``hermitian``) packed in one matrix as LAPACK does (Bunch and
    Kaufman, 1977), the pivots, and the place of a zero in D, or 0."""

def ldl_solve(
    LD: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    hermitian: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Solution ``X`` of ``A @ X = B``, given the LDL factorization of A."""

def lstsq(
    input: Tensor,
    b: Tensor,
    rcond: _float | None = None,
    *,
    driver: _str | None = None,
    out: tuple[Tensor, ...] | None = None,
) -> results.linalg_lstsq:
    """The smallest ``X`` for which ``A @ X`` is nearest to B; the sums of squares that remain (if
    all matrices have full rank), the ranks, and the singular values ('gelsd' and 'gelss')."""

def lu(
    A: Tensor,
    *,
    pivot: _bool = True,
    out: tuple[Tensor, ...] | None = None,
) -> results.linalg_lu:
    """LU factorization ``A = P @ L @ U`` with row exchanges."""

def lu_factor(
    A: Tensor,
    *,
    pivot: _bool = True,
    out: tuple[Tensor, ...] | None = None,
) -> results.linalg_lu_factor:
    """LU factors in one matrix, and the rows exchanged, counted from 1."""

def lu_factor_ex(
    A: Tensor,
    *,
    pivot: _bool = True,
    check_errors: _bool = False,
    out: tuple[Tensor, ...] | None = None,
) -> results.linalg_lu_factor_ex:
    """LU factors in one matrix, the rows exchanged (from 1), and the place of the first zero on the
    diagonal of U, or 0, for each matrix."""

def lu_solve(
    LU: Tensor,
    pivots: Tensor,
    B: Tensor,
    *,
    left: _bool = True,
    adjoint: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Solution of ``A @ X = B`` (``X @ A = B`` if not ``left``), given A's LU factors; ``adjoint``
    solves with ``A^H``."""

def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Matrix product, see `torch.matmul`."""

def matrix_exp(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Exponential of square matrices, by scaling, a Taylor polynomial, and squaring."""

@overload
def matrix_norm(
    input: Tensor,
    ord: _float | _complex,
    dim: Sequence[_int] = ...,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Norm of matrices: largest (or smallest, if negative) column sum (1), row sum (inf) or
    singular value (2)."""
@overload
def matrix_norm(
    input: Tensor,
    ord: _str = 'fro',
    dim: Sequence[_int] = ...,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Norm of matrices: Frobenius (``'fro'``) or the sum of singular values (``'nuc'``)."""

def matrix_power(input: Tensor, n: _int, *, out: Tensor | None = None) -> Tensor:
    """Product of a square matrix with itself, ``n`` times; of its inverse if ``n`` is negative."""

@overload
def matrix_rank(
    input: Tensor,
    *,
    atol: Tensor | None = None,
    rtol: Tensor | None = None,
    hermitian: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """How many singular values are above a tolerance."""
@overload
def matrix_rank(
    input: Tensor,
    *,
    atol: _float | None = None,
    rtol: _float | None = None,
    hermitian: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """How many singular values are above a tolerance."""
@overload
def matrix_rank(
    input: Tensor,
    tol: Tensor,
    hermitian: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """How many singular values are above a tolerance."""
@overload
def matrix_rank(
    input: Tensor,
    tol: _float,
    hermitian: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """How many singular values are above a tolerance."""

def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor:
    """Product of a chain of matrices in the order that takes the fewest multiplications; the first
    and the last may be vectors."""

@overload
def norm(
    input: Tensor,
    ord: _float | _complex | None = None,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Norm of vectors (one dimension), of matrices (two dimensions and ``ord``) or of all
    elements."""
@overload
def norm(
    input: Tensor,
    ord: _str,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """Norm of vectors (one dimension), of matrices (two dimensions and ``ord``) or of all
    elements."""

@overload
def pinv(
    input: Tensor,
    *,
    atol: Tensor | None = None,
    rtol: Tensor | None = None,
    hermitian: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Pseudoinverse (Moore and Penrose): singular values below a tolerance count as zero."""
@overload
def pinv(
    input: Tensor,
    *,
    atol: _float | None = None,
    rtol: _float | None = None,
    hermitian: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Pseudoinverse (Moore and Penrose): singular values below a tolerance count as zero, relative
    to the largest."""
@overload
def pinv(
    input: Tensor,
    rcond: Tensor,
    hermitian: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Pseudoinverse (Moore and Penrose): singular values below a tolerance count as zero, relative
    to the largest."""
@overload
def pinv(
    input: Tensor,
    rcond: _float,
    hermitian: _bool = False,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Pseudoinverse (Moore and Penrose): singular values below a tolerance count as zero, relative
    to the largest."""

def qr(
    A: Tensor,
    mode: _str = 'reduced',
    *,
    out: tuple[Tensor, ...] | None = None,
) -> results.linalg_qr:
    """``A = Q @ R`` with orthonormal columns in Q and a triangular R; modes are 'reduced',
    'complete' (a square Q) and 'r' (no Q)."""

def slogdet(A: Tensor, *, out: tuple[Tensor, ...] | None = None) -> results.linalg_slogdet:
    """Sign of the determinant (of absolute value 1, or 0) and the logarithm of its absolute
    value."""

def solve(A: Tensor, B: Tensor, *, left: _bool = True, out: Tensor | None = None) -> Tensor:
    """Solution ``X`` of ``A @ X = B`` (``X @ A = B`` if not ``left``) for invertible matrices; B
    may hold one vector per matrix."""

def solve_ex(
    A: Tensor,
    B: Tensor,
    *,
    left: _bool = True,
    check_errors: _bool = False,
    out: tuple[Tensor, ...] | None = None,
) -> results.linalg_solve_ex:
    """Solution of ``A @ X = B`` (``X @ A = B`` if not ``left``), and a code for each matrix that is
    not 0 if it is singular."""

def solve_triangular(
    input: Tensor,
    B: Tensor,
    *,
    upper: _bool,
    left: _bool = True,
    unitriangular: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Solution ``X`` of ``A @ X = B`` (``X @ A = B`` if not ``left``) for a triangular matrix
    ``A``; its other triangle, and its diagonal if ``unitriangular``, are not read."""

def svd(
    A: Tensor,
    full_matrices: _bool = True,
    *,
    driver: _str | None = None,
    out: tuple[Tensor, ...] | None = None,
) -> results.linalg_svd:
    """``A = U @ diag(S) @ Vh`` with orthonormal columns in U and rows in Vh, and singular values in
    descending order."""

def svdvals(A: Tensor, *, driver: _str | None = None, out: Tensor | None = None) -> Tensor:
    """Singular values in descending order."""

def tensorinv(input: Tensor, ind: _int = 2, *, out: Tensor | None = None) -> Tensor:
    """Inverse of a tensor as a map from its last dimensions to its first ``ind``."""

def tensorsolve(
    input: Tensor,
    other: Tensor,
    dims: Sequence[_int] | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """``X`` with ``tensordot(A, X, X.ndim) == B``, after ``dims`` of A are moved to its end."""

def vander(x: Tensor, *, N: _int | None = None) -> Tensor:
    """Vandermonde matrix: the powers 0 to N-1 of each element, N being by default the number of
    elements."""

def vecdot(x: Tensor, y: Tensor, *, dim: _int = -1, out: Tensor | None = None) -> Tensor:
    """Inner products along one dimension, the first factor conjugated."""

def vector_norm(
    input: Tensor,
    ord: _float | _complex = 2,
    dim: _int | Sequence[_int] | None = None,
    keepdim: _bool = False,
    *,
    dtype: _dtype | None = None,
    out: Tensor | None = None,
) -> Tensor:
    """The ``ord``-norm of elements over dimensions (all if ``dim`` is None)."""
