"""Cholesky factorizations of positive-definite matrices, and solving with them."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn, fn_linalg
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.shapes import show
from ...values.user_warnings import warn_user_once
from .matrices import (
    adjoint,
    check_floating,
    check_matrix,
    check_square,
    identity_like,
    info_spec,
    lower,
    same_kind,
)


def _rule(
    self: Tensor, *, upper: bool = False, check_errors: bool = False
) -> tuple[TensorSpec, TensorSpec]:
    check_square("linalg.cholesky", self)
    return TensorSpec(self._shape, self._dtype), info_spec(self)


def _backward(g: Any, result0: Any, upper: bool) -> Any:
    """Gradient of the Cholesky factor (Murray, 2016, arXiv:1602.07527).

    With ``phi`` the lower triangle with half the diagonal, ``gA`` is the Hermitian part of
    ``inv(L)^H phi(L^H gL) inv(L)``.
    """
    factor, g = (adjoint(result0), adjoint(g)) if upper else (result0, g)
    inner = lower(adjoint(factor).matmul(lower(g)))
    inner = (inner + adjoint(lower(inner, -1))) / 2
    if inner._dtype.is_complex:  # the diagonal of a factor is real
        from .matrices import on_diagonal

        inner = on_diagonal(inner, inner.real.to(inner._dtype))
    left = fn_linalg.solve_triangular(adjoint(factor), inner, upper=True)
    return fn_linalg.solve_triangular(factor, left, upper=False, left=False)


op(
    "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) "
    "-> (Tensor L, Tensor info)",
    doc="Cholesky factors ``L @ L^H`` of positive-definite matrices, with the order of the leading "
    "minor that is not positive-definite, or 0, for each.",
    rule=_rule,
    grad={"self": _backward},
    host=True,
    out=True,
    namespaces=("linalg:cholesky_ex",),
)
op(
    "linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor",
    doc="Cholesky factor ``L`` of a Hermitian positive-definite matrix ``L @ L^H``; or ``U`` with "
    "``U^H @ U``.",
    decomposition=lambda self, *, upper=False: fn_linalg.cholesky_ex(
        self, upper=upper, check_errors=True
    )[0],
    out=True,
    namespaces=("linalg:cholesky",),
)


def _older_cholesky(self: Tensor, upper: bool = False) -> Any:
    warn_user_once(
        "torch.cholesky is deprecated in favor of torch.linalg.cholesky: write torch.linalg.cholesky(A), "
        "and torch.linalg.cholesky(A).mH for upper=True"
    )
    return fn_linalg.cholesky(self, upper=upper)


op(
    "cholesky(Tensor self, bool upper=False) -> Tensor",
    doc="Cholesky factor of a positive-definite matrix; `torch.linalg.cholesky` is its newer name.",
    decomposition=_older_cholesky,
    out=True,
    out_needs=("cast",),
)


def _cholesky_solve(self: Tensor, input2: Tensor, upper: bool = False) -> Any:
    for argument, t in (("b", self), ("u", input2)):
        if len(t._shape) < 2:
            raise RuntimeError(
                f"{argument} should have at least 2 dimensions, but has {len(t._shape)} dimensions "
                f"instead"
            )
    if input2._shape[-1] != input2._shape[-2]:
        raise RuntimeError(
            f"cholesky_solve: A must be batches of square matrices, but they are {input2._shape[-2]} "
            f"by {input2._shape[-1]} matrices"
        )
    if input2._shape[-1] != self._shape[-2]:
        raise RuntimeError(
            f"Incompatible matrix sizes for cholesky_solve: each A matrix is {input2._shape[-1]} by "
            f"{input2._shape[-1]} but each b matrix is {self._shape[-2]} by {self._shape[-1]}"
        )
    check_floating("cholesky_solve", input2)
    same_kind("cholesky_solve", self, input2, names="b and A")
    first = adjoint(input2) if upper else input2
    half = fn_linalg.solve_triangular(first, self, upper=False)
    return fn_linalg.solve_triangular(adjoint(first), half, upper=True)


op(
    "cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor",
    doc="Solution ``X`` of ``A @ X = input``, given the Cholesky factor ``input2`` of ``A``.",
    decomposition=_cholesky_solve,
    out=True,
    out_needs=("cast",),
)


def _cholesky_inverse(self: Tensor, upper: bool = False) -> Any:
    check_matrix("cholesky_inverse", self)
    if self._shape[-1] != self._shape[-2]:
        raise RuntimeError(
            f"cholesky_inverse: A must be batches of square matrices, got shape {show(self._shape)}"
        )
    return fn.cholesky_solve(identity_like(self).expand(self._shape), self, upper)


op(
    "cholesky_inverse(Tensor self, bool upper=False) -> Tensor",
    doc="Inverse of the matrix whose Cholesky factor is given.",
    decomposition=_cholesky_inverse,
    out=True,
    out_needs=("cast",),
)
