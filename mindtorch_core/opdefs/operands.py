"""Operands: what a number is beside a tensor."""

from __future__ import annotations

from typing import Any

from ..tensors.tensor import Tensor
from ..values.dtypes import COMPLEX, INTEGER, cast_number, int64
from ..values.promotion import result_type, to_floating

__all__ = ["as_operand", "as_source"]


def as_operand(like: Tensor, value: Any, *, floating: bool = False) -> Tensor:
    """A Python number as a tensor of no dimensions on the device of ``like``.

    Args:
        like: the other operand.
        value: the number; a tensor is returned as it is.
        floating: the op's result is a floating one, so that a number keeps its value beside integers.

    Raises:
        OverflowError: for an integer that no dtype holds.
    """
    if hasattr(value, "_keys"):
        made: Tensor = value
        return made
    d = result_type(like, value)
    if floating:
        d = to_floating(d)
    return like.new_full((), cast_number(value, d), dtype=d)


def as_source(like: Tensor, value: Any) -> Tensor:
    """A Python number that is copied into ``like``, converted as C does it.

    Raises:
        OverflowError: for an integer that no dtype holds.
    """
    d = like._dtype
    if isinstance(value, int):
        cast_number(value, int64)
    elif d.category < COMPLEX:
        value = value.real
        if d.category == INTEGER:
            value = int(value) if abs(value) < 1 << 63 else -(1 << 63)
    return like.detach().new_full((), cast_number(value, d), dtype=d)
