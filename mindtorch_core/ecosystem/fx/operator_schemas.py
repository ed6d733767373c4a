"""Arguments of calls in one form: by name, with defaults filled in."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

import mindtorch_core as torch

from ...opdefs.torch_ops import OpOverload, OpOverloadPacket
from ..absent import names_of
from .naming import is_of_torch

__all__ = [
    "ArgsKwargsPair",
    "check_for_mutable_operation",
    "normalize_function",
    "normalize_module",
]

__getattr__ = names_of(__name__)

_NAMED = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)


class ArgsKwargsPair(NamedTuple):
    """Arguments of a call.

    Attributes:
        args: by position.
        kwargs: by name.
    """

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def normalize_function(
    target: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    arg_types: tuple[Any, ...] | None = None,
    kwarg_types: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """A call's arguments by the function's signature, with defaults filled in.

    Args:
        target: the function.
        args: of the call.
        kwargs: of the call.
        arg_types: not asked; PyTorch chooses among overloads by them, functions here have one signature.
        kwarg_types: likewise.
        normalize_to_only_use_kwargs: whether all come by name; else those that did by position still do.

    Returns:
        None for functions without a signature, or with arguments that have no names; and for torch's that
        do not take the arguments.

    Raises:
        TypeError: if another function does not take them.
    """
    try:
        if isinstance(target, OpOverloadPacket):
            target = target.op_overloads()[0]
        if isinstance(target, OpOverload):
            signature = _of_schema(target._schema)
        else:
            signature = inspect.signature(inspect.unwrap(target))
    except (TypeError, ValueError):
        return None
    try:
        return _bound(signature, args, kwargs or {}, normalize_to_only_use_kwargs)
    except TypeError:
        if isinstance(target, OpOverload) or is_of_torch(target):
            return None
        raise


def normalize_module(
    root: Any,
    target: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    normalize_to_only_use_kwargs: bool = False,
) -> ArgsKwargsPair | None:
    """A call's arguments by the module's ``forward``, with defaults filled in.

    Args:
        root: has the module.
        target: its path.
        args: of the call.
        kwargs: of the call.
        normalize_to_only_use_kwargs: whether all come by name.

    Returns:
        None for modules that are not of torch.nn.

    Raises:
        RuntimeError: if it is not there.
    """
    try:
        module = root.get_submodule(target)
    except AttributeError as error:
        raise RuntimeError(
            f"Tried to normalize node with target {target} but root did not have that target!"
        ) from error
    if getattr(torch.nn, type(module).__name__, None) is not type(module):
        return None
    signature = inspect.signature(inspect.unwrap(module.forward))
    return _bound(signature, args, kwargs or {}, normalize_to_only_use_kwargs)


def _of_schema(schema: Any) -> inspect.Signature:
    parameters = [
        inspect.Parameter(
            "input" if each.name == "self" else each.name,
            _NAMED[each.kwarg_only],
            default=each.default_value if each.has_default_value() else inspect.Parameter.empty,
        )
        for each in schema.arguments
    ]
    return inspect.Signature(parameters)


def _bound(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any], by_name: bool
) -> ArgsKwargsPair | None:
    if any(each.kind not in _NAMED for each in signature.parameters.values()):
        return None
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    first = 0 if by_name else len(args)
    pairs = [*bound.arguments.items()]
    return ArgsKwargsPair(tuple(value for _, value in pairs[:first]), dict(pairs[first:]))


def check_for_mutable_operation(
    target: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> None:
    """Refuse a call that changes an argument.

    Raises:
        RuntimeError: for an op that does, or a result for which memory is given.
    """
    name = getattr(target, "__name__", "")
    schema = getattr(target, "_schema", None)
    out = ".out" if kwargs.get("out") is not None else ""
    changes = (
        schema.is_mutable if schema is not None else is_of_torch(target) and name.endswith("_")
    )
    if changes or out or kwargs.get("inplace") is True:
        shown = schema or f"aten::{name}{out}"
        raise RuntimeError(
            f"Tried to trace mutable operation {shown}. FX only supports functional code, so operations that "
            f"mutate operands in-place (e.g. via `out` arguments) are not supported"
        )
