"""``torch.ops``: every op under its namespace, name and overload, as in PyTorch.

``torch.ops.aten.add`` is a packet of overloads and ``torch.ops.aten.add.Tensor`` one of them.

Packets and overloads keep their identity. They are attributes of what they were found on, so that
the next use costs no look-up; when an op comes or goes, its attributes are taken off again.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from types import ModuleType
from typing import Any, Final, NoReturn
from weakref import WeakValueDictionary

from ..dispatch.calls.overload_choice import key_of_types, pick, tensors_first
from ..dispatch.entry import OpEntry
from ..dispatch.keys import DispatchKey
from ..dispatch.nearest import nearest
from ..dispatch.overrides import handle, overloaded
from ..dispatch.registry import registry
from ..tensors.tensor import Tensor
from .op_overload import OpOverload, as_candidate, schema_of
from .out_overloads import OutOverload, out_name, takes_out
from .packets import front

__all__ = ["OpOverload", "OpOverloadPacket", "ops", "overload_of", "own_entry"]


class OpOverloadPacket:
    """All overloads of an op; calling it calls the first whose schema takes the arguments.

    Example:
        >>> torch.ops.aten.max.overloads()
        ['default', 'dim', 'other']
        >>> torch.ops.aten.max(torch.tensor([3, 1]), torch.tensor([2, 2]))
        tensor([3, 2])
    """

    def __init__(self, namespace: str, name: str) -> None:
        self._namespace = namespace
        self.__name__ = name
        self.__module__ = f"mindtorch_core.ops.{namespace}"
        self._made: dict[str, OpOverload] = {}
        self._chosen: dict[tuple[Any, ...], OpOverload] = {}
        self._only: OpOverload | None = None

    @property
    def _qualified_op_name(self) -> str:
        return f"{self._namespace}::{self.__name__}"

    def _entries(self) -> dict[str, OpEntry]:
        """Entries by overload name, the empty name for the default one."""
        found: dict[str, OpEntry] = {}
        base = registry.find(self._qualified_op_name)
        for entry in registry.overloads(self._qualified_op_name):
            if not entry.has_schema:
                continue
            d = entry.definition
            own = entry.name.partition("::")[2].partition(".")[2]
            names = d.overloads if d is not None and entry is base and d.overloads else (own,)
            for name in names:
                if name not in found or name == own:  # an entry of its own comes first
                    found[name] = entry
        return found

    def _entry(self, overload: str) -> OpEntry:
        """The entry of an overload.

        Raises:
            AttributeError: if there is none.
        """
        entries = self._entries()
        entry = entries.get("" if overload == "default" else overload)
        if entry is not None:
            return entry
        if not entries:
            raise AttributeError(
                f"'_OpNamespace' '{self._namespace}' object has no attribute '{self.__name__}': the "
                f"op was taken back"
            )
        raise AttributeError(
            f"The underlying op of '{self._namespace}.{self.__name__}' has no overload name "
            f"'{overload}'; it has {', '.join(name or 'default' for name in entries)}"
        )

    def _beside_out(self, overload: str) -> str | None:
        """The overload whose form with ``out`` has this name; None where there is none, or an entry."""
        entries = self._entries()
        if overload in entries:
            return None
        names = (
            n for n, e in entries.items() if takes_out(e) and out_name(self.__name__, n) == overload
        )
        return next(names, None)

    def overloads(self) -> list[str]:
        """Names of the overloads that have entries; the unnamed one is ``default``."""
        return [name or "default" for name in self._entries()]

    def op_overloads(self) -> list[OpOverload]:
        """The overloads."""
        return [getattr(self, name) for name in self.overloads()]

    def __getattr__(self, name: str) -> OpOverload:
        if name.startswith("__"):
            raise AttributeError(name)
        beside = self._beside_out(name)
        entry = self._entry(name if beside is None else beside or "default")
        made = self._made.get(name)
        if made is None:
            made = self._made[name] = (
                OpOverload(self, name, entry)
                if beside is None
                else OutOverload(self, name, entry, beside)
            )
        made._entry = entry
        self.__dict__[name] = made  # found without this function from now on
        return made

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Call the first overload whose schema takes the arguments."""
        only: Callable[..., Any] | None = self._only
        if only is None:
            only = self._chosen.get(key_of_types(args, kwargs)) or self._choose(args, kwargs)
        return only(*args, **kwargs)

    def _choose(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        """The first overload that takes the arguments; or what hands the call to one that is no tensor.

        Raises:
            RuntimeError: if there is none; the text says why for each.
        """
        values = (*args, *kwargs.values())
        if any(not isinstance(each, Tensor) for each in overloaded(values)):
            return lambda *a, **k: handle(self, values, a, k, written_in_python=True)
        overloads = self.op_overloads() or [self.default]  # which raises
        if len({o._entry for o in overloads}) == 1:
            name = overloads[0]._overloadname
            self._only = only = OpOverload(self, name, overloads[0]._entry, shown=self)
            return only
        if any(o._entry.definition is not None for o in overloads):
            order = tensors_first([o._entry for o in overloads])
            overloads.sort(key=lambda o: order.index(o._entry))
        index, certain = pick([as_candidate(o._entry) for o in overloads], args, kwargs)
        if index is None:
            problems = [p for o in overloads if (p := o._problem(args, kwargs))]
            raise RuntimeError(
                f"Overloaded torch operator invoked from Python failed to match any schema of "
                f"{self._qualified_op_name}:\n" + "\n\n".join(problems)
            )
        if certain:
            self._chosen[key_of_types(args, kwargs)] = overloads[index]
        return overloads[index]

    def _forget(self) -> None:
        """Look overloads up again: one came or went."""
        entries = self._entries()
        for name, made in self._made.items():
            made._forget(entries.get("" if name == "default" else name))
            self.__dict__.pop(name, None)
        self._chosen.clear()
        self._only = None

    def __copy__(self) -> OpOverloadPacket:
        return self

    def __deepcopy__(self, memo: Any = None) -> OpOverloadPacket:
        return self

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"cannot pickle {self!r}: pickle its name, {str(self)!r}, instead")

    def __iter__(self) -> Iterator[str]:
        return iter(self.overloads())

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *self.overloads()})

    def __str__(self) -> str:
        return f"{self._namespace}.{self.__name__}"

    def __repr__(self) -> str:
        return f"<OpOverloadPacket(op='{self}')>"


# ---- namespaces ---------------------------------------------------------------------------------


class _OpNamespace:
    """Ops of one namespace as attributes."""

    def __init__(self, name: str) -> None:
        self.name = name
        # Weakly: what nobody holds any more need not keep its identity once its op was taken back.
        self._packets: WeakValueDictionary[str, OpOverloadPacket] = WeakValueDictionary()

    def __getattr__(self, name: str) -> OpOverloadPacket:
        if name.startswith("__"):
            raise AttributeError(name)
        known = registry.overloads(f"{self.name}::{name}")
        if not any(e.has_schema for e in known):
            near = nearest(name, dir(self))
            hint = f". Did you mean {' or '.join(near)}?" if near else ""
            if known:
                hint = ": it has kernels but no schema; define it with torch.library.define"
            elif not dir(self):
                hint = (
                    f": no op of {self.name!r} is registered. One that a compiled library brings must be "
                    f"registered in Python: by torch.library.custom_op, or by a package's entry point of "
                    f"the group 'mindtorch.extensions'"
                )
            raise AttributeError(
                f"'_OpNamespace' '{self.name}' object has no attribute '{name}'{hint}"
            )
        packet = self._packets.get(name)
        if packet is None:
            packet = self._packets[name] = OpOverloadPacket(self.name, name)
        self.__dict__[name] = packet  # found without this function from now on
        return packet

    def __iter__(self) -> Iterator[str]:
        return iter(dir(self))

    def __dir__(self) -> list[str]:
        prefix = f"{self.name}::"
        names = (e.name for e in registry if e.has_schema and e.name.startswith(prefix))
        return sorted({n.removeprefix(prefix).partition(".")[0] for n in names})

    def __repr__(self) -> str:
        return f"<torch.ops.{self.name}>"


class _Ops(ModuleType):
    """Namespaces of ops as attributes: ``torch.ops.aten``, or ``from torch.ops import aten``.

    Attributes:
        loaded_libraries: paths that `load_library` was given.
    """

    def __init__(self) -> None:
        super().__init__(
            "mindtorch_core.ops", "All ops by namespace and name: `torch.ops.aten.add`."
        )
        self.loaded_libraries: set[str] = set()

    def load_library(self, path: str | os.PathLike[str]) -> None:
        """Register the ops of a compiled library, if a package supplies them in Python.

        Raises:
            OSError: if none does.
        """
        import_module("mindtorch_core.ecosystem.extensions").load_library(path)
        self.loaded_libraries.add(os.path.realpath(path))

    def import_module(self, module: str) -> None:
        """Import a module that registers ops."""
        import_module(module)

    def __getattr__(self, name: str) -> _OpNamespace:
        if name.startswith("__"):
            raise AttributeError(name)
        made: _OpNamespace = self.__dict__.setdefault(name, _OpNamespace(name))
        return made

    def __iter__(self) -> Iterator[str]:
        return iter(dir(self))

    def __dir__(self) -> list[str]:
        return sorted({e.name.partition("::")[0] for e in registry if e.has_schema})

    def __repr__(self) -> str:
        return "<torch.ops>"


ops: Final = _Ops()
sys.modules[ops.__name__] = ops


def _forget(name: str) -> None:
    """An op's schema came or went: what was made for its name is looked up again."""
    namespace, _, rest = name.partition("::")
    place = vars(ops).get(namespace)
    packet = None if place is None else place._packets.get(rest.partition(".")[0])
    if place is not None and packet is not None:
        vars(place).pop(packet.__name__, None)
        packet._forget()


registry.schema_changed = _forget


# ---- entries and overloads ----------------------------------------------------------------------


def own_entry(name: str) -> None:
    """Give an overload that shares another's entry one of its own, so that it can have kernels.

    Until a kernel is registered there, it calls the entry it shared.
    """
    base = registry.find(name.partition(".")[0])
    overload = name.partition("::")[2].partition(".")[2]
    d = base.definition if base is not None else None
    if base is None or d is None or overload not in d.overloads[1:] or registry.find(name):
        return
    shared = front(base)
    registry.register_schema(name, str(schema_of(base, name)))
    registry.register_kernel(
        name, DispatchKey.CompositeImplicitAutograd, lambda *args, **kwargs: shared(*args, **kwargs)
    )


def overload_of(entry: OpEntry) -> OpOverload:
    """The overload that stands for an entry: what dispatch modes and fallbacks are handed."""
    namespace, _, name = entry.name.partition("::")
    base, _, overload = name.partition(".")
    d = entry.definition
    if not overload and d is not None and d.overloads:
        overload = d.overloads[0]
    found: OpOverload = getattr(getattr(getattr(ops, namespace), base), overload or "default")
    return found
