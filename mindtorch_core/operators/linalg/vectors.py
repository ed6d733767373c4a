"""Products with vectors, sums of products: ``outer``, ``cross``, ``addmv``, ``baddbmm``..."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...dispatch.functions import fn, fn_linalg
from ...opdefs.define import EVERYWHERE, op
from ...opdefs.formulas import conj
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING
from ...values.promotion import WIDER, check_alpha, result_type
from ...values.shapes import broadcast, show, wrap_dim
from ...values.user_warnings import warn_user_once
from .products import check_vectors, factor, scaled

# ---- products of two ----------------------------------------------------------------------------


def _vdot(self: Tensor, other: Tensor) -> Any:
    check_vectors(self, other)
    return conj(self).matmul(other)


op(
    "vdot(Tensor self, Tensor other) -> Tensor",
    doc="Inner product of two vectors, the first one conjugated.",
    decomposition=_vdot,
    out=True,
)


def _outer(self: Tensor, vec2: Tensor) -> Any:
    for name, t in (("self", self), ("vec2", vec2)):
        if len(t._shape) != 1:
            raise RuntimeError(
                f"outer: Expected 1-D argument {name}, but got {len(t._shape)}-D; flatten() makes a "
                f"vector of a tensor"
            )
    return self.unsqueeze(1) * vec2


for _name in ("outer", "ger"):
    op(
        f"{_name}(Tensor self, Tensor vec2) -> Tensor",
        doc="Outer product of two vectors: ``result[i, j] = input[i] * vec2[j]``.",
        decomposition=_outer,
        out=True,
        out_needs=("cast",),
    )


def _inner(self: Tensor, other: Tensor) -> Any:
    if not self._shape or not other._shape:
        return self * other
    if self._shape[-1] != other._shape[-1]:
        raise RuntimeError(
            f"inner() the last dimension must match on both input tensors but got shapes "
            f"{show(self._shape)} and {show(other._shape)}"
        )
    return fn.tensordot(self, other, ([-1], [-1]))


op(
    "inner(Tensor self, Tensor other) -> Tensor",
    doc="Sums of products along the last dimension of both tensors.",
    decomposition=_inner,
    out=True,
)


def _vecdot(x: Tensor, y: Tensor, *, dim: int = -1) -> Any:
    if x._dtype.category < FLOATING:
        raise RuntimeError(
            f"linalg.vecdot: Expected a floating point or complex tensor as input. Got "
            f"{x._dtype.label}"
        )
    if x._dtype is not y._dtype:
        raise RuntimeError(
            f"linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{x._dtype.label} and y of type {y._dtype.label} instead"
        )
    shape = broadcast(x._shape, y._shape)
    return (conj(x) * y).sum(wrap_dim(dim, len(shape)))


op(
    "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1) -> Tensor",
    doc="Inner products along one dimension, the first factor conjugated.",
    decomposition=_vecdot,
    out=True,
    namespaces=("linalg:vecdot",),
)


def _rotated(t: Any, dim: int, by: int) -> Any:
    return fn.cat([t.narrow(dim, by, 3 - by), t.narrow(dim, 0, by)], dim)


def _linalg_cross(self: Tensor, other: Tensor, *, dim: int = -1) -> Any:
    if len(self._shape) != len(other._shape):
        raise RuntimeError(
            f"linalg.cross: inputs must have the same number of dimensions, got "
            f"{len(self._shape)} and {len(other._shape)}"
        )
    if self._dtype is not other._dtype:
        raise RuntimeError(
            f"expected scalar type {self._dtype.label} but found {other._dtype.label}: linalg.cross takes "
            f"vectors of one dtype"
        )
    at = wrap_dim(dim, len(self._shape))
    if self._shape[at] != 3 or other._shape[at] != 3:
        raise RuntimeError(
            f"linalg.cross: inputs dimension {dim} must have length 3. Got {self._shape[at]} and "
            f"{other._shape[at]}"
        )
    turned, back = _rotated(self, at, 1) * _rotated(other, at, 2), _rotated(self, at, 2)
    return turned - back * _rotated(other, at, 1)


op(
    "linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
    doc="Cross product of vectors with three elements along one dimension.",
    decomposition=_linalg_cross,
    out=True,
    namespaces=("linalg:cross",),
)


def _cross(self: Tensor, other: Tensor, dim: int | None = None) -> Any:
    if dim is None:
        if len(self._shape) != len(other._shape):
            raise RuntimeError(
                f"inconsistent tensors dimensions input: {len(self._shape)} other: {len(other._shape)}"
            )
        threes = [i for i, n in enumerate(self._shape) if n == 3]
        if not threes:
            raise RuntimeError(f"no dimension of size 3 in input of shape {show(self._shape)}")
        dim = threes[0]
        warn_user_once(
            "Using torch.cross without specifying the dim arg is deprecated: it takes the first dimension of "
            "size 3, and torch.linalg.cross the last"
        )
    return fn_linalg.cross(self, other, dim=dim)


op(
    "cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
    doc="Cross product along ``dim``, by default the first dimension of size 3.",
    decomposition=_cross,
    out=True,
)


def _kron(self: Tensor, other: Tensor) -> Any:
    rank = max(len(self._shape), len(other._shape))
    a = (1,) * (rank - len(self._shape)) + self._shape
    b = (1,) * (rank - len(other._shape)) + other._shape
    left: Any = self.reshape([n for size in a for n in (size, 1)])
    right = other.reshape([n for size in b for n in (1, size)])
    return (left * right).reshape([n * m for n, m in zip(a, b, strict=True)])


op(
    "kron(Tensor self, Tensor other) -> Tensor",
    doc="Kronecker product: every element of ``input`` times the whole of ``other``, as blocks.",
    decomposition=_kron,
    out=True,
    out_needs=("cast",),
)


def _trace(self: Tensor) -> Any:
    if len(self._shape) != 2:
        raise RuntimeError(f"trace: expected a matrix, but got tensor with dim {len(self._shape)}")
    return self.diagonal().sum()


op(
    "trace(Tensor self) -> Tensor",
    doc="Sum of the diagonal of a matrix.",
    decomposition=_trace,
)

# ---- sums of products ---------------------------------------------------------------------------


def _onto(self: Tensor, product: Any, beta: Any, alpha: Any) -> Any:
    """``beta * self + alpha * product`` in the product's shape; NaN in self do not count if beta is 0."""
    alpha, beta = factor(alpha, product._dtype), factor(beta, product._dtype)
    if broadcast(self._shape, product._shape) != product._shape:
        raise RuntimeError(
            f"The expanded size of the tensor {show(self._shape)} must match the result's: "
            f"{show(product._shape)}"
        )
    product = scaled(product, alpha)
    return product if beta == 0 else scaled(self, beta) + product


def _in_single(made: Callable[..., Any]) -> Callable[..., Any]:
    """Compute sums of half precision in float32, rounding once."""

    def computed(self: Tensor, a: Tensor, b: Tensor, **factors: Any) -> Any:
        wide = WIDER.get(self._dtype)
        if wide is None or a._dtype is not self._dtype or b._dtype is not self._dtype:
            return made(self, a, b, **factors)
        result: Any = made(self.to(wide), a.to(wide), b.to(wide), **factors)
        return result.to(self._dtype)

    return computed


def _one_dtype(said: str, *tensors: Tensor) -> None:
    """Refuse tensors of several dtypes, in PyTorch's words; what is found fills those of ``said``."""
    if any(t._dtype is not tensors[0]._dtype for t in tensors):
        raise RuntimeError(said.format(*(t._dtype.label for t in tensors)))


def _addmv(self: Tensor, mat: Tensor, vec: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    _one_dtype(
        "addmv input tensors must have the same dtype, but got {}, {}, and {}", self, mat, vec
    )
    if len(mat._shape) != 2 or len(vec._shape) != 1 or len(self._shape) > 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {len(self._shape)}, {len(mat._shape)}, "
            f"{len(vec._shape)}"
        )
    return _onto(self, mat.matmul(vec), beta, alpha)


def _addr(self: Tensor, vec1: Tensor, vec2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    for name, t in (("vec1", vec1), ("vec2", vec2)):
        if len(t._shape) != 1:
            raise RuntimeError(
                f"addr: Expected 1-D argument {name}, but got {len(t._shape)}-D; flatten() makes a "
                f"vector of a tensor"
            )
    d = result_type(self, vec1, vec2)
    check_alpha(beta, d, "beta")
    check_alpha(alpha, d)
    return _onto(self, vec1.unsqueeze(1) * vec2, beta, alpha)


def _baddbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    _one_dtype(
        "Input dtypes must be the same, got: input {}, batch1: {}, batch2: {}", self, batch1, batch2
    )
    return _onto(self, batch1.bmm(batch2), beta, alpha)


def _addbmm(self: Tensor, batch1: Tensor, batch2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    _one_dtype("self and mat2 must have the same dtype, but got {} and {}", self, batch2)
    for t in (batch1, batch2):
        if len(t._shape) != 3:
            raise RuntimeError(f"addbmm: batches must be 3D tensors, got {len(t._shape)}D")
    if batch1._shape[0] != batch2._shape[0] or batch1._shape[2] != batch2._shape[1]:
        raise RuntimeError(
            f"addbmm: Incompatible matrix sizes for bmm, batches of shapes {show(batch1._shape)} and "
            f"{show(batch2._shape)}"
        )
    # A sum over batches of products is one product of matrices laid side by side.
    batch, rows, inner = batch1._shape
    left: Any = batch1.transpose(0, 1).reshape(rows, batch * inner)
    return _onto(self, left.mm(batch2.reshape(batch * inner, batch2._shape[2])), beta, alpha)


for _name, _operands, _doc, _made in (
    ("addmv", "Tensor mat, Tensor vec", "``beta * input + alpha * (mat @ vec)``.", _addmv),
    ("addr", "Tensor vec1, Tensor vec2", "``beta * input + alpha * outer(vec1, vec2)``.", _addr),
    (
        "baddbmm",
        "Tensor batch1, Tensor batch2",
        "``beta * input + alpha * (batch1 @ batch2)``, batch by batch.",
        _baddbmm,
    ),
    (
        "addbmm",
        "Tensor batch1, Tensor batch2",
        "``beta * input + alpha * (batch1 @ batch2).sum(0)``.",
        _addbmm,
    ),
):
    op(
        f"{_name}(Tensor self, {_operands}, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
        doc=_doc,
        decomposition=_in_single(_made),
        older_form=True,
        inplace=True,
        inplace_namespaces=EVERYWHERE if _name == "addmv" else ("Tensor",),  # as PyTorch has them
        out=True,
        out_needs=("cast",) if _name == "addr" else (),
    )
