"""Matrix products."""

from __future__ import annotations

from typing import Any, Final

from ...dispatch.calls.binding import plain_number
from ...dispatch.keys import AUTOGRAD
from ...dispatch.opdef import TensorSpec
from ...dispatch.registry import registry
from ...gradients.conform import sum_to
from ...opdefs import rules
from ...opdefs.define import op
from ...opdefs.formulas import conj
from ...tensors.tensor import Tensor
from ...values.dtypes import BOOL, COMPLEX, INTEGER, checked_number, dtype, int64
from ...values.shapes import broadcast, numel, show
from ..elementwise.composed import by_name, has_kernel


def _same_dtype(a: Tensor, b: Tensor) -> None:
    if a._dtype is not b._dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {c_name(a)} != {c_name(b)}"
        )
    if a._dtype.category == BOOL:
        raise NotImplementedError("matrix products are not implemented for 'Bool'")


def c_name(t: Tensor) -> str:
    """The C name PyTorch's messages give a dtype."""
    names = {"float32": "float", "float64": "double", "int64": "long int", "int32": "int"}
    return names.get(t._dtype.name, t._dtype.name)


def _mm(self: Tensor, mat2: Tensor) -> TensorSpec:
    if len(self._shape) != 2:
        raise RuntimeError("self must be a matrix")
    if len(mat2._shape) != 2:
        raise RuntimeError("mat2 must be a matrix")
    shape = rules.matmul_shape(self._shape, mat2._shape)
    _same_dtype(self, mat2)
    return TensorSpec(shape, self._dtype)


op(
    "mm(Tensor self, Tensor mat2) -> Tensor",
    doc="Product of two matrices.",
    rule=_mm,
    grad={
        "self": lambda g, mat2: g.mm(conj(mat2).transpose(0, 1)),
        "mat2": lambda g, self: conj(self).transpose(0, 1).mm(g),
    },
    primitive=True,
    out=True,
)


def _bmm(self: Tensor, mat2: Tensor) -> TensorSpec:
    for name, t in (("batch1", self), ("batch2", mat2)):
        if len(t._shape) != 3:
            raise RuntimeError(f"{name} must be a 3D tensor")
    want = [self._shape[0], self._shape[2]]
    if [*mat2._shape[:2]] != want:
        raise RuntimeError(
            f"Expected size for first two dimensions of batch2 tensor to be: {show(want)} but got: "
            f"{show(mat2._shape[:2])}."
        )
    _same_dtype(self, mat2)
    return TensorSpec((self._shape[0], self._shape[1], mat2._shape[2]), self._dtype)


op(
    "bmm(Tensor self, Tensor mat2) -> Tensor",
    doc="Products of matrices, batch by batch.",
    rule=_bmm,
    grad={
        "self": lambda g, mat2: g.bmm(conj(mat2).transpose(1, 2)),
        "mat2": lambda g, self: conj(self).transpose(1, 2).bmm(g),
    },
    primitive=True,
    out=True,
)


def _matmul_rule(self: Tensor, other: Tensor) -> TensorSpec:
    shape = rules.matmul_shape(self._shape, other._shape)
    _same_dtype(self, other)
    return TensorSpec(shape, self._dtype)


def _matmul(self: Tensor, other: Tensor) -> Tensor:
    a, b = len(self._shape), len(other._shape)
    if a == 2 and b == 2:
        return self.mm(other)
    shape = _matmul_rule(self, other).shape
    if a == 1 and b == 1:
        return (self * other).sum(dtype=self._dtype)
    if a == 1:
        return _matmul(self.unsqueeze(0), other).squeeze(-2)
    if b == 1:
        return _matmul(self, other.unsqueeze(1)).squeeze(-1)
    if b == 2:  # fold the batch into the rows
        rows = numel(self._shape[:-1])
        return self.reshape(rows, self._shape[-1]).mm(other).view(shape)
    batch = broadcast(self._shape[:-2], other._shape[:-2])
    count = numel(batch)
    left = self.expand((*batch, *self._shape[-2:])).reshape(count, *self._shape[-2:])
    right = other.expand((*batch, *other._shape[-2:])).reshape(count, *other._shape[-2:])
    return left.bmm(right).view(shape)


def _matmul_grad_self(g: Any, self_shape: Any, other: Any) -> Any:
    if len(self_shape) == 2 and len(other._shape) == 2:
        return g.mm(conj(other).transpose(0, 1))
    if len(self_shape) == 1 and len(other._shape) == 1:
        return g * conj(other)
    g, other = _as_matrices(g, len(self_shape), other, True)
    grad = g.matmul(conj(other).transpose(-1, -2))
    if len(self_shape) == 1:
        grad = grad.squeeze(-2)
    return sum_to(grad, self_shape)


def _matmul_grad_other(g: Any, self: Any, other_shape: Any) -> Any:
    if len(self._shape) == 2 and len(other_shape) == 2:
        return conj(self).transpose(0, 1).mm(g)
    if len(self._shape) == 1 and len(other_shape) == 1:
        return g * conj(self)
    g, self = _as_matrices(g, len(other_shape), self, False)
    grad = conj(self).transpose(-1, -2).matmul(g)
    if len(other_shape) == 1:
        grad = grad.squeeze(-1)
    return sum_to(grad, other_shape)


def _as_matrices(g: Any, rank: int, partner: Any, left: bool) -> tuple[Any, Any]:
    """Give the gradient and the partner of a vector operand their missing dimension."""
    if left:  # gradient of the left operand, of rank `rank`; partner is the right operand
        if rank == 1:
            g = g.unsqueeze(-2)
        if len(partner._shape) == 1:
            g, partner = g.unsqueeze(-1), partner.unsqueeze(1)
    else:
        if rank == 1:
            g = g.unsqueeze(-1)
        if len(partner._shape) == 1:
            g, partner = g.unsqueeze(-2), partner.unsqueeze(0)
    return g, partner


op(
    "matmul(Tensor self, Tensor other) -> Tensor",
    doc="Matrix product; vectors gain a dimension, leading dimensions broadcast.",
    rule=_matmul_rule,
    grad={"self": _matmul_grad_self, "other": _matmul_grad_other},
    decomposition=_matmul,
    out=True,
    operators=("__matmul__",),
)
op(
    "_rmatmul(Tensor self, Tensor other) -> Tensor",
    doc="``other @ input``.",
    decomposition=lambda self, other: other.matmul(self),
    operators=("__rmatmul__",),
    namespaces=(),
)


def _addmm_rule(
    self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1
) -> TensorSpec:
    made = _mm_named(mat1, mat2)
    if self._dtype is not mat1._dtype:
        raise RuntimeError(
            f"self and mat2 must have the same dtype, but got {self._dtype.label} and {mat2._dtype.label}"
        )
    try:
        fits = broadcast(self._shape, made.shape) == made.shape
    except RuntimeError:
        fits = False
    if not fits:
        raise RuntimeError(
            f"The expanded size of the tensor ({made.shape[-1]}) must match the existing size "
            f"({self._shape[-1]}) at non-singleton dimension 1.  Target sizes: {show(made.shape)}.  "
            f"Tensor sizes: {show(self._shape)}"
        )
    return made


def _mm_named(mat1: Tensor, mat2: Tensor) -> TensorSpec:
    for name, t in (("mat1", mat1), ("mat2", mat2)):
        if len(t._shape) != 2:
            raise RuntimeError(f"{name} must be a matrix, got {len(t._shape)}-D tensor")
    return _mm(mat1, mat2)


def scaled(t: Any, by: Any) -> Any:
    """A tensor times a number; itself where that is 1."""
    return t if by == 1 else t * by


def factor(value: Any, d: dtype) -> Any:
    """A factor as the result's dtype allows it: whole for integers.

    Raises:
        RuntimeError: if an integer dtype cannot hold it.
    """
    value = plain_number(value)
    if d.category == COMPLEX or not isinstance(value, int | float):
        return value
    if d.category == INTEGER:
        return checked_number(value, d)
    return (bool, int, float)[d.category](value)


op(
    "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    doc="``beta * input + alpha * (mat1 @ mat2)``.",
    rule=_addmm_rule,
    grad={
        "self": lambda g, self_shape, beta: scaled(sum_to(g, self_shape), conj(beta)),
        "mat1": lambda g, mat2, alpha: scaled(g.mm(conj(mat2).transpose(0, 1)), conj(alpha)),
        "mat2": lambda g, mat1, alpha: scaled(conj(mat1).transpose(0, 1).mm(g), conj(alpha)),
    },
    decomposition=lambda self, mat1, mat2, *, beta=1, alpha=1: _addmm(
        self, mat1, mat2, beta, alpha
    ),
    older_form=True,
    inplace=True,
    out=True,
)
op(
    "_sparse_addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
    doc="`addmm` of a sparse matrix, by the name that PyTorch's op has.",
    decomposition=lambda self, mat1, mat2, *, beta=1, alpha=1: (
        scaled(self, beta) + scaled(mat1 @ mat2, alpha)
    ),
    namespaces=(),
)
op(
    "_sparse_mm_reduce_impl(Tensor self, Tensor other, str reduce) -> (Tensor, Tensor)",
    doc="`torch.sparse.mm` with a reduction, by the name that PyTorch's op has; the second result is empty.",
    decomposition=lambda self, other, reduce: _joined(self, other, reduce),
    namespaces=(),
)


def _joined(self: Tensor, other: Tensor, reduce: str) -> tuple[Tensor, Tensor]:
    from ...frontend.sparse_functions import joined_products  # makes a class of tensors

    return joined_products(self, other, reduce), other.new_empty(0, dtype=int64)


def _addmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Any, alpha: Any) -> Tensor:
    _addmm_rule(self, mat1, mat2)
    alpha, beta = factor(alpha, self._dtype), factor(beta, self._dtype)
    product = scaled(mat1.mm(mat2), alpha)
    result: Tensor = product if beta == 0 else product + scaled(self, beta)
    return result


def check_vectors(a: Tensor, b: Tensor) -> None:
    """Refuse what are no two vectors of one dtype.

    Raises:
        RuntimeError: in PyTorch's words.
    """
    if len(a._shape) != 1 or len(b._shape) != 1:
        raise RuntimeError(
            f"1D tensors expected, but got {len(a._shape)}D and {len(b._shape)}D tensors"
        )
    if a._dtype is not b._dtype:
        raise RuntimeError(
            f"dot : expected both vectors to have same dtype, but found {a._dtype.label} and "
            f"{b._dtype.label}"
        )


def _dot(self: Tensor, tensor: Tensor) -> Tensor:
    check_vectors(self, tensor)
    return self.matmul(tensor)


op(
    "dot(Tensor self, Tensor tensor) -> Tensor",
    doc="Inner product of two vectors.",
    decomposition=_dot,
    out=True,
)


def _mv(self: Tensor, vec: Tensor) -> Tensor:
    if len(self._shape) != 2 or len(vec._shape) != 1:
        raise RuntimeError(
            f"vector + matrix @ vector expected, got {len(self._shape)}, {len(vec._shape)}"
        )
    return self.matmul(vec)


op(
    "mv(Tensor self, Tensor vec) -> Tensor",
    doc="Product of a matrix and a vector.",
    decomposition=_mv,
    out=True,
)


def _linear_rule(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> TensorSpec:
    if len(weight._shape) not in (1, 2):
        raise RuntimeError(
            f"linear(): weight must have 1 or 2 dimensions, got {len(weight._shape)}"
        )
    shape = rules.matmul_shape(input._shape, tuple(reversed(weight._shape)))
    if bias is not None and input._dtype is not weight._dtype:
        raise RuntimeError(
            f"mat1 and mat2 must have the same dtype, but got {input._dtype.label} and "
            f"{weight._dtype.label}"
        )
    _same_dtype(input, weight)
    if bias is not None and broadcast(bias._shape, shape) != shape:
        raise RuntimeError(
            f"linear(): bias of shape {show(bias._shape)} does not fit a result of shape {show(shape)}"
        )
    return TensorSpec(shape, input._dtype)


def _linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    _linear_rule(input, weight, bias)
    product = input.matmul(weight.t())
    return product if bias is None else product + bias


def _rows(t: Any) -> Any:
    """A tensor as a matrix of its last dimension's rows."""
    return t if len(t._shape) == 2 else t.reshape(numel(t._shape[:-1]), t._shape[-1])


def _linear_grad_input(g: Any, weight: Any) -> Any:
    if len(weight._shape) == 1:
        return g.unsqueeze(-1) * conj(weight)
    return g.matmul(conj(weight))


def _linear_grad_weight(g: Any, input: Any, weight_shape: Any) -> Any:
    if len(weight_shape) == 1:
        return g.reshape(-1).matmul(conj(_rows(input)))
    return _rows(g).transpose(0, 1).mm(conj(_rows(input)))


def _linear_grads(
    g: Any, input: Any, weight: Any, weight_shape: Any, bias_shape: Any, wanted: Any
) -> tuple[Any, Any, Any]:
    """Gradients of `linear`; those of a matrix at once where the device has a kernel for that."""
    if _has_own(g) and len(weight_shape) == 2 and (bias_shape is None or len(bias_shape) == 1):
        found: tuple[Any, Any, Any] = by_name("linear_backward")(input, g, weight, list(wanted))
        return found
    return (
        _linear_grad_input(g, weight) if wanted[0] else None,
        _linear_grad_weight(g, input, weight_shape) if wanted[1] else None,
        sum_to(g, bias_shape) if wanted[2] else None,
    )


def _has_own(t: Any) -> bool:
    """Whether the tensor's backend has a kernel of its own for `linear_backward`."""
    return len(_BACKWARD.kernels) > 1 and has_kernel("linear_backward", t)


op(
    "linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
    doc="``input @ weight.T + bias``; weight is (out_features, in_features).",
    rule=_linear_rule,
    grad=dict.fromkeys(("input", "weight", "bias"), _linear_grads),
    saved_if={
        "input": lambda weight: weight._keys & AUTOGRAD or _has_own(weight),
        "weight": lambda input: input._keys & AUTOGRAD or _has_own(input),
    },
    decomposition=_linear,
    out=True,
    namespaces=("nn",),
)


def _linear_backward(
    self: Any, grad_output: Any, weight: Any, output_mask: Any
) -> tuple[Any, Any, Any]:
    inputs, weights, biases = output_mask
    return (
        _linear_grad_input(grad_output, weight) if inputs else None,
        _linear_grad_weight(grad_output, self, weight._shape) if weights else None,
        _rows(grad_output).sum(0) if biases else None,
    )


op(
    "linear_backward(Tensor self, Tensor grad_output, Tensor weight, bool[3] output_mask) -> "
    "(Tensor, Tensor, Tensor)",
    doc="Gradients of `linear` for input, weight and bias; None where the mask is false.",
    decomposition=_linear_backward,
    namespaces=(),
)
_BACKWARD: Final = registry.entry("aten::linear_backward")  # which takes long to look up
