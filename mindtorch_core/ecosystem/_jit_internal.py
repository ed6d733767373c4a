"""``torch._jit_internal``: decorators for scripts, which are not made, so they give back what they get."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Final

from .jit import export, ignore, is_scripting, unused

__all__ = [
    "BroadcastingList1",
    "BroadcastingList2",
    "BroadcastingList3",
    "Final",
    "boolean_dispatch",
    "export",
    "ignore",
    "is_scripting",
    "unused",
]

BroadcastingList1 = BroadcastingList2 = BroadcastingList3 = list


def boolean_dispatch(
    arg_name: str, arg_index: int, default: bool, if_true: Callable[..., Any],
    if_false: Callable[..., Any], module_name: str, func_name: str,
) -> Callable[..., Any]:  # fmt: skip
    """A function that calls one of two, by the value of an argument.

    Args:
        arg_name: of the argument.
        arg_index: its place.
        default: its value where a call does not give it.
        if_true: called where it holds.
        if_false: called where it does not.
        module_name: of the function that is made.
        func_name: its name.
    """

    @functools.wraps(if_false)
    def fn(*args: Any, **kwargs: Any) -> Any:
        given = args[arg_index] if arg_index < len(args) else kwargs.get(arg_name, default)
        return (if_true if given else if_false)(*args, **kwargs)

    fn.__module__, fn.__name__ = module_name, func_name
    fn.__doc__ = inspect.getdoc(if_true) or inspect.getdoc(if_false)
    return fn


def _overload(func: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return func


_overload_method = _overload


def _copy_to_script_wrapper(fn: Callable[..., Any]) -> Callable[..., Any]:
    """The function itself."""
    return fn
