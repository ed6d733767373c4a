"""Functions that ask a tensor about itself."""

from __future__ import annotations

from typing import Any

from . import promotion
from .dispatch.binding import python_number
from .dtypes import as_dtype, dtype
from .storage import Storage
from .tensor import Tensor

__all__ = [
    "can_cast",
    "get_device",
    "is_complex",
    "is_floating_point",
    "is_nonzero",
    "is_same_size",
    "is_signed",
    "is_storage",
    "promote_types",
    "result_type",
    "typename",
]


def _checked(name: str, value: Tensor, argument: str = "input", position: int = 1) -> Tensor:
    if isinstance(value, Tensor):
        return value
    raise TypeError(
        f"{name}(): argument '{argument}' (position {position}) must be Tensor, not "
        f"{type(value).__name__}"
    )


def is_floating_point(input: Tensor) -> bool:
    """Whether a tensor's dtype is a floating-point one.

    Raises:
        TypeError: if it is no tensor.
    """
    return _checked("is_floating_point", input).is_floating_point()


def is_complex(input: Tensor) -> bool:
    """Whether a tensor's dtype is a complex one.

    Raises:
        TypeError: if it is no tensor.
    """
    return _checked("is_complex", input).is_complex()


def is_signed(input: Tensor) -> bool:
    """Whether a tensor's dtype holds negative numbers.

    Raises:
        TypeError: if it is no tensor.
    """
    return _checked("is_signed", input).is_signed()


def is_nonzero(input: Tensor) -> bool:
    """Whether the only element of a tensor differs from zero.

    Raises:
        RuntimeError: if it has no element, or several.
        TypeError: if it is no tensor.
    """
    return _checked("is_nonzero", input).is_nonzero()


def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one shape.

    Raises:
        TypeError: if one is no tensor.
    """
    return _checked("is_same_size", input).is_same_size(_checked("is_same_size", other, "other", 2))


def get_device(input: Tensor) -> int:
    """Index of a tensor's device; -1 for a device without index.

    Raises:
        TypeError: if it is no tensor.
    """
    return _checked("get_device", input).get_device()


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """Smallest dtype, in size and kind, that both can be converted to.

    Raises:
        RuntimeError: for uint16/32/64 with any other type but floats, which do not promote.
        TypeError: if one is no dtype.
    """
    return promotion.promote_types(
        as_dtype(type1, "promote_types", "type1", 1), as_dtype(type2, "promote_types", "type2", 2)
    )


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a result of dtype ``from_`` may be stored in ``to``: the category never goes down.

    Raises:
        TypeError: if one is no dtype.
    """
    return promotion.can_cast(
        as_dtype(from_, "can_cast", "from_", 1), as_dtype(to, "can_cast", "to", 2)
    )


def result_type(tensor: Any, other: Any) -> dtype:
    """Dtype in which two tensors or Python numbers meet.

    Operands with dimensions decide first; a zero-dimensional tensor, then a number, changes the
    result only when it is of a higher category.

    Raises:
        TypeError: if one is neither a tensor nor a number.
    """
    for name, value in (("tensor", tensor), ("other", other)):
        if not isinstance(value, Tensor) and python_number(value) is None:
            raise TypeError(
                f"result_type(): argument '{name}' must be Tensor or Number, not "
                f"{type(value).__name__}"
            )
    return promotion.result_type(tensor, other)


def is_storage(obj: Any) -> bool:
    """Whether an object is a tensor's storage."""
    return isinstance(obj, Storage)


def typename(obj: Any) -> str:
    """Name of an object's type with its module; for a tensor that of its dtype, ``torch.FloatTensor``."""
    if isinstance(obj, Tensor):
        return f"torch.{obj._dtype.label}Tensor"
    kind = obj if hasattr(obj, "__qualname__") else type(obj)
    module = getattr(kind, "__module__", None)
    name = str(kind.__qualname__)
    return name if module in (None, "builtins") else f"{module}.{name}"
