"""CANN's parameter objects, made of tensors, numbers and lists.

Each function returns the handle of a new object, or 0 (NULL) for None. The caller destroys it. The
members of lists belong to their list.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import (
    Array,
    addressof,
    c_bool,
    c_double,
    c_float,
    c_int64,
    c_void_p,
    create_string_buffer,
)
from operator import index
from typing import Any, Final

from mindtorch_core.dtypes import dtype, pack

from ..acl import ACLError, raw, recent_message
from ..acl.enums import ACL_TYPES, DataType, Format

__all__ = ["DESTROYERS", "MAKERS", "Scalar", "data_type", "destroyed", "text", "undestroyed"]


class Scalar:
    """A number, with the dtype in which an operator is to get it.

    Attributes:
        value: the number.
        dtype: the dtype.
    """

    __slots__ = ("dtype", "value")

    def __init__(self, value: Any, dtype: dtype) -> None:
        self.value = value
        self.dtype = dtype

    def __repr__(self) -> str:
        return f"{self.value!r} ({self.dtype.name})"


def _made(handle: int | None, function: str) -> int:
    if not handle:
        raise ACLError(function, 0, recent_message())
    return handle


# ---- tensors -------------------------------------------------------------------------------------

# Operators that tell batch and channels from the rest read it off the format. As in torch_npu it
# follows from the number of dimensions, for every operator.
_FORMATS: Final = [int(Format.ND)] * 65
_FORMATS[3], _FORMATS[4], _FORMATS[5] = int(Format.NCL), int(Format.NCHW), int(Format.NCDHW)

# Addresses of arrays for the shapes and strides met so far. What the cache has no room for is made
# anew: entries never go, because another thread may be about to hand an address on.
_ADDRESSES: Final[dict[tuple[int, ...], int]] = {}
_ARRAYS: Final[list[Array[c_int64]]] = []
_ROOM: Final = 1 << 14


def _sizes(values: tuple[int, ...]) -> Any:
    """An int64 array as an address, or as the array itself where that is not kept."""
    array = (c_int64 * max(1, len(values)))(*values)
    if len(_ARRAYS) >= _ROOM:
        return array
    _ARRAYS.append(array)
    address = _ADDRESSES[values] = addressof(array)
    return address


def tensor(t: Any) -> int:
    """An ``aclTensor`` over a tensor's memory: base address, offset and strides.

    The storage is described as one dimension, and the address is that of its first byte: operators
    want it aligned to 32 bytes, which that of an element of it need not be.
    """
    if t is None:
        return 0
    storage = t._storage
    shape = t._shape
    d = t._dtype
    strides, offset = t._layout or t._geometry()
    rank = len(shape)
    whole = (storage.size_bytes // d.itemsize,)
    known = _ADDRESSES.get
    handle: int | None = raw.aclCreateTensor(
        known(shape) or _sizes(shape),
        rank,
        ACL_TYPES[d],
        known(strides) or _sizes(strides),
        offset,
        _FORMATS[rank],
        known(whole) or _sizes(whole),
        1,
        storage.memory.ptr,
    )
    return handle or _made(handle, "aclCreateTensor")


# ---- numbers -------------------------------------------------------------------------------------

_DOUBLE: Final = int(DataType.DOUBLE)
_INT64: Final = int(DataType.INT64)
_LOWEST: Final = -(1 << 63)
_HIGHEST: Final = (1 << 63) - 1


def scalar(value: Any) -> int:
    """An ``aclScalar``: double, int64, bool or complex128 by the number's type, or as `Scalar` says."""
    if value is None:
        return 0
    kind = type(value)
    if kind is float:
        cell: Any = c_double(value)
        code = _DOUBLE
    elif kind is int:
        cell = _integer(value)
        code = _INT64
    else:
        cell, code = _other_number(value)
    handle: int | None = raw.aclCreateScalar(addressof(cell), code)
    return handle or _made(handle, "aclCreateScalar")


def _integer(value: int) -> c_int64:
    if not _LOWEST <= value <= _HIGHEST:
        raise OverflowError(
            f"{value} does not fit into the int64 scalar that an int becomes; pass Scalar(value, dtype)"
        )
    return c_int64(value)


def _other_number(value: Any) -> tuple[Any, int]:
    """The memory and the data type of a number that is neither a plain float nor a plain int."""
    if isinstance(value, bool):
        return c_bool(value), int(DataType.BOOL)
    if isinstance(value, Scalar):
        data = pack([value.value], value.dtype)
        return create_string_buffer(data, len(data)), ACL_TYPES[value.dtype]
    if isinstance(value, float):
        return c_double(value), _DOUBLE
    if isinstance(value, complex):
        return (c_double * 2)(value.real, value.imag), int(DataType.COMPLEX128)
    if hasattr(value, "__index__"):
        return _integer(index(value)), _INT64
    raise TypeError(f"a scalar must be a number or a Scalar, got {type(value).__name__} {value!r}")


def data_type(d: dtype | int) -> int:
    """The ``aclDataType`` of a dtype; one that is a number already stays."""
    return ACL_TYPES[d] if isinstance(d, dtype) else d


def text(value: str | None) -> bytes | None:
    """A C string."""
    return None if value is None else value.encode()


# ---- arrays and lists ----------------------------------------------------------------------------


def int_array(values: Sequence[int] | None) -> int:
    """An ``aclIntArray``."""
    if values is None:
        return 0
    key = tuple(values)
    handle: int | None = raw.aclCreateIntArray(_ADDRESSES.get(key) or _sizes(key), len(key))
    return handle or _made(handle, "aclCreateIntArray")


def float_array(values: Sequence[float] | None) -> int:
    """An ``aclFloatArray``, of 32-bit floats."""
    return _array(values, c_float, "aclCreateFloatArray")


def bool_array(values: Sequence[bool] | None) -> int:
    """An ``aclBoolArray``."""
    return _array(values, c_bool, "aclCreateBoolArray")


def _array(values: Sequence[Any] | None, element: Any, function: str) -> int:
    if values is None:
        return 0
    array = (element * max(1, len(values)))(*values)
    return _made(getattr(raw, function)(addressof(array), len(values)), function)


def tensor_list(tensors: Sequence[Any] | None) -> int:
    """An ``aclTensorList``, which owns its members."""
    return _list(tensors, tensor, "aclCreateTensorList", "aclDestroyTensor")


def scalar_list(values: Sequence[Any] | None) -> int:
    """An ``aclScalarList``, which owns its members."""
    return _list(values, scalar, "aclCreateScalarList", "aclDestroyScalar")


def _list(
    values: Sequence[Any] | None, make: Callable[[Any], int], function: str, destroy: str
) -> int:
    if values is None:
        return 0
    members: list[int] = []
    try:
        for value in values:
            members.append(make(value))  # noqa: PERF401 (those that were made, if one fails)
        array = (c_void_p * max(1, len(members)))(*members)
        return _made(getattr(raw, function)(addressof(array), len(members)), function)
    except BaseException:
        for member in members:
            destroyed(destroy, member)
        raise


# ---- the end -------------------------------------------------------------------------------------


def destroyed(function: str, handle: int) -> ACLError | None:
    """Destroy an object; gives the failure, as `undestroyed` does."""
    code = getattr(raw, function)(handle) if handle else 0
    return undestroyed(function, handle, code) if code else None


def undestroyed(function: str, handle: int, code: int) -> ACLError:
    """Try once more to destroy an object where the first attempt failed.

    Returns:
        The failure, which is no reason to leave other objects behind: raise it after them.
    """
    failure = ACLError(function, code, recent_message())
    if getattr(raw, function)(handle):
        recent_message()
    return failure


# By kind: how an argument becomes an object, and which function destroys it.
MAKERS: Final[dict[str, Callable[[Any], int]]] = {
    "T": tensor,
    "T>": tensor,
    "T±": tensor,
    "TL": tensor_list,
    "TL>": tensor_list,
    "TL±": tensor_list,
    "S": scalar,
    "SL": scalar_list,
    "IA": int_array,
    "FA": float_array,
    "BA": bool_array,
}
DESTROYERS: Final = {
    kind: f"aclDestroy{name}"
    for kinds, name in (
        ("T T> T±", "Tensor"),
        ("TL TL> TL±", "TensorList"),
        ("S", "Scalar"),
        ("SL", "ScalarList"),
        ("IA", "IntArray"),
        ("FA", "FloatArray"),
        ("BA", "BoolArray"),
    )
    for kind in kinds.split(" ")
}
