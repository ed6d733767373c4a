"""Argument binding: which Python values a schema's arguments accept, and what to say otherwise.

Texts follow PyTorch's: ``add(): argument 'other' (position 2) must be Tensor, not str``.
"""

from __future__ import annotations

import numbers as numeric
import operator
from typing import Any, Final

from ...values.devices import device
from ...values.dtypes import INTEGER, PYTHON_TYPES, dtype
from ...values.layouts import layout
from ...values.memory_formats import memory_format
from ...values.shapes import numel
from ..overrides import keys_of_foreign, of_pytorch
from ..registry import OpEntry
from ..schema import Argument

__all__ = [
    "LEAST",
    "MOST",
    "accepts",
    "is_whole",
    "named",
    "operand_of",
    "plain_number",
    "printed",
    "python_number",
    "refuse_long",
    "tensor_type_error",
    "whole_number",
]

# What an integer of 64 bits may be, with a sign or without.
LEAST: Final = -(1 << 63)
MOST: Final = (1 << 64) - 1


def python_number(value: Any) -> Any:
    """A number of Python or NumPy, such as ``numpy.float32``, as Python's own; else None."""
    for kind in (bool, int, float, complex):
        if isinstance(value, kind):
            return kind(value)  # type: ignore[arg-type]  # a subclass of the kind
    if all(each.__module__ != "numpy" for each in type(value).__mro__):
        return None
    if isinstance(value, numeric.Integral):
        # NumPy counts spans of time among the integers.
        return None if type(value).__name__ == "timedelta64" else int(value)
    if isinstance(value, numeric.Real):
        return float(value)
    if isinstance(value, numeric.Complex):
        return complex(value)
    return bool(value) if type(value).__name__ in ("bool", "bool_") else None


def whole_number(value: Any) -> int:
    """What an argument that is to be an int stands for: also objects with ``__index__``, and tensors.

    Raises:
        TypeError: if it is none, or a truth value.
    """
    if isinstance(value, bool) or (hasattr(value, "_keys") and not _is_index_tensor(value)):
        raise TypeError(f"an int is required, not {type(value).__name__}")
    return int(operator.index(value))


def plain_number(value: Any) -> Any:
    """A number of another library as Python's own; anything else as it is."""
    number = python_number(value)
    return value if number is None else _with_a_sign(number, value)


def _with_a_sign(number: Any, value: Any) -> Any:
    """The number that another library's value is, if 64 bits with a sign hold it.

    Raises:
        TypeError: for a larger one.
    """
    if number.__class__ is int and not isinstance(value, int) and number >= 1 << 63:
        raise TypeError(f"an integer of 64 bits with a sign is required, got {value!r}") from None
    refuse_long(number)
    return number


def refuse_long(number: Any) -> None:
    """Refuse what no integer of 64 bits holds, with a sign or without.

    Raises:
        OverflowError: for such an int.
    """
    if isinstance(number, int) and not LEAST <= number <= MOST:
        raise OverflowError(
            "int too big to convert" if number > 0 else "can't convert negative int to unsigned"
        )


def operand_of(
    entry: OpEntry, which: str, value: Any, tensor_type: type, *, method: bool = False
) -> tuple[Any, int]:
    """An operand that is neither exactly a Tensor nor a Python number, and its keys.

    Of a method's arguments the object itself is not counted.

    Raises:
        TypeError: if it cannot take part in the op.
    """
    if isinstance(value, tensor_type):
        return value, value._keys  # type: ignore[attr-defined]
    number = python_number(value)
    if number is None:
        keys = keys_of_foreign(value)
        if not keys:
            raise tensor_type_error(entry, which, value, method=method) from None
        return value, keys
    return _with_a_sign(number, value), 0


# What PyTorch's messages call the types of a schema.
_PRINTED: Final = {"Scalar": "Number", "ScalarType": "torch.dtype", "Device": "torch.device",
                   "Generator": "torch.Generator", "MemoryFormat": "torch.memory_format",
                   "Layout": "torch.layout"}  # fmt: skip


def printed(a: Argument) -> str:
    """The type of an argument, as messages call it."""
    kind = _PRINTED.get(a.type, a.type)
    return f"tuple of {kind}s" if a.is_list else kind


def named(value: Any) -> str:
    """A value's class, for messages; of a tensor of PyTorch's also what to do."""
    name = type(value).__name__
    return f"PyTorch's {name} (from_dlpack() takes its memory)" if of_pytorch(type(value)) else name


def tensor_type_error(entry: OpEntry, which: str, value: Any, *, method: bool = False) -> TypeError:
    """The error for an argument that should have been a tensor, or tensors."""
    schema = entry.needed_schema
    for position, a in enumerate(schema.arguments, 0 if method else 1):
        if a.name == which or (a.name == "self" and which == "input"):
            if a.is_list and isinstance(value, list | tuple):
                for i, element in enumerate(value):
                    if not hasattr(element, "_keys"):
                        return TypeError(
                            f"expected Tensor as element {i} in argument {position - 1}, but got "
                            f"{named(element)} (in {schema.name}())"
                        )
            kind = "tuple of Tensors" if a.is_list else "Tensor"
            return TypeError(
                f"{schema.name}(): argument '{which}' (position {position}) must be {kind}, "
                f"not {named(value)}"
            )
    return TypeError(f"{schema.name}(): argument '{which}' must be Tensor")


def accepts(a: Argument, value: Any, *, numbers: bool = False) -> bool:
    """Whether a Python value can be bound to a schema argument."""
    if value is None:  # it may stand for an empty list that is the default, as `stride` of pooling
        return a.optional or a.name == "requires_grad" or (a.is_list and a.default == ())
    if a.is_list:
        if isinstance(value, list | tuple):
            return all(
                (e is None and a.element_optional) or _accepts_one(a.type, e, numbers)
                for e in value
            )
        return a.size is not None and a.type != "Tensor" and _accepts_one(a.type, value, numbers)
    return _accepts_one(a.type, value, numbers)


def _accepts_one(kind: str, value: Any, numbers: bool) -> bool:
    if kind == "Tensor":
        return hasattr(value, "_keys") or (numbers and python_number(value) is not None)
    if kind == "int":
        # What a tensor holds is not asked for: it may be pending, or on a device without data.
        return _is_index_tensor(value) if hasattr(value, "_keys") else is_whole(value)
    if kind == "bool":
        return isinstance(value, bool)
    if kind in ("float", "Scalar", "complex"):
        if hasattr(value, "_keys"):
            return not value._shape and not value.requires_grad
        number = python_number(value)
        return number is not None and not (kind == "float" and isinstance(number, complex))
    if kind == "str":
        return isinstance(value, str)
    if kind == "ScalarType":
        return isinstance(value, dtype) or (isinstance(value, type) and value in PYTHON_TYPES)
    if kind == "Generator":
        return hasattr(value, "initial_seed")
    if kind == "Layout":
        return isinstance(value, layout)
    if kind == "MemoryFormat":
        return isinstance(value, memory_format)
    if kind == "Device":
        return isinstance(value, str | device | int) and not isinstance(value, bool)
    return True


def _is_index_tensor(value: Any) -> bool:
    return numel(value._shape) == 1 and value._dtype.category == INTEGER


def is_whole(value: Any) -> bool:
    """Whether `whole_number` makes an int of a value."""
    try:
        whole_number(value)
    except TypeError:
        return False
    return True
