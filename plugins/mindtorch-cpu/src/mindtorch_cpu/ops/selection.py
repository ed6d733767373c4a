"""Element-wise choices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_core.backend import BOOL, COMPLEX, Tensor, dtype, float16, result_type

from ..arrays import QUIET, WIDER, as_operands_lie, cast, exact, scalar, wrap
from ..large import LARGE
from ..register import kernel
from .pointwise import large, recover, refuse


def _chosen(value: Any, d: dtype) -> Any:
    """An operand that is chosen from: numbers must fit, but for halves, where they are infinite."""
    if isinstance(value, Tensor):
        return cast(value, d)
    return scalar(value, d) if d in WIDER else exact(value, d)


@kernel("where.self")
def where(condition: Any, self: Any, other: Any) -> Any:
    """Elements of one or the other operand."""
    d = result_type(self, other)
    a, b = _chosen(self, d), _chosen(other, d)
    c = condition.raw_data
    if c.dtype != np.bool_:
        refuse("where.self", condition, self, other)
        c = c.astype(np.bool_)
    try:
        data = np.where(c, a, b)
    except ValueError as error:
        data = recover(error, np.where, c, a, b)
    return wrap(as_operands_lie(data, condition, self, other), d)


@kernel("clamp", "clamp.Tensor")
def clamp(self: Any, min: Any = None, max: Any = None) -> Any:
    """Elements limited to a range; a zero at a bound of zero keeps its own sign."""
    d = result_type(self, min, max)
    if (min is None and max is None) or d.category in (BOOL, COMPLEX):
        refuse("clamp", self, min, max)
    data = cast(self, d)
    if min is not None:
        data = _limited(np.maximum, data, min, d)
    if max is not None:
        data = _limited(np.minimum, data, max, d)
    return wrap(as_operands_lie(data, self, min, max), d)


def _limited(ufunc: Callable[..., Any], a: Any, bound: Any, d: dtype) -> Any:
    """The element where it equals the bound: NumPy's second operand, of float16 its first."""
    b = cast(bound, d) if isinstance(bound, Tensor) else exact(bound, d)
    given = (a, b) if d is float16 else (b, a)
    if a.size >= LARGE:
        return large(ufunc, d, *given)
    try:
        return QUIET.run(ufunc, *given)
    except (ValueError, RuntimeError) as error:
        return recover(error, ufunc, *given)
