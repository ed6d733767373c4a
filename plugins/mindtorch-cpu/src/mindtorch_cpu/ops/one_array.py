"""Functions of one floating array and numbers, in one pass over memory, and how they are registered."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from mindtorch_core.backend import FLOATING

from ..arrays import NUMPY_OF, WIDER, converted, in_common_order, quietly, recast, wrap
from ..compiled import BY_SIZE, FEWEST, one_pass
from ..large import LARGE, in_chunks
from ..register import composition_of, register, rule_of

__all__ = ["activation", "number_like"]

Compute = Callable[..., Any]


def activation(
    name: str,
    compute: Compute,
    *,
    inplace: bool = True,
    many: int = 0,
    fits: Callable[..., bool] | None = None,
    checked: bool = False,
) -> None:
    """Register ``compute(array, *arguments)`` for floating tensors, and the op's in-place form.

    Args:
        name: the op.
        compute: makes a fresh array; it may be given a part of a large one.
        inplace: whether there is an in-place form.
        many: elements from which it has another formula than for fewer; 0 if it has one.
        fits: of an array and arguments, whether it may be compiled; always if None.
        checked: whether the op's rule refuses some arguments.
    """
    rule, general = rule_of(name), composition_of(name)

    def compiled(a: Any, wide: Any, args: Any, kwargs: Any) -> Any:
        """What a compiled kernel gives, or None."""

        def trace(tracer: Any, part: Any) -> list[Any]:
            tracer.size = FEWEST if few else tracer.size
            x = part.astype(wide, copy=False)
            return [compute(x, *args, **kwargs).astype(part.dtype, copy=False)]

        few = a.size < many
        key = (name, repr(args), repr(kwargs)) if args or kwargs else name
        return one_pass(("few", key) if few else key, trace, a.dtype, a)

    def data_of(self: Any, args: Any, kwargs: Any) -> Any:
        d, a = self.raw_dtype, self.raw_data
        wide = NUMPY_OF[WIDER.get(d, d)]
        if a.size >= FEWEST and (fits is None or fits(a, wide, *args, **kwargs)):
            data = compiled(a, wide, args, kwargs)
            if data is not None:
                return data if a.flags.c_contiguous else in_common_order(data, a)
        if d in WIDER:
            a = converted(a, WIDER[d])

        def each(part: Any) -> Any:
            return compute(part, *args, **kwargs)

        data = in_chunks(each, a.dtype, a) if a.size >= LARGE else None
        if data is None:
            data = quietly(each, a)
        if d in WIDER:
            data = recast(data, NUMPY_OF[d])
        return in_common_order(data, self.raw_data)

    def run(self: Any, *args: Any, **kwargs: Any) -> Any:
        if checked and (args or kwargs):
            rule(self, *args, **kwargs)
        if self.raw_dtype.category != FLOATING:
            return general(self, *args, **kwargs)
        return wrap(data_of(self, args, kwargs), self.raw_dtype)

    def run_inplace(self: Any, *args: Any, **kwargs: Any) -> Any:
        if self.raw_dtype.category != FLOATING:
            return self.copy_(run(self, *args, **kwargs))
        np.copyto(self.raw_data, data_of(self, args, kwargs))
        return self

    register(name, run)
    if inplace:
        register(f"{name}_", run_inplace)
    BY_SIZE.update({f"aten::{name}": many, f"aten::{name}_": many})


def number_like(value: float, a: Any) -> Any:
    """A number in the dtype of an array."""
    return a.dtype.type(value)
