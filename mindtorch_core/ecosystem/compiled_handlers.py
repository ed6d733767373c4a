"""Whether a function catches errors, itself or in what it calls, as far as that can be seen.

In a block an error that depends on values comes when the op is launched, which is after the end of a
``try`` around the op. Calls of functions that catch errors are therefore none: this looks at the code of
a function and of what that names, for handlers of errors that ops raise, and for ``with`` statements that
may swallow them. Where it cannot tell, it says that errors are caught.
"""

from __future__ import annotations

import builtins
import contextlib
import dis
import functools
import itertools
import sys
from collections.abc import Iterator, Mapping
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from ..tensors.tensor import Tensor

__all__ = ["catches"]

_MOST: Final = 50_000  # objects that are looked at
_ITEMS: Final = 100  # of a container
# What ops raise that depends on values; not, say, ImportError or KeyError.
_RAISED: Final = (
    IndexError,
    RuntimeError,
    ValueError,
    ArithmeticError,
    AssertionError,
    MemoryError,
)
# Libraries whose handlers are about other things than ops.
_CLOSED: Final = frozenset({*sys.stdlib_module_names, "PIL", "numpy", "scipy", "torch"})
_CALLED: Final = frozenset({"__call__", "__enter__", "__exit__", "__init__", "__new__", "forward"})


def catches(fn: Any, *given: Any) -> bool:
    """Whether a function, with some arguments, may catch errors of ops.

    Args:
        fn: the function, or a module.
        given: what it is called with.
    """
    return _Search().finds([fn, *given])


@functools.cache
def _closed(name: Any) -> bool:
    """Whether a module is one that is not looked into: this package's, Python's own."""
    top = str(name).partition(".")[0]
    return top.startswith("mindtorch") or top in _CLOSED


class _Search:
    """One search through what a function may call.

    Attributes:
        todo, met: objects to look at, and those that were, kept alive by their identities.
        names: all names in code that was looked at.
        spaces: attributes of classes, modules and objects: those of such names are looked at as well.
    """

    def __init__(self) -> None:
        self.todo: list[Any] = []
        self.met: dict[int, Any] = {}
        self.names: set[str] = set(_CALLED)
        self.spaces: list[Mapping[str, Any]] = []
        self._names_before: set[str] = set()
        self._spaces_before = 0

    def finds(self, begin: list[Any]) -> bool:
        """Whether anything catches errors that can be reached."""
        self.todo += begin
        while self.todo:
            found = self.todo.pop()
            if id(found) not in self.met:
                self.met[id(found)] = found
                if len(self.met) > _MOST:
                    return True
                if not isinstance(found, Tensor) and self._look_at(found):
                    return True
            if not self.todo:
                self.todo += self._attributes()
        return False

    def _attributes(self) -> list[Any]:
        """What the names in code mean for the objects that were met, as far as either is new."""
        new, count = self.names - self._names_before, self._spaces_before
        found = [each[n] for each in self.spaces[:count] for n in new & each.keys()]
        found += [each[n] for each in self.spaces[count:] for n in self.names & each.keys()]
        self._names_before, self._spaces_before = set(self.names), len(self.spaces)
        return found

    def _look_at(self, found: Any) -> bool:
        """Whether an object catches errors; takes note of what it leads to."""
        inner: Any = getattr(found, "__dict__", {})
        self.todo += [inner[n] for n in ("__wrapped__", "_torchdynamo_orig_callable") if n in inner]
        if isinstance(found, FunctionType):
            return not _closed(found.__module__) and self._look_into(found)
        if isinstance(found, MethodType):
            self.todo += [found.__func__, found.__self__]
        elif isinstance(found, functools.partial):
            self.todo += [found.func, *found.args, *found.keywords.values()]
        elif isinstance(found, classmethod | staticmethod):
            self.todo.append(found.__func__)
        elif isinstance(found, property):
            self.todo.append(found.fget)
        elif isinstance(found, list | tuple):
            self.todo += found[:_ITEMS]
        elif isinstance(found, dict):
            self.todo += [*found.values()][:_ITEMS]
        elif isinstance(found, ModuleType):
            if not _closed(found.__name__):
                self.spaces.append(inner)
            elif found is contextlib:
                self.spaces.append({"suppress": contextlib.suppress})
        elif isinstance(found, type):
            return self._look_at_class(found)
        elif type(found).__module__ != "builtins":
            self.todo += [type(found), inner.get("_modules")]
            self.spaces.append(inner)
        return False

    def _look_at_class(self, found: type) -> bool:
        if issubclass(found, contextlib.suppress):
            return True
        for c in found.__mro__:
            if not _closed(c.__module__):
                self.spaces.append(vars(c))
                leave = vars(c).get("__exit__")
                if isinstance(leave, FunctionType) and _swallows(leave.__code__):
                    return True
        return False

    def _look_into(self, fn: FunctionType) -> bool:
        """Whether a function's own code catches errors."""
        scope = fn.__globals__
        cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=False))
        for code in _codes(fn.__code__):
            if _handles(code, scope):
                return True
            self.names.update(code.co_names)
            self.todo += [scope[n] for n in code.co_names if n in scope]
            imported = [s.argval for s in dis.get_instructions(code) if s.opname == "IMPORT_NAME"]
            self.todo += [sys.modules[n] for n in imported if n in sys.modules]
        for cell in cells.values():
            with contextlib.suppress(ValueError):  # it is empty
                self.todo.append(cell.cell_contents)
        return False


def _codes(code: CodeType) -> Iterator[CodeType]:
    """A function's code, and that of the functions in it."""
    yield code
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield from _codes(each)


def _handles(code: CodeType, scope: dict[str, Any]) -> bool:
    """Whether code has an ``except`` for errors that ops raise."""
    if not code.co_exceptiontable:
        return False
    steps = [*dis.get_instructions(code)]
    at = {step.offset: i for i, step in enumerate(steps)}
    for i, step in enumerate(steps):
        if step.opname == "PUSH_EXC_INFO" and steps[i + 1].opname == "POP_TOP":
            return True  # a bare one
        if step.opname == "CHECK_EG_MATCH":
            return True
        if step.opname == "CHECK_EXC_MATCH":
            otherwise = at.get(steps[i + 1].argval)
            if otherwise is None or steps[otherwise].opname == "POP_TOP":  # a bare one comes next
                return True
            if _matches(steps[:i], scope):
                return True
    return False


def _matches(before: list[dis.Instruction], scope: dict[str, Any]) -> bool:
    """Whether the classes that code has just loaded are those of errors that ops raise."""
    for step in reversed(before):
        if step.opname == "BUILD_TUPLE":
            continue
        if step.opname != "LOAD_GLOBAL":
            # Where the loads begin; what else is loaded there is not known.
            return bool(step.opname.startswith("LOAD"))
        kind = scope.get(step.argval, getattr(builtins, step.argval, None))
        for each in kind if isinstance(kind, tuple) else (kind,):
            if not isinstance(each, type):
                return True
            if any(issubclass(each, c) or issubclass(c, each) for c in _RAISED):
                return True
    return False


def _swallows(code: CodeType) -> bool:
    """Whether an ``__exit__`` returns something else than None or False."""
    steps = [*dis.get_instructions(code)]
    for before, step in itertools.pairwise(steps):
        if step.opname == "RETURN_VALUE" and not (
            before.opname == "LOAD_CONST" and before.argval in (None, False)
        ):
            return True
        if step.opname == "RETURN_CONST" and step.argval not in (None, False):
            return True
    return False
