"""Schemas from the annotations of Python functions."""

from __future__ import annotations

import collections.abc
import inspect
import types
import typing
from collections.abc import Callable, Iterable
from typing import Any, Final, Union, get_args, get_origin

from ..tensors.tensor import Tensor
from ..values.devices import device
from ..values.dtypes import dtype

__all__ = ["infer_schema"]

_ONE: Final[dict[Any, str]] = {
    Tensor: "Tensor",
    int: "SymInt",
    float: "float",
    bool: "bool",
    str: "str",
    dtype: "ScalarType",
    device: "Device",
}
_NUMBER: Final = frozenset({int, float, bool})
_NONE: Final = type(None)
_LISTS: Final = (list, collections.abc.Sequence)
_RETURNED: Final = {"Tensor": "Tensor", "SymInt": "SymInt", "float": "float", "bool": "bool",
                    "Scalar": "Scalar", "Tensor[]": "Tensor[]"}  # fmt: skip


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
) -> str:
    """The schema of a function with annotated parameters, such as ``(Tensor x, SymInt n) -> Tensor``.

    Annotations may be ``Tensor``, ``int``, ``float``, ``bool``, ``str``, ``torch.dtype``,
    ``torch.device``, ``int | float | bool`` (a Scalar), sequences and optionals of them; the return
    type a Tensor, a list of Tensors, a number, a tuple of these, or None.

    Args:
        prototype_function: the function.
        mutates_args: names of the parameters it writes; ``"unknown"`` for all tensors.
        op_name: put in front of the schema.

    Example:
        >>> def scale(x: torch.Tensor, by: float = 2.0, *, out: torch.Tensor | None = None) -> None:
        ...     pass
        >>> torch.library.infer_schema(scale, mutates_args=["out"])
        '(Tensor x, float by=2.0, *, Tensor(a2!)? out=None) -> ()'

    Raises:
        ValueError: for a parameter or return type that has no place in a schema, and for names in
            ``mutates_args`` that are no tensor parameters.
    """
    fn = prototype_function
    signature = inspect.signature(fn)
    hints = _hints(fn)
    if isinstance(mutates_args, str) and mutates_args != "unknown":
        raise ValueError(
            f'infer_schema(func): mutates_args must be a sequence of names or "unknown", got '
            f"{mutates_args!r}"
        )
    written = None if isinstance(mutates_args, str) else list(mutates_args)
    for name in written or ():
        if name not in signature.parameters:
            raise ValueError(
                f"infer_schema(func): {name!r} in mutates_args was not found in the custom op's "
                f"signature. mutates_args holds the names of the arguments it writes, or is 'unknown'. "
                f"Parameters: {', '.join(signature.parameters) or 'none'}"
            )
    parts: list[str] = []
    star = False
    for i, (name, parameter) in enumerate(signature.parameters.items()):
        text = _type_of_parameter(name, parameter, hints)
        is_tensor = text.startswith("Tensor")
        mutates = is_tensor if written is None else name in written
        if mutates and not is_tensor:
            raise ValueError(
                f"infer_schema(func): Parameter {name} is in mutable_args but only Tensors or "
                f"collections of Tensors can be mutated. Got schema type {text}"
            )
        if mutates:
            text = text.replace("Tensor", f"Tensor(a{i}!)", 1)
        if parameter.kind is parameter.KEYWORD_ONLY and not star:
            parts.append("*")
            star = True
        parts.append(f"{text} {name}{_default(name, parameter)}")
    schema = f"({', '.join(parts)}) -> {_return_text(signature, hints)}"
    return schema if op_name is None else f"{op_name}{schema}"


def _hints(fn: Callable[..., Any]) -> dict[str, Any]:
    """Annotations of a function, with names in strings looked up."""
    try:
        return typing.get_type_hints(fn)
    except NameError as error:
        raise ValueError(
            f"infer_schema(func): an annotation could not be resolved ({error}): import its type at "
            f"module level"
        ) from error


def _type_of_parameter(name: str, parameter: inspect.Parameter, hints: dict[str, Any]) -> str:
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        raise ValueError(
            f"infer_schema(func): We do not support positional-only args, varargs, or varkwargs. "
            f"Parameter {name} is one."
        )
    if parameter.annotation is parameter.empty:
        raise ValueError(f"infer_schema(func): Parameter {name} must have a type annotation.")
    found = _type_text(hints[name])
    if found is None:
        raise ValueError(
            f"infer_schema(func): Parameter {name} has unsupported type {hints[name]}. The valid "
            f"types are: Tensor, int, float, bool, str, torch.dtype, torch.device, int | float | "
            f"bool, and sequences and optionals of them."
        )
    return found


def _type_text(annotation: Any) -> str | None:
    """The schema type of an annotation; None if it has none."""
    if annotation in _ONE:
        return _ONE[annotation]
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        others = [a for a in inner if a is not _NONE]
        if set(others) >= _NUMBER and len(others) == 3:
            text: str | None = "Scalar"
        else:
            text = _type_text(others[0]) if len(others) == 1 else None
        return f"{text}?" if text is not None and len(others) < len(inner) else text
    if origin in _LISTS and len(inner) == 1:
        element = _type_text(inner[0])
        listed = element is not None and not element.endswith("]")
        optional = element is not None and element.endswith("?") and element != "Tensor?"
        return f"{element}[]" if listed and not optional else None
    return None


def _default(name: str, parameter: inspect.Parameter) -> str:
    value = parameter.default
    if value is parameter.empty:
        return ""
    if value is None or isinstance(value, bool | int | float):
        return f"={value}"
    if isinstance(value, str):
        return f"={_quoted(value)}"
    if isinstance(value, dtype):
        return f"={value.name.rpartition('.')[2]}"
    if isinstance(value, device):
        return f'="{value}"'
    raise ValueError(
        f"infer_schema(func): Parameter {name} has an unsupported default value {value!r} of type "
        f"{type(value).__name__}. Use None, a number, a string, a torch.dtype or a torch.device."
    )


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _return_text(signature: inspect.Signature, hints: dict[str, Any]) -> str:
    if signature.return_annotation is signature.empty:
        raise ValueError(
            "infer_schema(func): No return type annotation was provided. Please add one."
        )
    annotation = hints["return"]
    if annotation in (None, _NONE):
        return "()"
    if get_origin(annotation) is tuple:
        found = [_returned(a) for a in get_args(annotation)]
        if all(found):
            text = f"({', '.join(map(str, found))})"
            return f"({text})" if len(found) == 1 else text
    else:
        one = _returned(annotation)
        if one is not None:
            return one
    raise ValueError(
        f"infer_schema(func): Return has unsupported type {annotation}. The valid types are: Tensor, "
        f"a list of Tensors, int, float, bool, a number, a tuple of them, and None."
    )


def _returned(annotation: Any) -> str | None:
    return _RETURNED.get(_type_text(annotation) or "")
