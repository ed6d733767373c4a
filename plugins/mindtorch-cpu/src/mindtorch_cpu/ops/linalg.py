"""Matrix products, by BLAS where the dtype has one."""

from __future__ import annotations

from typing import Any

import numpy as np

from mindtorch_core.dtypes import bool_
from mindtorch_core.tensor import Tensor

from ..arrays import CPU, KEYS, NUMPY_OF, QUIET, WIDER, ndarray, quietly, scalar, wrap
from ..register import kernel, rule_of

_new = object.__new__

_UNUSUAL = frozenset({*WIDER, bool_})  # computed in another dtype, or refused by the rules


def check(name: str, *args: Any, **kwargs: Any) -> None:
    """Raise the error of the op's rule, if the arguments do not fit."""
    rule_of(name)(*args, **kwargs)


def product(a: Any, b: Any, d: Any) -> Any:
    """``a @ b`` as an array; half precision through float32."""
    if d in WIDER:
        return quietly(np.matmul, a.astype(np.float32), b.astype(np.float32)).astype(NUMPY_OF[d])
    return quietly(np.matmul, a, b)


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
    data = QUIET.run(a.dot, b)  # half of what np.matmul costs on small matrices
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
        check("mm", self, mat2)
        return wrap(product(a, b, d), d)
    return wrap(QUIET.run(a.dot, b), d)


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
    out = product(a, w.T, d) if a.ndim != 2 or d in WIDER else QUIET.run(a.dot, w.T)
    if bias is not None:
        if bias._dtype is d:
            out = QUIET.run(np.add, out, bias._data, out)
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
    if d is bool_:
        check("addmm", self, mat1, mat2)
    out = product(a, b, d) if d in WIDER else quietly(a.dot, b)
    if alpha != 1:
        quietly(np.multiply, out, scalar(alpha, d), out)
    if beta != 0:
        bias = self._data if beta == 1 else quietly(np.multiply, self._data, scalar(beta, d))
        quietly(np.add, out, bias, out)
    return wrap(out, d)
