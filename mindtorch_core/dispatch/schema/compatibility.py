"""Whether one version of a schema can take the place of another.

Calls of the old version are to go on working with the new one (backward), and calls written for the
new one to work with the old (forward). What makes a difference is PyTorch's.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .data import Argument, OperatorSchema

__all__ = ["backward_compatible", "forward_problem"]


def backward_compatible(new: OperatorSchema, old: OperatorSchema) -> bool:
    """Whether every call that ``old`` allows means the same with ``new``."""
    if not _same_op(new, old) or len(new.arguments) < len(old.arguments):
        return False
    inputs, outs = _split(new)
    old_inputs, old_outs = _split(old)
    if len(inputs) < len(old_inputs) or len(outs) < len(old_outs):
        return False
    return (
        # A caller goes on getting what it got before.
        all(_replaces(was, now) for now, was in zip(new.returns, old.returns, strict=True))
        and all(_replaces(now, was) for now, was in zip(inputs, old_inputs, strict=False))
        and all(added.has_default for added in inputs[len(old_inputs) :])
        and all(_replaces(now, was) for now, was in zip(outs, old_outs, strict=False))
    )


def forward_problem(new: OperatorSchema, old: OperatorSchema) -> str | None:
    """Why calls written for ``new`` may not work with ``old``; None if they do."""
    if not _same_op(new, old):
        return "The schemas differ in name, overload, number of returns or '...'."
    inputs, outs = _split(new)
    old_inputs, old_outs = _split(old)
    if len(outs) != len(old_outs):
        return "Function schema should have the same number of out arguments"
    for now, was in zip(inputs, old_inputs, strict=False):
        if not _accepted_by(now, was):
            return f"'{now.name}' is not forward compatible with the older version of the schema"
    for added in inputs[len(old_inputs) :]:
        start = (
            "Function schema is not forward compatible since the new argument "
            f"'{added.name}' of type {_unsized(added)}"
        )
        if not added.has_default:
            return f"{start} did not provide a default value."
        if isinstance(added.default, tuple):
            return f"{start} has a container type as its default value."
    for now, was in zip(outs, old_outs, strict=True):
        if not _accepted_by(now, was):
            return f"Out argument '{now.name}' is not FC with the older version of the schema."
    return None


def _same_op(new: OperatorSchema, old: OperatorSchema) -> bool:
    return (
        new.qualified_name == old.qualified_name
        and new.overload == old.overload
        and new.is_vararg == old.is_vararg
        and new.is_varret == old.is_varret
        and len(new.returns) == len(old.returns)
    )


def _split(schema: OperatorSchema) -> tuple[tuple[Argument, ...], tuple[Argument, ...]]:
    """Arguments before the first one that is written as an output, and from there on."""
    arguments = schema.arguments
    first = next((i for i, a in enumerate(arguments) if a.is_out), len(arguments))
    return arguments[:first], arguments[first:]


def _same_place(now: Argument, was: Argument) -> bool:
    return (
        now.name == was.name
        and now.size == was.size
        and now.alias == was.alias
        and (was.kwarg_only or not now.kwarg_only)
        and (not was.has_default or (now.has_default and _same_default(now, was)))
    )


def _same_default(now: Argument, was: Argument) -> bool:
    one, other = now.default_value, was.default_value
    return type(one) is type(other) and bool(one == other)


def _unsized(a: Argument) -> str:
    return re.sub(r"\d+(?=]\??$)", "", a.real_type.boxed().text)


def _replaces(now: Argument, was: Argument) -> bool:
    """Whether what was passed for one argument may be passed for the other."""
    return _same_place(now, was) and was.real_type.isSubtypeOf(now.real_type)


def _accepted_by(now: Argument, was: Argument) -> bool:
    return (
        _same_place(now, was)
        and now.real_type.isSubtypeOf(was.real_type)
        and (was.has_default or not now.has_default)
    )
