"""What code asks `id()` and `hash()` of, as far as the code itself tells."""

from __future__ import annotations

import dis
from types import CodeType, FrameType
from typing import Any, Final

__all__ = ["UNSEEN", "argument_of", "hands_on"]

UNSEEN: Final = object()  # what comes of an expression
_BETWEEN: Final = frozenset({"CACHE", "PRECALL", "PUSH_NULL"})
_LOCAL: Final = frozenset({
    "LOAD_CLASSDEREF", "LOAD_DEREF", "LOAD_FAST", "LOAD_FAST_BORROW", "LOAD_FAST_CHECK", "LOAD_NAME",
})  # fmt: skip


def argument_of(frame: FrameType) -> Any:
    """What a function is just called with in a frame, where that is a variable or an attribute of one."""
    code = frame.f_code
    steps = [i for i in dis.get_instructions(code) if i.opname not in _BETWEEN]
    before = [i for i in steps if i.offset < frame.f_lasti]
    call = next((i for i in steps if i.offset >= frame.f_lasti), None)
    if call is None or call.arg != 1 or "CALL" not in call.opname:
        return UNSEEN
    names: list[str] = []
    while before and before[-1].opname == "LOAD_ATTR":
        names.append(str(before.pop().argval))
    if not before:
        return UNSEEN
    first = before.pop()
    if first.opname in _LOCAL:
        value = frame.f_locals.get(first.argval, UNSEEN)
    elif first.opname == "LOAD_GLOBAL":
        held = frame.f_globals if first.argval in frame.f_globals else frame.f_builtins
        value = held.get(first.argval, UNSEEN)
    else:
        return UNSEEN
    for name in reversed(names):
        value = getattr(value, "__dict__", {}).get(name, UNSEEN)
    return value


def hands_on(code: CodeType, name: str) -> bool:
    """Whether a function passes a global function on, such as `id` to `map`, which calls it unseen."""
    return any(
        i.opname == "LOAD_GLOBAL" and i.argval == name and "NULL" not in i.argrepr
        for i in dis.get_instructions(code)
    )
