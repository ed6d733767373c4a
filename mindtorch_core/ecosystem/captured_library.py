"""What captured functions read of Python's library and of others, whose code is not looked into."""

from __future__ import annotations

import ctypes
import functools
import operator
import os
import random
from collections.abc import (
    Callable,
    ItemsView,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    Set,
    ValuesView,
)
from io import IOBase
from itertools import islice
from types import FunctionType, MappingProxyType, ModuleType
from typing import Any, Final

from ..random import Generator
from ..tensors.tensor import Tensor
from .captured_names import is_foreign, is_own
from .captured_watches import MISSING, Digest, Watch, of_order

__all__ = ["SETTINGS_ASKED", "Buffer", "Moving", "names_meant", "parts_of", "replaced", "steps_of"]

# Functions that tell what is set: a function that calls one computes with it.
SETTINGS_ASKED: Final = frozenset({
    "are_deterministic_algorithms_enabled", "get_deterministic_debug_mode", "get_float32_matmul_precision",
    "get_num_interop_threads", "get_num_threads", "initial_seed", "is_anomaly_check_nan_enabled",
    "is_anomaly_enabled", "is_deterministic_algorithms_warn_only_enabled",
})  # fmt: skip
_READING: Final = frozenset({"load", "read", "readinto", "readline", "readlines", "tell"})
_SYNCHRONIZING: Final = "is_set", "locked"  # what locks and events are asked
# Of memory, what is compared in each call: all of it, or its ends and bytes all over it.
_MOST_BYTES: Final = 1 << 24
_END: Final = 1 << 12
_SAMPLES: Final = 1 << 16
_VIEWS: Final = KeysView, ValuesView, ItemsView


class Moving(Watch):
    """What a function that uses it moves on: a file's position, a state of random numbers."""

    __slots__ = ()


class Buffer(Watch):
    """The elements of an array, or of other memory that Python's code can write to.

    Attributes:
        start, end: where they lie.
    """

    __slots__ = ("end", "start")

    def __init__(self, value: Any, name: str) -> None:
        size = memoryview(value).nbytes
        self.start = _address(value)
        self.end = self.start + size

        def read() -> list[Any]:
            view = memoryview(value)
            return [Digest(hash((view.shape, view.format, *_compared(view))))]

        super().__init__(read, [f"what {name.lstrip('.')} holds"])


def _compared(view: memoryview) -> tuple[bytes, ...]:
    """What is compared of memory; of more than that takes a moment, not every byte."""
    if view.nbytes <= _MOST_BYTES:
        return (view.tobytes(),)
    flat = view.cast("B")
    step = view.nbytes // _SAMPLES | 1  # odd, so that it meets each byte of an element
    return flat[:_END].tobytes(), flat[-_END:].tobytes(), flat[::step].tobytes()


def _address(value: Any) -> int:
    described = getattr(value, "__array_interface__", None)
    if described is not None:
        return int(described["data"][0])
    try:
        return ctypes.addressof(ctypes.c_char.from_buffer(value))
    except (TypeError, ValueError, BufferError):  # it cannot be written to, or holds nothing
        return 0


def parts_of(path: str, value: Any, names: Set[str]) -> Iterator[Watch | tuple[str, Any]]:
    """What is to be watched of a thing, and what it holds, with how that is called."""
    if isinstance(value, MappingProxyType):
        size = len(value)
        yield of_order(value, path, size)
        yield Watch(lambda: [len(value)], [f"len({path})"])
        held = [f"{path}[{k!r}]" for k in value]
        yield Watch(lambda: [*islice(value.values(), size)], held)
        yield from zip(held, value.values(), strict=True)
    elif isinstance(value, _VIEWS):
        yield path, getattr(value, "mapping", None)
    elif type(value) is type(os.environ):
        yield from _environment(value)
    elif isinstance(value, functools.partialmethod):
        yield from ((path, value.func), (path, value.args), (path, value.keywords))
    elif isinstance(value, random.SystemRandom):
        return  # it has no state: what draws of it is refused where it asks the system
    elif isinstance(value, random.Random):
        yield Moving(
            lambda: [Digest(hash(value.getstate()))], [f"the state of random numbers of {path}"]
        )
    elif (bits := _bits_of(value)) is not None:
        name = f"the state of random numbers of {path}"
        yield Moving(lambda: [Digest(hash(repr(bits.state)))], [name])
    elif "initial_seed" in names and isinstance(value, Generator):
        yield Watch(lambda: [value.initial_seed()], [f"{path}.initial_seed()"])
    elif isinstance(value, IOBase) and names & _READING:
        kind = Watch if "tell" in names else Moving
        yield kind(lambda: [_position(value)], [f"the position of {path}"])
    elif asked := [n for n in _SYNCHRONIZING if n in names and hasattr(value, n)]:
        yield Watch(lambda: [getattr(value, n)() for n in asked], [f"{path}.{n}()" for n in asked])
    else:
        try:
            _compared(memoryview(value))
        except (TypeError, ValueError, BufferError):  # it is no memory, or lies in a way of its own
            return
        yield Buffer(value, path)


def _bits_of(value: Any) -> Any:
    """What draws for a generator of NumPy's; None for other things."""
    if not is_own(type(value).__module__):
        return None
    return getattr(value, "bit_generator", getattr(value, "_bit_generator", None))


def _position(file: Any) -> int | None:
    try:
        return int(file.tell()) if file.readable() else None
    except (OSError, ValueError):  # a pipe, or one that is closed
        return None


def _environment(value: Any) -> Iterator[Watch]:
    held = value._data
    keys = [*held]
    names = [f"os.environ[{os.fsdecode(key)!r}]" for key in keys]
    yield Watch(lambda: [len(held)], ["len(os.environ)"])
    yield Watch(lambda: [held.get(key, MISSING) for key in keys], names)


def names_meant(value: Any) -> set[str]:
    """The attributes that a thing looks up when it is called."""
    if not isinstance(value, operator.attrgetter | operator.methodcaller):
        return set()
    reduced: Any = value.__reduce__()
    if isinstance(reduced[0], functools.partial):  # a method with keywords
        return {reduced[0].args[0]}
    names = reduced[1] if isinstance(value, operator.attrgetter) else reduced[1][:1]
    return {part for name in names for part in name.split(".")}


# ---- what has been put in the place of a library's own functions -----------------------------------


def replaced(libraries: Mapping[str, ModuleType], names: Set[str]) -> Iterator[Watch]:
    """Watch what code loads of modules that are not looked into, so that nobody puts something else there.

    It is asked for after the code has run: functions of ours are made when they are first loaded.

    Args:
        libraries: the modules, by how they are called.
        names: what the code loads.
    """
    todo, met = [*libraries.items()], {id(module) for module in libraries.values()}
    while todo:
        path, module = todo.pop()
        held = vars(module)
        found = sorted(names & held.keys())
        yield _entries(path, held, found)
        for name in found:
            inner = held[name]
            if type(inner) is ModuleType and id(inner) not in met and is_foreign(inner.__name__):
                met.add(id(inner))
                todo.append((f"{path}.{name}", inner))
    for kind in Tensor.__mro__[:-1]:
        yield _entries("Tensor", vars(kind), sorted(names & vars(kind).keys()))


def _entries(path: str, held: Mapping[str, Any], names: Sequence[str]) -> Watch:
    return Watch(
        lambda: [held.get(name, MISSING) for name in names], [f"{path}.{name}" for name in names]
    )


def steps_of(kind: type, met: set[int], loaded_by: Callable[[Any], set[str]]) -> Iterator[Watch]:
    """Watch what computes in a module of ours: its ``forward``, and what that finds around it.

    Args:
        kind: its class.
        met: ids of what is watched already.
        loaded_by: the names that code loads.
    """
    for each in kind.__mro__:
        forward = vars(each).get("forward")
        if type(forward) is not FunctionType or not is_own(each.__module__) or id(each) in met:
            continue
        met.add(id(each))
        yield _entries(each.__name__, vars(each), ["forward"])
        names, around = loaded_by(forward.__code__), forward.__globals__
        for name in sorted(names & around.keys()):
            if type(around[name]) is ModuleType:
                inner = vars(around[name])
                yield _entries(name, inner, sorted(names & inner.keys()))
