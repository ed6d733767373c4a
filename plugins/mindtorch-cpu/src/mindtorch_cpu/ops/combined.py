"""Ops of three operands: addcmul, addcdiv, lerp."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import FLOATING

from ..arrays import NUMPY_OF, WIDER, as_operands_lie, cast, quietly, recast, scalar, wrap
from ..large import in_chunks, many
from ..register import composition_of, register, rule_of

_REAL: Final = (int, float)

# Of the arguments that are no tensors, a function of arrays and the numbers that are its last ones.
Formula = Callable[..., tuple[Callable[..., Any], Sequence[float]]]


def _alike(operands: Any, shape: Any) -> bool:
    """Whether tensors need no broadcasting, up to such without dimensions."""
    return all(not t.raw_shape or t.raw_shape == shape for t in operands)


def three(name: str, formula: Formula, tensors: int = 3) -> None:
    """Register a function of real floating tensors and the op's in-place form.

    Args:
        name: the op with its overload.
        formula: gives the function.
        tensors: how many leading arguments are tensors.
    """
    rule, general = rule_of(name), composition_of(name)

    def data_of(args: Any, kwargs: Any) -> Any:
        first = args[0]
        d, shape = first.raw_dtype, first.raw_shape
        numbers = (*args[tensors:], *kwargs.values())
        if not (plain(args, d, shape) and all(n.__class__ in _REAL for n in numbers)):
            spec = rule(*args, **kwargs)
            d, shape = spec.dtype, spec.shape
        if d.category != FLOATING:
            return None, d
        wide = WIDER.get(d, d)
        arrays = [cast(t, wide) for t in args[:tensors]]
        each, factors = formula(*args[tensors:], **kwargs)
        arrays += [scalar(float(number), wide) for number in factors]
        data = None
        if many(arrays[0]) and _alike(args[:tensors], shape):
            data = in_chunks(each, NUMPY_OF[wide], *arrays, key=each)
        if data is None:
            data = quietly(each, *arrays)
        if wide is not d:
            data = recast(data, NUMPY_OF[d])
        return as_operands_lie(data, *args[:tensors]), d

    def plain(args: Any, d: Any, shape: Any) -> bool:
        """Whether the tensors are of one shape and dtype, which are the result's."""
        return all(t.raw_dtype is d and t.raw_shape == shape for t in args[1:tensors])

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


def _with(join: Callable[..., Any]) -> Formula:
    """A number times the second operand, joined with the third, is added to the first."""

    def plain(a: Any, b: Any, c: Any) -> Any:
        return np.add(a, join(b, c))

    def scaled(a: Any, b: Any, c: Any, value: Any) -> Any:
        return np.add(a, join(np.multiply(b, value), c))

    return lambda *, value=1: (plain, ()) if value == 1 else (scaled, (value,))


def _near(a: Any, b: Any, weight: Any) -> Any:
    return np.add(a, np.multiply(np.subtract(b, a), weight))


def _far(a: Any, b: Any, rest: Any) -> Any:
    return np.subtract(b, np.multiply(np.subtract(b, a), rest))


def _lerp_tensor(a: Any, b: Any, weight: Any) -> Any:
    step = np.subtract(b, a)
    near = np.add(a, np.multiply(weight, step))
    far = np.subtract(b, np.multiply(step, np.subtract(a.dtype.type(1), weight)))
    return np.where(np.less(np.absolute(weight), a.dtype.type(0.5)), near, far)


three("addcmul", _with(np.multiply))
three("addcdiv", _with(np.divide))
three("lerp.Scalar", lambda w: (_near, (w,)) if abs(w) < 0.5 else (_far, (1 - w,)), tensors=2)
three("lerp.Tensor", lambda: (_lerp_tensor, ()))
