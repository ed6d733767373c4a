"""Ops that are defined when they are first asked for, so that they cost the import nothing.

A table says which module defines a name. Whoever asks for the name has that module imported, and
backends are told of the ops that have come, to register their kernels for them. This is one step:
if it fails or is interrupted nothing of it stays, and who asks next begins anew.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable, Iterator
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from ..values.user_warnings import warn_user
from .entry import source_of

if TYPE_CHECKING:
    from .registry import OperatorRegistry

__all__ = ["OnDemand", "told"]

Step = Callable[[], None]
Register = Callable[[tuple[str, ...]], Any]


def told(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """Places, and the names that stand there, of a row's text: see `OnDemand.listed`."""
    for part in text.split("; "):
        places, _, names = part.partition(": ")
        yield places.split(), names.split()


class OnDemand:
    """Which module defines a name, and the backends that wait for ops.

    Attributes:
        journal: undo functions of the definitions that are being made now, or None.
        unsettled: whether a thread is defining ops, or backends have still to be told of some.
    """

    def __init__(self, registry: OperatorRegistry) -> None:
        self._registry: Final = registry
        self._rows: list[tuple[str, list[str], list[str]]] = []
        self._homes: tuple[str, ...] = ()  # the modules of the table, in its order
        self._index: dict[str, dict[str, str]] = {}  # by place and name
        self._left: dict[str, None] = {}  # those that are not imported yet
        self._new: list[str] = []  # ops that backends have not been told of
        self._backends: list[_Backend] = []
        self.journal: list[Step] | None = None
        self.unsettled = False

    # ---- the table -----------------------------------------------------------------------------

    def listed(self, package: str, rows: Iterable[tuple[str, str]]) -> None:
        """Take the table of what is defined on demand.

        Args:
            package: what the names of modules are relative to.
            rows: a module, and what it defines: ``Tensor aten: relu_; aten: max.dim,other``, which is
                places, and names that stand in all of these, with commas between overloads of one
                name. The place of ops is their namespace, ``aten``; those of functions are as in
                `OpDef.namespaces`.
        """
        self._rows = [(f"{package}.{module}", *row) for module, text in rows for row in told(text)]
        self._index.clear()
        self._homes = tuple(dict.fromkeys(module for module, _, _ in self._rows))
        self._left = dict.fromkeys(self._homes)

    def home(self, place: str, name: str) -> str | None:
        """The module that defines a name, if it is in the table; of ops, that of all overloads."""
        index = self._index.get(place)
        if index is None:
            index = {each.partition(".")[0]: module for module, each in self._names(place)}
            self._index[place] = index
        return index.get(name)

    def waiting(self, place: str) -> list[str]:
        """The names in a place that are not defined yet."""
        return [name for module, name in self._names(place) if module in self._left]

    def _names(self, place: str) -> Iterator[tuple[str, str]]:
        for module, places, names in self._rows:
            if place in places:
                for name in names:
                    base, dot, overloads = name.partition(".")
                    for overload in overloads.split(","):
                        yield module, base + dot + overload

    @property
    def pending(self) -> bool:
        """Whether there are modules that are not imported yet."""
        return bool(self._left)

    # ---- defining ------------------------------------------------------------------------------

    def define(self, place: str, name: str) -> None:
        """Define what a name stands for, if the table has it and that is still to be done."""
        module = self.home(place, name)
        if module is not None and module in self._left:
            self._import((module,))
        elif self.unsettled:
            self.settle()

    def define_all(self) -> None:
        """Define all that is in the table."""
        if self._left or self.unsettled:
            self._import(tuple(self._left))

    def module(self, name: str) -> ModuleType:
        """A module that defines ops, or imports one that does; backends are told of its ops."""
        if name not in sys.modules or name in self._left:
            self._import((name,))
        return sys.modules[name]

    def settle(self) -> None:
        """Wait for the thread that is defining ops, and tell backends of those that have come."""
        self._import(())

    def _import(self, modules: Iterable[str]) -> None:
        with self._registry.apart():
            if self.journal is not None:  # the step that is under way tells the backends
                if wanted := [name for name in modules if name not in sys.modules]:
                    self._try(wanted, self.journal)
                return
            try:
                self.unsettled = True
                self.journal = []
                self._try(modules, self.journal, self._tell)
            finally:
                try:
                    self._end()
                finally:  # an interrupt may strike once, also there
                    self._end()

    def _try(self, modules: Iterable[str], journal: list[Step], then: Step | None = None) -> None:
        """Import modules; take back what they define, and have them imported anew, if that fails."""
        mark, before, untold = len(journal), self._imported(), tuple(self._new)
        try:
            with self._registry.apart(journal):
                for name in modules:
                    importlib.import_module(name)
                if then is not None:
                    then()
        except BaseException:
            while len(journal) > mark:
                journal.pop()()
            for name in self._imported() - before:
                _forget(name)
            known = self._registry.known
            self._new = [n for n in dict.fromkeys((*untold, *self._new)) if known(n)]
            raise

    def _end(self) -> None:
        self._left = {name: None for name in self._homes if name not in sys.modules}
        self.unsettled = bool(self._new)
        self.journal = None

    def _imported(self) -> set[str]:
        return {name for name in self._homes if name in sys.modules}

    # ---- backends ------------------------------------------------------------------------------

    def when_defined(self, register: Register) -> None:
        """Call a backend's function with the names of ops: those there are, later those that come.

        What it registers belongs to the transaction that is running now, and is taken back with it;
        what it registers for an op goes with the op, whoever defined that.
        The names that come later are those of the table, and a failure to register for them leaves
        the backend without these kernels, with a warning.
        """
        registry = self._registry
        if self.unsettled:
            self.settle()
        each = _Backend(registry, register)
        self._backends.append(each)

        def forget() -> None:
            if each in self._backends:
                self._backends.remove(each)
            each.take_back()

        registry.note(forget)
        with registry.following():
            register(tuple(e.name for e in registry.defined()))

    def came(self, name: str) -> None:
        """An op was defined: backends are to be told, if it is one of the table."""
        namespace, _, rest = name.partition("::")
        if self._backends and self.home(namespace, rest.partition(".")[0]) is not None:
            self._new.append(name)
            self.unsettled = True

    def _tell(self) -> None:
        """Have the backends register kernels, also for ops that this brings along.

        Not while a module of the table is half imported, as kernels may want all of it: who asks
        next tells them.
        """
        while self._new and not any(map(_half_imported, self._homes)):
            count = len(self._new)
            names = tuple(n for n in self._new if self._registry.known(n) is not None)
            for each in tuple(self._backends):
                each.tell(names)
            del self._new[:count]


class _Backend:
    """A function that registers a distribution's kernels."""

    def __init__(self, registry: OperatorRegistry, register: Register) -> None:
        self._registry = registry
        self._register = register
        self._owner = registry.owner
        self._journal: list[Step] = []

    def tell(self, names: tuple[str, ...]) -> None:
        """Register for these ops; a failure leaves their kernels out with a warning."""
        registry, kept = self._registry, len(self._journal)
        try:
            with registry.transaction(self._owner) as journal, registry.following():
                self._register(names)
        except Exception as error:  # noqa: BLE001 (a plugin's code may raise anything)
            warn_user(
                f"{self._owner or self._register.__module__} failed to register kernels for the ops "
                f"that are defined on demand, and goes on without them: "
                f"{type(error).__name__}: {error} (in {source_of(self._register)})"
            )
            return
        registry.note(lambda: self._drop(kept))
        self._journal += journal

    def _drop(self, kept: int) -> None:
        del self._journal[kept:]

    def take_back(self) -> None:
        """Undo what was registered for ops that came later."""
        for undo in reversed(self._journal):
            undo()
        self._journal = []


def _forget(name: str) -> None:
    """Have a module imported anew when it is next asked for."""
    sys.modules.pop(name, None)
    package, _, own = name.rpartition(".")
    if package in sys.modules:
        vars(sys.modules[package]).pop(own, None)


def _half_imported(name: str) -> bool:
    spec = getattr(sys.modules.get(name), "__spec__", None)
    return bool(getattr(spec, "_initializing", False))
