"""Between tensors and NumPy arrays: dtypes, wrapping, quiet arithmetic.

A CPU tensor's payload is an ndarray view of its storage's memory.
"""

from __future__ import annotations

import contextvars
import functools
import math
import threading
from collections.abc import Callable
from typing import Any, Final

import ml_dtypes
import numpy as np

from mindtorch_core.backend import (
    DTYPES,
    FLOAT8,
    FLOAT8_FORMATS,
    FLOATING,
    WIDER,
    OutOfMemoryError,
    Shape,
    Tensor,
    checked_number,
    contiguous_strides,
    device,
    dtype,
    float8_values,
    fresh,
    like_strides,
    memory_format,
    pack,
    pointwise_strides,
    result_type,
)
from mindtorch_core.dispatch.keys import DEFAULT_INCLUDED, DispatchKey

from .compiled import computed
from .memory_pool import POOL
from .turned import copied, row_major_copy

__all__ = [
    "CPU",
    "HALVES",
    "KEYS",
    "QUIET",
    "WIDER",
    "ZEROS",
    "array_of",
    "cast",
    "np_dtype",
    "recast",
    "torch_dtype",
    "wrap",
]


class _Known(dict[dtype, Any]):
    """NumPy's dtypes by ours."""

    def __missing__(self, d: dtype) -> Any:
        raise RuntimeError(
            f"there are no tensors of {d} here: the name is there for programs that compare"
        )


NUMPY_OF: Final[dict[dtype, np.dtype[Any]]] = _Known(
    {
        d: np.dtype(ml_dtypes.bfloat16) if d.name == "bfloat16" else np.dtype(name)
        for name, d in DTYPES.items()
    }
)
# A record of one byte: NumPy moves it about, and refuses to compute with it.
NUMPY_OF.update({d: np.dtype([(name, np.uint8)]) for name, d in FLOAT8.items()})
TORCH_OF: Final[dict[np.dtype[Any], dtype]] = {n: d for d, n in NUMPY_OF.items()}
np_dtype: Final = NUMPY_OF.__getitem__
ZEROS: Final = {d: np.zeros((), n) for d, n in NUMPY_OF.items()}
for _zero in ZEROS.values():
    _zero.flags.writeable = False

CPU: Final = device("cpu")
KEYS: Final = int(DispatchKey.CPU | DEFAULT_INCLUDED)

ndarray: Final = np.ndarray
HALVES: Final = frozenset(NUMPY_OF[d] for d in WIDER)
# Elements of half precision from which a kernel converts them: NumPy does one after the other.
_MANY: Final = 1 << 12


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
    the user's own setting is never touched. A context cannot be entered twice, and signal handlers
    and finalisers may run ops between any two lines: so ``run`` is for functions that are not
    written in Python, `quietly` takes all, and ``outer`` what calls kernels. Hot kernels write
    ``QUIET.__dict__["run"]``, which takes half as long as ``QUIET.run``.
    """

    def __init__(self) -> None:
        context, another, outer = (contextvars.Context() for _ in range(3))
        for each in (context, another, outer):
            each.run(np.seterr, all="ignore")
        self.run = context.run
        self.run_python = another.run
        self.outer = outer.run


QUIET: Final = _Quiet()


def quietly(fn: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a NumPy function without floating-point warnings, also from inside such a call."""
    try:
        return QUIET.__dict__["run_python"](fn, *args, **kwargs)
    except RuntimeError as error:
        if "cannot enter context" not in str(error):
            raise
        with np.errstate(all="ignore"):  # a finaliser that interrupted a kernel of this thread
            return fn(*args, **kwargs)


# From this many elements on NumPy counts modulo 2**64.
COUNTABLE: Final = 1 << 59
_MOST_DIMENSIONS: Final = 64  # of NumPy's arrays


def uninitialised(shape: Shape, d: Any, make: Callable[..., Any] = POOL.empty) -> Any:
    """A fresh array; where memory is short, what is kept for later goes first.

    Args:
        shape: its sizes.
        d: its NumPy dtype.
        make: ``np.zeros`` for elements that are 0.

    Raises:
        OutOfMemoryError: if the host has not enough.
        RuntimeError: if no address is that large.
    """
    for last in (False, True):
        try:
            return make(shape, d)
        except ValueError:
            if len(shape) > _MOST_DIMENSIONS:
                raise RuntimeError(
                    f"only tensors with up to {_MOST_DIMENSIONS} dims are supported, got {len(shape)}"
                ) from None
            raise RuntimeError(
                f"Storage size calculation overflowed with sizes={list(shape)}"
            ) from None
        except MemoryError:
            if last:
                break
            POOL.empty_cache()
    raise OutOfMemoryError(
        f"DefaultCPUAllocator: can't allocate memory: you tried to allocate "
        f"{math.prod(shape) * d.itemsize} bytes. Delete tensors that are needed no more, or ask for "
        f"less at a time."
    )


def wrap(data: Any, d: dtype) -> Tensor:
    """A tensor around a fresh array (or NumPy scalar). Hot kernels write this out."""
    if data.__class__ is not ndarray:
        data = np.array(data, NUMPY_OF[d])
    r = fresh()
    r.raw_data = data
    r.raw_shape = data.shape
    r.raw_layout = None
    r.raw_dtype = d
    r.raw_device = CPU
    r.raw_keys = KEYS
    r.raw_storage = None
    r.raw_base = None
    r.raw_autograd = None
    return r


def cast(t: Tensor, d: dtype) -> Any:
    """A tensor's array in another dtype (the array itself where nothing changes)."""
    return t.raw_data if t.raw_dtype is d else converted(t.raw_data, d)


def converted(a: Any, d: dtype) -> Any:
    """An array in another dtype, dense, in its order of dimensions."""
    if a.dtype.names is not None or d.name in FLOAT8:
        return of_float8(a, d)
    a = without_imaginary(a, NUMPY_OF[d])
    if a.flags.c_contiguous or 0 not in a.strides:
        return recast(a, NUMPY_OF[d])
    return relaid(a, NUMPY_OF[d])


def recast(a: Any, d: Any) -> Any:
    """``a.astype(d)``, quietly; many elements to or from half precision by a kernel, if there is one."""
    d = np.dtype(d)
    if a.size >= _MANY and (a.dtype in HALVES or d in HALVES) and type(a) is ndarray:  # not traced
        if a.strides[-1] == a.itemsize and a.strides == tuple(sorted(a.strides, reverse=True)):
            out = POOL.empty(a.shape, d)
            recast_into(a, out)
            return out
        if a.ndim > 1 and a.strides[-2] < a.strides[-1]:
            return recast(a.swapaxes(-1, -2), d).swapaxes(-1, -2)
    return quietly(a.astype, d)


def recast_into(a: Any, out: Any) -> None:
    """Write an array's elements, in another dtype, to one of its shape."""
    d = out.dtype
    if a.size < _MANY or not computed(("cast", d), lambda tracer, x: [x.astype(d)], [a], [out]):
        quietly(np.copyto, out, a, "unsafe")


def words(a: Any) -> Any:
    """An array of bfloat16 as one of integers, which NumPy copies and fills faster; others as they are."""
    return a.view(np.uint16) if a.dtype.kind == "V" and a.dtype.names is None else a


def without_imaginary(a: Any, d: Any) -> Any:
    """What goes into an array of a dtype: of complex numbers the real parts, all of them into booleans."""
    return a.real if a.dtype.kind == "c" and d.kind not in "cb" else a


def of_float8(a: Any, d: dtype) -> Any:
    """An array that is converted to or from a float of 8 bits: by way of float32, as in PyTorch."""
    if a.dtype == NUMPY_OF[d]:
        return a.copy("K")
    if a.dtype.names is not None:
        name = a.dtype.names[0]
        a = np.array(float8_values(name), np.float32)[a[name]]
    if d.name not in FLOAT8:
        return quietly(a.astype, NUMPY_OF[d])
    if a.dtype.kind == "c":
        a = a.real
    numbers = quietly(a.astype, np.float32)
    form = FLOAT8_FORMATS[d.name]
    absolute = numbers if form.signed else np.abs(numbers)
    codes = quietly(absolute.astype, getattr(ml_dtypes, d.name)).view(np.uint8)
    if form.saturates:
        large = (codes & 0x7F == form.nan) & ~np.isnan(numbers)
        codes = np.where(large, codes - 1, codes)
    codes = np.where(np.isnan(numbers), np.uint8(form.nan), codes)
    if not form.signed:
        codes = np.where(numbers == 0, np.uint8(0), codes)
    return np.ascontiguousarray(codes).view(NUMPY_OF[d]).reshape(a.shape)


def relaid(a: Any, d: Any = None, memory_format: memory_format | None = None) -> Any:
    """A dense copy, in the array's own layout as far as it is dense, or in a memory format."""
    size = a.itemsize
    strides = tuple(s // size for s in a.strides)
    wanted = like_strides(a.shape, strides, memory_format)
    if d is not None:
        a = without_imaginary(a, np.dtype(d))
    copy = room(a.shape, wanted, d or a.dtype)
    if copy.dtype is a.dtype:
        copied(words(copy), words(a))
    else:
        recast_into(a, copy)
    return copy


def laid_out(shape: Shape, strides: Shape, make: Callable[[Shape], Any]) -> Any:
    """An array whose dimensions follow each other as dense strides say.

    Args:
        shape: its shape.
        strides: in elements; some permutation of the shape lies row-major with them.
        make: gives an array of a shape in row-major order.
    """
    own, places = _ordered(shape, strides)
    data = make(own).transpose(places)
    steps = tuple([s * data.itemsize for s in strides])
    if data.strides != steps and data.size:  # of dimensions of size 1, which NumPy chooses itself
        data = np.lib.stride_tricks.as_strided(data, shape, steps)
    return data


@functools.lru_cache(4096)
def _ordered(shape: Shape, strides: Shape) -> tuple[Shape, Shape]:
    """A shape in the order of strides, and the place of each dimension in it."""
    order = sorted(range(len(shape)), key=lambda i: -strides[i])
    return tuple(shape[i] for i in order), tuple(order.index(i) for i in range(len(shape)))


def room(shape: Shape, strides: Shape, d: Any) -> Any:
    """Memory that is reused for an array whose dimensions follow each other as dense strides say."""
    return laid_out(shape, strides, lambda own: POOL.empty(own, d))


def laid_as(data: Any, spec: Any) -> Tensor:
    """A tensor of an array, in the memory order that a rule gives its result."""
    if spec.strides is None:
        return wrap(data, spec.dtype)
    laid = laid_out(spec.shape, spec.strides, lambda shape: np.empty(shape, data.dtype))
    laid[...] = data
    made = wrap(laid, spec.dtype)
    if not data.size:  # whose strides NumPy does not keep
        made.raw_layout = spec.strides, 0
    return made


def row_major(data: Any) -> Any:
    """An array (or NumPy scalar) in row-major order: NumPy's reductions keep their input's order.

    So do dimensions of size 1, whose strides do not matter to NumPy.
    """
    if data.__class__ is not ndarray:
        return data
    if data.flags.c_contiguous:
        if 1 in data.shape and data.strides != _row_major_steps(data.shape, data.itemsize):
            return data.reshape(-1).reshape(data.shape)
        return data
    return row_major_copy(data).reshape(-1).reshape(data.shape)


@functools.lru_cache(1024)
def _row_major_steps(shape: Shape, size: int) -> Shape:
    """NumPy's strides of an array in row-major order, of elements of a size."""
    return tuple(step * size for step in contiguous_strides(shape))


@functools.lru_cache(4096)
def _result_strides(shape: Shape, operands: tuple[tuple[Shape, Shape, int], ...]) -> Shape:
    """Strides of an element-wise result in elements, from those of its operands in bytes."""
    return pointwise_strides(
        shape, [(own, tuple(s // size for s in steps)) for own, steps, size in operands]
    )


def room_beside(shape: Shape, d: Any, *operands: Any) -> Any:
    """Memory for an element-wise result, whose dimensions are in the order PyTorch gives them.

    Args:
        shape: of the result.
        d: its NumPy dtype.
        operands: the arrays that it is computed of.
    """
    if all(o.flags.c_contiguous for o in operands):
        return POOL.empty(shape, d)
    geometries = tuple([(o.shape, o.strides, o.itemsize) for o in operands])
    return room(shape, _result_strides(shape, geometries), d)


def in_common_order(data: Any, *operands: Any) -> Any:
    """An element-wise result in the order of dimensions PyTorch gives it.

    NumPy orders a result by the strides of its operands too, but weighs broadcast dimensions
    differently.
    """
    if data.__class__ is not ndarray or data.ndim < 2:
        return data
    if all(o.flags.c_contiguous for o in operands) and (
        1 not in data.shape or all(o.shape == data.shape for o in operands)
    ):
        return data
    geometries = tuple([(o.shape, o.strides, o.itemsize) for o in operands])
    wanted = _result_strides(data.shape, geometries)
    size = data.itemsize
    if wanted == tuple([s // size for s in data.strides]):
        return data
    copy = laid_out(data.shape, wanted, lambda shape: np.empty(shape, data.dtype))
    copy[...] = data
    return copy


def as_operands_lie(data: Any, *operands: Any) -> Any:
    """The same for operands that may be numbers, and count as they lie before any conversion."""
    if data.__class__ is not ndarray or data.ndim < 2:
        return data
    arrays = [t.raw_data for t in operands if isinstance(t, Tensor)]
    shape, single = data.shape, len(arrays) == 1  # beside a number
    for a in arrays:
        if not a.flags.c_contiguous or (a.shape != shape and not single):
            return in_common_order(data, *arrays)
    return data


_WHOLE: Final = frozenset({bool, int})
_SCALARS: Final[dict[tuple[Any, ...], Any]] = {}
_EXACT: Final[dict[tuple[Any, ...], Any]] = {}


def _is_itself(value: Any) -> bool:
    """Whether numbers that equal one are that one: zeros, and parts of complex numbers, have signs."""
    kind = value.__class__
    return kind is int or (kind is not complex and bool(value))


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
    if d.name in FLOAT8:
        return np.frombuffer(pack([value], d), NUMPY_OF[d])[0:1].reshape(())
    if not value and value.__class__ in _WHOLE:
        return ZEROS[d]
    try:
        if d in WIDER and value.__class__ is int:  # bfloat16 refuses those of more than 64 bits
            value = float(value)
        made = quietly(np.array, value, NUMPY_OF[d])  # a large float becomes infinite
    except OverflowError:
        if not -(1 << 63) <= value < 1 << 64:
            raise
        made = np.array(value % (1 << 64), np.uint64).astype(NUMPY_OF[d])
    made.flags.writeable = False
    if _is_itself(value) and len(_SCALARS) < 1024:
        _SCALARS[key] = made
    return made


def exact(value: Any, d: dtype) -> Any:
    """A Python number that is to be stored, as an array without dimensions.

    Raises:
        RuntimeError: if it does not fit the dtype.
    """
    key = (d, value.__class__, value)
    found = _EXACT.get(key)
    if found is None:
        found = scalar(checked_number(value, d), d)
        if _is_itself(value) and len(_EXACT) < 1024:
            _EXACT[key] = found
    return found


def array_of(value: Any, d: dtype) -> Any:
    """An operand, tensor or number, as an array of a dtype."""
    return cast(value, d) if isinstance(value, Tensor) else scalar(value, d)


def operands(self: Any, other: Any) -> tuple[Any, Any, dtype]:
    """Arrays of both operands in their common dtype, and that dtype."""
    if other.__class__ is float and self.raw_dtype.category == FLOATING:  # a number never widens it
        return self.raw_data, scalar(other, self.raw_dtype), self.raw_dtype
    d = result_type(self, other)
    return array_of(self, d), array_of(other, d), d
