"""Element-wise choices, and whether all elements are equal."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_core.backend import (
    BOOL,
    COMPLEX,
    Tensor,
    dtype,
    float32,
    float64,
    result_type,
)

from ..arrays import (
    QUIET,
    WIDER,
    as_operands_lie,
    cast,
    exact,
    quietly,
    room_beside,
    row_major,
    scalar,
    wrap,
)
from ..compiled import computed
from ..large import LARGE, SOME, many
from ..memory_pool import POOL
from ..register import composition_of, kernel, register
from ..turned import in_rows
from ..zeros import ODD, bounded
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
    c = condition.raw_data
    if c.dtype != np.bool_:
        refuse("where.self", condition, self, other)
        c = c.astype(np.bool_)
    return _either(c, _chosen(self, d), _chosen(other, d), d, condition, self, other)


def _either(c: Any, a: Any, b: Any, d: dtype, *operands: Any) -> Any:
    """Elements of one or the other array, as operands lie that broadcast with each other."""
    if many(c) and (data := _chosen_at_once(c, a, b)) is not None:
        return wrap(as_operands_lie(data, *operands), d)
    try:
        data = np.where(c, a, b)
    except ValueError as error:
        data = recover(error, np.where, c, a, b)
    return wrap(as_operands_lie(data, *operands), d)


@kernel("masked_fill")
def masked_fill(self: Any, mask: Any, value: Any) -> Any:
    """Elements, and a number where a mask holds; in row-major order whatever the operands' is."""
    if isinstance(value, Tensor) or not isinstance(mask, Tensor):
        return _masked_fill(self, mask, value)
    c, d = mask.raw_data, self.raw_dtype
    if c.dtype != np.bool_:
        return _masked_fill(self, mask, value)
    made = _either(c, exact(value, d), self.raw_data, d, mask, self)
    made.raw_data = row_major(made.raw_data)
    return made


@kernel("masked_fill_")
def masked_fill_(self: Any, mask: Any, value: Any) -> Any:
    """The same in place; what shows elements several times has them filled where one of their masks holds."""
    if not isinstance(mask, Tensor) or mask.raw_data.dtype != np.bool_:
        return _masked_fill_(self, mask, value)
    c, a = mask.raw_data, self.raw_data
    if 0 in a.strides:
        made = _masked_fill(self, mask, value)
        if made.raw_shape == self.raw_shape:
            np.copyto(a, made.raw_data, where=c)
            return self
    if isinstance(value, Tensor) or c.shape != a.shape or many(a):
        return _masked_fill_(self, mask, value)
    np.copyto(a, exact(value, self.raw_dtype), where=c)
    return self


_masked_fill: Any = composition_of("masked_fill")
_masked_fill_: Any = composition_of("masked_fill_")


def _chosen_at_once(c: Any, *operands: Any) -> Any:
    """What a compiled kernel chooses, which does not guess conditions as NumPy's loop does; or None.

    Operands are numbers, or have the conditions' shape; others than row-major ones are turned by a loop.
    """
    shape = c.shape
    given = [np.asarray(x) for x in (c, *operands)]
    if any(x.ndim and x.shape != shape for x in given):
        return None
    c, *arrays = map(in_rows, given)
    if not all(x.flags.c_contiguous for x in (c, *arrays)):
        return None
    d = arrays[0].dtype
    out = POOL.empty(shape, d)
    key = ("where", d.num, *(x.ndim > 0 for x in arrays))
    return out if computed(key, _where, [c, *arrays], [out]) else None


def _where(tracer: Any, *operands: Any) -> list[Any]:
    return [np.where(*operands)]


_PLAIN = (float32, float64)
_NUMBERS = (float, int, type(None))


@kernel("clamp", "clamp.Tensor")
def clamp(self: Any, min: Any = None, max: Any = None) -> Any:
    """Elements limited to a range; a zero at a bound of zero keeps its own sign."""
    d, data = self.raw_dtype, self.raw_data
    if (
        d in _PLAIN and data.size < SOME and data.flags.c_contiguous and min is not max
        and min.__class__ in _NUMBERS and max.__class__ in _NUMBERS
    ):  # fmt: skip
        run = QUIET.__dict__["run"]
        if min is not None:
            data = run(np.maximum, exact(min, d), data)
        if max is not None:
            data = run(np.minimum, exact(max, d), data)
        return wrap(data, d)
    d = result_type(self, min, max)
    if (min is None and max is None) or d.category in (BOOL, COMPLEX):
        refuse("clamp", self, min, max)
    data = cast(self, d)
    if many(data) and d not in ODD and (made := _within(data, min, max, d)) is not None:
        return wrap(made, d)
    if min is not None:
        data = _limited(np.maximum, data, min, d)
    if max is not None:
        data = _limited(np.minimum, data, max, d)
    return wrap(as_operands_lie(data, self, min, max), d)


def _in_place(name: str) -> None:
    general = composition_of(name)

    def run(self: Any, min: Any = None, max: Any = None) -> Any:
        a = self.raw_data
        if many(a) and _within(a, min, max, self.raw_dtype, write=True) is not None:
            return self
        made = clamp(self, min, max)
        if made.raw_dtype is not self.raw_dtype or made.raw_shape != self.raw_shape:
            return general(self, min, max)
        np.copyto(self.raw_data, made.raw_data)
        return self

    register(name, run)


_in_place("clamp_")
_in_place("clamp_.Tensor")


def _within(a: Any, low: Any, high: Any, d: dtype, *, write: bool = False) -> Any:
    """Elements between two numbers, which a compiled kernel limits at once; None where there is none.

    They are a new array, or with ``write`` the array itself.
    """
    numbers = low.__class__ in _NUMBERS and high.__class__ in _NUMBERS
    if not numbers or low is None or high is None or d not in _PLAIN:
        return None
    given = [a, np.asarray(exact(low, d)), np.asarray(exact(high, d))]
    if write:
        return a if computed("clamp in place", _between_in_place, given, [], a.strides) else None
    out = room_beside(a.shape, a.dtype, a)
    return out if computed("clamp", _between, given, [out], a.strides) else None


def _between(tracer: Any, x: Any, low: Any, high: Any) -> list[Any]:
    return [np.minimum(high, np.maximum(low, x))]


def _between_in_place(tracer: Any, x: Any, low: Any, high: Any) -> list[Any]:
    np.minimum(high, np.maximum(low, x), out=x)
    return []


def _limited(ufunc: Callable[..., Any], a: Any, bound: Any, d: dtype) -> Any:
    """Extremes of elements and a bound; the element where it equals that."""
    b = cast(bound, d) if isinstance(bound, Tensor) else exact(bound, d)
    fn, *given = bounded(ufunc, a, b, d)
    if many(a):
        return large(fn, d, *given)
    try:
        return quietly(fn, *given)
    except (ValueError, RuntimeError) as error:
        return recover(error, fn, *given)


@kernel("equal")
def equal(self: Any, other: Any) -> bool:
    """Whether shapes and elements are equal; of few ones without a tensor of them."""
    a, b = self.raw_data, other.raw_data
    if a.dtype == b.dtype and a.size < LARGE and a.dtype.kind in "biufc":
        return a.shape == b.shape and bool((a == b).all())
    found: bool = composition_of("equal")(self, other)
    return found
