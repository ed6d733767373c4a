"""CANN's parameter objects, made of tensors, numbers and lists.

Objects are made together, by one call of a function written in C, so that none of them is lost where an
interrupt comes (see `mindtorch_npu.lending`). The functions here say how: they return the constructor and
what it is called with. Only lists are made at once, into the list of handles that is given: their members
belong to them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import (
    CDLL,
    POINTER,
    Array,
    addressof,
    byref,
    c_bool,
    c_double,
    c_float,
    c_int64,
    c_uint64,
    c_void_p,
    create_string_buffer,
)
from itertools import starmap
from operator import call, index
from typing import Any, Final

from mindtorch_core.backend import dtype, pack

from ..acl import ACLError, raw, recent_message
from ..acl.enums import ACL_TYPES, DataType, Format

__all__ = [
    "DESTROYERS",
    "LISTS",
    "MAKERS",
    "Making",
    "Scalar",
    "data_type",
    "shape_of",
    "text",
    "unmade",
]

# A constructor and its arguments.
Making = tuple[Any, ...]
_NOTHING: Final[Making] = (int,)  # gives 0, which is NULL


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


def unmade(constructors: Sequence[str], handles: Sequence[int | None]) -> ACLError:
    """The error for an object that could not be made: one of the handles is None."""
    return ACLError(constructors[handles.index(None)], 0, recent_message())


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


def tensor(t: Any) -> Making:
    """An ``aclTensor`` over a tensor's memory: base address, offset and strides.

    The storage is described as one dimension, and the address is that of its first byte: operators
    want it aligned to 32 bytes, which that of an element of it need not be.
    """
    if t is None:
        return _NOTHING
    storage = t.raw_storage
    shape = t.raw_shape
    d = t.raw_dtype
    strides, offset = t.raw_layout or t.raw_geometry()
    rank = len(shape)
    whole = (storage.size_bytes // d.itemsize,)
    known = _ADDRESSES.get
    return (
        raw.aclCreateTensor,
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


def shape_of(handle: int) -> tuple[int, ...]:
    """The shape of an ``aclTensor``, which operators such as Nonzero change when they are launched."""
    dims, rank = POINTER(c_int64)(), c_uint64()
    code = raw.aclGetViewShape(handle, addressof(dims), addressof(rank))
    if code:
        raise ACLError("aclGetViewShape", code, recent_message())
    try:
        return tuple(dims[: rank.value])
    finally:  # the accessors of shapes make the array with ``new[]``
        free = CDLL(None).free
        free.argtypes, free.restype = (c_void_p,), None
        free(dims)


# ---- numbers -------------------------------------------------------------------------------------

_DOUBLE: Final = int(DataType.DOUBLE)
_INT64: Final = int(DataType.INT64)
_LOWEST: Final = -(1 << 63)
_HIGHEST: Final = (1 << 63) - 1


def scalar(value: Any) -> Making:
    """An ``aclScalar``: double, int64, bool or complex128 by the number's type, or as `Scalar` says."""
    if value is None:
        return _NOTHING
    kind = type(value)
    if kind is float:
        cell: Any = c_double(value)
        code = _DOUBLE
    elif kind is int:
        cell = _integer(value)
        code = _INT64
    else:
        cell, code = _other_number(value)
    return raw.aclCreateScalar, byref(cell), code


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


def int_array(values: Sequence[int] | None) -> Making:
    """An ``aclIntArray``."""
    if values is None:
        return _NOTHING
    key = tuple(values)
    return raw.aclCreateIntArray, _ADDRESSES.get(key) or _sizes(key), len(key)


def float_array(values: Sequence[float] | None) -> Making:
    """An ``aclFloatArray``, of 32-bit floats."""
    return _array(values, c_float, raw.aclCreateFloatArray)


def bool_array(values: Sequence[bool] | None) -> Making:
    """An ``aclBoolArray``."""
    return _array(values, c_bool, raw.aclCreateBoolArray)


def _array(values: Sequence[Any] | None, element: Any, constructor: Any) -> Making:
    if values is None:
        return _NOTHING
    return constructor, (element * max(1, len(values)))(*values), len(values)


def tensor_list(tensors: Sequence[Any] | None, made: list[int | None]) -> None:
    """Add an ``aclTensorList``, which owns its members."""
    _add_list(tensors, tensor, "Tensor", made)


def scalar_list(values: Sequence[Any] | None, made: list[int | None]) -> None:
    """Add an ``aclScalarList``, which owns its members."""
    _add_list(values, scalar, "Scalar", made)


def _add_list(
    values: Sequence[Any] | None,
    making: Callable[[Any], Making],
    kind: str,
    made: list[int | None],
) -> None:
    if values is None:
        made.append(0)
        return
    constructor, destructor = (
        getattr(raw, f"aclCreate{kind}List"),
        getattr(raw, f"aclDestroy{kind}"),
    )
    members: list[int | None] = []
    given_up = map(destructor, filter(None, members))
    before = len(made)
    try:
        members.extend(starmap(call, [making(value) for value in values]))
        if None in members:
            raise unmade([f"aclCreate{kind}"] * len(members), members)
        array = (c_void_p * max(1, len(members)))(*members)
        making_it = starmap(constructor, ((array, len(members)),))
        made.extend(making_it)
    finally:
        if not made[before:] or made[before] is None:
            list(given_up)


# By kind: how an argument becomes an object, and which function destroys it.
MAKERS: Final[dict[str, Callable[..., Any]]] = {
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
LISTS: Final = frozenset({"TL", "TL>", "TL±", "SL"})  # of these the makers take the handles too
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
