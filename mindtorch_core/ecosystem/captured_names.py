"""The names by which a captured function can reach what is around it, and whose code is looked into."""

from __future__ import annotations

import dis
import sys
from types import CodeType
from typing import Any, Final

__all__ = ["is_foreign", "is_operator", "is_own", "loaded_by", "slots_of"]

_LOADS: Final = frozenset({
    "LOAD_ATTR", "LOAD_CLASSDEREF", "LOAD_DEREF", "LOAD_GLOBAL", "LOAD_METHOD", "LOAD_NAME",
})  # fmt: skip
_BY_TEXT: Final = frozenset({"__dict__", "attrgetter", "getattr", "vars"})
_OWN: Final = frozenset({"builtins", "itertools", "functools", "math", "numpy", "torch", "typing"})
# What is called when an object is made, goes, or is shown, and not where a function computes with it.
_NO_OPERATORS: Final = frozenset({
    "__class_getitem__", "__copy__", "__deepcopy__", "__del__", "__format__", "__init__",
    "__init_subclass__", "__new__", "__post_init__", "__reduce__", "__reduce_ex__", "__repr__",
    "__set_name__", "__setattr__", "__str__", "__subclasshook__",
})  # fmt: skip


def is_own(name: Any) -> bool:
    """Whether a module, by its name, is mindtorch's, or another one that computes nothing of its own."""
    return str(name).partition(".")[0] in _OWN or str(name).startswith("mindtorch")


def is_foreign(name: Any) -> bool:
    """Whether a module, by its name, is none of the user's: such a one, or Python's."""
    return is_own(name) or str(name).partition(".")[0] in sys.stdlib_module_names


def is_operator(name: str) -> bool:
    """Whether a method is called by other syntax than its name."""
    return name.startswith("__") and name.endswith("__") and name not in _NO_OPERATORS


def slots_of(kind: type) -> set[str]:
    """The names of the attributes that objects of a class have in slots."""
    found: set[str] = set()
    for each in kind.__mro__:
        slots = vars(each).get("__slots__", ())
        found |= {slots} if isinstance(slots, str) else {*slots}
    return found - {"__dict__", "__weakref__"}


def loaded_by(code: CodeType) -> set[str]:
    """The names that a function and those within it load, also as texts where it looks up by those."""
    found = {i.argval for i in dis.get_instructions(code) if i.opname in _LOADS}
    if found & _BY_TEXT:
        found |= {c for c in code.co_consts if isinstance(c, str) and c.isidentifier()}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= loaded_by(constant)
    return found
