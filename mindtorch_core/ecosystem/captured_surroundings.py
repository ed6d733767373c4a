"""What a captured function can read besides its arguments: variables around it, modules, settings.

Its recording stands for them as they were. They are found from the names that its code loads: closures,
globals, attributes of what those hold, modules and optimizers with all their parts. Two lists of the same
things, one of when the function was recorded and one of a later call, are compared by identity.
"""

from __future__ import annotations

import dis
import functools
from collections.abc import Callable, Iterator, Sequence
from operator import is_
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any, Final

from ..amp.state import STATE
from ..dispatch.autocast_keys import AUTOCAST_OF
from ..dispatch.keys import MASKS
from ..dispatch.masks import is_grad_enabled
from ..tensors.autograd_state import INFERENCE
from ..tensors.tensor import Tensor
from ..values.dtypes import get_default_dtype
from ..values.shapes import show

__all__ = ["Settings", "Surroundings"]

_LOADS: Final = frozenset({
    "LOAD_ATTR", "LOAD_CLASSDEREF", "LOAD_DEREF", "LOAD_GLOBAL", "LOAD_METHOD", "LOAD_NAME",
})  # fmt: skip
_PLAIN: Final = (bool, int, float, complex, str, bytes, type(None))
_MISSING: Final = object()
_MOST: Final = 20_000  # of what is watched
_ELEMENTS: Final = 1_000  # of one list or dict
_OWN: Final = frozenset({"builtins", "itertools", "functools", "math", "numpy", "torch", "typing"})
_HOOKS: Final = "_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks"


class Settings:
    """What is set in this thread, and changes what ops do."""

    def __init__(self) -> None:
        self._masks = MASKS.include, MASKS.keep
        self._default = get_default_dtype()
        self._lower = {**STATE.dtypes}
        self._named = _settings()

    def difference(self) -> str | None:
        """What is set otherwise now; None where nothing is."""
        masks = self._masks
        if (
            MASKS.include == masks[0]
            and MASKS.keep == masks[1]
            and get_default_dtype() is self._default
            and STATE.dtypes == self._lower
        ):
            return None
        now = _settings()
        for name, was in self._named.items():
            if now[name] != was:
                return f"{name} was {was} when it was captured, and is {now[name]} now"
        return "other dispatch keys are included or excluded than when it was captured"


def _settings() -> dict[str, Any]:
    include = MASKS.include
    lower = {k.name: str(d) for k, d in STATE.dtypes.items()}
    on = [backend.name.lower() for backend, key in AUTOCAST_OF.items() if include & key]
    return {
        "gradient mode": "on" if is_grad_enabled() else "off",
        "inference mode": "on" if include & INFERENCE else "off",
        "autocast": f"on for {', '.join(on)}" if on else "off",
        "the dtype of autocast": lower or "the default",
        "the default dtype": get_default_dtype(),
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

    Args:
        fn: the function.
    """

    def __init__(self, fn: Callable[..., Any]) -> None:
        self._watches: list[_Watch] = []
        self._sizes: list[_Watch] = []  # what grows where it is written to
        self._names: set[str] = set()
        self._size = -1
        while self._size != len(self._names):  # methods that are found may load further names
            self._size = len(self._names)
            self._met: dict[int, Any] = {}
            self._watches.clear()
            self._sizes.clear()
            self._walk(fn)

    def difference(self) -> str | None:
        """What is another thing now; None where nothing is."""
        return next(self._differences(self._watches, "when it was captured, and is {} now"), None)

    def changes(self) -> str | None:
        """What the function itself has changed since; None where it has changed nothing."""
        found = self._differences(
            [*self._watches, *self._sizes], "before the call, and is {} after it"
        )
        return next(found, None)

    def _differences(self, watches: list[_Watch], text: str) -> Iterator[str]:
        for watch in watches:
            now = watch.read()
            if len(now) == len(watch.was) and all(map(is_, now, watch.was)):
                continue
            for name, a, b in zip(watch.names, now, watch.was, strict=False):
                if a is not b and not _equal(a, b):
                    yield f"{name.lstrip('.')} was {_shown(b)} {text.format(_shown(a, b))}"

    # ---- finding -------------------------------------------------------------------------------

    def _walk(self, fn: Callable[..., Any]) -> None:
        todo: list[tuple[str, Any]] = [("", fn)]
        while todo and len(self._met) < _MOST:
            path, value = todo.pop()
            kind = type(value)
            if (
                isinstance(value, (Tensor, type, *_PLAIN, BuiltinFunctionType))
                or id(value) in self._met
            ):
                continue
            self._met[id(value)] = value
            if kind is FunctionType:
                todo += self._function(path, value)
            elif kind is MethodType:
                todo += [(path, value.__func__), (path or "self", value.__self__)]
            elif kind is functools.partial:
                todo += [(path, value.func), (path, value.args), (path, value.keywords)]
            elif kind is ModuleType:
                self._python_module(path, value)
            elif kind in (list, tuple):
                todo += self._list(path, value)
            elif kind is dict:
                todo += self._dict(path, value)
            elif isinstance(getattr(value, "__dict__", None), dict):
                todo += self._object(path, value)

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
        if _is_own(fn.__globals__.get("__name__")):
            wrapped = getattr(fn, "__wrapped__", None)  # such as a function under `no_grad()`
            if wrapped is not None:
                yield path, wrapped
            return
        loaded = _loaded_by(fn.__code__)
        self._names |= loaded
        names = [n for n in fn.__code__.co_freevars if n in loaded]
        cells = [
            c
            for n, c in zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=True)
            if n in loaded
        ]

        def read() -> list[Any]:
            return [_content(c) for c in cells]

        yield from self._watch(read, names)
        around = fn.__globals__
        yield from self._entries("", around, [n for n in sorted(loaded) if n in around])
        yield path, fn.__defaults__ or ()
        yield path, fn.__kwdefaults__ or {}

    def _python_module(self, path: str, module: ModuleType) -> None:
        """Watch the numbers and tensors of a user's module of Python."""
        if _is_own(module.__name__):
            return
        held = vars(module)
        keys = [
            n for n in sorted(self._names) if isinstance(held.get(n, module), (Tensor, *_PLAIN))
        ]
        for _ in self._entries(f"{path}.", held, keys):
            pass

    def _list(self, path: str, held: Sequence[Any]) -> Iterator[tuple[str, Any]]:
        count = min(len(held), _ELEMENTS)
        names = [f"{path}[{i}]" for i in range(count)]
        if isinstance(held, tuple):
            return iter(zip(names, held, strict=False))
        return self._watch(lambda: held[:count], names)

    def _dict(self, path: str, held: dict[Any, Any]) -> Iterator[tuple[str, Any]]:
        keys = [*held][:_ELEMENTS]
        names = [f"{path}[{k!r}]" if isinstance(k, _PLAIN) else f"an entry of {path}" for k in keys]
        get = held.get

        def read() -> list[Any]:
            return [get(key, _MISSING) for key in keys]

        self._sizes.append(_Watch(lambda: [len(held)], [f"len({path})"]))
        return self._watch(read, names)

    def _object(self, path: str, value: Any) -> Iterator[tuple[str, Any]]:
        held = value.__dict__
        if "_modules" in held and "training" in held:
            yield from self._module(path, value)
        elif "param_groups" in held and "state" in held:  # an optimizer
            yield f"{path}.param_groups", held["param_groups"]
            state = held["state"]
            self._sizes.append(_Watch(lambda: [len(state)], [f"len({path}.state)"]))
            for each in [*state.values()]:
                yield f"{path}.state[...]", each
            return
        if _is_own(type(value).__module__):
            return
        yield from self._entries(f"{path}.", held, [n for n in sorted(self._names) if n in held])
        for name in sorted({*self._names, "__call__", "forward"}):
            method = getattr(type(value), name, None)
            if type(method) is FunctionType:
                yield f"{path}.{name}", method

    def _module(self, path: str, module: Any) -> Iterator[tuple[str, Any]]:
        held = module.__dict__
        yield from self._entries(f"{path}.", held, ["training"])
        forward = getattr(type(module), "forward", None)
        if type(forward) is FunctionType:
            loaded = _loaded_by(forward.__code__)
            plain = [n for n in sorted(loaded) if isinstance(held.get(n, held), _PLAIN)]
            yield from self._entries(f"{path}.", held, plain)
        for name in ("_parameters", "_buffers", "_modules"):
            inner = held[name]
            yield from self._entries(f"{path}.", inner, [*inner])
        hooks = [held[name] for name in _HOOKS if name in held]
        yield from self._watch(
            lambda: [*map(len, hooks)], [f"the number of hooks of {path}"] * len(hooks)
        )


def _is_own(name: Any) -> bool:
    """Whether a module, by its name, is mindtorch's, or another one that computes nothing of its own."""
    return str(name).partition(".")[0] in _OWN or str(name).startswith("mindtorch")


def _loaded_by(code: CodeType) -> set[str]:
    """The names that a function and those within it load."""
    found = {i.argval for i in dis.get_instructions(code) if i.opname in _LOADS}
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            found |= _loaded_by(constant)
    return found


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return _MISSING


def _equal(a: Any, b: Any) -> bool:
    """Whether two values are numbers or texts that are the same."""
    return type(a) is type(b) and isinstance(a, _PLAIN) and repr(a) == repr(b)


def _shown(value: Any, other: Any = _MISSING) -> str:
    if value is _MISSING:
        return "nothing"
    if isinstance(value, Tensor):
        what = f"{show(value._shape)} {value._dtype}"
        return f"another tensor, {what}," if isinstance(other, Tensor) else f"a tensor, {what},"
    if isinstance(value, _PLAIN):
        return repr(value)
    return (
        f"another {type(value).__name__}"
        if type(value) is type(other)
        else f"a {type(value).__name__}"
    )
