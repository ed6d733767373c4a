"""Installed packages around a captured function, whose code does not change while a program runs.

They are far larger than what a step reads of them. So their functions are not looked into where one could be
reached, but where one has run: of what such code reads, variables of its module, and attributes of modules
and objects that the function has, are guarded as for the user's own code.
"""

from __future__ import annotations

import functools
import os
import random
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
from contextvars import ContextVar
from itertools import islice
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final, NamedTuple

from ..tensors.tensor import Tensor
from .captured_code import globals_of, imported_by
from .captured_names import PLAIN, is_foreign, is_own
from .captured_watches import MISSING, Watch, sized

__all__ = [
    "Held", "Root", "defined_in_package", "in_package", "nested", "parts_of_held", "read_by_root", "roots_of",
    "within",
]  # fmt: skip

_FOLDERS: Final = frozenset({"dist-packages", "site-packages"})
_ELEMENTS: Final = 1_000  # of one container, that are compared
_FEW: Final = 64  # elements of one that is followed to what they hold
_DEEPEST: Final = 3  # containers and objects within one another
_CONTAINERS: Final = dict, list, tuple, set, frozenset
# Whose objects hold a state of Python's.
_OF_PYTHON: Final = ContextVar, random.Random, type(os.environ)
_CODE: Final = FunctionType, BuiltinFunctionType, MethodType, ModuleType, type


class Root(NamedTuple):
    """Code that a function has run, and nothing it holds leads to.

    Attributes:
        code: it.
        around: the variables of its module.
    """

    code: CodeType
    around: dict[str, Any]

    @property
    def called(self) -> str:
        """How errors call it."""
        return f"{self.code.co_qualname}() of {self.around.get('__name__')}"


class Held(NamedTuple):
    """A thing that a package holds for itself: it is followed a few steps only."""

    value: Any
    depth: int


@functools.cache
def in_package(file: str) -> bool:
    """Whether a file is that of an installed package, by its folder or by what was installed beside it."""
    path = Path(file)
    if not _FOLDERS.isdisjoint(path.parts):
        return True
    inner = path.parts[len(path.anchor and path.parts[:1]) :]
    folders = [*reversed(path.parents)]
    return any(part in _installed_in(f) for f, part in zip(folders, inner, strict=False))


@functools.cache
def _installed_in(folder: Path) -> frozenset[str]:
    """What installers have put into a folder, as their records say."""
    try:
        with os.scandir(folder) as entries:
            infos = [e.path for e in entries if e.name.endswith(".dist-info")]
    except OSError:  # it is gone, or nobody may look
        return frozenset()
    return frozenset(name for info in infos for name in _recorded(Path(info, "RECORD")))


def _recorded(record: Path) -> Iterator[str]:
    try:
        lines = record.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:  # not of a wheel
        return
    yield from {line.partition(",")[0].partition("/")[0] for line in lines}


def defined_in_package(thing: Any) -> bool:
    """Whether a function, a class or a module is an installed package's."""
    if isinstance(thing, FunctionType):
        return not is_foreign(thing.__globals__.get("__name__")) and in_package(
            thing.__code__.co_filename
        )
    is_module = isinstance(thing, ModuleType)
    name = thing.__name__ if is_module else getattr(thing, "__module__", None)
    module = thing if is_module else sys.modules.get(str(name))
    file = getattr(module, "__dict__", {}).get("__file__")
    return isinstance(file, str) and not is_foreign(name) and in_package(file)


def roots_of(
    ran: Mapping[tuple[CodeType, str], dict[str, Any]], known: Collection[tuple[CodeType, str]]
) -> list[Root]:
    """Of code that has run what is within no other code, and is not known otherwise.

    Args:
        ran: the variables around it, by it and the name of its module.
        known: of which the guards look for themselves what it reads.
    """
    inner = {(c, name) for code, name in ran for c in nested(code)}
    left = ran.keys() - inner - {*known}
    return [Root(code, ran[code, name]) for code, name in ran if (code, name) in left]


def within(
    roots: Sequence[Root],
    ran: Mapping[tuple[CodeType, str], dict[str, Any]],
    known: Collection[tuple[CodeType, str]],
) -> bool:
    """Whether all code that has run is that of roots, or known otherwise."""
    held = {
        (code, str(root.around.get("__name__")))
        for root in roots
        for code in (root.code, *nested(root.code))
    }
    return all(each in held or each in known for each in ran)


def nested(code: CodeType) -> Iterator[CodeType]:
    """The functions within a function."""
    for each in code.co_consts:
        if isinstance(each, CodeType):
            yield each
            yield from nested(each)


def read_by_root(root: Root, loaded: Set[str]) -> Iterator[Watch | tuple[str, Any]]:
    """What code of a package reads of its own modules: watches, and what is to be followed.

    Args:
        root: the code.
        loaded: the names that it loads.
    """
    around, names = root.around, sorted(globals_of(root.code) & root.around.keys())
    yield Watch(lambda: [around.get(name, MISSING) for name in names], names)
    yield from ((n, value) for n in names for value in _followed(around[n], 0))
    for name, module in [*_imported(root), *((n, around[n]) for n in names)]:
        if isinstance(module, ModuleType) and defined_in_package(module):
            held = vars(module)
            found = [n for n in sorted(loaded & held.keys()) if not isinstance(held[n], _CODE)]
            yield _entries(name, held, found)
            yield from ((f"{name}.{n}", value) for n in found for value in _followed(held[n], 0))


def _entries(path: str, held: dict[str, Any], names: Sequence[str]) -> Watch:
    return Watch(lambda: [held.get(n, MISSING) for n in names], [f"{path}.{n}" for n in names])


def _imported(root: Root) -> Iterator[tuple[str, Any]]:
    """The modules that code imports when it runs, by their whole names or from where it stands."""
    package = str(root.around.get("__package__") or "").split(".")
    above = [".".join([*package[:n], ""]) for n in range(1, len(package) + 1)]
    for name in sorted(imported_by(root.code)):
        yield from (
            (name, sys.modules[start + name])
            for start in ("", *above)
            if start + name in sys.modules
        )


def parts_of_held(path: str, held: Held, names: Set[str]) -> Iterator[Watch | tuple[str, Any]]:
    """What is to be watched of a thing that a package holds, and what is to be followed of it.

    Args:
        path: how it is called.
        held: it.
        names: the attributes that code loads.
    """
    value = held.value
    if isinstance(value, dict):
        keys = [*islice(value, _ELEMENTS)]
        shown = [f"{path}[{k!r}]" if isinstance(k, PLAIN) else f"an entry of {path}" for k in keys]
        yield Watch(lambda: [dict.get(value, key, MISSING) for key in keys], shown)
        inner = [*zip(shown, value.values(), strict=False)]
    elif isinstance(value, list | tuple):
        count = min(len(value), _ELEMENTS)
        shown = [f"{path}[{i}]" for i in range(count)]
        yield Watch(lambda: value[:count], shown)
        inner = [*zip(shown, value, strict=False)]
    elif isinstance(value, set | frozenset):
        yield sized(value, f"len({path})")
        return
    else:
        around = getattr(value, "__dict__", {})
        found = sorted(names & (around.keys() | _defaults(type(value))))
        yield _entries(path, around, found)
        inner = [(f"{path}.{n}", around[n]) for n in found if n in around]
    if len(inner) <= _FEW:
        yield from ((n, each) for n, v in inner for each in _followed(v, held.depth + 1))


def _defaults(kind: type) -> set[str]:
    """Attributes that a class has for its objects, which may come to have their own."""
    return {n for c in kind.__mro__ for n, v in vars(c).items() if isinstance(v, PLAIN)}


def _followed(value: Any, depth: int) -> Iterator[Any]:
    """A thing as it is followed where a package holds it, or nothing."""
    kind = type(value)
    if isinstance(value, PLAIN) or hasattr(value, "__array_interface__") or depth > _DEEPEST:
        return
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, _CODE):
        if depth == 0 and isinstance(value, ModuleType) and is_foreign(value.__name__):
            yield value  # which may be asked for settings
        elif not is_foreign(getattr(value, "__module__", None)) and not defined_in_package(value):
            yield value
    elif depth == 0 and isinstance(value, _OF_PYTHON):
        yield value
    elif isinstance(value, _CONTAINERS) or (hasattr(value, "__dict__") and not _is_others(kind)):
        yield Held(value, depth)
    elif depth == 0 or not is_foreign(kind.__module__):
        yield value


def _is_others(kind: type) -> bool:
    """Whether a class is the user's or mindtorch's, and no package's or Python's."""
    if is_foreign(kind.__module__):
        return is_own(kind.__module__)
    return not defined_in_package(kind)
