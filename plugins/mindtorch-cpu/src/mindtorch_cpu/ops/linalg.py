"""Matrix products, by BLAS where the dtype has one."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindtorch_core.backend import (
    FLOAT8,
    FLOATING,
    INTEGER,
    bfloat16,
    bool_,
    float32,
    fresh,
    product_factor,
)  # fmt: skip

from ..arrays import (
    CPU,
    KEYS,
    NUMPY_OF,
    QUIET,
    WIDER,
    cast,
    converted,
    ndarray,
    quietly,
    recast,
    recast_into,
    row_major,
    scalar,
    wrap,
)
from ..blas import TINY, multiplied, over_batches
from ..large import LARGE
from ..memory_pool import POOL
from ..register import kernel, rule_of
from ..rows import broad
from .few_rows import MANY, UNPACKED, as_packed, by_few_rows

_FEW_ROWS = 16
_CACHED = 1 << 17  # elements that fit a cache
_WIDENED = 1 << 20  # elements of a block of half precision that are float32 at a time
_FLOAT8 = frozenset(FLOAT8.values())
# Computed in another dtype, or refused by the rules.
_UNUSUAL = frozenset({*WIDER, *_FLOAT8, *(d for d in NUMPY_OF if d.category < FLOATING)})


def check(name: str, *args: Any, **kwargs: Any) -> None:
    """Raise the error of the op's rule, if the arguments do not fit."""
    rule_of(name)(*args, **kwargs)


def product(a: Any, b: Any, d: Any) -> Any:
    """``a @ b`` as an array; half precision, and floats of 8 bits, through float32, rounded once."""
    if d in WIDER:
        return half_product(a, b, NUMPY_OF[d])
    return rounded(unrounded(a, b, d), d)


def rounded(found: Any, d: Any) -> Any:
    """What `unrounded` gave, in the dtype of its operands."""
    return (
        converted(found, d) if d in _FLOAT8 else recast(found, NUMPY_OF[d]) if d in WIDER else found
    )


def unrounded(a: Any, b: Any, d: Any) -> Any:
    """``a @ b`` as an array, which is of float32 for half precision: more may be added to it."""
    if d in WIDER:
        return half_product(a, b, np.dtype(np.float32))
    if d in _FLOAT8 and min(a.ndim, b.ndim) > 1:  # products of vectors are refused, by NumPy
        a, b = converted(a, float32), converted(b, float32)
    if d.category == INTEGER:
        return row_major(whole_product(a, b))
    if b.ndim == 2 < a.ndim and a.size:  # one product of all rows, for which others are copied
        found = dot_of_matrices(for_blas(a.reshape(-1, a.shape[-1])), for_blas(b))
        return found.reshape(*a.shape[:-1], b.shape[1])
    if a.ndim > 2 and a.shape[:-2] == b.shape[:-2] and a.size and b.size:
        return _batches(for_blas(a), for_blas(b))
    rows, columns = (a.shape[-2] if a.ndim > 1 else 1), (b.shape[-1] if b.ndim > 1 else 1)
    each = rows * a.shape[-1] * columns
    return row_major(multiplied(each, quietly, np.matmul, for_blas(a), for_blas(b)))


def _empty(shape: Any, d: Any) -> Any:
    return POOL.empty(shape, d) if math.prod(shape) >= LARGE else np.empty(shape, d)


def _batches(a: Any, b: Any) -> Any:
    """Products of stacks of matrices, whose first dimension is shared out."""
    out = _empty((*a.shape[:-1], b.shape[-1]), a.dtype)
    if a.shape[-1] == 1:
        return quietly(np.multiply, a, b, out)
    b, count, each = as_packed(a, b), len(a), a[0].size * b.shape[-1]

    def work(part: slice) -> None:
        quietly(np.matmul, a[part], b[part], out[part])

    over_batches(work, each, count)
    return out


def half_product(a: Any, b: Any, d: Any) -> Any:
    """``a @ b`` of half precision, computed in float32 and rounded to a dtype; large ones block by block."""
    if min(a.ndim, b.ndim) < 2 or a.size * b.shape[-1] <= TINY:
        found = row_major(quietly(np.matmul, recast(a, np.float32), recast(b, np.float32)))
        return found if found.dtype == d else recast(found, d)
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    out = _empty((*batch, a.shape[-2], b.shape[-1]), d)
    if _by_pairs(a, b, out):
        return out
    if b.ndim == 2 and a.flags.c_contiguous:  # one product of all rows
        quietly(_in_blocks, a.reshape(-1, a.shape[-1]), b, out.reshape(-1, b.shape[1]))
        return out
    x, y = (np.broadcast_to(t, (*batch, *t.shape[-2:])) for t in (a, b))
    places = list(np.ndindex(batch))
    largest = max(x[places[0]].size, y[places[0]].size, out[places[0]].size)
    whole = len(batch) == 1 and largest <= _CACHED

    def work(part: slice) -> None:
        if whole:
            quietly(_in_stacks, x[part], y[part], out[part], max(1, _CACHED // largest))
            return
        for place in places[part]:
            quietly(_in_blocks, x[place], y[place], out[place])

    over_batches(work, a.shape[-2] * a.shape[-1] * b.shape[-1], len(places))
    return out


def _in_stacks(a: Any, b: Any, out: Any, step: int) -> None:
    """Products of stacks of matrices, of which some are widened at a time."""
    for first in range(0, len(a), step):
        left, right = (recast(t[first : first + step], np.float32) for t in (a, b))
        recast_into(np.matmul(left, right), out[first : first + step])


def _by_pairs(a: Any, b: Any, out: Any) -> bool:
    """Whether the processor's instruction for bfloat16 has computed a product."""
    if a.dtype != NUMPY_OF[bfloat16] or a.shape[-2] <= _FEW_ROWS:
        return False
    from . import bfloat_products

    if not bfloat_products.usable() or (b.ndim > 2 and a.shape[:-2] != b.shape[:-2]):
        return False
    if b.ndim == 2:
        rows = 1, -1
    else:
        rows = -1, a.shape[-2]
    x, y = a.reshape(*rows, a.shape[-1]), b.reshape(-1, *b.shape[-2:])
    return bfloat_products.multiply(x, y, out.reshape(*rows, b.shape[-1]))


def _in_blocks(a: Any, b: Any, out: Any) -> None:
    """The product of two matrices, of which a few rows and columns at a time are widened."""
    inner = max(a.shape[1], 1)
    if len(a) <= _FEW_ROWS:
        _few_rows(recast(a, np.float32), b, out)
        return
    step = max(_WIDENED // inner, 512)
    for column in range(0, b.shape[1], step):
        right = recast(b[:, column : column + step], np.float32)
        for row in range(0, len(a), step):
            left = recast(a[row : row + step], np.float32)
            found = multiplied(left.size * right.shape[1], np.matmul, left, right)
            recast_into(found, out[row : row + step, column : column + step])


def _few_rows(a: Any, b: Any, out: Any) -> None:
    """The same for few rows: what is widened of the large matrix stays in the cache."""
    if b.strides[0] < b.strides[1]:
        step = max(1, _CACHED // max(len(b), 1))
        for column in range(0, b.shape[1], step):
            part = slice(column, column + step)
            out[:, part] = np.matmul(a, recast(b[:, part], np.float32))
        return
    step = max(1, _CACHED // max(b.shape[1], 1))
    found = np.zeros((len(a), b.shape[1]), np.float32)
    for row in range(0, len(b), step):
        part = slice(row, row + step)
        np.add(found, np.matmul(a[:, part], b[part].astype(np.float32)), found)
    out[...] = found


def dot_of_matrices(a: Any, b: Any) -> Any:
    """The product of two matrices; ``dot`` costs half of what ``matmul`` does on small ones.

    But where one of them is a single number it has BLAS scale the other, and 0 makes 0 of NaN there.
    """
    (rows, inner), columns = a.shape, b.shape[1]
    size = rows * columns
    if inner == 1:  # BLAS takes ten times as long
        return QUIET.run(
            np.multiply, a, b, POOL.empty((rows, columns), a.dtype) if size >= LARGE else None
        )
    if 1 < rows <= MANY and size > UNPACKED and (made := by_few_rows(a, b)) is not None:
        return made
    if size >= LARGE:
        out = POOL.empty((rows, columns), a.dtype)
        # ``dot`` fills the result with zeros first; ``matmul`` has BLAS multiply only what lies so already.
        run = np.matmul if for_blas(a) is a and for_blas(b) is b else np.dot
        return multiplied(size * inner, QUIET.run, run, a, b, out)
    run = QUIET.__dict__["run"]
    if size * inner > TINY:
        return multiplied(size * inner, run, np.dot, a, b)
    return run(a.dot, b)


def for_blas(a: Any) -> Any:
    """An array whose matrices BLAS can read: NumPy multiplies others element by element."""
    if a.ndim < 2 or not a.size:
        return a
    (rows, columns), (down, along), size = a.shape[-2:], a.strides[-2:], a.itemsize
    if (along == size and down >= columns * size) or (down == size and along >= rows * size):
        return a
    return np.ascontiguousarray(a)


def whole_product(a: Any, b: Any) -> Any:
    """``a @ b`` of integers, which BLAS does not know.

    Where float64 holds every sum exactly, it multiplies those: 20 to 100 times faster.
    """
    inner = a.shape[-1]
    if a.size * inner < 4096 or not b.size or _largest(a) * _largest(b) * inner >= 1 << 53:
        return np.matmul(a, b)
    exact = quietly(np.matmul, a.astype(np.float64), b.astype(np.float64))
    return exact.astype(np.int64).astype(a.dtype)


def _largest(a: Any) -> int:
    """A bound of the absolute values of integers."""
    if a.itemsize < 4:
        return 1 << 8 * int(a.itemsize)
    return max(int(a.max()), -int(a.min()))


@kernel("matmul")
def matmul(self: Any, other: Any) -> Any:
    """Matrix product of any ranks."""
    d = self.raw_dtype
    shape, along = self.raw_shape, other.raw_shape
    a, b = self.raw_data, other.raw_data
    if (
        len(shape) != 2 or len(along) != 2 or shape[1] != along[0] or d in _UNUSUAL
        or d is not other.raw_dtype
    ):  # fmt: skip
        if (
            len(along) != 2 or len(shape) < 2 or shape[-1] != along[0] or d in _UNUSUAL
            or d is not other.raw_dtype
        ):  # fmt: skip
            check("matmul", self, other)
        return wrap(product(a, b, d), d)
    if shape[1] == 1 or (size := shape[0] * along[1]) >= LARGE or size * shape[1] > TINY:
        data = dot_of_matrices(a, b)
    else:
        data = QUIET.__dict__["run"](a.dot, b)
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


@kernel("mm")
def mm(self: Any, mat2: Any) -> Any:
    """Product of two matrices."""
    d = self.raw_dtype
    a, b = self.raw_data, mat2.raw_data
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or mat2.raw_dtype is not d:
        check("mm", self, mat2)
    if d in _UNUSUAL:
        if d is bool_:
            check("mm", self, mat2)
        return wrap(product(a, b, d), d)
    if a.shape[1] != 1 and a.size * b.shape[1] <= TINY:
        return wrap(QUIET.__dict__["run"](a.dot, b), d)
    return wrap(dot_of_matrices(a, b), d)


@kernel("linear")
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """``input @ weight.T + bias``."""
    d = input.raw_dtype
    a, w = input.raw_data, weight.raw_data
    shape, along = input.raw_shape, weight.raw_shape
    flat = len(along) == 2 <= len(shape)
    if (
        not flat or shape[-1] != along[1] or weight.raw_dtype is not d or d is bool_
        or (bias is not None and (bias.raw_dtype is not d or bias.raw_shape != along[:1]))
    ):  # fmt: skip
        check("linear", input, weight, bias)
    usual = flat and d not in _UNUSUAL
    out = dot_of_matrices(a, w.T) if usual and len(shape) == 2 else unrounded(a, w.T, d)
    if bias is not None:
        if bias.raw_dtype is d:
            added = cast(bias, float32) if d in _FLOAT8 else bias.raw_data
            if out.size < LARGE or len(along) != 2:
                # The product of two vectors is a NumPy scalar, which cannot be written.
                out = QUIET.run(np.add, out, added, out if len(along) == 2 else None)
            else:
                lines, wide = broad(out.reshape(-1, w.shape[0]), added)
                QUIET.run(np.add, lines, wide, lines)
        else:
            raise RuntimeError(
                f"self and mat2 must have the same dtype, but got {bias.raw_dtype.label} and {d.label}"
            )
    return wrap(out if usual else rounded(out, d), d)


@kernel("bmm")
def bmm(self: Any, mat2: Any) -> Any:
    """Products of matrices, batch by batch."""
    check("bmm", self, mat2)
    return wrap(product(self.raw_data, mat2.raw_data, self.raw_dtype), self.raw_dtype)


@kernel("addmm")
def addmm(self: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * self + alpha * (mat1 @ mat2)``."""
    d = self.raw_dtype
    a, b = mat1.raw_data, mat2.raw_data
    if (
        a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or mat1.raw_dtype is not d
        or mat2.raw_dtype is not d or self.raw_shape != b.shape[1:]
    ):  # fmt: skip
        check("addmm", self, mat1, mat2, beta=beta, alpha=alpha)
    if d.category < FLOATING:
        check("addmm", self, mat1, mat2)
        alpha, beta = product_factor(alpha, d), product_factor(beta, d)
    out = unrounded(a, b, d) if d in _UNUSUAL else dot_of_matrices(a, b)
    inner = float32 if d in _FLOAT8 else WIDER.get(d, d)  # these are rounded at the end
    if alpha != 1:
        QUIET.run(np.multiply, out, scalar(alpha, inner), out)
    if beta != 0:
        bias = cast(self, inner)
        bias = bias if beta == 1 else QUIET.run(np.multiply, bias, scalar(beta, inner))
        QUIET.__dict__["run"](np.add, out, bias, out)
    return wrap(rounded(out, d), d)
