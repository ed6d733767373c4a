"""What a captured function can read besides its arguments: variables around it, modules, settings.

Its recording stands for them as they were. They are found from the names that its code loads: closures,
globals, attributes of what those hold, modules and optimizers with all their parts. Two lists of the same
things, one of when the function was recorded and one of a later call, are compared by identity.
"""

from __future__ import annotations

import builtins
import functools
import os
import sys
import weakref
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence, Set
from contextvars import ContextVar
from io import IOBase
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final, NamedTuple

from ..tensors.tensor import Tensor
from .captured_absent import found_missing
from .captured_code import imported_by, loaded_by, modules_meant, read_by, walks_modules
from .captured_library import (
    SETTINGS_ASKED,
    Buffer,
    Moving,
    names_meant,
    parts_of,
    replaced,
    steps_of,
)  # fmt: skip
from .captured_modules import STEP_HOOKS, hooks_held, parts_of_hooks, parts_of_module
from .captured_names import MAKING, PLAIN, hooks_of_all, is_foreign, is_operator, is_own, slots_of
from .captured_packages import (
    Held,
    Root,
    defined_in_package,
    in_package,
    parts_of_held,
    read_by_root,
    roots_of,
    within,
)  # fmt: skip
from .captured_reading import Reading, defaults_of, outer_names
from .captured_told import (
    DESCRIBING,
    description,
    modules_told,
    names_told,
    reads_environment,
    registered,
    settings_told,
)  # fmt: skip
from .captured_watches import MISSING, Watch, cell_content, differences, entries, of_order, sized

__all__ = ["Surroundings"]

_MOST: Final = 200_000  # of what is watched
_FINDING: Final = frozenset({"__getattr__"})  # what is called for names that a module has not
_ELEMENTS: Final = 1_000  # of one list or dict
_CALLED_BY_TORCH: Final = frozenset({"backward", "forward", "setup_context"})
# Whose objects are looked into, but for the generator of a context that decorates: each call has its own.
_IN_PYTHON: Final = frozenset({
    "_weakrefset", "collections", "configparser", "contextlib", "queue", "weakref",
})  # fmt: skip
_OWN_IN_EACH_CALL: Final = frozenset({"gen"})
_HELD_BY_CLASS: Final = FunctionType, staticmethod, classmethod, functools.cached_property
_SETS: Final = (set, frozenset, deque)
_WRAPPER: Final = type(functools.lru_cache(lambda: None))
_UNWATCHED: Final = frozenset({*PLAIN, BuiltinFunctionType})


class _Kind(NamedTuple):
    """The class of an object that is there: what makes one is not called."""

    cls: type


class Surroundings:
    """What a function reads besides its arguments, at one moment.

    Attributes:
        iterators: what gives another item each time, as errors call it.
        unseen: something of more than can be watched; None where all is.

    Args:
        fn: the function.
        given: its arguments, of which it may read what objects among them hold.
        roots: code that it has run before, and nothing that it holds leads to, such as that of packages.
    """

    def __init__(
        self, fn: Callable[..., Any], given: Sequence[Any] = (), roots: Sequence[Root] = ()
    ) -> None:
        self._watches: list[Watch] = []
        self._sizes: list[Watch] = []  # what grows where it is written to
        self._lengths: list[Watch] = []  # of lists, which may be no more than logs
        self._code = Reading()
        self._roots = roots
        self._arguments = [f"argument {i}" for i in range(len(given))]
        self._size = -1
        # Methods that are found may load further names.
        while self._size != self._code.size:
            self._size = self._code.size
            self._met: dict[int, Any] = {}
            self._tensors: dict[int, tuple[str, Tensor]] = {}
            for watches in (self._watches, self._sizes, self._lengths):
                watches.clear()
            self.iterators: list[str] = []
            self._libraries: dict[str, ModuleType] = {}
            self._kinds: dict[type, _Kind] = {}
            self._of_classes: dict[type, set[str]] = {}  # what is watched: others derive of it
            held = [(each.code.co_name, each) for each in roots]
            self._walk([*held, ("", fn), *zip(self._arguments, given, strict=True)])

    @property
    def names(self) -> Set[str]:
        """What the code loads."""
        return self._code.names

    def roots(self, ran: Mapping[tuple[CodeType, str], dict[str, Any]]) -> list[Root] | None:
        """Code that has run where some of it was not looked into; None where all was."""
        reached = self._code.reached
        return None if within(self._roots, ran, reached) else roots_of(ran, reached)

    def holds(self, value: Any) -> bool:
        """Whether a thing was there, where the function can reach it."""
        return id(value) in self._met

    def name_of(self, t: Tensor) -> str | None:
        """By which name the function reads a tensor besides its arguments; None where it reads none."""
        found = self._tensors.get(id(t))
        return None if found is None else found[0].lstrip(".")

    def difference(self) -> str | None:
        """What is another thing now; None where nothing is."""
        text = "when it was captured, and is {} now"
        for watches in (self._watches, self._lengths):
            if (found := next(differences(watches, text), None)) is not None:
                return found
        return None

    def changes(self) -> str | None:
        """What the function itself has changed since; None where it has changed nothing."""
        watches = [*self._watches, *self._sizes]
        return next(differences(watches, "before the call, and is {} after it"), None)

    def complete(self) -> None:
        """Watch what libraries have under the names that the code loads, now that it has run."""
        found = [*replaced(self._libraries, self._code.names)]
        self._watches += found
        for watch in found:
            self._watches += filter(None, map(registered, watch.names, watch.was))
        self._watches += settings_told(self._libraries, self._code.names, self._watches)
        things = {id(each): each for each in (*self._kinds, *self._met.values())}.values()
        self._watches += names_told(things, self._code.names)
        self._watches += found_missing(things, self._code)
        met: set[int] = set()
        for kind in self._kinds:
            self._watches += steps_of(kind, met, loaded_by)

    def describe(self, known: Collection[int]) -> None:
        """Watch what tensors are like, where the code asks for it.

        Args:
            known: ids of those that are guarded otherwise.
        """
        if not self._code.names & DESCRIBING:
            return
        found = [(path.lstrip("."), t) for i, (path, t) in self._tensors.items() if i not in known]
        self._watches += [description(path, t) for path, t in found]

    def share(self, starts: Collection[int]) -> None:
        """Guard the elements no more of arrays whose memory a tensor shows: that is read anew."""
        self._watches = [
            w
            for w in self._watches
            if not (isinstance(w, Buffer) and any(w.start <= at < w.end for at in starts))
        ]

    def forget_logs(self) -> None:
        """Guard the lengths no more of lists to which the function itself has added something."""
        self._lengths = [w for w in self._lengths if [*w.read()] == [*w.was]]

    # ---- finding -------------------------------------------------------------------------------

    def _walk(self, todo: list[tuple[str, Any]]) -> None:
        while todo and len(self._met) < _MOST:
            path, value = todo.pop()
            if isinstance(value, str):
                self._text(path, value)
            is_tensor, key = isinstance(value, Tensor), id(value)
            if is_tensor and path not in self._arguments and key not in self._tensors:
                self._tensors[key] = path, value
                todo += self._attributes(f"{path}.", vars(value))
            if is_tensor or type(value) in _UNWATCHED or key in self._met:
                continue
            self._met[key] = value
            self._code.names |= names_meant(value)
            todo += self._parts(path, value)
        self.unseen = next((path.lstrip(".") for path, _ in todo), None)

    def _text(self, path: str, value: str) -> None:
        """What is held of texts may name attributes, or modules."""
        self._code.hold(path, value)
        if value.isidentifier() and {"modules", "sys"} <= self._code.asked:
            self._watches.append(modules_told([value]))

    def _parts(self, path: str, value: Any) -> Iterator[tuple[str, Any]]:
        """What a thing holds that a function can reach, each with how it is called; watches it."""
        kind = type(value)
        if kind is FunctionType:
            yield from self._function(path, value)
        elif kind is Root:
            yield from self._root(path, value)
        elif kind is Held:
            yield from self._held(path, value)
        elif kind is MethodType:
            yield from ((path, value.__func__), (path or "self", value.__self__))
        elif kind is functools.partial:
            yield from ((path, value.func), (path, value.args), (path, value.keywords))
        elif kind is property:
            yield path, value.fget
        elif kind is functools.cached_property:
            yield path, value.func
        elif kind in (staticmethod, classmethod, _WRAPPER):
            yield path, value.__wrapped__
        elif kind is weakref.ref:
            yield path, value()
        elif kind is ContextVar:
            yield from self._watch(lambda: [value.get(MISSING)], [f"{path}.get()"])
        elif isinstance(value, ModuleType):
            yield from self._python_module(path, value)
        elif isinstance(value, type):
            self._kinds.setdefault(value, _Kind(value))
            if (watch := registered(path, value)) is not None:
                self._watches.append(watch)
            yield from self._class(path, value, MAKING)
        elif kind is _Kind:
            yield from self._class(path, value.cls, frozenset())
        else:
            if (
                hasattr(kind, "__next__")
                and is_foreign(kind.__module__)
                and not isinstance(value, IOBase)
            ):
                self.iterators.append(path.lstrip("."))
            if isinstance(value, list | tuple):
                yield from self._list(path, value)
            elif isinstance(value, dict):
                yield from self._dict(path, value)
            elif isinstance(value, _SETS):
                yield from self._set(path, value)
            else:
                yield from self._watching(parts_of(path, value, self._code.names))
            yield from self._object(path, value)

    def _watching(self, parts: Iterator[Watch | tuple[str, Any]]) -> Iterator[tuple[str, Any]]:
        """Watch what is to be watched of some parts; gives the others."""
        for part in parts:
            if isinstance(part, tuple):
                yield part
            else:
                (self._sizes if isinstance(part, Moving) else self._watches).append(part)

    def _attributes(self, path: str, held: dict[str, Any]) -> Iterator[tuple[str, Any]]:
        """Watch the attributes that the code loads of what is more than its attributes."""
        names = (self._code.names & held.keys()) | self._code.texts
        return self._entries(path, held, sorted(names))

    def _watch(
        self, read: Callable[[], Sequence[Any]], names: list[str]
    ) -> Iterator[tuple[str, Any]]:
        """Watch values; gives them, each with how it is called."""
        if names:
            watch = Watch(read, names)
            self._watches.append(watch)
            yield from zip(names, watch.was, strict=False)

    def _entries(
        self, path: str, holder: dict[Any, Any], keys: list[Any]
    ) -> Iterator[tuple[str, Any]]:
        for watch in entries(holder, keys, path):
            self._watches.append(watch)
            yield from zip(watch.names, watch.was, strict=True)

    def _function(self, path: str, fn: FunctionType) -> Iterator[tuple[str, Any]]:
        if is_own(fn.__globals__.get("__name__")):
            for name in ("__wrapped__", "registry"):  # such as a function under `no_grad()`
                yield path, vars(fn).get(name)
            if fn.__name__ in SETTINGS_ASKED:
                self._watches.append(Watch(lambda: [fn()], [f"{fn.__name__}()"]))
            return
        code = fn.__code__
        if defined_in_package(fn):  # of which that is looked into that runs
            yield from ((path, cell_content(cell)) for cell in fn.__closure__ or ())
            yield path, vars(fn).get("__wrapped__")
            return
        loaded = self._code.learn(code, of_user=True)
        self._code.reach(fn)
        names = [n for n in code.co_freevars if n in loaded]
        cells = [
            c for n, c in zip(code.co_freevars, fn.__closure__ or (), strict=True) if n in loaded
        ]

        def read() -> list[Any]:
            return [fn.__code__, *map(cell_content, cells)]

        yield from self._watch(read, [f"the code of {fn.__qualname__}()", *names])
        yield from self._outer(code, fn.__globals__, loaded)
        yield from self._defaults(fn)
        yield from self._attributes(f"{fn.__name__}.", vars(fn))

    def _outer(
        self, code: CodeType, around: dict[str, Any], loaded: set[str]
    ) -> Iterator[tuple[str, Any]]:
        """Watch what code reads of its module; gives the modules that it imports, too."""
        yield from self._globals(around, outer_names(code, around, loaded))
        modules = sorted({*imported_by(code), *modules_meant(code, loaded)})
        self._watches.append(modules_told(modules))
        if walks_modules(code):
            self._watches.append(sized(sys.modules, "len(sys.modules)"))
        yield from ((name, sys.modules.get(name)) for name in modules)

    def _root(self, path: str, root: Root) -> Iterator[tuple[str, Any]]:
        """Watch what code reads that ran, without what leads to it."""
        package = in_package(root.code.co_filename)
        loaded = self._code.learn(root.code, of_user=not package)
        if package:
            yield from self._watching(read_by_root(root, loaded))
        else:
            yield from self._outer(root.code, root.around, loaded)

    def _held(self, path: str, held: Held) -> Iterator[tuple[str, Any]]:
        if id(held.value) not in self._met:
            self._met[id(held.value)] = held.value
            yield from self._watching(parts_of_held(path, held, self._code.names))
            if not is_foreign(type(held.value).__module__):
                yield path, self._kind(type(held.value))

    def _globals(self, around: dict[str, Any], names: list[str]) -> Iterator[tuple[str, Any]]:
        """Watch variables outside of all functions, also those that only Python has so far."""
        builtin, get = vars(builtins), around.get

        def read() -> list[Any]:
            return [get(n, MISSING) if n in around else builtin.get(n, MISSING) for n in names]

        return self._watch(read, names)

    def _defaults(self, fn: FunctionType) -> Iterator[tuple[str, Any]]:
        """Watch the defaults of arguments, and what is in them."""
        names, read = defaults_of(fn)
        self._code.read |= read_by(fn.__code__, {*names})
        return self._watch(read, names)

    def _python_module(self, path: str, module: ModuleType) -> Iterator[tuple[str, Any]]:
        """Watch what the code loads of a user's module of Python, and of others what may change."""
        held = vars(module)
        loaded = self._code.asked if defined_in_package(module) else self._code.names
        names = sorted((loaded | _FINDING) & held.keys())
        if not is_foreign(module.__name__):
            yield from self._entries(f"{path}.", held, names)
            return
        self._libraries.setdefault(path, module)
        if is_own(module.__name__):
            for name in self._code.names & SETTINGS_ASKED:
                yield f"{path}.{name}", getattr(module, name, None)
        elif reads_environment(module, self._code.names, self._code.asked):
            yield "os.environ", os.environ
        else:
            yield from ((f"{path}.{n}", held[n]) for n in names if type(held[n]) is list)

    def _class(self, path: str, cls: type, making: Collection[str]) -> Iterator[tuple[str, Any]]:
        """Watch what the code loads of a user's class, and what its operators do.

        Args:
            path: how it is called.
            cls: it.
            making: the methods that are called where the code makes an object of it.
        """
        for each in cls.__mro__:
            if is_foreign(each.__module__):
                continue
            held: Any = vars(each)
            names = {
                n
                for n, value in [*held.items()]
                if n in making or (is_operator(n) and type(value) is FunctionType)
            }
            names |= {*self._code.names, *_CALLED_BY_TORCH} & held.keys()
            if self._code.joins:
                names |= {n for n in held if not n.startswith("__")} - self._code.stored
            names -= self._of_classes.setdefault(each, set())
            self._of_classes[each] |= names
            yield from self._entries(f"{path}.", held, sorted(names))
        if not is_foreign(type(cls).__module__):
            yield path, self._kind(type(cls))

    def _kind(self, cls: type) -> _Kind:
        """The class of an object, which the code may never load to make another one."""
        return self._kinds.setdefault(cls, _Kind(cls))

    def _list(self, path: str, held: Sequence[Any]) -> Iterator[tuple[str, Any]]:
        count = min(len(held), _ELEMENTS)
        names = [f"{path}[{i}]" for i in range(count)]
        if isinstance(held, tuple):
            yield from zip(names, held, strict=False)
            return
        self._watch_length(path, held)
        yield from self._watch(lambda: held[:count], names)

    def _watch_length(self, path: str, held: Any) -> None:
        """Watch what may be no more than a log, unless the code does something else with it."""
        lengths = self._watches if path.rpartition(".")[2] in self._code.read else self._lengths
        lengths.append(sized(held, f"len({path})"))

    def _set(self, path: str, held: Any) -> Iterator[tuple[str, Any]]:
        count = min(len(held), _ELEMENTS)
        self._watch_length(path, held)
        names = [f"an element of {path}"] * count
        return self._watch(lambda: [*held][:count], names)

    def _dict(self, path: str, held: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
        keys = [*held][:_ELEMENTS]
        names = [f"{path}[{k!r}]" if isinstance(k, PLAIN) else f"an entry of {path}" for k in keys]
        sizes = self._watches if self._code.walks_through(path, held) else self._sizes
        sizes.append(sized(held, f"len({path})"))
        self._watches.append(of_order(held, path, len(keys)))
        return self._watch(lambda: [dict.get(held, key, MISSING) for key in keys], names)

    def _object(self, path: str, value: Any) -> Iterator[tuple[str, Any]]:
        held, kind = getattr(value, "__dict__", None), type(value)
        slots = slots_of(kind) & self._code.names
        if slots:
            yield from self._watch(
                lambda: [getattr(value, n, MISSING) for n in sorted(slots)],
                [f"{path}.{n}" for n in sorted(slots)],
            )
        if not isinstance(held, dict):
            if not is_foreign(kind.__module__):
                yield path, self._kind(kind)
            return
        if "_modules" in held and "training" in held:
            yield from self._module(path, value)
        elif "param_groups" in held and "state" in held:  # an optimizer
            yield from self._optimizer(path, value)
            return
        elif (
            is_own(kind.__module__) and "__wrapped__" not in held
        ):  # a schedule of learning rates, for instance
            plain = [n for n, v in held.items() if isinstance(v, (*PLAIN, list))]
            yield from self._entries(f"{path}.", held, plain)
        if is_own(kind.__module__):
            yield path, held.get("__wrapped__")  # of a function that was captured, or compiled
            return
        # Of what the class says otherwise, too: an object may come to have its own.
        default = {
            n
            for c in kind.__mro__
            for n, v in vars(c).items()
            if isinstance(v, PLAIN) or (type(v) in _HELD_BY_CLASS and not is_foreign(c.__module__))
        }
        loaded = self._code.names
        if kind.__module__ in _IN_PYTHON:  # its code is not looked into
            loaded = held.keys() - _OWN_IN_EACH_CALL
            self._code.walked |= loaded
        elif self._code.joins:
            loaded = loaded | (held.keys() - self._code.stored)
        names = [n for n in sorted(loaded) if n in held or n in default or n in self._code.texts]
        self._watches.append(Watch(lambda: [type(value)], [f"the class of {path}"]))
        yield from self._entries(f"{path}.", held, names)
        yield path, self._kind(kind)

    def _optimizer(self, path: str, optimizer: Any) -> Iterator[tuple[str, Any]]:
        held, state = optimizer.__dict__, optimizer.__dict__["state"]
        asked = self._code.names & {"defaults"}
        yield from self._entries(f"{path}.", held, ["param_groups", "step", *asked])
        size = sized(state, f"len({path}.state)")
        self._sizes.append(size)
        self._lengths.append(size)
        yield from self._entries(f"{path}.", held, ["state"])
        yield from self._hooks(path, hooks_held(held, STEP_HOOKS))
        yield from self._hooks("all optimizers", hooks_of_all(type(optimizer)))

    def _hooks(self, path: str, tables: list[dict[int, Any]]) -> Iterator[tuple[str, Any]]:
        if tables and id(tables[0]) not in self._met:
            self._met[id(tables[0])] = tables[0]
            yield from self._watching(parts_of_hooks(path, tables))

    def _module(self, path: str, module: Any) -> Iterator[tuple[str, Any]]:
        kind = type(module)
        self._kind(kind)
        for part in self._watching(parts_of_module(path, module)):
            if type(part[1]) not in _UNWATCHED:
                yield part
        yield from self._hooks(path, hooks_held(module.__dict__))
        yield from self._hooks("all modules", hooks_of_all(kind))
