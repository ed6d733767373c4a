"""Values that a captured function reads, watched: what they were, and how errors tell of others."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from operator import is_
from typing import Any, Final

from ..tensors.tensor import Tensor
from ..values.shapes import show
from .captured_names import PLAIN, is_constant

__all__ = [
    "MISSING",
    "Digest",
    "Watch",
    "cell_content",
    "differences",
    "entries",
    "of_order",
    "parts_in_order",
    "sized",
]

MISSING: Final = object()


class Digest(int):
    """A number that stands for many: errors do not show it."""

    __slots__ = ()


class Watch:
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


def differences(watches: Sequence[Watch], text: str) -> Iterator[str]:
    """What is another thing now, in words; ``text`` says when it was what, and has a place for what it is."""
    for watch in watches:  # each call of the function comes here
        now, was = watch.read(), watch.was
        if now is was or (len(now) == len(was) and all(map(is_, now, was))):
            continue
        for name, a, b in zip(watch.names, now, was, strict=False):
            if a is not b and not _equal(a, b):
                yield f"{name.lstrip('.')} was {_shown(b)} {text.format(_shown(a, b))}"


def entries(holder: Mapping[Any, Any], keys: Sequence[Any], path: str) -> Iterator[Watch]:
    """What a dict has for some keys, and that it has none of the others."""
    there = [key for key in keys if key in holder]
    absent = [key for key in keys if key not in holder]
    get, view, nothing = holder.get, holder.keys(), (MISSING,) * len(absent)
    if there:
        yield Watch(lambda: [get(key, MISSING) for key in there], [f"{path}{key}" for key in there])
    if absent:
        yield Watch(
            lambda: nothing if view.isdisjoint(absent) else [get(key, MISSING) for key in absent],
            [f"{path}{key}" for key in absent],
        )


def sized(held: Any, name: str) -> Watch:
    """How many entries something has."""
    return Watch(lambda: [len(held)], [name])


def of_order(held: Mapping[Any, Any], path: str, count: int) -> Watch:
    """Which keys come first in a dict, in which order: code that walks through it meets them so."""
    return Watch(lambda: [*islice(held, count)], [f"a key of {path}"] * count)


def parts_in_order(parts: Sequence[dict[str, Any]], path: str) -> Watch:
    """What a module is made of: parameters, buffers and modules, with their names and their order."""
    names: list[str] = []
    for held, kind in zip(parts, ("parameters", "buffers", "modules"), strict=True):
        names += [
            f"the number of {kind} of {path}",
            *[f"a name of the {kind} of {path}"] * len(held),
        ]
        names += [f"{path}.{name}" for name in held]
    p, b, m = parts

    def read() -> list[Any]:
        return [len(p), *p, *p.values(), len(b), *b, *b.values(), len(m), *m, *m.values()]

    return Watch(read, names)


def cell_content(cell: Any) -> Any:
    """What a variable of a closure holds."""
    try:
        return cell.cell_contents
    except ValueError:
        return MISSING


def _equal(a: Any, b: Any) -> bool:
    """Whether two values are numbers or texts that are the same, or tuples of these."""
    return type(a) is type(b) and is_constant(a) and repr(a) == repr(b)


def _shown(value: Any, other: Any = MISSING) -> str:
    if value is MISSING:
        return "nothing"
    if isinstance(value, Tensor):
        what = f"{show(value._shape)} {value._dtype}"
        return f"another tensor, {what}," if isinstance(other, Tensor) else f"a tensor, {what},"
    if type(value) is Digest:
        return "something" if other is MISSING else "something else"
    if is_constant(value) and (type(value) in PLAIN or isinstance(value, list | tuple)):
        return repr(value)
    return (
        f"another {type(value).__name__}"
        if type(value) is type(other)
        else f"a {type(value).__name__}"
    )
