"""Large eager ops: chunks that fit the cache, shared out over threads, into memory that is reused."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import get_num_threads

from .arrays import HALVES, QUIET, quietly, recast, room_beside
from .compiled import computed, turned
from .memory_pool import POOL
from .workers import share_out

__all__ = [
    "ARITHMETIC",
    "EXTREMES",
    "LARGE",
    "SOME",
    "compiles",
    "in_chunks",
    "in_place_at_once",
    "in_single",
    "in_slabs",
    "many",
]

# From this many elements on, memory that is there already pays; from four chunks on, threads do.
LARGE: Final = 1 << 15
# From as many, for functions that take NumPy long.
SOME: Final = 1 << 12
_CHUNK: Final = 1 << 16
# Of what waits for memory more than it computes: threads that ask for the interpreter's lock every few
# microseconds wait for each other.
_LONG: Final = 1 << 18
# Of what waits for memory whatever it computes, as neither operands nor results stay in a cache.
_FAR: Final = 1 << 21
ARITHMETIC: Final = frozenset((
    np.add, np.subtract, np.multiply, np.divide, np.negative, np.positive, np.absolute, np.sqrt,
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
    np.logical_and, np.logical_or, np.logical_not, np.bitwise_and, np.bitwise_or,
))  # fmt: skip
# They have vector instructions for two arrays only.
EXTREMES: Final = (np.maximum, np.minimum)


def many(a: Any) -> bool:
    """Whether an array has elements for more than one call of NumPy's; not one that is traced."""
    return type(a) is np.ndarray and a.size >= SOME


def compiles() -> bool:
    """Whether there are compiled kernels; they are imported with the first large call."""
    from .native.kernels import KERNELS

    return KERNELS.usable


def in_chunks(
    ufunc: Callable[..., Any],
    d: Any,
    *arrays: Any,
    key: Hashable = None,
    trace: Callable[..., Sequence[Any]] | None = None,
) -> Any:
    """``ufunc(*arrays)`` for large operands; None where they do not lie alike in memory, without gaps.

    A function of several steps is a compiled kernel, if there is one, to the last bit the same.

    Args:
        ufunc: the NumPy function. What makes no arrays of its own has an attribute ``into``, which is called
            with one for the result behind the operands.
        d: NumPy dtype of the result.
        arrays: operands, of one shape or without dimensions.
        key: identifies a function that holds values of its own; None for one that may not be compiled.
        trace: what is compiled, see `compiled.computed`, where that is not the function itself.
    """
    takes_out, into = isinstance(ufunc, np.ufunc), getattr(ufunc, "into", None)
    first = arrays[0] if arrays[0].ndim or not takes_out else arrays[-1]
    shape = first.shape
    for a in arrays:
        if a.ndim and (a.shape != shape or not a.flags.c_contiguous):
            return turned(lambda *own: in_chunks(ufunc, d, *own, key=key, trace=trace), arrays)
    out = POOL.empty(shape, d)
    size, most = first.size, _LONG if ufunc in ARITHMETIC else _CHUNK
    slow = first.dtype in HALVES or (ufunc in EXTREMES and first.dtype.kind == "f")
    if takes_out and slow and _in_one(ufunc, arrays, out):
        return out
    if takes_out and size <= most and ufunc not in EXTREMES:
        return QUIET.run(ufunc, *arrays, out)
    flat = out.reshape(-1)
    if key is None and not takes_out and getattr(ufunc, "__closure__", ufunc) is None:
        key = ufunc
    trace = trace or (lambda tracer, *parts: [ufunc(*parts)])
    if key is not None and not takes_out and computed(key, trace, arrays, [out]):
        return out
    if ufunc in EXTREMES:
        lines = [a.reshape(-1) if a.ndim else np.full(min(size, most), a) for a in arrays]
    else:
        lines = [a.reshape(-1) if a.ndim else a for a in arrays]

    step = -(-size // -(-size // most))  # alike: of a few elements some functions are others

    def chunk(start: int) -> None:
        part = slice(start, min(start + step, size))
        again = slice(part.stop - start)  # of one number many times
        given = [a[part if a.size == size else again] if a.ndim else a for a in lines]
        if takes_out:
            QUIET.run(ufunc, *given, out=flat[part])
        elif into is not None:
            quietly(into, *given, flat[part])
        else:
            flat[part] = quietly(ufunc, *given)

    share_out(chunk, range(0, size, step))
    return out


def _in_one(ufunc: Any, arrays: Sequence[Any], out: Any) -> bool:
    """Whether a kernel computed a ufunc for which NumPy takes one element after the other."""
    if arrays[0].ndim:
        return computed(ufunc, lambda tracer, *parts: [ufunc(*parts)], arrays, [out])
    number, array = arrays
    return computed(
        (ufunc, "of a number"), lambda tracer, x, n: [ufunc(n, x)], (array, number), [out]
    )


def in_place_at_once(ufunc: Any, out: Any, other: Any) -> bool:
    """Whether a kernel computed ``ufunc(out, other, out)``."""
    if other is not out and np.may_share_memory(out, other):
        return False

    def trace(tracer: Any, a: Any, b: Any) -> list[Any]:
        ufunc(a, b, a)
        return []

    lies = (out.strides, other.shape, other.strides)
    return computed((ufunc, "in place"), trace, [out, other], [], lies)


def in_single(ufunc: Any, a: Any, number: Any, d: Any) -> Any:
    """``ufunc`` of an array and a number of float32, rounded once to half precision."""
    if many(a) and a.dtype == d and not number.ndim:
        out = room_beside(a.shape, d, a)

        def trace(tracer: Any, x: Any, n: Any) -> list[Any]:
            return [ufunc(x.astype(np.float32), n).astype(d)]

        if computed((ufunc, "in single"), trace, [a, number], [out], a.strides):
            return out
    return recast(ufunc(recast(a, np.float32), number), d)


def in_slabs(ufunc: Callable[..., Any], d: Any, *arrays: Any) -> Any:
    """``ufunc(*arrays)`` for large operands that are broadcast, by slices along the first dimension.

    None in one thread, for functions whose bits depend on how their operands lie, and where the result is
    not row-major.
    """
    if ufunc not in ARITHMETIC or get_num_threads() < 2:
        return None
    seen = np.broadcast_arrays(*arrays)
    shape, size = seen[0].shape, seen[0].size
    if len(shape) < 2 or size < _FAR or not all(map(_falls, seen)):
        return None
    out = POOL.empty(shape, d)
    step = max(1, _LONG * shape[0] // size)

    def slab(first: int) -> None:
        part = slice(first, first + step)
        QUIET.run(ufunc, *[a[part] for a in seen], out=out[part])

    share_out(slab, range(0, shape[0], step))
    return out


def _falls(a: Any) -> bool:
    """Whether strides fall from dimension to dimension, but for those of 0."""
    strides = [s for s in a.strides if s]
    return strides == sorted(strides, reverse=True)
