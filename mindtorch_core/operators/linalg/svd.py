"""Singular value decompositions, and what is computed with them."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn, fn_linalg
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX
from .matrices import adjoint, check_floating, check_matrix, on_diagonal, tracked


def _svd_rule(
    A: Tensor, full_matrices: bool = False, compute_uv: bool = True, *, driver: str | None = None
) -> tuple[TensorSpec, TensorSpec, TensorSpec]:
    check_matrix("linalg.svd", A)
    check_floating("linalg.svd", A)
    if driver is not None:
        raise RuntimeError(
            f"torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with "
            f"cuSOLVER backend, got {driver!r}"
        )
    *batch, m, n = A._shape
    k = min(m, n)
    u = (*batch, m, m if full_matrices else k) if compute_uv else (0,)
    vh = (*batch, n if full_matrices else k, n) if compute_uv else (0,)
    real = A._dtype.to_real()
    return TensorSpec(u, A._dtype), TensorSpec((*batch, k), real), TensorSpec(vh, A._dtype)


def _svd_backward(grads: Any, result0: Any, result1: Any, result2: Any, compute_uv: bool) -> Any:
    """Gradient of ``A = U S V^H`` (Giles, 2008, section 3.2; Townsend, 2016; complex: Wan and Zhang, 2019).

    ``U [(skew(U^H gU) / E) S + S (skew(V^H gV) / E) + diag(gS)] V^H`` with ``E[i, j] = S[j]^2 -
    S[i]^2``, and what gU and gV have outside of the spaces of U and V. The phases of singular
    vectors are not determined, and the loss must not depend on them.
    """
    gu, gs, gvh = grads
    if not compute_uv:
        raise RuntimeError(
            "svd_backward: Setting compute_uv to false in torch.svd doesn't compute singular matrices, "
            "and hence we cannot compute backward. Please use torch.svd(compute_uv=True)"
        )
    k = result1._shape[-1]
    u, s, vh = result0.narrow(-1, 0, k), result1, result2.narrow(-2, 0, k)
    if gu is None and gvh is None:
        return (u * gs.unsqueeze(-2)).matmul(vh)
    gu = None if gu is None else gu.narrow(-1, 0, k)
    gvh = None if gvh is None else gvh.narrow(-2, 0, k)
    row, column = s.unsqueeze(-2), s.unsqueeze(-1)
    apart = on_diagonal((row - column) * (row + column), 1)
    turned_u = None if gu is None else adjoint(u).matmul(gu)
    turned_v = None if gvh is None else vh.matmul(adjoint(gvh))
    inner: Any = 0
    if turned_u is not None:
        inner = (turned_u - adjoint(turned_u)) / apart * row
    if turned_v is not None:
        inner = inner + column * ((turned_v - adjoint(turned_v)) / apart)
    diagonal: Any = 0 if gs is None else gs.to(u._dtype).unsqueeze(-1)
    if u._dtype.category == COMPLEX and turned_u is not None:
        # The phases of U's columns are taken to follow V's.
        own = turned_u.diagonal(0, -2, -1)
        diagonal = diagonal + ((own - own.conj()) / (2 * s)).unsqueeze(-1)
    inner = on_diagonal(inner, diagonal)
    m, n = u._shape[-2], vh._shape[-1]
    result = u.matmul(inner)
    if gvh is not None and n > k:  # outside of the space of V
        rest = gvh - gvh.matmul(adjoint(vh)).matmul(vh)
        return result.matmul(vh) + (u / row).matmul(rest)
    if gu is not None and m > k:
        outside = gu / row
        result = result + outside - u.matmul(adjoint(u).matmul(outside))
    return result.matmul(vh)


op(
    "_linalg_svd(Tensor A, bool full_matrices=False, bool compute_uv=True, *, str? driver=None) "
    "-> (Tensor U, Tensor S, Tensor Vh)",
    doc="Singular values in descending order and, if asked for, singular vectors.",
    rule=_svd_rule,
    grad={"A": _svd_backward},
    host=True,
    namespaces=("torch",),
)
op(
    "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None) "
    "-> (Tensor U, Tensor S, Tensor Vh)",
    doc="``A = U @ diag(S) @ Vh`` with orthonormal columns in U and rows in Vh, and singular values in "
    "descending order.",
    decomposition=lambda A, full_matrices=True, *, driver=None: tuple(
        fn._linalg_svd(A, full_matrices, True, driver=driver)
    ),
    out=True,
    namespaces=("linalg:svd",),
)
op(
    "linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor",
    doc="Singular values in descending order.",
    decomposition=lambda A, *, driver=None: fn._linalg_svd(A, False, tracked(A), driver=driver)[1],
    out=True,
    namespaces=("linalg:svdvals",),
)


def _old_svd(self: Tensor, some: bool = True, compute_uv: bool = True) -> Any:
    check_matrix("linalg.svd", self, "input")
    if compute_uv:
        u, s, vh = fn._linalg_svd(self, not some)
        return u, s, adjoint(vh)
    *batch, m, n = self._shape
    s = fn_linalg.svdvals(self)
    return self.new_zeros((*batch, m, m)), s, self.new_zeros((*batch, n, n))


op(
    "svd(Tensor self, bool some=True, bool compute_uv=True) -> (Tensor U, Tensor S, Tensor V)",
    doc="``A = U @ diag(S) @ V^H``; `torch.linalg.svd` is the newer form.",
    decomposition=_old_svd,
    out=True,
)
