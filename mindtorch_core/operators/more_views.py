"""Further views: windows, complex numbers as pairs, parts by number, other names of views."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..autograd.formulas import as_strided_backward
from ..dtypes import COMPLEX, FLOATING, float32, int64
from ..shapes import Shape, contiguous_strides, wrap_dim
from ..tensor import Tensor
from .define import TensorSpec, fn, op
from .views import spec, view

__all__: list[str] = []

# ---- windows ------------------------------------------------------------------------------------


def _windows(shape: Shape, strides: Shape, at: int, size: int, step: int) -> tuple[Shape, Shape]:
    """Shape and strides of the windows along a dimension; each one's elements come last."""
    if not shape:
        return (size,), (1,)
    count = (shape[at] - size) // step + 1
    return (
        (*shape[:at], count, *shape[at + 1 :], size),
        (*strides[:at], strides[at] * step, *strides[at + 1 :], strides[at]),
    )


def _unfold(self: Tensor, dimension: int, size: int, step: int) -> TensorSpec:
    shape = self._shape
    at = wrap_dim(dimension, len(shape))
    most = shape[at] if shape else 1
    if size < 0:
        raise RuntimeError(f"size is {size} but must be >= 0")
    if size > most:
        raise RuntimeError(
            f"maximum size for tensor at dimension {at} is {most} but size is {size}"
        )
    if step <= 0:
        raise RuntimeError(f"step is {step} but must be > 0")
    return spec(self, *_windows(shape, self._geometry()[0], at, size, step))


def _unfold_back(g: Any, self_shape: Shape, dimension: int, size: int, step: int) -> Any:
    strides = contiguous_strides(self_shape)
    at = wrap_dim(dimension, len(self_shape))
    windows = _windows(self_shape, strides, at, size, step)
    return as_strided_backward(g, (self_shape, strides, 0), (*windows, 0))


view(
    "unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
    "Windows of ``size`` elements, ``step`` apart, along a dimension; they overlap in memory.",
    _unfold,
    _unfold_back,
    namespaces=("Tensor",),
)

# ---- complex numbers ----------------------------------------------------------------------------


def _view_as_real(self: Tensor) -> TensorSpec:
    if self._dtype.category != COMPLEX:
        raise RuntimeError("view_as_real is only supported for complex tensors")
    strides, offset = self._geometry()
    pairs = (*(2 * s for s in strides), 1)
    return TensorSpec((*self._shape, 2), self._dtype.to_real(), pairs, 2 * offset)


def _view_as_complex(self: Tensor) -> TensorSpec:
    shape, d = self._shape, self._dtype
    if d.category != FLOATING or d.itemsize < float32.itemsize:
        raise RuntimeError(
            f"view_as_complex is only supported for half, float and double tensors, but got a tensor "
            f"of scalar type: {d.label}. There are no complex numbers of half precision here."
        )
    if not shape:
        raise RuntimeError("Input tensor must have one or more dimensions")
    if shape[-1] != 2:
        raise RuntimeError("Tensor must have a last dimension of size 2")
    strides, offset = self._geometry()
    if strides[-1] != 1:
        raise RuntimeError("Tensor must have a last dimension with stride 1")
    if any(s % 2 for s in strides[:-1]):
        raise RuntimeError("Tensor must have a stride divisible by 2 for all but last dimension")
    if offset % 2:
        raise RuntimeError("Tensor must have a storage_offset divisible by 2")
    halves = tuple(s // 2 for s in strides[:-1])
    return TensorSpec(shape[:-1], d.to_complex(), halves, offset // 2)


view(
    "view_as_real(Tensor(a) self) -> Tensor(a)",
    "Complex numbers as pairs of real ones, in a last dimension of size 2.",
    _view_as_real,
    lambda g: fn.view_as_complex(g.contiguous()),
    namespaces=("torch",),
)
view(
    "view_as_complex(Tensor(a) self) -> Tensor(a)",
    "Pairs of real numbers, in a last dimension of size 2, as complex ones.",
    _view_as_complex,
    lambda g: fn.view_as_real(g),
    namespaces=("torch",),
)


def _settled_flag(name: str, what: str) -> None:
    """Define what asks for, or resolves, a lazy ``what``: here it is done at once, so never lazy."""
    op(
        f"resolve_{name}(Tensor(a) self) -> Tensor(a)",
        doc=f"The tensor itself: {what} is done at once, and never waits to be resolved.",
        decomposition=lambda self: self,
    )
    op(
        f"is_{name}(Tensor self) -> bool",
        doc=f"False: {what} is done at once, and leaves no mark on a tensor.",
        decomposition=lambda self: False,
    )


_settled_flag("conj", "conjugation")
_settled_flag("neg", "negation")

# ---- matrices -----------------------------------------------------------------------------------


def _adjoint(self: Tensor) -> Tensor:
    if not self._shape:
        return self.conj()
    if len(self._shape) == 1:
        raise RuntimeError(
            "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor."
        )
    return self.transpose(-2, -1).conj()


op(
    "adjoint(Tensor(a) self) -> Tensor(a)",
    doc="Matrices transposed and conjugated.",
    decomposition=_adjoint,
)

# ---- parts --------------------------------------------------------------------------------------


def _splittable(self: Tensor) -> None:
    if not self._shape:
        raise RuntimeError(
            "tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims"
        )


def _sections(self: Tensor, sections: int, dim: int = 0) -> tuple[Tensor, ...]:
    """So many parts; the first are longer by 1 where the size is no multiple."""
    _splittable(self)
    size = self.size(dim)
    if sections <= 0:
        raise RuntimeError(f"number of sections must be larger than 0, got {sections}")
    each, more = divmod(size, sections)
    ends = [(i + 1) * each + min(i + 1, more) for i in range(sections)]
    return _cut(self, ends[:-1], dim)


def _indices(self: Tensor, indices: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    _splittable(self)
    return _cut(self, indices, dim)


def _cut(self: Tensor, ends: Sequence[int], dim: int) -> tuple[Tensor, ...]:
    """The slices between consecutive positions."""
    starts = (0, *ends)
    return tuple(
        fn.slice(self, dim, a, b, 1) for a, b in zip(starts, (*ends, self.size(dim)), strict=True)
    )


def _as_tensor_says(
    self: Tensor, tensor_indices_or_sections: Tensor, dim: int = 0
) -> tuple[Tensor, ...]:
    where = tensor_indices_or_sections
    if where._device.type != "cpu":
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to be on cpu, but it's on {where._device}"
        )
    if where._dtype is not int64:
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to have dtype of long, but got "
            f"{where._dtype.label}"
        )
    if len(where._shape) > 1:
        raise RuntimeError(
            f"tensor_split expected tensor_indices_or_sections to be a zero-dimensional or "
            f"one-dimensional tensor, but got a tensor with {len(where._shape)} dims"
        )
    given = where.tolist()
    return _indices(self, given, dim) if where._shape else _sections(self, given, dim)


for _overload, _argument, _decomposition in (
    ("tensor_indices_or_sections", "Tensor tensor_indices_or_sections", _as_tensor_says),
    ("sections", "int sections", _sections),
    ("indices", "int[] indices", _indices),
):
    op(
        f"tensor_split.{_overload}(Tensor(a -> *) self, {_argument}, int dim=0) -> Tensor(a)[]",
        doc="Parts along a dimension, by their number or by the positions where they begin.",
        decomposition=_decomposition,
        crosses_devices="as they are",  # positions are read on the host
    )


def _along(name: str, least: int, dim: int) -> None:
    """Define a split along a fixed dimension.

    Args:
        name: the op.
        least: how many dimensions the tensor must have.
        dim: the dimension.
    """

    def place(self: Tensor) -> int:
        rank = len(self._shape)
        if rank < least:
            raise RuntimeError(
                f"torch.{name} requires a tensor with at least {least} dimension, but got a tensor "
                f"with {rank} dimensions!"
            )
        return 0 if name == "hsplit" and rank == 1 else dim

    def by_number(self: Tensor, sections: int) -> tuple[Tensor, ...]:
        at = place(self)
        size = self._shape[at]
        if sections == 0 or size % sections:
            raise RuntimeError(
                f"torch.{name} attempted to split along dimension {at}, but the size of the dimension "
                f"{size} is not divisible by the split_size {sections}!"
            )
        return _sections(self, sections, at)

    op(
        f"{name}.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]",
        doc=f"Equal parts along dimension {dim}.",
        decomposition=by_number,
    )
    op(
        f"{name}.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]",
        doc=f"Parts along dimension {dim} that begin at the given positions.",
        decomposition=lambda self, indices: _indices(self, indices, place(self)),
    )


_along("hsplit", 1, 1)
_along("vsplit", 2, 0)
_along("dsplit", 3, 2)


def _in_a_row(self: Tensor, parts: Any, dim: int) -> tuple[Tensor, ...]:
    """Views of a tensor along a dimension, one after another, as long as those that are given."""
    found, start = [], 0
    for part in parts:
        length = part._shape[dim]
        found.append(self.narrow(dim, start, length))
        start += length
    return tuple(found)


def _unsafe(name: str, argument: str, overload: str = "") -> None:
    """Define a split whose parts may change in place under autograd: each is a view of its own."""
    plain = name.removeprefix("unsafe_")
    op(
        f"{name}{overload}(Tensor self, {argument}, int dim=0) -> Tensor[]",
        doc=f"As `{plain}`, with parts that may change in place under autograd.",
        decomposition=lambda self, parts, dim=0: _in_a_row(
            self, getattr(fn, plain)(self.detach(), parts, dim), dim
        ),
    )


_unsafe("unsafe_chunk", "int chunks")
_unsafe("unsafe_split", "int split_size", ".Tensor")
_unsafe("unsafe_split_with_sizes", "int[] split_sizes")

# ---- number of dimensions -----------------------------------------------------------------------

op(
    "ravel(Tensor(a) self) -> Tensor(a)",
    doc="All elements in one dimension: a view of a row-major tensor, a copy of others.",
    decomposition=lambda self: self.contiguous().view(-1),
)


def _atleast_2d(self: Tensor) -> Tensor:
    rank = len(self._shape)
    return self if rank > 1 else self.unsqueeze(0) if rank else self.reshape(1, 1)


def _atleast_3d(self: Tensor) -> Tensor:
    rank = len(self._shape)
    if rank > 2:
        return self
    return self.unsqueeze(-1) if rank == 2 else _atleast_2d(self).unsqueeze(-1)


for _rank, _grown in (
    (1, lambda self: self if self._shape else self.reshape(1)),
    (2, _atleast_2d),
    (3, _atleast_3d),
):
    op(
        f"atleast_{_rank}d(Tensor self) -> Tensor",
        doc=f"The tensor with {_rank} dimensions at least.",
        decomposition=_grown,
        namespaces=("torch",),
    )
    for _overload, _spread in (("Sequence", ""), ("spread", "tensors")):
        op(
            f"atleast_{_rank}d.{_overload}(Tensor[] tensors) -> Tensor[]",
            doc=f"Tensors with {_rank} dimensions at least.",
            decomposition=lambda tensors, grown=_grown: tuple(grown(t) for t in tensors),
            varargs=_spread,
            namespaces=("torch",),
        )
