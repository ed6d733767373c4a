"""Which things around a captured function are fixed, and whose code is looked into."""

from __future__ import annotations

import sys
from enum import Enum
from types import BuiltinFunctionType, EllipsisType, FunctionType, ModuleType
from typing import Any, Final
from weakref import WeakKeyDictionary

from ..values.dtypes import dtype
from ..values.layouts import layout
from ..values.memory_formats import memory_format
from .captured_code import loaded_by

__all__ = [
    "MAKING",
    "PLAIN",
    "hooks_of_all",
    "is_constant",
    "is_fixed",
    "is_foreign",
    "is_operator",
    "is_own",
    "is_same",
    "read_by_own",
    "slots_of",
]

# Values that are compared, and not watched in their parts.
PLAIN: Final = (bool, int, float, complex, str, bytes, type(None))

_HOOKS_OF_ALL: Final = (
    "_global_forward_hooks", "_global_forward_pre_hooks", "_global_backward_hooks",
    "_global_backward_pre_hooks", "_global_optimizer_pre_hooks", "_global_optimizer_post_hooks",
)  # fmt: skip
_OWN: Final = frozenset({"builtins", "itertools", "functools", "math", "numpy", "torch", "typing"})
# What is called when an object of a class is made.
MAKING: Final = frozenset({"__init__", "__new__", "__post_init__", "__setattr__"})
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


_FIXED: Final = (
    *PLAIN, BuiltinFunctionType, EllipsisType, Enum, ModuleType, dtype, layout, memory_format, slice, type,
)  # fmt: skip
_READ_BY_OWN: Final[WeakKeyDictionary[type, set[str]]] = WeakKeyDictionary()


def is_same(value: Any, other: Any) -> bool:
    """Whether two arguments that are no tensors stand for the same: zeros of other signs do not.

    What cannot change is compared. Of other things the parts are watched, so that it has to be the very one.
    """
    if value is other:
        return True
    if type(value) is not type(other):
        return False
    if is_constant(value):
        return repr(value) == repr(other)
    return is_fixed(value) and bool(value == other)


def is_fixed(value: Any) -> bool:
    """Whether a value cannot change, as far as its class says: it is hashed by what it is equal to."""
    if isinstance(value, _FIXED):
        return True
    compare: Any = type(value).__eq__
    if compare is object.__eq__:
        return False
    try:
        hash(value)
    except TypeError:
        return False
    return True


def is_constant(value: Any) -> bool:
    """Whether a value is a number, a text or the like, or a list or tuple of these."""
    if isinstance(value, list | tuple):
        return all(isinstance(v, PLAIN) for v in value)
    return isinstance(value, PLAIN)


def read_by_own(kind: type) -> set[str]:
    """The names that methods of mindtorch's classes load, of which a module's class is made."""
    if kind in _READ_BY_OWN:
        return _READ_BY_OWN[kind]
    found: set[str] = set()
    for each in kind.__mro__:
        if is_own(each.__module__) and each.__name__ != "Module":
            for method in vars(each).values():
                if type(method) is FunctionType and not method.__name__.startswith("__"):
                    found |= loaded_by(method.__code__)
    _READ_BY_OWN[kind] = found
    return found


def hooks_of_all(kind: type) -> list[dict[int, Any]]:
    """The hooks that all modules call, or all optimizers, from where the class of these is."""
    bases = [
        c for c in kind.__mro__ if c.__name__ in ("Module", "Optimizer") and is_own(c.__module__)
    ]
    held = vars(sys.modules[bases[0].__module__]) if bases else {}
    return [held[name] for name in _HOOKS_OF_ALL if name in held]


def slots_of(kind: type) -> set[str]:
    """The names of the attributes that objects of a class have in slots."""
    found: set[str] = set()
    for each in kind.__mro__:
        slots = vars(each).get("__slots__", ())
        found |= {slots} if isinstance(slots, str) else {*slots}
    return found - {"__dict__", "__weakref__"}
