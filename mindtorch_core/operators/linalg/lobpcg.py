"""Some of a large matrix' eigenvalues, by the locally optimal preconditioned conjugate gradient method."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any, Final

from ...dispatch.functions import fn, fn_linalg
from ...dispatch.keys import FORWARD
from ...gradients.grad_mode import no_grad
from ...opdefs.define import public
from ...tensors.tensor import Tensor
from ...values.dtypes import finfo
from ...values.shapes import numel, show
from .matrices import adjoint

__all__ = ["lobpcg"]

_STEPS: Final = 1000
_WAYS: Final = ("basic", "ortho")


def _dense(a: Any) -> Any:
    return a.to_dense() if a is not None else None


def _ritz(a: Any, basis: Any, largest: bool) -> tuple[Any, Any]:
    """Eigenvalues of a matrix in a subspace, best first, and their vectors."""
    held = fn_linalg.qr(basis)[0]
    small = adjoint(held).matmul(a(held))
    values, inner = fn_linalg.eigh((small + adjoint(small)) / 2)
    if largest:
        values, inner = values.flip(-1), inner.flip(-1)
    return values, held.matmul(inner)


def _found(
    a: Callable[[Any], Any],
    x: Any,
    pre: Callable[[Any], Any],
    niter: int,
    tol: float,
    largest: bool,
    tracker: Any,
) -> tuple[Any, Any]:
    """Eigenvalues and vectors of one matrix (Knyazev, 2001, with the basis made orthonormal).

    Args:
        a: the matrix, as a function.
        x: where to begin, a column for each vector.
        pre: an approximation of the inverse, as a function.
        niter: at how many looks at the pairs it ends.
        tol: how small, beside the matrix and the value, what is left of each pair must be.
        largest: whether the largest values are wanted.
        tracker: called before each step.
    """
    many = x._shape[-1]
    values, x = _ritz(a, x, largest)
    size = fn_linalg.vector_norm(a(x)) / fn_linalg.vector_norm(x)
    before: list[Any] = []
    for step in range(1, niter + 1):
        rest = a(x) - x * values[:many]
        errors = fn_linalg.vector_norm(rest, dim=0) / (size + values[:many].abs())
        done = int((errors < tol).sum())
        if tracker is not None:
            ivars = {"istep": step, "converged_count": done, "iterations_left": niter - step}
            tracker(SimpleNamespace(X=x, E=values[:many], R=rest, ivars=ivars))
        if done == many or step == niter:  # PyTorch counts the look at what it began with
            break
        ahead = pre(rest)
        ahead = ahead / fn_linalg.vector_norm(ahead, dim=0).clamp(min=finfo(x._dtype).tiny)
        values, better = _ritz(a, fn.cat([x, ahead, *before], 1), largest)
        better = better[:, :many]
        move = better - x.matmul(adjoint(x).matmul(better))
        length = fn_linalg.vector_norm(move, dim=0)
        before = [move / length.clamp(min=finfo(x._dtype).tiny)]
        x = better
    return values[:many], x


def _refined(a: Any, values: Any, x: Any) -> tuple[Any, Any]:
    """The same pairs as functions of the matrix: a step of Newton's method, whose derivative is theirs."""
    image = (a.matmul(x) + a.t().matmul(x)) / 2  # gradients of symmetric matrices are symmetric
    fresh = (x * image).sum(0)
    held = _dense(a.detach())
    eye = fn.eye(held._shape[-1], dtype=held._dtype, device=held._device)
    columns = []
    for i in range(x._shape[-1]):
        v = x[:, i]
        rest = image[:, i] - v * (v * image[:, i]).sum()
        columns.append(v - fn_linalg.solve(held - values[i] * eye + fn.outer(v, v), rest))
    return fresh, fn.stack(columns, 1)


def _pairs(
    a: Any, b: Any, inverse: Any, start: Any, niter: int, tol: float, largest: bool, tracker: Any
) -> tuple[Any, Any]:
    """Eigenvalues and vectors of one matrix, or of a pair of them, in coordinates of B's root."""
    root = None if b is None else fn_linalg.cholesky(_dense(b))

    def back(y: Any) -> Any:
        return y if root is None else fn_linalg.solve_triangular(adjoint(root), y, upper=True)

    def there(y: Any) -> Any:
        return y if root is None else fn_linalg.solve_triangular(root, y, upper=False)

    def through(y: Any) -> Any:
        if inverse is None:
            return y
        made = inverse.matmul(y if root is None else root.matmul(y))
        return made if root is None else adjoint(root).matmul(made)

    def times(y: Any) -> Any:
        return there(a.matmul(back(y)))

    begin = start if root is None else adjoint(root).matmul(start)
    values, x = _found(times, begin, through, niter, tol, largest, tracker)
    return values, back(x)


def _checked(a: Tensor, b: Any, x: Any, k: int, method: str | None) -> None:
    """Refuse arguments that do not fit.

    Raises:
        ValueError: if they do not, or the matrix is small.
        NotImplementedError: if gradients are asked for of the generalized problem.
    """
    if len(a._shape) < 2 or a._shape[-1] != a._shape[-2]:
        raise ValueError(f"lobpcg(): A must be square, got shape {show(a._shape)}")
    rows, columns = a._shape[-1], k if x is None else x._shape[-1]
    if rows < 3 * columns:
        raise ValueError(
            f"LOBPCG algorithm is not applicable when the number of A rows (={rows}) is smaller than 3 x the "
            f"number of requested eigenpairs (={columns}): use torch.linalg.eigh"
        )
    if method not in (None, *_WAYS):
        raise ValueError(f"lobpcg(): method must be one of {', '.join(_WAYS)}, got {method!r}")
    if b is not None and (a.requires_grad or b.requires_grad):
        raise NotImplementedError(
            "lobpcg() with B has no gradient: use torch.linalg.eigh of the matrix that Cholesky factors of B "
            "make of A"
        )


@public("torch")
def lobpcg(
    A: Tensor,
    k: int | None = None,
    B: Tensor | None = None,
    X: Tensor | None = None,
    n: int | None = None,
    iK: Tensor | None = None,
    niter: int | None = None,
    tol: float | None = None,
    largest: bool | None = None,
    method: str | None = None,
    tracker: Any = None,
    ortho_iparams: Any = None,
    ortho_fparams: Any = None,
    ortho_bparams: Any = None,
) -> tuple[Tensor, Tensor]:
    """The k largest or smallest eigenvalues of symmetric matrices, and their vectors.

    Args:
        A: symmetric matrices, dense or one that is sparse.
        k: how many; by default as many as X has columns, or 1.
        B: symmetric positive definite matrices of the generalized problem ``A x = e B x``.
        X: vectors to begin with; by default random ones.
        n: how many vectors to begin with, by default ``k``.
        iK: an approximation of the inverse of A.
        niter: at how many looks at the pairs it ends, one before each step; by default, and where it is
            not positive, 1000.
        tol: how small what is left of each pair must be, beside the matrix; by default a root of the
            dtype's epsilon.
        largest: whether the largest are wanted, the default.
        method: ``basic`` or ``ortho``; both are computed in an orthonormal basis here.
        tracker: called before each step with an object that has ``X``, ``E``, ``R`` and ``ivars``.
        ortho_iparams: accepted, without effect.
        ortho_fparams: accepted, without effect.
        ortho_bparams: accepted, without effect.

    Raises:
        ValueError: if the arguments do not fit, or A has fewer than three rows for each vector.
        NotImplementedError: if gradients are asked for of the generalized problem.
    """
    k = k if k is not None else 1 if X is None else X._shape[-1]
    columns = k if n is None else n
    _checked(A, B, X, columns, method)
    if len(A._shape) > 2:
        lead, size = A._shape[:-2], A._shape[-1]
        each = [
            [None] * numel(lead) if t is None else t.expand(*lead, *t._shape[-2:]).flatten(0, -3)
            for t in (A, B, X, iK)
        ]
        rows = [
            lobpcg(a, k, b, x, n, i, niter, tol, largest, method, tracker)
            for a, b, x, i in zip(*each, strict=True)
        ]
        return (
            fn.stack([w for w, _ in rows]).reshape(*lead, k),
            fn.stack([v for _, v in rows]).reshape(*lead, size, k),
        )
    tol = finfo(A._dtype).eps ** 0.5 if tol is None else tol
    steps = _STEPS if niter is None or niter <= 0 else niter
    with no_grad():
        shape = A._shape[-1], columns
        start = fn.randn(*shape, dtype=A._dtype, device=A._device) if X is None else X
        best = True if largest is None else largest
        values, x = _pairs(A.detach(), B, iK, start, steps, tol, best, tracker)
        values, x = values[:k], x[:, :k]
    return _refined(A, values, x) if A.requires_grad or A._keys & FORWARD else (values, x)
