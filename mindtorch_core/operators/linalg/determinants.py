"""Determinants and their logarithms, by LU factorization."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn, fn_linalg
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...opdefs.formulas import conj
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX, finfo, int32
from .lu import inverse_from_lu
from .matrices import adjoint, check_square, diagonal_matrix, tracked


def _parity(pivots: Any, d: Any) -> Any:
    """The determinant of the permutation: 1 or -1."""
    places = fn.arange(1, pivots._shape[-1] + 1, dtype=int32, device=pivots._device)
    odd = (pivots != places).sum(-1) % 2
    return (1 - 2 * odd).to(d)


def _factors(A: Tensor) -> tuple[Any, Any]:
    factors, pivots, _ = fn_linalg.lu_factor_ex(A)
    return factors, pivots


def _det_rule(A: Tensor) -> tuple[TensorSpec, TensorSpec, TensorSpec]:
    check_square("linalg.det", A)
    pivots = TensorSpec(A._shape[:-1], int32)
    return TensorSpec(A._shape[:-2], A._dtype), TensorSpec(A._shape, A._dtype), pivots


def _det(A: Tensor) -> tuple[Any, Any, Any]:
    _det_rule(A)
    factors, pivots = _factors(A)
    value = factors.diagonal(0, -2, -1).prod(-1) * _parity(pivots, A._dtype)
    return value, factors, pivots


def _det_backward(g: Any, A: Any, result1: Any, result2: Any) -> Any:
    """``g * conj(det) * inv(A)^H``, the matrix of cofactors (Giles, 2008, section 2.2.4).

    It exists for singular matrices too: zeros on the diagonal of U are replaced by numbers that are
    too small to be noticed in the result. Their second derivatives are not defined.
    """
    factors, pivots = (result1, result2) if not tracked(g, A) else _factors(A)
    diagonal = factors.detach().diagonal(0, -2, -1)
    tiny = finfo(A._dtype.to_real()).eps
    missing = fn.where(diagonal == 0, tiny, 0).to(A._dtype)
    factors = factors + diagonal_matrix(missing)
    det = factors.diagonal(0, -2, -1).prod(-1) * _parity(pivots, A._dtype)
    inverse = inverse_from_lu(factors, pivots, of_adjoint=True)
    return (g * conj(det)).unsqueeze(-1).unsqueeze(-1) * inverse


op(
    "_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)",
    doc="Determinants, and the LU factorizations they were computed with.",
    rule=_det_rule,
    grad={"A": _det_backward},
    output_differentiability=(True, False, False),
    decomposition=_det,
    namespaces=("torch",),
)
for _name, _places, _argument in (
    ("linalg_det", ("linalg:det",), "A"),
    ("det", ("torch", "Tensor"), "self"),
):
    op(
        f"{_name}(Tensor {_argument}) -> Tensor",
        doc="Determinant of a square matrix.",
        decomposition=lambda A: fn._linalg_det(A)[0],
        out=_name == "linalg_det",
        namespaces=_places,
    )


def _slogdet_rule(A: Tensor) -> tuple[TensorSpec, TensorSpec, TensorSpec, TensorSpec]:
    check_square("linalg.slogdet", A)
    batch, d = A._shape[:-2], A._dtype
    pivots = TensorSpec(A._shape[:-1], int32)
    return TensorSpec(batch, d), TensorSpec(batch, d.to_real()), TensorSpec(A._shape, d), pivots


def _slogdet(A: Tensor) -> tuple[Any, Any, Any, Any]:
    _slogdet_rule(A)
    factors, pivots = _factors(A)
    diagonal = factors.diagonal(0, -2, -1)
    sign = diagonal.sgn().prod(-1) * _parity(pivots, A._dtype)
    return sign, diagonal.abs().log().sum(-1), factors, pivots


def _slogdet_backward(grads: Any, A: Any, result0: Any) -> Any:
    """``inv(A)^H`` times what the traces of ``inv(A) dA`` change (Giles, 2008, section 2.2.4)."""
    gsign, glog = grads[0], grads[1]
    if gsign is not None and A._dtype.category == COMPLEX:
        turn = fn.imag(conj(gsign) * result0)
        factor = fn.complex(turn * 0 if glog is None else glog, -turn)
    elif glog is None:
        return fn.zeros_like(A)
    else:
        factor = glog.to(A._dtype)
    full = factor.unsqueeze(-1).unsqueeze(-1)
    return fn_linalg.solve_ex(
        adjoint(A), full * fn.eye(A._shape[-1], dtype=A._dtype, device=A._device)
    )[0]


op(
    "_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
    doc="Sign and logarithm of determinants, and the LU factorizations they were computed with.",
    rule=_slogdet_rule,
    grad={"A": _slogdet_backward},
    output_differentiability=(True, True, False, False),
    decomposition=_slogdet,
    namespaces=("torch",),
)
for _name, _places, _argument in (
    ("linalg_slogdet", ("linalg:slogdet",), "A"),
    ("slogdet", ("torch", "Tensor"), "self"),
):
    op(
        f"{_name}(Tensor {_argument}) -> (Tensor sign, Tensor logabsdet)",
        doc="Sign of the determinant (of absolute value 1, or 0) and the logarithm of its absolute value.",
        decomposition=lambda A: tuple(fn._linalg_slogdet(A))[:2],
        out=True,
        namespaces=_places,
    )


def _logdet(self: Tensor) -> Any:
    sign, value = fn_linalg.slogdet(self)
    if self._dtype.category == COMPLEX:
        return sign.log() + value
    return fn.where(sign < 0, float("nan"), value)


op(
    "logdet(Tensor self) -> Tensor",
    doc="Logarithm of the determinant; NaN where it is negative.",
    decomposition=_logdet,
)
