"""Matrix products, by BLAS where the dtype has one."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_core.dtypes import FLOATING, INTEGER, bool_
from mindtorch_core.operators.linalg.products import factor
from mindtorch_core.tensor import Tensor

from ..arrays import CPU, KEYS, NUMPY_OF, QUIET, WIDER, ndarray, quietly, scalar, wrap
from ..register import kernel, rule_of

_new = object.__new__

# Computed in another dtype, or refused by the rules.
_UNUSUAL = frozenset({*WIDER, *(d for d in NUMPY_OF if d.category < FLOATING)})


def check(name: str, *args: Any, **kwargs: Any) -> None:
    """Raise the error of the op's rule, if the arguments do not fit."""
    rule_of(name)(*args, **kwargs)


def product(a: Any, b: Any, d: Any) -> Any:
    """``a @ b`` as an array; half precision through float32."""
    if d in WIDER:
        return quietly(np.matmul, a.astype(np.float32), b.astype(np.float32)).astype(NUMPY_OF[d])
    if d.category == INTEGER:
        return whole_product(a, b)
    return quietly(np.matmul, for_blas(a), for_blas(b))


def _dot(a: Any, b: Any) -> Any:
    """The product of two matrices; ``dot`` costs half of what ``matmul`` does on small ones.

    But where one of them is a single number it has BLAS scale the other, and 0 makes 0 of NaN there.
    """
    return QUIET.run(np.matmul, a, b) if a.shape[1] == 1 else QUIET.run(a.dot, b)


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
    d = self._dtype
    a, b = self._data, other._data
    if d is not other._dtype or not a.ndim or not b.ndim or a.shape[-1] != b.shape[-2:][0]:
        check("matmul", self, other)
    if a.ndim != 2 or b.ndim != 2 or d in _UNUSUAL:
        check("matmul", self, other)
        return wrap(product(a, b, d), d)
    data = QUIET.run(np.matmul, a, b) if a.shape[1] == 1 else QUIET.run(a.dot, b)  # as in _dot
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


@kernel("mm")
def mm(self: Any, mat2: Any) -> Any:
    """Product of two matrices."""
    d = self._dtype
    a, b = self._data, mat2._data
    if a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or mat2._dtype is not d:
        check("mm", self, mat2)
    if d in _UNUSUAL:
        if d is bool_:
            check("mm", self, mat2)
        return wrap(product(a, b, d), d)
    return wrap(_dot(a, b), d)


@kernel("linear")
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """``input @ weight.T + bias``."""
    d = input._dtype
    a, w = input._data, weight._data
    if (
        a.ndim != 2 or w.ndim != 2 or a.shape[1] != w.shape[1] or weight._dtype is not d
        or (bias is not None and (bias._dtype is not d or bias._shape != w.shape[:1]))
    ):  # fmt: skip
        check("linear", input, weight, bias)
    if d is bool_:
        check("linear", input, weight, bias)
    out = product(a, w.T, d) if a.ndim != 2 or d in _UNUSUAL else _dot(a, w.T)
    if bias is not None:
        if bias._dtype is d:
            # The product of two vectors is a NumPy scalar, which cannot be written.
            out = QUIET.run(np.add, out, bias._data, out if w.ndim == 2 else None)
        else:
            raise RuntimeError(
                f"self and mat2 must have the same dtype, but got {bias._dtype.label} and {d.label}"
            )
    return wrap(out, d)


@kernel("bmm")
def bmm(self: Any, mat2: Any) -> Any:
    """Products of matrices, batch by batch."""
    check("bmm", self, mat2)
    return wrap(product(self._data, mat2._data, self._dtype), self._dtype)


@kernel("addmm")
def addmm(self: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """``beta * self + alpha * (mat1 @ mat2)``."""
    d = self._dtype
    a, b = mat1._data, mat2._data
    if (
        a.ndim != 2 or b.ndim != 2 or a.shape[1] != b.shape[0] or mat1._dtype is not d
        or mat2._dtype is not d or self._shape != b.shape[1:]
    ):  # fmt: skip
        check("addmm", self, mat1, mat2, beta=beta, alpha=alpha)
    if d.category < FLOATING:
        check("addmm", self, mat1, mat2)
        alpha, beta = factor(alpha, d), factor(beta, d)
    out = product(a, b, d) if d in _UNUSUAL else _dot(a, b)
    if alpha != 1:
        quietly(np.multiply, out, scalar(alpha, d), out)
    if beta != 0:
        bias = self._data if beta == 1 else quietly(np.multiply, self._data, scalar(beta, d))
        quietly(np.add, out, bias, out)
    return wrap(out, d)
