"""Ops of three operands: addcmul, addcdiv, lerp."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_core.backend import FLOATING

from ..arrays import NUMPY_OF, WIDER, as_operands_lie, cast, quietly, recast, wrap
from ..large import LARGE, in_chunks
from ..register import composition_of, register, rule_of

Compute = Callable[..., Any]


def _alike(operands: Any, shape: Any) -> bool:
    """Whether tensors need no broadcasting, up to such without dimensions."""
    return all(not t.raw_shape or t.raw_shape == shape for t in operands)


def three(name: str, compute: Compute, tensors: int = 3) -> None:
    """Register ``compute(*arrays, ...)`` for real floating tensors and the op's in-place form.

    Args:
        name: the op with its overload.
        compute: the function of arrays and of the arguments that are no tensors.
        tensors: how many leading arguments are tensors.
    """
    rule, general = rule_of(name), composition_of(name)

    def data_of(args: Any, kwargs: Any) -> Any:
        spec = rule(*args, **kwargs)
        d = spec.dtype
        if d.category != FLOATING:
            return None, d
        wide = WIDER.get(d, d)
        arrays = [cast(t, wide) for t in args[:tensors]]
        rest = args[tensors:]

        def each(*parts: Any) -> Any:
            return compute(*parts, *rest, **kwargs)

        data = None
        if arrays[0].size >= LARGE and _alike(args[:tensors], spec.shape):
            data = in_chunks(each, NUMPY_OF[wide], *arrays)
        if data is None:
            data = quietly(each, *arrays)
        if wide is not d:
            data = recast(data, NUMPY_OF[d])
        return as_operands_lie(data, *args[:tensors]), d

    def run(*args: Any, **kwargs: Any) -> Any:
        data, d = data_of(args, kwargs)
        if data is None:  # the parts of a composition go along as two operands each time
            data = as_operands_lie(general(*args, **kwargs).raw_data, *args[:tensors])
        return wrap(data, d)

    base, dot, overload = name.partition(".")
    general_inplace = composition_of(f"{base}_{dot}{overload}")

    def run_inplace(self: Any, *args: Any, **kwargs: Any) -> Any:
        operands = (self, *args[: tensors - 1])
        same = all(t.raw_dtype is self.raw_dtype for t in operands) and _alike(
            operands, self.raw_shape
        )
        data = data_of((self, *args), kwargs)[0] if same else None
        if data is None:
            return general_inplace(self, *args, **kwargs)
        np.copyto(self.raw_data, data)
        return self

    register(name, run)
    register(f"{base}_{dot}{overload}", run_inplace)


def _addcmul(a: Any, b: Any, c: Any, *, value: float = 1) -> Any:
    if value != 1:
        b = np.multiply(b, a.dtype.type(value))
    return np.add(a, np.multiply(b, c))


def _addcdiv(a: Any, b: Any, c: Any, *, value: float = 1) -> Any:
    if value != 1:
        b = np.multiply(b, a.dtype.type(value))
    return np.add(a, np.divide(b, c))


def _lerp(a: Any, b: Any, weight: float) -> Any:
    if abs(weight) < 0.5:
        return np.add(a, np.multiply(np.subtract(b, a), a.dtype.type(weight)))
    return np.subtract(b, np.multiply(np.subtract(b, a), a.dtype.type(1 - weight)))


def _lerp_tensor(a: Any, b: Any, weight: Any) -> Any:
    step = np.subtract(b, a)
    near = np.add(a, np.multiply(weight, step))
    far = np.subtract(b, np.multiply(step, a.dtype.type(1) - weight))
    return np.where(np.absolute(weight) < 0.5, near, far)


three("addcmul", _addcmul)
three("addcdiv", _addcdiv)
three("lerp.Scalar", _lerp, tensors=2)
three("lerp.Tensor", _lerp_tensor)
