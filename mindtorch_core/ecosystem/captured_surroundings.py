"""What a captured function can read besides its arguments: variables around it, modules, settings.

Its recording stands for them as they were. They are found from the names that its code loads: closures,
globals, attributes of what those hold, modules and optimizers with all their parts. Two lists of the same
things, one of when the function was recorded and one of a later call, are compared by identity.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextvars import ContextVar
from io import IOBase
from operator import is_
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from ..amp.state import STATE, chosen_dtypes
from ..dispatch.autocast_keys import AUTOCAST_OF
from ..dispatch.keys import MASKS
from ..dispatch.masks import is_grad_enabled
from ..gradients.packing import active_hooks
from ..tensors.autograd_state import INFERENCE
from ..tensors.tensor import Tensor
from ..values.devices import get_default_device
from ..values.dtypes import get_default_dtype
from ..values.shapes import show
from .captured_names import (
    PLAIN,
    by_text,
    hooks_of_all,
    imported_by,
    is_constant,
    is_foreign,
    is_operator,
    is_own,
    loaded_by,
    read_by,
    read_by_own,
    slots_of,
)

__all__ = ["Settings", "Surroundings"]

_MISSING: Final = object()
_MOST: Final = 20_000  # of what is watched
_ELEMENTS: Final = 1_000  # of one list or dict
# What code loads that asks a dict for more than entries that it has.
_LOOKED_THROUGH: Final = frozenset({"__contains__", "get", "items", "keys", "setdefault", "values"})
_METHODS: Final = FunctionType, staticmethod, classmethod
_SETS: Final = (set, frozenset, deque)
_WRAPPER: Final = type(functools.lru_cache(lambda: None))
_HOOKS: Final = "_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"
_STEP_HOOKS: Final = "_optimizer_step_pre_hooks", "_optimizer_step_post_hooks"


class Settings:
    """What is set in this thread, and changes what ops do."""

    def __init__(self) -> None:
        self._masks = MASKS.include, MASKS.keep
        self._default = get_default_dtype()
        self._device = get_default_device()
        self._lower = {**STATE.dtypes}
        self._packing = active_hooks()
        self._named = _settings()

    def left(self) -> str | None:
        """What a function has left set otherwise; None where nothing is."""
        for name, now in _settings().items():
            if (was := self._named[name]) != now:
                return f"{name} was {was} before the call, and is {now} after it"
        return None

    def difference(self) -> str | None:
        """What is set otherwise now; None where nothing is."""
        masks = self._masks
        if (
            MASKS.include == masks[0]
            and MASKS.keep == masks[1]
            and get_default_dtype() is self._default
            and get_default_device() == self._device
            and STATE.dtypes == self._lower
            and active_hooks() == self._packing
        ):
            return None
        now = _settings()
        for name, was in self._named.items():
            if now[name] != was:
                return f"{name} was {was} when it was captured, and is {now[name]} now"
        if active_hooks() != self._packing:
            return "other hooks pack saved tensors than when it was captured"
        if (MASKS.include, MASKS.keep) != masks:
            return "other dispatch keys are included or excluded than when it was captured"
        return None


def _settings() -> dict[str, Any]:
    include = MASKS.include
    lower = {k.name: str(d) for k, d in chosen_dtypes().items()}
    on = [backend.name.lower() for backend, key in AUTOCAST_OF.items() if include & key]
    return {
        "gradient mode": "on" if is_grad_enabled() else "off",
        "inference mode": "on" if include & INFERENCE else "off",
        "autocast": f"on for {', '.join(on)}" if on else "off",
        "the dtype of autocast": lower or "the default",
        "the default dtype": get_default_dtype(),
        "the default device": get_default_device(),
    }


class _Watch:
    """Values that one thing holds.

    Attributes:
        read: gives them.
        names: how errors call them.
        was: what they were.
    """

    __slots__ = ("names", "read", "was")

    def __init__(self, read: Callable[[], Sequence[Any]], names: Sequence[str]) -> None:
        self.read = read
        self.names = names
        self.was = tuple(read())


class Surroundings:
    """What a function reads besides its arguments, at one moment.

    Attributes:
        iterators: what gives another item each time, as errors call it.

    Args:
        fn: the function.
        given: its arguments, of which it may read what objects among them hold.
    """

    def __init__(self, fn: Callable[..., Any], given: Sequence[Any] = ()) -> None:
        self._watches: list[_Watch] = []
        self._sizes: list[_Watch] = []  # what grows where it is written to
        self._lengths: list[_Watch] = []  # of lists, which may be no more than logs
        self._names: set[str] = set()
        self._read: set[str] = set()  # names of what the code does not only add to
        self._arguments = [f"argument {i}" for i in range(len(given))]
        self._size = -1
        # Methods that are found may load further names.
        while self._size != len(self._names) + len(self._read):
            self._size = len(self._names) + len(self._read)
            self._met: dict[int, Any] = {}
            self._tensors: dict[int, tuple[str, Tensor]] = {}
            self._watches.clear()
            self._sizes.clear()
            self._lengths.clear()
            self.iterators: list[str] = []
            self._walk([("", fn), *zip(self._arguments, given, strict=True)])

    def holds(self, value: Any) -> bool:
        """Whether a thing was there, where the function can reach it."""
        return id(value) in self._met

    def name_of(self, t: Tensor) -> str | None:
        """By which name the function reads a tensor besides its arguments; None where it reads none."""
        found = self._tensors.get(id(t))
        return None if found is None else found[0].lstrip(".")

    def difference(self) -> str | None:
        """What is another thing now; None where nothing is."""
        for watches in (self._watches, self._lengths):
            for watch in watches:  # each call of the function comes here
                now, was = watch.read(), watch.was
                if len(now) == len(was) and all(map(is_, now, was)):
                    continue
                found = self._differences([watch], "when it was captured, and is {} now")
                if (text := next(found, None)) is not None:
                    return text
        return None

    def changes(self) -> str | None:
        """What the function itself has changed since; None where it has changed nothing."""
        found = self._differences(
            [*self._watches, *self._sizes], "before the call, and is {} after it"
        )
        return next(found, None)

    def forget_logs(self) -> None:
        """Guard the lengths no more of lists to which the function itself has added something."""
        self._lengths = [w for w in self._lengths if [*w.read()] == [*w.was]]

    def _differences(self, watches: Sequence[_Watch], text: str) -> Iterator[str]:
        for watch in watches:
            now = watch.read()
            if len(now) == len(watch.was) and all(map(is_, now, watch.was)):
                continue
            for name, a, b in zip(watch.names, now, watch.was, strict=False):
                if a is not b and not _equal(a, b):
                    yield f"{name.lstrip('.')} was {_shown(b)} {text.format(_shown(a, b))}"

    # ---- finding -------------------------------------------------------------------------------

    def _walk(self, todo: list[tuple[str, Any]]) -> None:
        while todo and len(self._met) < _MOST:
            path, value = todo.pop()
            if isinstance(value, str) and value.isidentifier() and by_text(self._names):
                self._names.add(value)  # it may name an attribute
            if isinstance(value, Tensor) and path not in self._arguments:
                self._tensors.setdefault(id(value), (path, value))
            if isinstance(value, (Tensor, *PLAIN, BuiltinFunctionType)) or id(value) in self._met:
                continue
            self._met[id(value)] = value
            todo += self._parts(path, value)

    def _parts(self, path: str, value: Any) -> Iterator[tuple[str, Any]]:
        """What a thing holds that a function can reach, each with how it is called; watches it."""
        kind = type(value)
        if kind is FunctionType:
            yield from self._function(path, value)
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
            yield from self._watch(lambda: [value.get(_MISSING)], [f"{path}.get()"])
        elif kind is ModuleType:
            yield from self._python_module(path, value)
        elif isinstance(value, type):
            yield from self._class(path, value)
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
            yield from self._object(path, value)

    def _watch(
        self, read: Callable[[], Sequence[Any]], names: list[str]
    ) -> Iterator[tuple[str, Any]]:
        """Watch values; gives them, each with how it is called."""
        if names:
            watch = _Watch(read, names)
            self._watches.append(watch)
            yield from zip(names, watch.was, strict=False)

    def _entries(
        self, path: str, holder: dict[Any, Any], keys: list[Any]
    ) -> Iterator[tuple[str, Any]]:
        get = holder.get

        def read() -> list[Any]:
            return [get(key, _MISSING) for key in keys]

        return self._watch(read, [f"{path}{key}" for key in keys])

    def _function(self, path: str, fn: FunctionType) -> Iterator[tuple[str, Any]]:
        if is_own(fn.__globals__.get("__name__")):
            wrapped = getattr(fn, "__wrapped__", None)  # such as a function under `no_grad()`
            if wrapped is not None:
                yield path, wrapped
            return
        loaded = loaded_by(fn.__code__)
        self._names |= loaded
        self._read |= read_by(fn.__code__)
        names = [n for n in fn.__code__.co_freevars if n in loaded]
        cells = [
            c
            for n, c in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)
            if n in loaded
        ]

        def read() -> list[Any]:
            return [fn.__code__, *map(_content, cells)]

        yield from self._watch(read, [f"the code of {fn.__qualname__}()", *names])
        around = fn.__globals__
        yield from self._entries("", around, [n for n in sorted(loaded) if n in around])
        for name in sorted(imported_by(fn.__code__)):
            yield name, sys.modules.get(name)
        yield path, fn.__defaults__ or ()
        yield path, fn.__kwdefaults__ or {}

    def _python_module(self, path: str, module: ModuleType) -> Iterator[tuple[str, Any]]:
        """Watch what the code loads of a user's module of Python."""
        if is_foreign(module.__name__):
            return iter(())
        held = vars(module)
        return self._entries(f"{path}.", held, [n for n in sorted(self._names) if n in held])

    def _class(self, path: str, cls: type) -> Iterator[tuple[str, Any]]:
        """Watch what the code loads of a user's class, and what its operators do."""
        for each in cls.__mro__:
            if is_foreign(each.__module__):
                continue
            held: Any = vars(each)
            names = [n for n in sorted({*self._names, "forward"}) if n in held]
            yield from self._entries(f"{path}.", held, names)
            for name, value in [*held.items()]:
                if is_operator(name) and type(value) is FunctionType:
                    yield f"{path}.{name}", value

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
        read = path.rpartition(".")[2] in self._read
        (self._watches if read else self._lengths).append(_sized(held, f"len({path})"))

    def _set(self, path: str, held: Any) -> Iterator[tuple[str, Any]]:
        count = min(len(held), _ELEMENTS)
        self._watch_length(path, held)
        names = [f"an element of {path}"] * count
        return self._watch(lambda: [*held][:count], names)

    def _dict(self, path: str, held: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
        keys = [*held][:_ELEMENTS]
        names = [f"{path}[{k!r}]" if isinstance(k, PLAIN) else f"an entry of {path}" for k in keys]
        looked_through = _LOOKED_THROUGH & self._names
        (self._watches if looked_through else self._sizes).append(_sized(held, f"len({path})"))
        return self._watch(lambda: [dict.get(held, key, _MISSING) for key in keys], names)

    def _object(self, path: str, value: Any) -> Iterator[tuple[str, Any]]:
        held, kind = getattr(value, "__dict__", None), type(value)
        slots = slots_of(kind) & self._names
        if slots:
            yield from self._watch(
                lambda: [getattr(value, n, _MISSING) for n in sorted(slots)],
                [f"{path}.{n}" for n in sorted(slots)],
            )
        if not isinstance(held, dict):
            if not is_foreign(kind.__module__):
                yield path, kind
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
            if isinstance(v, PLAIN) or (type(v) in _METHODS and not is_foreign(c.__module__))
        }
        loaded = (
            held if kind.__module__ == "collections" else self._names
        )  # its code is not looked into
        names = [n for n in sorted(loaded) if n in held or n in default]
        yield from self._entries(f"{path}.", held, names)
        yield path, kind

    def _optimizer(self, path: str, optimizer: Any) -> Iterator[tuple[str, Any]]:
        held, state = optimizer.__dict__, optimizer.__dict__["state"]
        yield from self._entries(f"{path}.", held, ["param_groups", "step"])
        size = _sized(state, f"len({path}.state)")
        self._sizes.append(size)
        self._lengths.append(size)
        yield from self._entries(f"{path}.", held, ["state"])
        yield from self._hooks(path, [held[name] for name in _STEP_HOOKS if name in held])
        yield from self._hooks("all optimizers", hooks_of_all(type(optimizer)))

    def _hooks(self, path: str, tables: list[dict[int, Any]]) -> Iterator[tuple[str, Any]]:
        def read() -> list[Any]:
            return [hook for table in tables for hook in table.values()]

        if tables and id(tables[0]) not in self._met:
            self._met[id(tables[0])] = tables[0]
            number = f"the number of hooks of {path}"
            self._watches.append(_Watch(lambda: [*map(len, tables)], [number] * len(tables)))
            yield from self._watch(read, [f"a hook of {path}"] * len(read()))

    def _module(self, path: str, module: Any) -> Iterator[tuple[str, Any]]:
        held, kind = module.__dict__, type(module)
        plain = [n for n in sorted(read_by_own(kind)) if is_constant(held.get(n, held))]
        names = ["training", "forward", *plain]
        yield from self._watch(
            lambda: [type(module), *[held.get(n, _MISSING) for n in names]],
            [f"the class of {path}", *[f"{path}.{n}" for n in names]],
        )
        for name in ("_parameters", "_buffers", "_modules"):
            inner = held[name]
            self._watches.append(_sized(inner, f"the number of {name[1:]} of {path}"))
            yield from self._entries(f"{path}.", inner, [*inner])
        yield from self._hooks(path, [held[name] for name in _HOOKS if name in held])
        yield from self._hooks("all modules", hooks_of_all(kind))


def _sized(held: Any, name: str) -> _Watch:
    return _Watch(lambda: [len(held)], [name])


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def _equal(a: Any, b: Any) -> bool:
    """Whether two values are numbers or texts that are the same, or tuples of these."""
    return type(a) is type(b) and is_constant(a) and repr(a) == repr(b)


def _shown(value: Any, other: Any = _MISSING) -> str:
    if value is _MISSING:
        return "nothing"
    if isinstance(value, Tensor):
        what = f"{show(value._shape)} {value._dtype}"
        return f"another tensor, {what}," if isinstance(other, Tensor) else f"a tensor, {what},"
    if is_constant(value):
        return repr(value)
    return (
        f"another {type(value).__name__}"
        if type(value) is type(other)
        else f"a {type(value).__name__}"
    )
