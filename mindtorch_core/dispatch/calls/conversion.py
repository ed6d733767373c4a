"""Arguments of ops that third parties define: checked before the call, converted where PyTorch does.

Ops of the core check their arguments only when a kernel fails on them. A third party's kernel may
take anything, so what its schema says is enforced in front of it.
"""

from __future__ import annotations

import numbers
import operator
from collections.abc import Callable
from typing import Any, Final

from ...values.devices import device
from ...values.dtypes import dtype
from ..schema import Argument, OperatorSchema
from .binding import python_number

__all__ = ["binding_problem", "converter", "exact_type", "result_converter", "takes_strictly"]

# A value of exactly this type needs no conversion.
_EXACT: Final = {"int": "int", "float": "float", "bool": "bool", "str": "str"}
_SEQUENCES: Final = (list, tuple, range)


def exact_type(a: Argument) -> str | None:
    """Name of the Python type whose values an argument takes as they are."""
    if a.is_list:
        return "list" if a.type == "Tensor" else None
    return _EXACT.get(a.type)


def converter(a: Argument) -> Callable[[Any], Any]:
    """A function that turns a value that an argument takes into what the kernel is handed.

    It raises TypeError for a value that the schema does not take.
    """
    one = _CONVERT.get(a.type, _as_it_is)

    def convert(value: Any) -> Any:
        try:
            if value is None:
                return _absent(a)
            return _list_of(a, one, value) if a.is_list else one(value)
        except (TypeError, ValueError) as error:
            raise TypeError(
                f"argument {a.name!r} must be {a.type_text}, not {_shown(value)}"
            ) from error

    return convert


def result_converter(a: Argument) -> Callable[[Any], Any]:
    """The same for what a kernel returns; a tensor may be missing, as in PyTorch."""
    if a.type != "Tensor" or a.is_list:
        return converter(a)
    return lambda value: None if value is None else _tensor(value)


def _absent(a: Argument) -> None:
    if not a.optional:
        raise TypeError("None for what must be there")


def _list_of(a: Argument, one: Callable[[Any], Any], value: Any) -> list[Any]:
    """A list argument's elements; a single value is repeated for ``int[2]``."""
    size = a.size
    if not isinstance(value, _SEQUENCES):
        if size is None or a.type == "Tensor":
            raise TypeError("one value for a list")
        return [one(value)] * size
    if size is not None and size > 1 and len(value) != size:
        raise TypeError(f"{len(value)} values for {size}")
    if a.element_optional:
        return [None if v is None else one(v) for v in value]
    return [one(v) for v in value]


# ---- one value ----------------------------------------------------------------------------------


def _as_it_is(value: Any) -> Any:
    return value


def _tensor(value: Any) -> Any:
    if hasattr(value, "_keys"):
        return value
    raise TypeError("no tensor")


def _float(value: Any) -> float:
    if isinstance(value, numbers.Real) or hasattr(value, "_keys"):
        return float(value)
    raise TypeError("no real number")


def _bool(value: Any) -> bool:
    if hasattr(value, "_keys"):
        if value.numel() != 1:
            raise TypeError("several values")
        return bool(value)
    number = python_number(value)
    if not isinstance(number, int):
        raise TypeError("no bool")
    return bool(number)


def _number(value: Any) -> Any:
    number = python_number(value)
    if number is None:
        raise TypeError("no number")
    return number


def _instance_of(*kinds: type) -> Callable[[Any], Any]:
    def check(value: Any) -> Any:
        if isinstance(value, kinds):
            return value
        raise TypeError("another type")

    return check


_text: Final = _instance_of(str)
_place: Final = _instance_of(str, device)

_CONVERT: Final[dict[str, Callable[[Any], Any]]] = {
    "Tensor": _tensor,
    "int": operator.index,
    "float": _float,
    "bool": _bool,
    "str": lambda value: str(_text(value)),
    "Scalar": _number,
    "complex": lambda value: complex(_number(value)),
    "ScalarType": _instance_of(dtype),
    "Device": lambda value: device(_place(value)),
}


def _shown(value: Any) -> str:
    if isinstance(value, list | tuple):
        return f"{type(value).__name__} of length {len(value)}"
    return type(value).__name__


# ---- a whole call -------------------------------------------------------------------------------


def binding_problem(
    name: str,
    schema: OperatorSchema,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    takes: Callable[[Argument, Any], bool],
) -> str | None:
    """Why arguments do not bind to a schema; None if they do.

    Args:
        name: qualified op name, for the text.
        schema: the op's signature.
        args: positional arguments.
        kwargs: keyword arguments, by the schema's names.
        takes: whether an argument takes a value.
    """
    positional = schema.positional
    if len(args) > len(positional):
        return (
            f"{name}() takes {len(positional)} positional argument(s) but {len(args)} were given. "
            f"Declaration: {schema}"
        )
    remaining = dict(kwargs)
    for position, a in enumerate(schema.arguments):
        given = position < len(args) and not a.kwarg_only
        if given and a.name in remaining:
            return f"Argument '{a.name}' specified both as positional and keyword argument. Schema: {schema}"
        if given:
            value = args[position]
        elif a.name in remaining:
            value = remaining.pop(a.name)
        elif a.has_default:
            continue
        else:
            return f"{name}() is missing value for argument '{a.name}'. Declaration: {schema}"
        if a.has_default and value is a.default:
            continue
        if not takes(a, value):
            return (
                f"{name}() Expected a value of type '{a.type_text}' for argument '{a.name}' but "
                f"instead found type '{_shown(value)}'.\nPosition: {position}\nValue: {value!r}\n"
                f"Declaration: {schema}"
            )
    if remaining:
        unknown = next(iter(remaining))
        return f"Unknown keyword argument '{unknown}' for operator '{name}'. Schema: {schema}"
    return None


def takes_strictly(a: Argument, value: Any) -> bool:
    """Whether an argument of a third party's op takes a value."""
    try:
        converter(a)(value)
    except TypeError:
        return False
    return True
