"""Modules whose names exist so that libraries can be imported, and say why they do nothing.

There is no catch-all: a name is in the table of `absent_names`, or it is an AttributeError.
"""

from __future__ import annotations

import enum
import functools
import importlib
import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any, Final, NoReturn

from ..dispatch.nearest import missing
from .absent_names import ROWS
from .absent_row import Absent

__all__ = ["install", "names_of"]

_ROOM: Final = __name__.rpartition(".")[0]


_MADE: Final[dict[tuple[int, str], Any]] = {}  # one object, by however many paths a row has


def _raise(name: str, reason: str) -> NoReturn:
    raise NotImplementedError(f"{name} is not part of mindtorch: {reason}")


def _function(path: str, name: str, reason: str) -> Callable[..., NoReturn]:
    def absent(*args: Any, **kwargs: Any) -> NoReturn:
        _raise(f"{path}.{name}", reason)

    absent.__name__ = absent.__qualname__ = name
    absent.__module__ = path
    absent.__doc__ = f"Raise NotImplementedError: {reason}"
    return absent


def _class(path: str, name: str, reason: str) -> type:
    def __new__(cls: type, *args: Any, **kwargs: Any) -> NoReturn:
        _raise(f"{path}.{name}", reason)

    doc = f"A class that has no objects: {reason}"
    # Subscripts stand in annotations.
    subscript = classmethod(lambda cls, item: cls)
    members = {"__new__": __new__, "__module__": path, "__doc__": doc}
    return type(name, (), {**members, "__class_getitem__": subscript})


def _made(path: str, row: Absent, name: str) -> Any:
    """A name of a row.

    Raises:
        KeyError: if the row has none of that name.
    """
    if name in row.values:
        return row.values[name]
    if name in row.enums:
        return enum.Enum(name, row.enums[name], module=path)
    if name in row.classes.split():
        return _class(path, name, row.reason)
    if name in row.functions.split():
        return _function(path, name, row.reason)
    if name in row.errors.split():
        return type(name, (RuntimeError,), {"__module__": path})
    raise KeyError(name)


@functools.cache
def names_of(module: str) -> Callable[[str], Any]:
    """The ``__getattr__`` of a module of this room: its row's names, and the modules below it.

    Args:
        module: its path in this room, with the room's.
    """
    inner = module.removeprefix(f"{_ROOM}.")
    shown = "torch." + inner.replace("utilities.", "utils.").replace("of_nn.", "nn.")
    row = ROWS.get(inner, Absent())
    if any(path.startswith(f"{inner}.") for path in ROWS):
        vars(sys.modules[module]).setdefault("__path__", [])  # a package, as its rows lie below it

    def __getattr__(name: str) -> Any:
        try:
            made = _MADE.get((id(row), name)) or _made(shown, row, name)
        except KeyError:
            if f"{inner}.{name}" in ROWS:
                return importlib.import_module(f"{module}.{name}")
            public = [n for n in dir(sys.modules[module]) if not n.startswith("_")]
            raise missing(shown, name, lambda: public) from None
        _MADE[id(row), name] = made
        setattr(sys.modules[module], name, made)
        return made

    return __getattr__


class _Finder:
    """Finds the modules that are rows of the table and have no file: finder and loader."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A module of a row, or None."""
        if not name.startswith(f"{_ROOM}."):
            return None
        if name.removeprefix(f"{_ROOM}.") not in ROWS:
            return None
        return ModuleSpec(name, self, is_package=True)  # type: ignore[arg-type]  # by duck typing

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        """A module of the class that the row names."""
        return ROWS[spec.name.removeprefix(f"{_ROOM}.")].kind(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Give the module its names."""
        module.__getattr__ = names_of(module.__name__)  # type: ignore[method-assign]
        module.__doc__ = "Names that mindtorch has for the sake of imports."


def install() -> None:
    """Have the import system find the table's modules, after all others."""
    if not any(isinstance(each, _Finder) for each in sys.meta_path):
        sys.meta_path.append(_Finder())
