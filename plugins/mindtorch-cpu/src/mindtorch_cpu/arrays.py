"""Between tensors and NumPy arrays: dtypes, wrapping, quiet arithmetic.

A CPU tensor's payload is an ndarray view of its storage's memory.
"""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Any, Final

import ml_dtypes
import numpy as np

from mindtorch_core.devices import device
from mindtorch_core.dispatch.keys import DEFAULT_INCLUDED, DispatchKey
from mindtorch_core.dtypes import COMPLEX, DTYPES, FLOATING, checked_number, dtype
from mindtorch_core.memory_formats import like_strides, memory_format
from mindtorch_core.promotion import WIDER, result_type
from mindtorch_core.shapes import Shape, contiguous_strides, pointwise_strides
from mindtorch_core.tensor import Tensor

__all__ = [
    "CPU",
    "KEYS",
    "QUIET",
    "WIDER",
    "array_of",
    "cast",
    "np_dtype",
    "torch_dtype",
    "view_of",
    "wrap",
]

NUMPY_OF: Final[dict[dtype, np.dtype[Any]]] = {
    d: np.dtype(ml_dtypes.bfloat16) if d.name == "bfloat16" else np.dtype(name)
    for name, d in DTYPES.items()
}
TORCH_OF: Final[dict[np.dtype[Any], dtype]] = {n: d for d, n in NUMPY_OF.items()}
np_dtype: Final = NUMPY_OF.__getitem__

CPU: Final = device("cpu")
KEYS: Final = int(DispatchKey.CPU | DEFAULT_INCLUDED)

ndarray: Final = np.ndarray
_new: Callable[[type[Tensor]], Tensor] = object.__new__


def torch_dtype(d: np.dtype[Any]) -> dtype:
    """The tensor dtype of a NumPy dtype.

    Raises:
        TypeError: if there is none.
        ValueError: if its bytes are in another order than this machine's.
    """
    found = TORCH_OF.get(d.newbyteorder("="))
    if found is not None and not d.isnative:
        raise ValueError(
            f"given numpy array has byte order different from the native byte order ({d}); convert "
            f"it with array.astype(array.dtype.newbyteorder('='))"
        )
    if found is None:
        raise TypeError(
            f"can't convert np.ndarray of type {d}. The only supported types are: "
            f"{', '.join(DTYPES)}."
        )
    return found


class _Quiet(threading.local):
    """Runs NumPy functions without floating-point warnings, as PyTorch computes.

    NumPy keeps its error state in a context variable. Each thread runs kernels in a context of its
    own in which errors are ignored: entering it costs 20 ns, where ``np.errstate`` costs 800, and
    the user's own setting is never touched.
    """

    def __init__(self) -> None:
        context = contextvars.Context()
        context.run(np.seterr, all="ignore")
        self.run = context.run


QUIET: Final = _Quiet()


def quietly(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a NumPy function without floating-point warnings, also from inside such a call."""
    try:
        return QUIET.run(fn, *args, **kwargs)
    except RuntimeError as error:
        if "cannot enter context" not in str(error):
            raise
        with np.errstate(all="ignore"):  # a finaliser that interrupted a kernel of this thread
            return fn(*args, **kwargs)


def wrap(data: Any, d: dtype) -> Tensor:
    """A tensor around a fresh array (or NumPy scalar). Hot kernels write this out."""
    if data.__class__ is not ndarray:
        data = np.array(data, NUMPY_OF[d])
    r = _new(Tensor)
    r._data = data
    r._shape = data.shape
    r._layout = None
    r._dtype = d
    r._device = CPU
    r._keys = KEYS
    r._storage = None
    r._base = None
    r._autograd = None
    return r


def view_of(base: Tensor, data: Any) -> Tensor:
    """A view of a tensor around an array that shares its memory."""
    storage = base._storage
    if storage is None:
        storage = base._own_storage()
    r = _new(Tensor)
    r._data = data
    r._shape = data.shape
    r._layout = None
    r._dtype = base._dtype
    r._device = CPU
    r._keys = KEYS
    r._storage = storage
    root = base._base
    r._base = base if root is None else root
    r._autograd = None
    storage.add_view(r)
    return r


def cast(t: Tensor, d: dtype) -> Any:
    """A tensor's array in another dtype (the array itself where nothing changes)."""
    return t._data if t._dtype is d else converted(t._data, d)


def converted(a: Any, d: dtype) -> Any:
    """An array in another dtype, dense, in its order of dimensions."""
    if a.dtype.kind == "c" and d.category < COMPLEX:
        a = a.real
    if a.flags.c_contiguous or 0 not in a.strides:
        return quietly(a.astype, NUMPY_OF[d])
    return relaid(a, NUMPY_OF[d])


def relaid(a: Any, d: Any = None, memory_format: memory_format | None = None) -> Any:
    """A dense copy, in the array's own layout as far as it is dense, or in a memory format."""
    size = a.itemsize
    strides = tuple(s // size for s in a.strides)
    wanted = like_strides(a.shape, strides, memory_format)
    if wanted == contiguous_strides(a.shape):
        return quietly(a.astype, d or a.dtype, "C")
    copy = laid_out(a.shape, wanted, lambda shape: np.empty(shape, d or a.dtype))
    quietly(np.copyto, copy, a, "unsafe")
    return copy


def laid_out(shape: Shape, strides: Shape, make: Callable[[Shape], Any]) -> Any:
    """An array whose dimensions follow each other as dense strides say.

    Args:
        shape: its shape.
        strides: in elements; some permutation of the shape lies row-major with them.
        make: gives an array of a shape in row-major order.
    """
    order = sorted(range(len(shape)), key=lambda i: -strides[i])
    data = make(tuple(shape[i] for i in order)).transpose(np.argsort(order))
    steps = tuple(s * data.itemsize for s in strides)
    if data.strides != steps and data.size:  # of dimensions of size 1, which NumPy chooses itself
        data = np.lib.stride_tricks.as_strided(data, shape, steps)
    return data


def row_major(data: Any) -> Any:
    """An array (or NumPy scalar) in row-major order: NumPy's reductions keep their input's order."""
    if data.__class__ is not ndarray or data.flags.c_contiguous:
        return data
    return np.ascontiguousarray(data)


def in_common_order(data: Any, *operands: Any) -> Any:
    """An element-wise result in the order of dimensions PyTorch gives it.

    NumPy orders a result by the strides of its operands too, but weighs broadcast dimensions
    differently.
    """
    if (
        data.__class__ is not ndarray
        or data.ndim < 2
        or all(o.flags.c_contiguous for o in operands)
    ):
        return data
    geometries = [(o.shape, tuple(s // o.itemsize for s in o.strides)) for o in operands]
    wanted = pointwise_strides(data.shape, geometries)
    if wanted == tuple(s // data.itemsize for s in data.strides):
        return data
    copy = laid_out(data.shape, wanted, lambda shape: np.empty(shape, data.dtype))
    copy[...] = data
    return copy


_SCALARS: Final[dict[tuple[Any, ...], Any]] = {}


def scalar(value: Any, d: dtype) -> Any:
    """A Python number as an array without dimensions; frequent ones are kept.

    Integers wrap around, as in arithmetic.

    Raises:
        OverflowError: if an integer has more than 64 bits.
    """
    key = (d, value.__class__, value)
    found = _SCALARS.get(key)
    if found is not None:
        return found
    try:
        made = quietly(np.array, value, NUMPY_OF[d])  # a large float becomes infinite
    except OverflowError:
        if not -(1 << 63) <= value < 1 << 64:
            raise
        made = np.array(value % (1 << 64), np.uint64).astype(NUMPY_OF[d])
    made.flags.writeable = False
    if value and len(_SCALARS) < 1024:  # zeros are left out: 0.0 and -0.0 are equal keys
        _SCALARS[key] = made
    return made


def exact(value: Any, d: dtype) -> Any:
    """A Python number that is to be stored, as an array without dimensions.

    Raises:
        RuntimeError: if it does not fit the dtype.
    """
    return scalar(checked_number(value, d), d)


def array_of(value: Any, d: dtype) -> Any:
    """An operand, tensor or number, as an array of a dtype."""
    return cast(value, d) if isinstance(value, Tensor) else scalar(value, d)


def operands(self: Any, other: Any) -> tuple[Any, Any, dtype]:
    """Arrays of both operands in their common dtype, and that dtype."""
    if other.__class__ is float and self._dtype.category == FLOATING:  # a number never widens it
        return self._data, scalar(other, self._dtype), self._dtype
    d = result_type(self, other)
    return array_of(self, d), array_of(other, d), d
