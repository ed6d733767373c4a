"""A call that ``__torch_function__`` overrides, as it was written: which arguments came by keyword.

A generated function has bound its arguments when it finds out that others are to answer. Handlers
are given what stood in the call, as in PyTorch: positional arguments and keywords apart, without
defaults. That is read from the instruction of the caller, where it is a call of Python's; elsewhere
what is no default goes by keyword.
"""

from __future__ import annotations

import operator
import sys
from collections.abc import Callable
from functools import lru_cache
from types import CodeType, FrameType
from typing import Any, Final

from ...values.devices import concrete
from ..entry import OpEntry
from ..overrides import MODES, handle
from ..schema import Argument
from .parts import python_name

__all__ = ["IN_PYTHON", "METHOD_OF_OPERATOR", "hand_on"]

# What handlers are told a Python operator is: PyTorch gives these methods two names.
METHOD_OF_OPERATOR: Final = {
    "__abs__": "abs", "__add__": "add", "__and__": "__and__", "__ge__": "ge", "__gt__": "gt",
    "__iadd__": "add_", "__imul__": "mul_", "__isub__": "sub_", "__le__": "le", "__lt__": "lt",
    "__matmul__": "matmul", "__mod__": "remainder", "__mul__": "mul", "__ne__": "ne",
    "__neg__": "neg", "__pos__": "positive", "__radd__": "add", "__rmul__": "mul",
    "__sub__": "sub", "__truediv__": "div",
}  # fmt: skip

# Those that PyTorch has written in Python, whose handlers get keyword arguments in any case.
IN_PYTHON: Final = frozenset({
    "__floordiv__", "__ipow__", "__pow__", "__rdiv__", "__rfloordiv__", "__rlshift__",
    "__rmatmul__", "__rmod__", "__rpow__", "__rrshift__", "__rsub__", "__rtruediv__",
})  # fmt: skip

# Those whose handlers there get what has a default by keyword, given or not.
_WITH_DEFAULTS: Final = frozenset({"glu", "pad", "rms_norm", "stft"})


def hand_on(
    entry: OpEntry,
    shown: Callable[..., Any],
    values: dict[str, Any],
    spread: tuple[str, tuple[Any, ...]] | None,
) -> Any:
    """Hand the call of a generated function to those who override it.

    Args:
        entry: the op.
        shown: the function that was called, as handlers are told.
        values: its arguments by name, as they are bound.
        spread: name and values of the arguments that came spread, as in ``x.view(2, 3)``.
    """
    schema = entry.schema
    assert schema is not None
    caller = sys._getframe(2)
    given = caller.f_locals if caller.f_code is getattr(shown, "__code__", None) else {}
    # A function that chooses among overloads; others call themselves, all by the names of today.
    if "kwargs" in given:
        return handle(shown, _all(values), given["args"], given["kwargs"])
    if spread is not None and values[spread[0]] is not spread[1]:  # it came as a list
        spread = None
    how = _how(caller)
    args, kwargs = MODES.handed.get(shown, ((), None)) if how is None else ((), None)
    if kwargs is None or not _same(schema.arguments, values, args, kwargs):
        method = getattr(shown, "__qualname__", "").startswith("Tensor.")
        name = getattr(shown, "__name__", "")
        args, kwargs = _written(schema.arguments, values, spread, how, method, name)
    return handle(shown, _all(values), args, kwargs)


def _same(
    arguments: tuple[Argument, ...],
    values: dict[str, Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> bool:
    """Whether a call is the one that a handler around was given: it calls with what it was given."""
    first = [values[python_name(a)] for a in arguments if not a.kwarg_only][: len(args)]
    return all(map(operator.is_, first, args)) and all(
        values.get(name) is value for name, value in kwargs.items()
    )


def _all(values: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(values.values())


def _written(
    arguments: tuple[Argument, ...],
    values: dict[str, Any],
    spread: tuple[str, tuple[Any, ...]] | None,
    how: tuple[int, tuple[str, ...]] | None,
    method: bool,
    name: str,
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Positional and keyword arguments of a call."""
    positional = [a for a in arguments if not a.kwarg_only]
    if name in _WITH_DEFAULTS:
        first = [a for a in positional if not a.has_default]
        named = [python_name(a) for a in arguments if a not in first]
        return _spread(first, values, None), {n: values[n] for n in named if n in values}
    if how is not None and not set(how[1]) - {*values, "out"}:
        count, names = how[0] + method, how[1]
        if spread is not None:
            count = next(i for i, a in enumerate(positional) if python_name(a) == spread[0]) + 1
        first = [a for a in positional[:count] if python_name(a) not in names]
        rest = [a for a in arguments if a not in first and python_name(a) not in names]
        # Others have come by `functools.partial`, say, whose call is not the one that stands there.
        if all(_is_default(a, values) for a in rest):
            return _spread(first, values, spread), {n: values[n] for n in names if n in values}
    first = [a for a in positional if not a.has_default]
    if spread is not None and spread[0] not in map(python_name, first):
        first = positional[
            : next(i for i, a in enumerate(positional) if python_name(a) == spread[0]) + 1
        ]
    others = [a for a in arguments if a not in first and not _is_default(a, values)]
    given = {n: values[n] for n in map(python_name, others) if n in values}
    return _spread(first, values, spread), given


def _spread(
    arguments: list[Argument], values: dict[str, Any], spread: tuple[str, tuple[Any, ...]] | None
) -> tuple[Any, ...]:
    """Positional arguments, with those that came spread one by one."""
    found: list[Any] = []
    for a in arguments:
        name = python_name(a)
        found += values[name] if spread is not None and name == spread[0] else (values[name],)
    return tuple(found)


def _is_default(a: Argument, values: dict[str, Any]) -> bool:
    name = python_name(a)
    return name not in values or (a.has_default and _left_out(a, values[name]))


def _left_out(a: Argument, value: Any) -> bool:
    """Whether an argument is what it is if it is not given."""
    if a.type == "Device" and a.default is None:  # the function has put in where that is
        return value is None or value is concrete(None)
    return value is a.default or (type(value) is type(a.default) and bool(value == a.default))


# ---- the instruction of a call ------------------------------------------------------------------


def _how(caller: FrameType) -> tuple[int, tuple[str, ...]] | None:
    """How many positional arguments, and which keywords, stand in the call that a frame is at."""
    return _calls(caller.f_code).get(caller.f_lasti)


@lru_cache(maxsize=256)
def _calls(code: CodeType) -> dict[int, tuple[int, tuple[str, ...]]]:
    """By offset, the calls of a piece of code whose arguments are not spread.

    A frame in a call is at its instruction or at one of the words behind that.
    """
    import dis  # not part of the core's import

    found: dict[int, tuple[int, tuple[str, ...]]] = {}
    names: tuple[str, ...] = ()
    last: Any = None
    for each in (*dis.get_instructions(code), None):
        if last is not None and last.opname in ("CALL", "CALL_KW"):
            call = ((last.arg or 0) - len(names), names)
            end = last.offset + 2 if each is None else each.offset
            found |= dict.fromkeys(range(last.offset, end, 2), call)
            names = ()
        if each is not None and each.opname == "KW_NAMES":
            names = code.co_consts[each.arg or 0]
        elif each is not None and each.opname == "CALL_KW":
            names = last.argval
        last = each
    return found
