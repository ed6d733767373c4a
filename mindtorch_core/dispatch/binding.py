"""Argument binding: which Python values a schema's arguments accept, and what to say otherwise.

Texts follow PyTorch's: ``add(): argument 'other' (position 2) must be Tensor, not str``.
"""

from __future__ import annotations

import numbers as numeric
from typing import Any, Final

from ..devices import device
from ..dtypes import PYTHON_TYPES, dtype
from ..layouts import layout
from ..memory_formats import memory_format
from .registry import OpEntry
from .schema import Argument, OperatorSchema

__all__ = [
    "accepts",
    "explain",
    "operand_of",
    "plain_number",
    "python_number",
    "tensor_type_error",
]

_PRINTED: Final = {"int": "int", "float": "float", "bool": "bool", "Scalar": "Number",
                   "ScalarType": "torch.dtype", "Device": "torch.device", "str": "str",
                   "Generator": "torch.Generator", "MemoryFormat": "torch.memory_format",
                   "Layout": "torch.layout"}  # fmt: skip


def python_number(value: Any) -> Any:
    """A number of another library, such as ``numpy.float32``, as Python's own; else None."""
    for kind in (bool, int, float, complex):
        if isinstance(value, kind):
            return kind(value)  # type: ignore[arg-type]  # a subclass of the kind
    if isinstance(value, numeric.Integral):
        return int(value)
    if isinstance(value, numeric.Real):
        return float(value)
    if isinstance(value, numeric.Complex):
        return complex(value)
    if type(value).__module__ == "numpy" and type(value).__name__ in ("bool", "bool_"):
        return bool(value)
    return None


def plain_number(value: Any) -> Any:
    """A number of another library as Python's own; anything else as it is."""
    number = python_number(value)
    return value if number is None else number


def operand_of(entry: OpEntry, which: str, value: Any, tensor_type: type) -> Any:
    """An operand that is neither exactly a Tensor nor a Python number.

    Raises:
        TypeError: if it cannot take part in the op.
    """
    if isinstance(value, tensor_type):
        return value
    number = python_number(value)
    if number is None:
        raise tensor_type_error(entry, which, value)
    return number


def tensor_type_error(entry: OpEntry, which: str, value: Any) -> TypeError:
    """The error for an argument that should have been a tensor, or tensors."""
    schema = _schema(entry)
    for position, a in enumerate(schema.arguments, 1):
        if a.name == which or (a.name == "self" and which == "input"):
            if a.is_list and isinstance(value, list | tuple):
                for i, element in enumerate(value):
                    if not hasattr(element, "_keys"):
                        return TypeError(
                            f"expected Tensor as element {i} in argument {position - 1}, but got "
                            f"{type(element).__name__} (in {schema.name}())"
                        )
            kind = "tuple of Tensors" if a.is_list else "Tensor"
            return TypeError(
                f"{schema.name}(): argument '{which}' (position {position}) must be {kind}, "
                f"not {type(value).__name__}"
            )
    return TypeError(f"{schema.name}(): argument '{which}' must be Tensor")


def _schema(entry: OpEntry) -> OperatorSchema:
    schema = entry.schema
    if schema is None:
        raise TypeError(f"{entry.name} has no schema")
    return schema


def accepts(a: Argument, value: Any, *, numbers: bool = False) -> bool:
    """Whether a Python value can be bound to a schema argument."""
    if value is None:
        return a.optional
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
        return not isinstance(value, float | bool) and (
            isinstance(value, numeric.Integral) or _is_index_tensor(value)
        )
    if kind == "bool":
        return isinstance(value, bool | numeric.Integral)
    if kind == "float":
        return isinstance(value, numeric.Real) or (hasattr(value, "_keys") and not value._shape)
    if kind in ("Scalar", "complex"):
        return python_number(value) is not None or (hasattr(value, "_keys") and not value._shape)
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
    return hasattr(value, "_keys") and not value._shape and not value._dtype.is_floating_point


def explain(entry: OpEntry, error: Exception, values: dict[str, Any]) -> None:
    """Raise PyTorch's TypeError if a failed call had an argument of the wrong type.

    Otherwise return, and the caller lets the original error pass.
    """
    schema = entry.schema
    if schema is None:
        return
    numbers = entry.definition is not None and entry.definition.numbers
    for position, a in enumerate(schema.arguments, 1):
        name = "input" if a.name == "self" else a.name
        if name in values and not accepts(a, values[name], numbers=numbers):
            kind = _PRINTED.get(a.type, a.type)
            if a.is_list:
                kind = f"tuple of {kind}s"
            raise TypeError(
                f"{schema.name}(): argument '{name}' (position {position}) must be {kind}, "
                f"not {_describe(values[name])}"
            ) from error


def _describe(value: Any) -> str:
    if isinstance(value, list | tuple) and value:
        inner = sorted({type(v).__name__ for v in value})
        return f"{type(value).__name__} of ({', '.join(inner)})"
    return type(value).__name__
