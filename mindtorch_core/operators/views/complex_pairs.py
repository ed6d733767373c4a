"""Complex numbers as pairs of real ones."""

from __future__ import annotations

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX, FLOATING, float32
from .reshaping import view

__all__: list[str] = []


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
