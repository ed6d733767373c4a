"""Operands: what a number is beside a tensor."""

from __future__ import annotations

from typing import Any

from ..tensors.tensor import Tensor
from ..values.dtypes import cast_number
from ..values.promotion import result_type

__all__ = ["as_operand"]


def as_operand(like: Tensor, value: Any) -> Tensor:
    """A Python number as a tensor of no dimensions on the device of ``like``."""
    if hasattr(value, "_keys"):
        made: Tensor = value
        return made
    d = result_type(like, value)
    scalar: Tensor = like.new_full((), cast_number(value, d), dtype=d)
    return scalar
