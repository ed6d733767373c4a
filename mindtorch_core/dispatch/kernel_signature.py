"""Whether a kernel's Python signature can take what a schema's call hands it.

Positional arguments go by position, keyword-only ones by keyword. Reading the code object takes a
microsecond, where `inspect.signature` takes twenty.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import Any, Final

from .schema import OperatorSchema

__all__ = ["signature_problem"]

_VARARGS: Final = 0x04  # flags of code objects, `inspect.CO_VARARGS` and its like
_VARKEYWORDS: Final = 0x08


def signature_problem(
    fn: Callable[..., Any], schema: OperatorSchema, *, leading: int = 0
) -> str | None:
    """Why ``fn`` cannot be called with a schema's arguments; None if it can.

    Args:
        fn: the kernel.
        schema: the op's signature.
        leading: number of arguments passed before the schema's own, such as a key set.
    """
    if getattr(schema, "is_vararg", False):
        return None
    positional, keywords = leading, []
    for a in schema.arguments:
        if not a.kwarg_only:
            positional += 1
        else:
            keywords.append(a.name)
    code = getattr(fn, "__code__", None)
    if code is None or getattr(fn, "__wrapped__", None) is not None:
        return _by_signature(fn, positional, keywords)
    if isinstance(fn, MethodType):
        positional += 1
    takes = code.co_argcount
    names = code.co_varnames
    own_keywords = names[takes : takes + code.co_kwonlyargcount]
    if takes == positional and own_keywords == tuple(keywords):  # most are written like this
        return None
    defaults = len(getattr(fn, "__defaults__", None) or ())
    if takes < positional and not code.co_flags & _VARARGS:
        return f"it takes {takes} positional arguments, and the call passes {positional}"
    if takes - defaults > positional:
        missing = [n for n in names[positional : takes - defaults] if n not in keywords]
        if missing:
            return f"it requires {missing[0]!r}, which the schema does not have"
    if not code.co_flags & _VARKEYWORDS:
        known = {*names[positional:takes], *own_keywords}
        for name in keywords:
            if name not in known:
                return f"it does not take the keyword argument {name!r}"
    given = getattr(fn, "__kwdefaults__", None) or {}
    for name in own_keywords:
        if name not in keywords and name not in given:
            return f"it requires the keyword argument {name!r}, which the schema does not have"
    return None


def _by_signature(fn: Callable[..., Any], positional: int, keywords: list[str]) -> str | None:
    """The same for callables that are not plain functions."""
    import inspect  # not part of the core's import, of which it would be a tenth

    try:
        signature = inspect.signature(fn)
    except (TypeError, ValueError):  # written in C, without a signature
        return None
    try:
        signature.bind(*[None] * positional, **dict.fromkeys(keywords))
    except TypeError as error:
        return str(error)
    return None
