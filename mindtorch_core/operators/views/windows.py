"""Views of overlapping windows."""

from __future__ import annotations

from typing import Any

from ...dispatch.opdef import TensorSpec
from ...gradients.formulas import as_strided_backward
from ...tensors.tensor import Tensor
from ...values.shapes import Shape, contiguous_strides, wrap_dim
from .reshaping import spec, view

__all__: list[str] = []


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
