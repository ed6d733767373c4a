"""QR factorizations, and the reflections they are made of."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn, fn_linalg
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...opdefs.formulas import conj
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING, bool_
from ...values.promotion import WIDER
from ...values.shapes import show
from ...values.user_warnings import warn_user_once
from .matrices import (
    adjoint,
    check_floating,
    check_matrix,
    identity_like,
    lower,
    on_diagonal,
    tracked,
    upper_part,
)

_MODES = ("reduced", "complete", "r")


def _qr_rule(A: Tensor, mode: str = "reduced") -> tuple[TensorSpec, TensorSpec]:
    check_matrix("linalg.qr", A)
    check_floating("linalg.qr", A)
    if mode not in _MODES:
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or "
            f"'complete'"
        )
    *batch, m, n = A._shape
    k = m if mode == "complete" else min(m, n)
    q = (0,) if mode == "r" else (*batch, m, k)
    return TensorSpec(tuple(q), A._dtype), TensorSpec((*batch, k, n), A._dtype)


def _qr_backward(grads: Any, result0: Any, result1: Any, mode: str) -> Any:
    """Gradient of ``A = Q R`` (Walter and Lehmann, 2010; Roberts and Roberts, 2020).

    For tall matrices ``gA = [gQ + Q copyltu(gR R^H - ...)] R^-H``. Of a wide one the first columns are
    factored so, and the others only multiplied by ``Q^H``.
    """
    gq, gr = grads
    if mode == "r":
        raise RuntimeError(
            "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
            "torch.linalg.qr(A, mode='reduced') if you are going to require gradients."
        )
    m, n = result0._shape[-2], result1._shape[-1]
    if mode == "complete" and m > n:
        raise RuntimeError(
            "The QR decomposition is not differentiable when mode='complete' and nrows > ncols"
        )
    q, r = result0, result1
    gq = fn.zeros_like(q) if gq is None else gq
    gr = fn.zeros_like(r) if gr is None else gr
    if m >= n:
        return _tall_backward(gq, gr, q, r)
    first, rest = r.narrow(-1, 0, m), r.narrow(-1, m, n - m)
    gfirst, grest = gr.narrow(-1, 0, m), gr.narrow(-1, m, n - m)
    gq = gq + q.matmul(rest).matmul(adjoint(grest))
    return fn.cat([_tall_backward(gq, gfirst, q, first), q.matmul(grest)], -1)


def _tall_backward(gq: Any, gr: Any, q: Any, r: Any) -> Any:
    inner = upper_part(gr.matmul(adjoint(r)) - adjoint(q).matmul(gq))
    inner = inner + adjoint(upper_part(inner, 1))
    if inner._dtype.is_complex:  # the diagonal of R is real
        inner = on_diagonal(inner, inner.real.to(inner._dtype))
    return fn_linalg.solve_triangular(adjoint(r), gq + q.matmul(inner), upper=False, left=False)


op(
    'linalg_qr(Tensor A, str mode="reduced") -> (Tensor Q, Tensor R)',
    doc="``A = Q @ R`` with orthonormal columns in Q and a triangular R; modes are 'reduced', "
    "'complete' (a square Q) and 'r' (no Q).",
    rule=_qr_rule,
    grad={"A": _qr_backward},
    host=True,
    out=True,
    namespaces=("linalg:qr",),
)


def _older_qr(self: Tensor, some: bool = True) -> Any:
    mode = "reduced" if some else "complete"
    warn_user_once(
        "torch.qr is deprecated in favor of torch.linalg.qr: write torch.linalg.qr(A), and for some=False "
        "torch.linalg.qr(A, 'complete')"
    )
    return tuple(fn_linalg.qr(self, mode))


op(
    "qr(Tensor self, bool some=True) -> (Tensor Q, Tensor R)",
    doc="``A = Q @ R``; `torch.linalg.qr` is the newer form.",
    decomposition=_older_qr,
    out=True,
)


def _geqrf_rule(self: Tensor) -> tuple[TensorSpec, TensorSpec]:
    check_matrix("torch.geqrf", self, "input")
    check_floating("torch.geqrf", self)
    *batch, m, n = self._shape
    return TensorSpec(self._shape, self._dtype), TensorSpec((*batch, min(m, n)), self._dtype)


op(
    "geqrf(Tensor self) -> (Tensor a, Tensor tau)",
    doc="A QR factorization as LAPACK packs it: R above, Householder vectors below the diagonal, and "
    "their scales.",
    rule=_geqrf_rule,
    host=True,
    out=True,
)

# ---- reflections --------------------------------------------------------------------------------


def _reflections_rule(input: Tensor, tau: Tensor) -> TensorSpec:
    name = "torch.linalg.householder_product"
    check_matrix(name, input, "input")
    check_floating(name, input)
    m, n = input._shape[-2:]
    if m < n:
        raise RuntimeError(
            f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1], got {m} and {n}"
        )
    if n < tau._shape[-1]:
        raise RuntimeError(
            f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1], got {n} and "
            f"{tau._shape[-1]}"
        )
    if len(input._shape) - len(tau._shape) != 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to "
            f"{len(tau._shape)} and input.ndim is equal to {len(input._shape)}"
        )
    if tau._shape[:-1] != input._shape[:-2]:
        raise RuntimeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{show(tau._shape[:-1])}"
        )
    if tau._dtype is not input._dtype:
        raise RuntimeError(
            f"{name}: tau dtype {tau._dtype.label} does not match input dtype {input._dtype.label}"
        )
    if tau._device != input._device:
        raise RuntimeError(
            f"{name}: Expected tau and input tensors to be on the same device, but got tau on "
            f"{tau._device} and input on {input._device}"
        )
    return TensorSpec(input._shape, input._dtype)


def reflected(input: Any, tau: Any, other: Any, *, from_last: bool, adjoint: bool = False) -> Any:
    """``other`` after the reflections ``1 - tau v v^H``, one after the other.

    Args:
        input: has the vectors in its columns, below a diagonal of ones that is not stored.
        tau: the scales.
        other: what is multiplied from the left.
        from_last: whether the last reflection comes first.
        adjoint: whether each is replaced by its adjoint.
    """
    count = tau._shape[-1]
    vectors = on_diagonal(lower(input, -1), 1)
    for i in reversed(range(count)) if from_last else range(count):
        v, scale = vectors.narrow(-1, i, 1), tau.narrow(-1, i, 1).unsqueeze(-1)
        scale = conj(scale) if adjoint else scale
        other = other - scale * v.matmul(conj(v).transpose(-1, -2).matmul(other))
    return other


def _householder(input: Tensor, tau: Tensor) -> Any:
    _reflections_rule(input, tau)
    if not tracked(input, tau):
        return fn._householder_product(input, tau)
    m, n = input._shape[-2:]
    # What is above the diagonal, or beyond tau, has gradient zero rather than none.
    never = fn.full((), False, dtype=bool_, device=input._device)
    first = fn.where(never, input, identity_like(input, m).narrow(-1, 0, n))
    return reflected(input, tau, first, from_last=True)


op(
    "_householder_product(Tensor input, Tensor tau) -> Tensor",
    doc="The first columns of a product of reflections, by LAPACK.",
    rule=_reflections_rule,
    grad="nondiff",
    host=True,
    namespaces=("torch",),
)
op(
    "linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
    doc="The first columns of the product of the reflections ``1 - tau v v^H`` that `torch.geqrf` gives.",
    decomposition=_householder,
    out=True,
    namespaces=("linalg:householder_product",),
    out_needs=("cast",),
)
op(
    "orgqr(Tensor self, Tensor input2) -> Tensor",
    doc="`torch.linalg.householder_product` under LAPACK's name.",
    decomposition=lambda self, input2: fn_linalg.householder_product(self, input2),
    out=True,
    out_needs=("cast",),
)


def _check_ormqr(self: Tensor, input2: Tensor, input3: Tensor, left: bool) -> None:
    name = "torch.ormqr"
    for argument, t in (("input", self), ("other", input3)):
        if len(t._shape) < 2:
            raise RuntimeError(f"{name}: {argument} must have at least 2 dimensions.")
    side = -2 if left else -1
    if input3._shape[side] < input2._shape[-1]:
        raise RuntimeError(
            f"{name}: other.shape[{side}] must be greater than or equal to tau.shape[-1]"
        )
    if input3._shape[side] != self._shape[-2]:
        raise RuntimeError(f"{name}: other.shape[{side}] must be equal to input.shape[-2]")
    if input2._shape[-1:] != (min(input3._shape[side], self._shape[-1]),):
        raise RuntimeError(
            f"{name}: tau.shape[-1] must be equal to min(other.shape[{side}], input.shape[-1])"
        )
    if len(self._shape) - len(input2._shape) != 1 or len(self._shape) != len(input3._shape):
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, and other as many as input, "
            f"but got {len(input2._shape)}, {len(self._shape)} and {len(input3._shape)}"
        )
    for argument, shape in (("tau", input2._shape[:-1]), ("other", input3._shape[:-2])):
        if shape != self._shape[:-2]:
            raise RuntimeError(
                f"{name}: Expected batch dimensions of {argument} to be equal to input.shape[:-2], but "
                f"got {show(shape)}"
            )
    for argument, t in (("tau", input2), ("other", input3)):
        if t._dtype is not self._dtype:
            raise RuntimeError(
                f"{name}: Expected input and {argument} to have the same dtype, but input has dtype "
                f"{self._dtype} and {argument} has dtype {t._dtype}"
            )
        if t._device != self._device:
            raise RuntimeError(
                f"{name}: Expected {argument} and input tensors to be on the same device, but got "
                f"{argument} on {t._device} and input on {self._device}"
            )
    if self._dtype.category < FLOATING or self._dtype in WIDER:
        raise NotImplementedError(f"\"ormqr\" not implemented for '{self._dtype.label}'")


def _ormqr(
    self: Tensor, input2: Tensor, input3: Tensor, left: bool = True, transpose: bool = False
) -> Any:
    _check_ormqr(self, input2, input3, left)
    if left:
        return reflected(self, input2, input3, from_last=not transpose, adjoint=transpose)
    # C Q is (Q^H C^H)^H, and C Q^H is (Q C^H)^H.
    turned = reflected(self, input2, adjoint(input3), from_last=transpose, adjoint=not transpose)
    return adjoint(turned)


op(
    "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
    doc="``Q @ input3`` (``input3 @ Q`` if not ``left``; Q^H if ``transpose``) for the whole square Q of "
    "the reflections that `torch.geqrf` gives.",
    decomposition=_ormqr,
    out=True,
)
