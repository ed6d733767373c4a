"""Views of parts: slices, diagonals, splits, real and imaginary parts, any strides."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import NONDIFF, TensorSpec
from ...gradients.formulas import as_strided_backward
from ...opdefs.define import op, public
from ...tensors.tensor import Tensor, alias
from ...values.dtypes import BOOL, COMPLEX, FLOATING
from ...values.extents import check_within
from ...values.shapes import Shape, show, wrap_dim
from .reshaping import spec, view


def _select(self: Tensor, dim: int, index: int) -> TensorSpec:
    rank = len(self._shape)
    if not rank:
        raise IndexError("select() cannot be applied to a 0-dim tensor.")
    at = wrap_dim(dim, rank)
    size = self._shape[at]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {show(self._shape)} at "
            f"dimension {at}"
        )
    strides, offset = self._geometry()
    start = offset + (index + size if index < 0 else index) * strides[at]
    return spec(
        self, self._shape[:at] + self._shape[at + 1 :], strides[:at] + strides[at + 1 :], start
    )


def _select_back(g: Any, self_shape: Any, dim: int, index: int) -> Any:
    whole = g.new_zeros(self_shape)
    whole.select(dim, index).copy_(g)
    return whole


view(
    "select(Tensor(a) self, int dim, int index) -> Tensor(a)",
    "One slice along a dimension, which goes away.",
    _select,
    _select_back,
    overloads=("int",),
)


def slice_range(start: int | None, end: int | None, size: int) -> tuple[int, int]:
    """Start and end of a slice, wrapped and clamped as Python does."""
    first = 0 if start is None else start
    last = size if end is None else end
    first = min(max(first + size if first < 0 else first, 0), size)
    last = min(max(last + size if last < 0 else last, first), size)
    return first, last


def _slice(
    self: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> TensorSpec:
    rank = len(self._shape)
    if not rank:
        raise IndexError("slice() cannot be applied to a 0-dim tensor.")
    if step <= 0:
        raise RuntimeError("slice step must be positive")
    at = wrap_dim(dim, rank)
    first, last = slice_range(start, end, self._shape[at])
    strides, offset = self._geometry()
    return spec(
        self,
        (*self._shape[:at], (last - first + step - 1) // step, *self._shape[at + 1 :]),
        (*strides[:at], strides[at] * step, *strides[at + 1 :]),
        offset + first * strides[at],
    )


def _slice_back(g: Any, self_shape: Any, dim: Any, start: Any, end: Any, step: Any) -> Any:
    whole = g.new_zeros(self_shape)
    fn.slice(whole, dim, start, end, step).copy_(g)
    return whole


view(
    "slice(Tensor(a) self, int dim=0, int? start=None, int? end=None, int step=1) -> Tensor(a)",
    "A range along a dimension.",
    _slice,
    _slice_back,
    namespaces=("torch",),
    overloads=("Tensor",),
)


def _narrow(self: Tensor, dim: int, start: int, length: int) -> Tensor:
    if not self._shape:
        raise RuntimeError("narrow() cannot be applied to a 0-dim tensor.")
    at = wrap_dim(dim, len(self._shape))
    size = self._shape[at]
    if length < 0:
        raise RuntimeError("narrow(): length must be non-negative.")
    if not -size <= start <= size:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-size}, {size}], but got {start})"
        )
    first = start + size if start < 0 else start
    if first + length > size:
        raise RuntimeError(f"start ({first}) + length ({length}) exceeds dimension size ({size}).")
    return fn.slice(self, at, first, first + length, 1)


def _narrow_from(self: Tensor, dim: int, start: Tensor, length: int) -> Tensor:
    if start._shape or not BOOL < start._dtype.category < FLOATING:
        raise RuntimeError("start must be an 0-dim integral Tensor.")
    return _narrow(self, dim, int(start.item()), length)


op(
    "narrow(Tensor(a) self, int dim, int start, int length) -> Tensor(a)",
    doc="``length`` elements from ``start`` along a dimension.",
    decomposition=_narrow,
)
op(
    "narrow.Tensor(Tensor(a) self, int dim, Tensor start, int length) -> Tensor(a)",
    doc="``length`` elements along a dimension, from a position that a tensor holds.",
    decomposition=_narrow_from,
)
op(
    "unbind(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
    overloads=("int",),
    doc="Slices along a dimension, as a tuple.",
    grad={"self": lambda grads, self_shape, dim: _unbind_back(grads, self_shape, dim)},
    decomposition=lambda self, dim=0: _unbind(self, dim),
)


def _unbind_back(grads: Sequence[Any], self_shape: Shape, dim: int) -> Any:
    at = wrap_dim(dim, len(self_shape))
    like = next(g for g in grads if g is not None)
    nothing = like.new_zeros((*self_shape[:at], *self_shape[at + 1 :]))
    return fn.stack([nothing if g is None else g for g in grads], at)


def _unbind(self: Tensor, dim: int) -> tuple[Tensor, ...]:
    if not self._shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return tuple(self.select(dim, i) for i in range(self.size(dim)))


def _split_sizes(self: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    if not self._shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    size = self.size(dim)
    if any(n < 0 for n in split_sizes):
        raise RuntimeError(
            "split_with_sizes expects split_sizes have only non-negative entries, but got "
            f"split_sizes={show(split_sizes)}"
        )
    if sum(split_sizes) != size:
        raise RuntimeError(
            f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at "
            f"dimension {dim}), but got split_sizes={show(split_sizes)}"
        )
    out, at = [], 0
    for n in split_sizes:
        out.append(_narrow(self, dim, at, n))
        at += n
    return tuple(out)


def _split(self: Tensor, split_size: int, dim: int = 0) -> tuple[Tensor, ...]:
    if not self._shape:
        raise RuntimeError("split expects at least a 1-dimensional tensor")
    size = self.size(dim)
    if split_size < 0:
        raise RuntimeError(
            f"split expects split_size be non-negative, but got split_size={split_size}"
        )
    if split_size == 0 and size:
        raise RuntimeError(
            f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}"
        )
    if not size:
        return (_narrow(self, dim, 0, 0),)
    return tuple(
        _narrow(self, dim, at, min(split_size, size - at)) for at in range(0, size, split_size)
    )


def _joined(grads: Sequence[Any], self_shape: Shape, dim: int, sizes: Sequence[int]) -> Any:
    """The gradient of a whole from those of its parts; parts that were not used have none."""
    at = wrap_dim(dim, len(self_shape))
    like = next(g for g in grads if g is not None)
    before, after = self_shape[:at], self_shape[at + 1 :]
    pairs = zip(grads, sizes, strict=True)
    return fn.cat([like.new_zeros((*before, n, *after)) if g is None else g for g, n in pairs], at)


def _split_back(grads: Sequence[Any], self_shape: Shape, split_size: int, dim: int) -> Any:
    size = self_shape[wrap_dim(dim, len(self_shape))]
    sizes = [min(split_size, size - at) for at in range(0, size, split_size)] if size else [0]
    return _joined(grads, self_shape, dim, sizes)


op(
    "split(Tensor(a -> *) self, int split_size, int dim=0) -> Tensor(a)[]",
    overloads=("Tensor",),
    doc="Parts of ``split_size`` elements along a dimension; the last may be smaller.",
    grad={"self": _split_back},
    decomposition=_split,
    namespaces=("Tensor",),
)
op(
    "split.sizes(Tensor(a -> *) self, int[] split_size, int dim=0) -> Tensor(a)[]",
    doc="Parts of the given sizes along a dimension.",
    decomposition=lambda self, split_size, dim=0: fn.split_with_sizes(self, split_size, dim),
    namespaces=("Tensor",),
)


@public("torch")
def split(
    tensor: Tensor, split_size_or_sections: int | Sequence[int], dim: int = 0
) -> tuple[Tensor, ...]:
    """Parts of a tensor along a dimension.

    Args:
        tensor: what is cut.
        split_size_or_sections: the size of each part, of which the last may be smaller, or a sequence of
            the sizes.
        dim: the dimension that is cut.

    Returns:
        A tuple of views, which share memory with ``tensor``.

    Raises:
        RuntimeError: for negative sizes, and for a sequence that does not add up.
        IndexError: if there is no such dimension.

    Example:
        >>> torch.split(torch.arange(5), 2)
        (tensor([0, 1]), tensor([2, 3]), tensor([4]))
        >>> torch.split(torch.arange(5), [1, 4])
        (tensor([0]), tensor([1, 2, 3, 4]))
    """
    return tensor.split(split_size_or_sections, dim)


op(
    "split_with_sizes(Tensor(a -> *) self, int[] split_sizes, int dim=0) -> Tensor(a)[]",
    doc="Parts of the given sizes along a dimension.",
    grad={
        "self": lambda grads, self_shape, split_sizes, dim: _joined(
            grads, self_shape, dim, split_sizes
        )
    },
    decomposition=_split_sizes,
)


def _chunk(self: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    if not self._shape:
        raise RuntimeError("chunk expects at least a 1-dimensional tensor")
    if chunks <= 0:
        raise RuntimeError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    size = self.size(dim)
    each = -(-size // chunks)
    parts = fn.split(self, each, dim) if each else fn.split_with_sizes(self, [0] * chunks, dim)
    return tuple(parts)


op(
    "chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
    doc="At most ``chunks`` parts of equal size along a dimension.",
    decomposition=_chunk,
)


def _as_strided(
    self: Tensor, size: Sequence[int], stride: Sequence[int], storage_offset: int | None = None
) -> TensorSpec:
    if hasattr(size, "_keys") or hasattr(stride, "_keys"):
        raise TypeError("as_strided(): sizes and strides must be tuples of ints, not Tensor")
    at = self._geometry()[1] if storage_offset is None else storage_offset
    check_within(size, stride, at, self._dtype.itemsize, self._own_storage().size_bytes)
    return spec(self, size, stride, at)


def _as_strided_grad(
    g: Any, self_geometry: Any, size: Any, stride: Any, storage_offset: Any
) -> Any:
    at = self_geometry[2] if storage_offset is None else storage_offset
    return as_strided_backward(g, self_geometry, (tuple(size), tuple(stride), at))


view(
    "as_strided(Tensor(a) self, int[] size, int[] stride, int? storage_offset=None) -> Tensor(a)",
    "A view of the storage with any sizes, strides and offset.",
    _as_strided,
    _as_strided_grad,
)
op(
    "detach(Tensor(a) self) -> Tensor(a)",
    doc="The same memory without history.",
    rule=lambda self: spec(self, self._shape, self._geometry()[0]),
    grad=NONDIFF,
    decomposition=lambda self: alias(self),
    view=True,
)


def _diagonal(self: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> TensorSpec:
    rank = len(self._shape)
    a, b = wrap_dim(dim1, rank), wrap_dim(dim2, rank)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    strides, at = self._geometry()
    if offset >= 0:
        length = max(min(self._shape[a], self._shape[b] - offset), 0)
        at += offset * strides[b] if length else 0
    else:
        length = max(min(self._shape[a] + offset, self._shape[b]), 0)
        at -= offset * strides[a] if length else 0
    keep = [i for i in range(rank) if i not in (a, b)]
    return spec(
        self,
        (*(self._shape[i] for i in keep), length),
        (*(strides[i] for i in keep), strides[a] + strides[b]),
        at,
    )


def _diagonal_back(g: Any, self_shape: Any, offset: int, dim1: int, dim2: int) -> Any:
    whole = g.new_zeros(self_shape)
    whole.diagonal(offset, dim1, dim2).copy_(g)
    return whole


view(
    "diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
    "A diagonal, as the last dimension.",
    _diagonal,
    _diagonal_back,
)


def _part(first: int) -> Any:
    """Geometry of the real (0) or imaginary (1) parts of complex elements."""

    def rule(self: Tensor) -> TensorSpec:
        if self._dtype.category != COMPLEX:
            raise RuntimeError(
                f"imag is not implemented for tensors with non-complex dtypes, got {self._dtype}"
            )
        strides, offset = self._geometry()
        real = self._dtype.to_real()
        return TensorSpec(self._shape, real, tuple(2 * s for s in strides), 2 * offset + first)

    return rule


view(
    "_real(Tensor(a) self) -> Tensor(a)",
    "Real parts of complex elements.",
    _part(0),
    lambda g, self_dtype: g.to(self_dtype),
    namespaces=("torch",),
)
view(
    "_imag(Tensor(a) self) -> Tensor(a)",
    "Imaginary parts of complex elements.",
    _part(1),
    lambda g, self_dtype: g.to(self_dtype) * 1j,
    namespaces=("torch", "torch:imag"),
)


op(
    "real(Tensor(a) self) -> Tensor(a)",
    doc="Real parts as a view; real tensors are returned as they are.",
    decomposition=lambda self: self.real,
    namespaces=("torch",),
)
