"""LDL factorizations of symmetric matrices."""

from __future__ import annotations

from ...dispatch.functions import fn_linalg
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import INTEGER, int32
from ...values.shapes import show
from .matrices import batch_shape, check_floating, check_matrix, check_square, info_spec, same_kind


def _factor_rule(
    self: Tensor, *, hermitian: bool = False, check_errors: bool = False
) -> tuple[TensorSpec, TensorSpec, TensorSpec]:
    check_square("torch.linalg.ldl_factor_ex", self)
    pivots = TensorSpec(self._shape[:-1], int32)
    return TensorSpec(self._shape, self._dtype), pivots, info_spec(self)


op(
    "linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) "
    "-> (Tensor LD, Tensor pivots, Tensor info)",
    doc="``A = L D L^T`` (``L D L^H`` if ``hermitian``) packed in one matrix as LAPACK does (Bunch and "
    "Kaufman, 1977), the pivots, and the place of a zero in D, or 0.",
    rule=_factor_rule,
    host=True,
    out=True,
    namespaces=("linalg:ldl_factor_ex",),
)
op(
    "linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
    doc="``A = L D L^T`` (``L D L^H`` if ``hermitian``) packed in one matrix, and the pivots.",
    decomposition=lambda self, *, hermitian=False: tuple(
        fn_linalg.ldl_factor_ex(self, hermitian=hermitian, check_errors=True)
    )[:2],
    out=True,
    namespaces=("linalg:ldl_factor",),
)


def _solve_rule(LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False) -> TensorSpec:
    name = "torch.linalg.ldl_solve"
    check_matrix(name, LD, "LD")
    check_floating(name, LD)
    same_kind(name, LD, B, names="LD and B")
    if LD._shape[-1] != LD._shape[-2]:
        raise RuntimeError(f"{name}: LD must be batches of square matrices, got {show(LD._shape)}")
    if len(B._shape) < 2 or B._shape[-2] != LD._shape[-1]:
        raise RuntimeError(
            f"{name}: B must be matrices with {LD._shape[-1]} rows, got shape {show(B._shape)}"
        )
    if pivots._shape != LD._shape[:-1]:
        raise RuntimeError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape "
            f"{show(pivots._shape)} instead"
        )
    if pivots._dtype.category != INTEGER:
        raise RuntimeError(f"{name}: Expected pivots to be integers. Got {pivots._dtype}")
    return TensorSpec((*batch_shape(name, LD, B), *B._shape[-2:]), B._dtype)


op(
    "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
    doc="Solution ``X`` of ``A @ X = B``, given the LDL factorization of A.",
    rule=_solve_rule,
    host=True,
    out=True,
    namespaces=("linalg:ldl_solve",),
)
