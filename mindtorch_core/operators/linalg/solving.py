"""Linear systems and inverses."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dispatch.functions import fn_linalg
from ...dispatch.opdef import TensorSpec
from ...gradients.conform import sum_to
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.shapes import numel, show, wrap_dim
from .matrices import (
    adjoint,
    check_floating,
    check_info,
    check_matrix,
    check_square,
    identity_like,
    info_spec,
    same_kind,
)
from .triangular import check_system


def is_vector(A: Tensor, B: Tensor) -> bool:
    """Whether the right side holds one vector per matrix, rather than a matrix."""
    return len(B._shape) == 1 or (len(A._shape) - 1 == len(B._shape) and B._shape == A._shape[:-1])


def _solve_rule(
    A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False
) -> tuple[TensorSpec, TensorSpec]:
    name = "linalg.solve"
    check_matrix(name, A)
    check_square(name, A)
    same_kind(name, A, B)
    if not is_vector(A, B):
        return TensorSpec(check_system(name, A, B, left), A._dtype), info_spec(A)
    if not left:
        raise RuntimeError(
            f"{name}: Vector broadcasting of the left hand side is not supported for left=False. In "
            f"this case linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    if B._shape[-1] != A._shape[-1]:
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation AX = B ({A._shape[-2]}x"
            f"{A._shape[-1]} and {B._shape[-1]}x1)"
        )
    return TensorSpec(A._shape[:-1], A._dtype), info_spec(A)


def _solve_ex(
    A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False
) -> tuple[Any, Any]:
    _solve_rule(A, B, left=left)
    factors, pivots, info = fn_linalg.lu_factor_ex(A)
    if check_errors and not A.is_meta:
        check_info("torch.linalg.solve", "solve", info.reshape(-1).tolist(), A.dim() > 2)
    if is_vector(A, B):
        return fn_linalg.lu_solve(factors, pivots, B.unsqueeze(-1)).squeeze(-1), info
    return fn_linalg.lu_solve(factors, pivots, B, left=left), info


def _solve_grad(g: Any, A: Any, B: Any, left: bool) -> Any:
    """Gradient of the right side."""
    if is_vector(A, B):
        g = fn_linalg.solve_ex(adjoint(A), g.unsqueeze(-1))[0].squeeze(-1)
    else:
        g = fn_linalg.solve_ex(adjoint(A), g, left=left)[0]
    return g


def _solve_grad_matrix(g: Any, A: Any, B: Any, left: bool, result0: Any) -> Any:
    inner, solution = _solve_grad(g, A, B, left), result0
    if is_vector(A, B):
        inner, solution = inner.unsqueeze(-1), solution.unsqueeze(-1)
    full = inner.matmul(adjoint(solution)) if left else adjoint(solution).matmul(inner)
    return sum_to(-full, A._shape)


op(
    "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) "
    "-> (Tensor result, Tensor info)",
    doc="Solution of ``A @ X = B`` (``X @ A = B`` if not ``left``), and a code for each matrix that is "
    "not 0 if it is singular.",
    rule=_solve_rule,
    grad={
        "A": _solve_grad_matrix,
        "B": lambda g, A, B, left: sum_to(_solve_grad(g, A, B, left), B._shape),
    },
    decomposition=_solve_ex,
    out=True,
    namespaces=("linalg:solve_ex",),
)


def _solve_with_factors(
    A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False
) -> tuple[Any, Any, Any, Any]:
    result, info = fn_linalg.solve_ex(A, B, left=left, check_errors=check_errors)
    factors, pivots, _ = fn_linalg.lu_factor_ex(A)
    return result, factors, pivots, info


op(
    "_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) "
    "-> (Tensor result, Tensor LU, Tensor pivots, Tensor info)",
    doc="`torch.linalg.solve_ex`, and the LU factors of the matrix.",
    decomposition=_solve_with_factors,
    namespaces=("torch",),
)
op(
    "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor",
    doc="Solution ``X`` of ``A @ X = B`` (``X @ A = B`` if not ``left``) for invertible matrices; B may "
    "hold one vector per matrix.",
    decomposition=lambda A, B, *, left=True: fn_linalg.solve_ex(A, B, left=left, check_errors=True)[
        0
    ],
    out=True,
    namespaces=("linalg:solve",),
)

# ---- inverses -----------------------------------------------------------------------------------


def _inv_rule(A: Tensor, *, check_errors: bool = False) -> tuple[TensorSpec, TensorSpec]:
    check_square("linalg.inv", A)
    return TensorSpec(A._shape, A._dtype), info_spec(A)


def _inv_ex(A: Tensor, *, check_errors: bool = False) -> tuple[Any, Any]:
    _inv_rule(A)
    factors, pivots, info = fn_linalg.lu_factor_ex(A)
    if check_errors and not A.is_meta:
        check_info("linalg.inv", "inv", info.reshape(-1).tolist(), A.dim() > 2)
    return fn_linalg.lu_solve(factors, pivots, identity_like(A).expand(A._shape)), info


op(
    "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
    doc="Inverse matrices, and for each the place of the first zero on the diagonal of U, or 0.",
    rule=_inv_rule,
    grad={"A": lambda g, result0: -adjoint(result0).matmul(g).matmul(adjoint(result0))},
    decomposition=_inv_ex,
    out=True,
    namespaces=("linalg:inv_ex",),
)
for _name, _places, _argument in (
    ("linalg_inv", ("linalg:inv",), "A"),
    ("inverse", ("torch", "Tensor"), "self"),
):
    op(
        f"{_name}(Tensor {_argument}) -> Tensor",
        doc="Inverse of a square matrix.",
        decomposition=lambda A: fn_linalg.inv_ex(A, check_errors=True)[0],
        out=True,
        namespaces=_places,
    )

# ---- tensors as matrices ------------------------------------------------------------------------


def _tensorinv(self: Tensor, ind: int = 2) -> Any:
    check_floating("linalg.tensorinv", self)
    if ind <= 0:
        raise RuntimeError(f"Expected a strictly positive integer for 'ind', got {ind}")
    rows, columns = self._shape[:ind], self._shape[ind:]
    if numel(rows) != numel(columns):
        raise RuntimeError(
            f"Expected self to satisfy the requirement prod(self.shape[ind:]) == "
            f"prod(self.shape[:ind]), but got {numel(columns)} != {numel(rows)}"
        )
    flat: Any = self.reshape(numel(rows), numel(columns))
    return fn_linalg.inv(flat).reshape((*columns, *rows))


op(
    "linalg_tensorinv(Tensor self, int ind=2) -> Tensor",
    doc="Inverse of a tensor as a map from its last dimensions to its first ``ind``.",
    decomposition=_tensorinv,
    out=True,
    namespaces=("linalg:tensorinv",),
    out_needs=("cast",),
)


def _tensorsolve(self: Tensor, other: Tensor, dims: Sequence[int] | None = None) -> Any:
    moved: Any = self
    if dims is not None:
        rank = len(self._shape)
        last = [wrap_dim(d, rank) for d in dims]
        moved = self.permute([i for i in range(rank) if i not in last] + last)
    unknown = moved._shape[len(other._shape) :]
    if numel(unknown) != numel(other._shape):
        raise RuntimeError(
            f"Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            f"prod(self.shape[:other.ndim]), but got {numel(unknown)} != {numel(other._shape)} for "
            f"shapes {show(self._shape)} and {show(other._shape)}"
        )
    matrix = moved.reshape(numel(other._shape), numel(unknown))
    return fn_linalg.solve(matrix, other.reshape(-1)).reshape(unknown)


op(
    "linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
    doc="``X`` with ``tensordot(A, X, X.ndim) == B``, after ``dims`` of A are moved to its end.",
    decomposition=_tensorsolve,
    out=True,
    namespaces=("linalg:tensorsolve",),
    out_needs=("cast",),
)
