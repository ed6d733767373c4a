"""Functions of dtypes that meet: ``torch.result_type(x, y)``."""

from __future__ import annotations

from typing import Any

from ..dispatch.calls.binding import python_number, refuse_long
from ..tensors.tensor import Tensor
from ..values import promotion
from ..values.dtypes import as_dtype, dtype

__all__ = ["can_cast", "promote_types", "result_type"]


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """Smallest dtype, in size and kind, that both can be converted to.

    Args:
        type1: a dtype.
        type2: another one.

    Raises:
        RuntimeError: for uint16/32/64 with any other type but floats, which do not promote.
        TypeError: if one is no dtype.

    Example:
        >>> torch.promote_types(torch.int64, torch.float32)
        torch.float32
    """
    return promotion.promote_types(
        as_dtype(type1, "promote_types", "type1", 1), as_dtype(type2, "promote_types", "type2", 2)
    )


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a result of dtype ``from_`` may be stored in ``to``: the category never goes down.

    Args:
        from_: what would be stored.
        to: where.

    Raises:
        TypeError: if one is no dtype.

    Example:
        >>> torch.can_cast(torch.float64, torch.float32), torch.can_cast(torch.float32, torch.int64)
        (True, False)
    """
    return promotion.can_cast(
        as_dtype(from_, "can_cast", "from_", 1), as_dtype(to, "can_cast", "to", 2)
    )


def result_type(tensor: Any, other: Any) -> dtype:
    """Dtype in which two tensors or Python numbers meet.

    Operands with dimensions decide first; a zero-dimensional tensor, then a number, changes the
    result only when it is of a higher category.

    Args:
        tensor: a tensor or a number.
        other: another one.

    Raises:
        OverflowError: if one is an int that 64 bits do not hold.
        TypeError: if one is neither a tensor nor a number.

    Example:
        >>> torch.result_type(torch.tensor([1]), 1.5), torch.result_type(torch.tensor([1.0]), torch.tensor(1))
        (torch.float32, torch.float32)
    """
    for name, value in (("tensor", tensor), ("other", other)):
        if not isinstance(value, Tensor):
            number = python_number(value)
            if number is None:
                raise TypeError(
                    f"result_type(): argument '{name}' must be Tensor or Number, not "
                    f"{type(value).__name__}"
                )
            refuse_long(number)
    return promotion.result_type(tensor, other)
