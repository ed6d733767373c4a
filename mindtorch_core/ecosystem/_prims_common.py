"""``torch._prims_common``: what libraries ask about tensors, shapes and dtypes there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..tensors.tensor import Tensor
from ..values.devices import device
from ..values.dtypes import bfloat16, bool_, complex64, dtype, float16, float32, int64
from ..values.layouts import strided
from ..values.memory_formats import contiguous_format, memory_format, suggested
from ..values.shapes import contiguous_strides, wrap_dim, wrap_dims
from .absent import names_of

__all__ = [
    "DeviceLikeType", "Number", "TensorLike", "TensorLikeType", "canonicalize_dim", "canonicalize_dims",
    "corresponding_complex_dtype", "corresponding_real_dtype", "dtype_to_type", "get_computation_dtype",
    "is_boolean_dtype", "is_complex_dtype", "is_contiguous", "is_expandable_to", "is_float_dtype",
    "is_grad_dtype", "is_integer_dtype", "is_low_precision_dtype", "is_same_shape",
    "make_contiguous_strides_for", "reduction_dims", "same_shape", "suggest_memory_format",
    "type_to_dtype",
]  # fmt: skip

__getattr__ = names_of(__name__)

Number: Final = (bool, int, float, complex)
NumberType = bool | int | float | complex
TensorLike = TensorLikeType = Tensor
DeviceLikeType = str | device | int
_DTYPES: Final = {bool: bool_, int: int64, float: float32, complex: complex64}


def suggest_memory_format(x: Tensor) -> memory_format:
    """The order in which a tensor's elements are taken to lie: channels last, or rows."""
    return suggested(x.shape, x.stride()) if x.layout is strided else contiguous_format


def is_contiguous(a: Tensor) -> bool:
    """Whether the elements lie row by row."""
    return a.is_contiguous()


# ---- dtypes -------------------------------------------------------------------------------------


def is_boolean_dtype(dtype: dtype) -> bool:
    """Whether elements are bools."""
    return dtype is bool_


def is_integer_dtype(dtype: dtype) -> bool:
    """Whether elements are whole numbers, not bools."""
    return not (dtype.is_floating_point or dtype.is_complex or dtype is bool_)


def is_float_dtype(dtype: dtype) -> bool:
    """Whether elements are real floating-point numbers."""
    return dtype.is_floating_point


def is_complex_dtype(dtype: dtype) -> bool:
    """Whether elements are complex."""
    return dtype.is_complex


def is_grad_dtype(dtype: dtype) -> bool:
    """Whether tensors of it can require grad."""
    return dtype.is_floating_point or dtype.is_complex


def is_low_precision_dtype(dtype: dtype) -> bool:
    """Whether elements are floating-point numbers of two bytes or less."""
    return dtype.is_floating_point and dtype.itemsize <= 2


def dtype_to_type(dtype: dtype) -> type:
    """The Python type of elements."""
    if dtype is bool_:
        return bool
    if dtype.is_complex:
        return complex
    return float if dtype.is_floating_point else int


def type_to_dtype(typ: type) -> dtype:
    """The dtype that tensors of a Python type's numbers have, where nothing else is set.

    Raises:
        ValueError: for another type.
    """
    for kind, found in _DTYPES.items():
        if issubclass(typ, kind):
            return found
    raise ValueError(f"Invalid type {typ}!")


def corresponding_real_dtype(dtype: dtype) -> dtype:
    """The dtype of a complex dtype's parts.

    Raises:
        KeyError: if it is not complex.
    """
    if not dtype.is_complex:
        raise KeyError(dtype)
    return dtype.to_real()


def corresponding_complex_dtype(dtype: dtype) -> dtype:
    """The complex dtype whose parts have a dtype, or hold it.

    Raises:
        KeyError: if it is none of real floating-point numbers.
    """
    if not dtype.is_floating_point:
        raise KeyError(dtype)
    return complex64 if dtype is bfloat16 else dtype.to_complex()


def get_computation_dtype(dtype: dtype) -> dtype:
    """The dtype that kernels compute in."""
    if dtype in (bfloat16, float16):
        return float32
    return complex64 if dtype.is_complex and dtype.itemsize == 4 else dtype


# ---- shapes -------------------------------------------------------------------------------------


def canonicalize_dim(rank: int, idx: int, wrap_scalar: bool = True) -> int:
    """A dimension counted from the front.

    Raises:
        IndexError: if there is no such dimension.
    """
    if rank == 0 and not wrap_scalar:
        raise IndexError(f"Dimension specified as {idx} but tensor has no dimensions")
    return wrap_dim(idx, rank)


def canonicalize_dims(rank: int, indices: Any, wrap_scalar: bool = True) -> Any:
    """As `canonicalize_dim`, of one dimension or a sequence."""
    if isinstance(indices, int):
        return canonicalize_dim(rank, indices, wrap_scalar)
    return tuple(canonicalize_dim(rank, idx, wrap_scalar) for idx in indices)


def reduction_dims(shape: Sequence[int], dims: Sequence[int] | None) -> tuple[int, ...]:
    """The dimensions of a reduction: all of them for None.

    Raises:
        RuntimeError: if one comes twice.
    """
    return wrap_dims(dims, len(shape))


def make_contiguous_strides_for(shape: Sequence[int], row_major: bool = True) -> tuple[int, ...]:
    """Steps of a dense tensor: row by row, or matrices in the last two dimensions column by column."""
    steps = contiguous_strides(tuple(shape))
    if row_major or len(shape) < 2:
        return steps
    return (*steps[:-2], 1, max(shape[-2], 1))


def is_same_shape(a: Sequence[int], b: Sequence[int]) -> bool:
    """Whether two shapes are equal."""
    return tuple(a) == tuple(b)


def same_shape(a: Sequence[int], b: Sequence[int], *, allow_rhs_unbacked: bool = False) -> bool:
    """Whether two shapes are equal."""
    return is_same_shape(a, b)


def is_expandable_to(shape: Sequence[int], desired: Sequence[int]) -> bool:
    """Whether a tensor of a shape can be expanded to another."""
    pairs = zip(reversed(shape), reversed(desired), strict=False)
    return len(shape) <= len(desired) and all(n in (1, m) for n, m in pairs)
