"""Eigenvalues and eigenvectors."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn, fn_linalg
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...opdefs.formulas import conj
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX
from .matrices import adjoint, check_square, on_diagonal, tracked

# ---- Hermitian matrices -------------------------------------------------------------------------


def _eigh_rule(A: Tensor, UPLO: str = "L", compute_v: bool = True) -> tuple[TensorSpec, TensorSpec]:
    check_square("linalg.eigh", A)
    if len(UPLO) != 1 or UPLO.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {UPLO}")
    vectors = A._shape if compute_v else (0,)
    return TensorSpec(A._shape[:-1], A._dtype.to_real()), TensorSpec(vectors, A._dtype)


def _eigh_backward(grads: Any, result0: Any, result1: Any, compute_v: bool) -> Any:
    """``V [diag(gL) + (V^H gV) / E] V^H`` with ``E[i, j] = L[j] - L[i]`` (Giles, 2008, section 3.1)."""
    gvalues, gvectors = grads
    if not compute_v:
        raise RuntimeError(
            "linalg_eigh_backward: compute_v=False was given, but gradients need the eigenvectors"
        )
    values, vectors = result0, result1
    if gvectors is None:
        inner = vectors * gvalues.unsqueeze(-2)
        return inner.matmul(adjoint(vectors))
    turned = adjoint(vectors).matmul(gvectors)
    # Orthonormal vectors can only turn; the rest would leave the Hermitian matrices.
    inner = (turned - adjoint(turned)) / 2
    apart = on_diagonal(values.unsqueeze(-2) - values.unsqueeze(-1), 1)
    diagonal = 0 if gvalues is None else gvalues.to(vectors._dtype).unsqueeze(-1)
    inner = on_diagonal(inner / apart, diagonal)
    return vectors.matmul(inner).matmul(adjoint(vectors))


op(
    '_linalg_eigh(Tensor A, str UPLO="L", bool compute_v=True) '
    "-> (Tensor eigenvalues, Tensor eigenvectors)",
    doc="Eigenvalues of Hermitian matrices in ascending order and, if asked for, eigenvectors; one "
    "triangle is read.",
    rule=_eigh_rule,
    grad={"A": _eigh_backward},
    host=True,
    namespaces=("torch",),
)
op(
    'linalg_eigh(Tensor self, str UPLO="L") -> (Tensor eigenvalues, Tensor eigenvectors)',
    doc="Eigenvalues of a Hermitian matrix in ascending order, and its eigenvectors as columns; the "
    "lower triangle is read, or the upper ('U').",
    decomposition=lambda self, UPLO="L": tuple(fn._linalg_eigh(self, UPLO)),
    out=True,
    namespaces=("linalg:eigh",),
)
op(
    'linalg_eigvalsh(Tensor self, str UPLO="L") -> Tensor',
    doc="Eigenvalues of a Hermitian matrix in ascending order.",
    decomposition=lambda self, UPLO="L": fn._linalg_eigh(self, UPLO, tracked(self))[0],
    out=True,
    namespaces=("linalg:eigvalsh",),
)

# ---- any square matrix --------------------------------------------------------------------------


def _eig_rule(self: Tensor) -> tuple[TensorSpec, TensorSpec]:
    check_square("linalg.eig", self)
    made = self._dtype.to_complex()
    return TensorSpec(self._shape[:-1], made), TensorSpec(self._shape, made)


def _eig_backward(grads: Any, result0: Any, result1: Any, self_dtype: Any) -> Any:
    """``V^-H [diag(gL) + (V^H gV - V^H V diag(Re(V^H gV))) / conj(E)] V^H``.

    E is as for Hermitian matrices (Boeddeker et al., 2017, arXiv:1701.00392); the middle term is due
    to the eigenvectors' length being 1.
    """
    gvalues, gvectors = grads
    values, vectors = result0, result1
    if gvectors is None:
        inner = gvalues.unsqueeze(-1) * adjoint(vectors)
    else:
        turned = adjoint(vectors).matmul(gvectors)
        _check_gauge(turned)
        lengths = turned.diagonal(0, -2, -1).real.unsqueeze(-2)
        inner = turned - adjoint(vectors).matmul(vectors * lengths)
        apart = on_diagonal(values.unsqueeze(-2) - values.unsqueeze(-1), 1)
        diagonal = 0 if gvalues is None else gvalues.unsqueeze(-1)
        inner = on_diagonal(inner / conj(apart), diagonal).matmul(adjoint(vectors))
    result = fn_linalg.solve(adjoint(vectors), inner)
    return result if self_dtype.category == COMPLEX else result.real


def _check_gauge(turned: Any) -> None:
    """Refuse a loss that depends on the eigenvectors' phase, which is not determined.

    Raises:
        RuntimeError: if the gradient changes the phase.
    """
    if turned.is_meta:
        return
    phase = turned.detach().diagonal(0, -2, -1).imag.abs()
    scale = turned.detach().abs().amax((-2, -1)) if phase.numel() else phase
    if phase.numel() and bool((phase > 1e-2 * scale.unsqueeze(-1) + 1e-2).any()):
        raise RuntimeError(
            "linalg_eig_backward: The eigenvectors in the complex case are specified up to "
            "multiplication by e^{i phi}. The specified loss function depends on this quantity, so it "
            "is ill-defined."
        )


op(
    "linalg_eig(Tensor self) -> (Tensor eigenvalues, Tensor eigenvectors)",
    doc="Eigenvalues of a square matrix, in no order, and its eigenvectors of length 1 as columns; both "
    "are complex.",
    rule=_eig_rule,
    grad={"self": _eig_backward},
    host=True,
    out=True,
    namespaces=("linalg:eig",),
)
op(
    "_linalg_eigvals(Tensor self) -> Tensor",
    doc="Eigenvalues without eigenvectors.",
    rule=lambda self: _eig_rule(self)[0],
    grad="nondiff",
    host=True,
    namespaces=("torch",),
)
op(
    "linalg_eigvals(Tensor self) -> Tensor",
    doc="Eigenvalues of a square matrix, in no order.",
    decomposition=lambda self: (
        fn_linalg.eig(self)[0] if tracked(self) else fn._linalg_eigvals(self)
    ),
    out=True,
    namespaces=("linalg:eigvals",),
)
