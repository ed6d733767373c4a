"""Which dtype operands meet in by the array API standard, and operands brought to it.

The standard's rules differ from PyTorch's in two ways: a tensor without dimensions decides as any other,
and unsigned integers of 16, 32 and 64 bits have a place. Where the standard leaves the result to the
library (a mixture of kinds, such as an integer and a float), PyTorch's rules stand.
"""

from __future__ import annotations

from functools import reduce
from typing import Any, Final

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from ..values import promotion
from ..values.dtypes import BOOL, COMPLEX, INTEGER, dtype, get_default_dtype, int16, int32, int64

__all__ = ["is_number", "meet", "result_type", "tensors_of", "together"]

_SIGNED: Final = {2: int16, 4: int32, 8: int64}  # by size in bytes


def is_number(value: Any) -> bool:
    """Whether a value is one of Python's numbers, which the standard calls scalars."""
    return isinstance(value, bool | int | float | complex)


def meet(a: dtype, b: dtype) -> dtype:
    """The dtype in which two dtypes meet.

    Raises:
        TypeError: for uint64 and a signed integer: no integer type holds both.
    """
    if a is b:
        return a
    if a.category == b.category == INTEGER:
        if a.is_signed == b.is_signed:
            return a if a.itemsize > b.itemsize else b
        signed, unsigned = (a, b) if a.is_signed else (b, a)
        if signed.itemsize > unsigned.itemsize:
            return signed
        if unsigned.itemsize == 8:
            raise TypeError(
                f"no integer dtype holds all values of {a} and {b}; convert one of them"
            )
        return _SIGNED[unsigned.itemsize * 2]
    if BOOL in (a.category, b.category):
        return a if b.category == BOOL else b
    return promotion.promote_types(a, b)


def _with_number(d: dtype, number: Any) -> dtype:
    """The dtype in which a tensor's dtype and a Python number meet: the tensor's, if its kind holds it."""
    category = promotion.category_of(number)
    if category <= d.category:
        return d
    if category == COMPLEX:
        return (d if d.is_floating_point else get_default_dtype()).to_complex()
    return int64 if category == INTEGER else get_default_dtype()


def result_type(*arrays_and_dtypes: Any) -> dtype:
    """The dtype that tensors, dtypes and Python numbers meet in.

    Raises:
        TypeError: if there is neither a tensor nor a dtype among them, or what is none of the three.
    """
    dtypes, numbers = [], []
    for value in arrays_and_dtypes:
        if isinstance(value, Tensor):
            dtypes.append(value.dtype)
        elif isinstance(value, dtype):
            dtypes.append(value)
        elif is_number(value):
            numbers.append(value)
        else:
            raise TypeError(
                f"result_type takes tensors, dtypes and Python numbers, got {type(value).__name__}"
            )
    if not dtypes:
        raise TypeError("result_type takes at least one tensor or dtype")
    return reduce(_with_number, numbers, reduce(meet, dtypes))


def _number_beside(number: Any, d: dtype, tensor: Tensor) -> Tensor:
    return fn.full((), number, dtype=d, device=tensor.device)


def tensors_of(name: str, *operands: Any, to: dtype | None = None) -> list[Tensor]:
    """Tensors and numbers as tensors of the dtype that they meet in; at least one is a tensor.

    Args:
        name: of the function, for its error.
        operands: what it was given.
        to: another dtype to bring them to.

    Raises:
        TypeError: if none is a tensor, or one is neither a tensor nor a number.
    """
    tensor = next((each for each in operands if isinstance(each, Tensor)), None)
    if tensor is None or not all(isinstance(o, Tensor) or is_number(o) for o in operands):
        raise TypeError(
            f"{name}: operands must be tensors, or numbers beside a tensor, "
            f"got {' and '.join(type(o).__name__ for o in operands) or 'none'}"
        )
    d = to or result_type(*operands)
    return [
        each.to(d) if isinstance(each, Tensor) else _number_beside(each, d, tensor)
        for each in operands
    ]


def together(name: str, x1: Any, x2: Any, *, numbers: bool = False) -> tuple[Any, Any]:
    """Two operands of a function that broadcasts, in the dtype that they meet in.

    Args:
        name: of the function, for its error.
        x1: a tensor or a number.
        x2: a tensor or a number; one of the two is a tensor.
        numbers: whether the function takes a number as its second operand, which then stays one.

    Raises:
        TypeError: as `tensors_of`.
    """
    if isinstance(x1, Tensor):
        if isinstance(x2, Tensor):
            if x1.dtype is x2.dtype:
                return x1, x2
        elif numbers and is_number(x2) and _with_number(x1.dtype, x2) is x1.dtype:
            return x1, x2
    first, second = tensors_of(name, x1, x2)
    return first, second
