"""LU factorizations with row exchanges, and solving with them."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn, fn_linalg
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op, public
from ...tensors.tensor import Tensor
from ...values.dtypes import int32, int64
from ...values.shapes import show
from ...values.user_warnings import warn_user_once
from .matrices import (
    adjoint,
    batch_shape,
    check_floating,
    check_matrix,
    identity_like,
    info_spec,
    lower,
    on_diagonal,
    same_kind,
    upper_part,
)


def _factor_rule(
    A: Tensor, *, pivot: bool = True, check_errors: bool = False
) -> tuple[TensorSpec, TensorSpec, TensorSpec]:
    check_matrix("torch.lu_factor", A)
    check_floating("torch.lu_factor", A)
    if not pivot:
        raise RuntimeError(
            "linalg.lu_factor: LU without pivoting is not implemented on the CPU: numerically it is "
            "not stable; call it with pivot=True"
        )
    *batch, m, n = A._shape
    pivots = TensorSpec((*batch, min(m, n)), int32)
    return TensorSpec(A._shape, A._dtype), pivots, info_spec(A)


def _factor_backward(g: Any, result0: Any, result1: Any) -> Any:
    """Gradient of ``A = P L U`` by implicit differentiation (Giles, 2008, section 2).

    For square matrices ``gA = P L^-H [tril(L^H gL, -1) + triu(gU U^H)] U^-H``. More rows only add
    ``L2 = A2 U^-1``, more columns ``U2 = L^-1 A2``.
    """
    m, n = result0._shape[-2:]
    k = min(m, n)
    square, gsquare = result0.narrow(-2, 0, k).narrow(-1, 0, k), g.narrow(-2, 0, k).narrow(-1, 0, k)
    low = on_diagonal(lower(square, -1), 1)
    up = upper_part(square)
    glow, gup = lower(gsquare, -1), upper_part(gsquare)
    rest = None
    if m > n:
        below = result0.narrow(-2, k, m - k)
        rest = _right(up, g.narrow(-2, k, m - k))
        gup = gup - upper_part(adjoint(below).matmul(rest))
    elif n > m:
        beside = result0.narrow(-1, k, n - k)
        rest = fn_linalg.solve_triangular(
            adjoint(low), g.narrow(-1, k, n - k), upper=True, unitriangular=True
        )
        glow = glow - lower(rest.matmul(adjoint(beside)), -1)
    inner = lower(adjoint(low).matmul(glow), -1) + upper_part(gup.matmul(adjoint(up)))
    inner = _right(up, inner)
    result = fn_linalg.solve_triangular(adjoint(low), inner, upper=True, unitriangular=True)
    if rest is not None:
        result = fn.cat([result, rest], -2 if m > n else -1)
    return _permutation(result1, m, result._dtype).matmul(result)


def _right(up: Any, g: Any) -> Any:
    """``g @ U^-H``."""
    return fn_linalg.solve_triangular(adjoint(up), g, upper=False, left=False)


op(
    "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) "
    "-> (Tensor LU, Tensor pivots, Tensor info)",
    doc="LU factors in one matrix, the rows exchanged (from 1), and the place of the first zero on "
    "the diagonal of U, or 0, for each matrix.",
    rule=_factor_rule,
    grad={"A": _factor_backward},
    output_differentiability=(True, False, False),
    host=True,
    out=True,
    namespaces=("linalg:lu_factor_ex",),
)
op(
    "linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
    doc="LU factors in one matrix, and the rows exchanged, counted from 1.",
    decomposition=lambda A, *, pivot=True: tuple(
        fn_linalg.lu_factor_ex(A, pivot=pivot, check_errors=True)
    )[:2],
    out=True,
    namespaces=("linalg:lu_factor",),
)
op(
    "_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) "
    "-> (Tensor LU, Tensor pivots, Tensor info)",
    doc="`torch.linalg.lu_factor_ex` under its older name.",
    decomposition=lambda self, pivot=True, check_errors=True: tuple(
        fn_linalg.lu_factor_ex(self, pivot=pivot, check_errors=check_errors)
    ),
    namespaces=("torch",),
)

# ---- factors apart ------------------------------------------------------------------------------


def order_of(pivots: Any, m: int) -> Any:
    """The order of the rows that exchanges lead to: ``A[order] == L @ U``."""
    order = fn.arange(m, device=pivots._device).expand((*pivots._shape[:-1], m)).clone()
    for i in range(pivots._shape[-1]):
        j = (pivots.select(-1, i).long() - 1).unsqueeze(-1)
        first, second = order.narrow(-1, i, 1).clone(), order.gather(-1, j)
        order = order.scatter(-1, j, first)
        order = fn.cat([order.narrow(-1, 0, i), second, order.narrow(-1, i + 1, m - i - 1)], -1)
    return order


op(
    "_lu_order(Tensor pivots, int rows) -> Tensor",
    doc="The order of rows that the exchanges of an LU factorization lead to.",
    rule=lambda pivots, rows: TensorSpec((*pivots._shape[:-1], rows), int64),
    grad="nondiff",
    decomposition=order_of,
    namespaces=("torch",),
)


def _permutation(pivots: Any, m: int, d: Any) -> Any:
    """The matrix P of ``A = P L U``: P[order[i], i] is 1."""
    order = fn._lu_order(pivots, m)
    rows = fn.arange(m, device=order._device).unsqueeze(1)
    return (order.unsqueeze(-2) == rows).to(d)


def _unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> tuple[Any, Any, Any]:
    if unpack_pivots and LU_pivots._dtype is not int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype. "
            "Note: this function is intended to be used with the output produced by "
            "torch.linalg.lu_factor"
        )
    check_matrix("torch.lu_unpack", LU_data, "LU_data")
    m, n = LU_data._shape[-2:]
    k = min(m, n)
    if unpack_pivots and LU_pivots._shape != (*LU_data._shape[:-2], k):
        raise RuntimeError(
            f"torch.lu_unpack: LU_pivots of shape {show(LU_pivots._shape)} do not fit LU_data of shape "
            f"{show(LU_data._shape)}"
        )
    nothing = LU_data.new_empty((0,))
    low = up = matrix = nothing
    if unpack_data:
        low = on_diagonal(lower(LU_data.narrow(-1, 0, k), -1), 1)
        up = upper_part(LU_data.narrow(-2, 0, k))
    if unpack_pivots:
        matrix = _permutation(LU_pivots, m, LU_data._dtype)
    return matrix, low, up


op(
    "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) "
    "-> (Tensor P, Tensor L, Tensor U)",
    doc="The three matrices of an LU factorization ``P @ L @ U``.",
    decomposition=_unpack,
    out=True,
    namespaces=("torch",),
)


def _lu(A: Tensor, *, pivot: bool = True) -> Any:
    factors, pivots, _ = fn_linalg.lu_factor_ex(A, pivot=pivot)
    return tuple(fn.lu_unpack(factors, pivots))


op(
    "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
    doc="LU factorization ``A = P @ L @ U`` with row exchanges.",
    decomposition=_lu,
    out=True,
    namespaces=("linalg:lu",),
)


@public("torch")
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """LU factors in one matrix and the rows exchanged; `torch.linalg.lu_factor` is the newer form.

    Args:
        A: matrices.
        pivot: whether rows are exchanged; must be true.
        get_infos: whether LAPACK's codes are returned as well, instead of an error for the first.
        out: two (or three) tensors that the results are written into.
    """
    warn_user_once(
        "torch.lu is deprecated in favor of torch.linalg.lu_factor, and with get_infos=True of "
        "torch.linalg.lu_factor_ex, which take A and pivot"
    )
    result = fn._lu_with_info(A, pivot=pivot, check_errors=not get_infos)
    made = tuple(result) if get_infos else tuple(result)[:2]
    if out is None:
        return made
    for target, value in zip(out, made, strict=True):
        target.resize_(value.shape).copy_(value)
    return out


@public("Tensor:lu")
def _lu_method(self: Tensor, pivot: bool = True, get_infos: bool = False) -> Any:
    """LU factors in one matrix and the rows exchanged, see `torch.lu`."""
    return lu(self, pivot, get_infos)


_lu_method.__name__ = _lu_method.__qualname__ = "lu"

# ---- solving ------------------------------------------------------------------------------------


def _lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False
) -> Any:
    name = "linalg.lu_solve"
    check_floating(name, LU)
    same_kind(name, LU, B, names="LU and B")
    check_matrix(name, LU, "LU")
    check_matrix(name, B, "B")
    n = LU._shape[-1]
    if LU._shape[-2] != n:
        raise RuntimeError(
            f"{name}: LU must be batches of square matrices, but they are {LU._shape[-2]} by {n} "
            f"matrices"
        )
    if pivots._dtype is not int32:
        raise RuntimeError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    if pivots._shape != LU._shape[:-1]:
        raise RuntimeError(
            f"{name}: Number of pivots per batch should be same as the dimension of the matrix; got "
            f"pivots of shape {show(pivots._shape)} for LU of shape {show(LU._shape)}"
        )
    if n != B._shape[-2 if left else -1]:
        raise RuntimeError(
            f"{name}: Incompatible shapes of LU and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({n}x{n} and {B._shape[-2]}x{B._shape[-1]})"
        )
    batch_shape(name, LU, B)
    return _solved(LU, pivots, B, left, adjoint)


def _solved(LU: Any, pivots: Any, B: Any, left: bool, adjoint_: bool) -> Any:
    if not left:  # X A = B is A^H X^H = B^H
        return adjoint(_solved(LU, pivots, adjoint(B), True, not adjoint_)).contiguous()
    matrix = _permutation(pivots, LU._shape[-1], LU._dtype)
    solve = fn_linalg.solve_triangular
    if not adjoint_:
        half = solve(LU, matrix.transpose(-1, -2).matmul(B), upper=False, unitriangular=True)
        return solve(LU, half, upper=True)
    half = solve(adjoint(LU), B, upper=False)
    return matrix.matmul(solve(adjoint(LU), half, upper=True, unitriangular=True))


op(
    "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) "
    "-> Tensor",
    doc="Solution of ``A @ X = B`` (``X @ A = B`` if not ``left``), given A's LU factors; ``adjoint`` "
    "solves with ``A^H``.",
    decomposition=_lu_solve,
    out=True,
    namespaces=("linalg:lu_solve",),
)


def _older_lu_solve(self: Tensor, LU_data: Tensor, LU_pivots: Tensor) -> Any:
    warn_user_once(
        "torch.lu_solve is deprecated in favor of torch.linalg.lu_solve, whose first arguments are LU and "
        "pivots: write torch.linalg.lu_solve(LU, pivots, B)"
    )
    return fn_linalg.lu_solve(LU_data, LU_pivots, self)


op(
    "lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor",
    doc="Solution of ``A @ X = input``, given A's LU factors; `torch.linalg.lu_solve` is the newer form.",
    decomposition=_older_lu_solve,
    out=True,
)


def inverse_from_lu(LU: Any, pivots: Any, *, of_adjoint: bool = False) -> Any:
    """The inverse of a factored matrix, or of its adjoint."""
    return _solved(LU, pivots, identity_like(LU).expand(LU._shape), True, of_adjoint)
