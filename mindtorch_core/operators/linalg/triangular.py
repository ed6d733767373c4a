"""Solving with triangular matrices."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn_linalg
from ...dispatch.opdef import TensorSpec
from ...gradients.conform import sum_to
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.user_warnings import warn_user_once
from .matrices import (
    adjoint,
    batch_shape,
    check_floating,
    check_matrix,
    lower,
    same_kind,
    upper_part,
)


def check_system(name: str, a: Tensor, b: Tensor, left: bool) -> tuple[int, ...]:
    """Shape of the solution of ``a @ X = b`` (or ``X @ a = b``).

    Raises:
        RuntimeError: if the arguments do not fit together.
    """
    check_matrix(name, a)
    check_matrix(name, b, "B")
    same_kind(name, a, b)
    if a._shape[-1] != a._shape[-2]:
        raise RuntimeError(
            f"{name}: A must be batches of square matrices, but they are {a._shape[-2]} by "
            f"{a._shape[-1]} matrices"
        )
    check_floating(name, a)
    if a._shape[-1] != b._shape[-2 if left else -1]:
        order = "AX = B" if left else "XA = B"
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {order} "
            f"({a._shape[-2]}x{a._shape[-1]} and {b._shape[-2]}x{b._shape[-1]})"
        )
    return (*batch_shape(name, a, b), *b._shape[-2:])


def _rule(
    self: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False
) -> TensorSpec:
    return TensorSpec(check_system("linalg.solve_triangular", self, B, left), B._dtype)


def _grad_matrix(
    g: Any, result: Any, self: Any, upper: bool, left: bool, unitriangular: bool
) -> Any:
    """``-gB @ X^H``, where gB is the gradient of the right side; only the triangle counts."""
    inner = _grad_right(g, self, upper, left, unitriangular)
    full = inner.matmul(adjoint(result)) if left else adjoint(result).matmul(inner)
    full = sum_to(-full, self._shape)
    if upper:
        return upper_part(full, int(unitriangular))
    return lower(full, -int(unitriangular))


def _grad_right(g: Any, self: Any, upper: bool, left: bool, unitriangular: bool) -> Any:
    return fn_linalg.solve_triangular(
        adjoint(self), g, upper=not upper, left=left, unitriangular=unitriangular
    )


op(
    "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, "
    "bool unitriangular=False) -> Tensor",
    doc="Solution ``X`` of ``A @ X = B`` (``X @ A = B`` if not ``left``) for a triangular matrix ``A``; "
    "its other triangle, and its diagonal if ``unitriangular``, are not read.",
    rule=_rule,
    grad={
        "self": _grad_matrix,
        "B": lambda g, self, B_shape, upper, left, unitriangular: sum_to(
            _grad_right(g, self, upper, left, unitriangular), B_shape
        ),
    },
    host=True,
    out=True,
    namespaces=("linalg:solve_triangular",),
)


def _triangular_solve(
    self: Tensor,
    A: Tensor,
    upper: bool = True,
    transpose: bool = False,
    unitriangular: bool = False,
) -> tuple[Tensor, Tensor]:
    for argument, t in (("b", self), ("A", A)):
        if len(t._shape) < 2:
            raise RuntimeError(
                f"torch.triangular_solve: Expected {argument} to have at least 2 dimensions, but it "
                f"has {len(t._shape)} dimensions instead"
            )
    warn_user_once(
        "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangular, whose first "
        "argument is A: write torch.linalg.solve_triangular(A, B, upper=upper)"
    )
    matrix = A.transpose(-1, -2) if transpose else A
    solution = fn_linalg.solve_triangular(
        matrix, self, upper=upper != transpose, unitriangular=unitriangular
    )
    shape = (*batch_shape("torch.triangular_solve", self, A), *A._shape[-2:])
    return solution, A.expand(shape).clone()


op(
    "triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, "
    "bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
    doc="Solution of ``A @ X = input`` for a triangular matrix, and a copy of it; "
    "`torch.linalg.solve_triangular` is the newer form.",
    decomposition=_triangular_solve,
    out=True,
)
