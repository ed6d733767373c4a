"""What captured functions find that is not there: attributes that nobody has set yet, and their number."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from functools import partial
from types import FunctionType, ModuleType
from typing import Any, Final

from ..tensors.tensor import Tensor
from .captured_names import is_foreign
from .captured_packages import defined_in_package
from .captured_reading import Reading
from .captured_watches import MISSING, Watch, entries, sized

__all__ = ["found_missing"]

# What code loads that asks for all attributes at once.
_LISTING: Final = frozenset({"__dict__", "dir", "getmembers", "globals", "vars"})
_ANNOTATED: Final = frozenset({
    "__annotations__", "get_annotations", "get_type_hints", "signature",
})  # fmt: skip


def found_missing(things: Collection[Any], code: Reading) -> Iterator[Watch]:
    """Watch that there is no more than there was, where the code would find it.

    Args:
        things: what the code reaches.
        code: what it loads.
    """
    yield from _absent_told(things, code.names, code.texts_asked)
    yield from _bases_told(things)
    yield from _counts_told(things, code.asked)
    yield from _annotations_told(things, code.names)


def _absent_told(things: Iterable[Any], names: Set[str], texts: Set[str]) -> Iterator[Watch]:
    """Watch that modules and classes have no attributes which the code would find otherwise.

    Args:
        things: what the code reaches.
        names: what it loads, of which the methods of operators count here.
        texts: what it asks for by texts.
    """
    methods = {n for n in names if n.startswith("__") and n.endswith("__")}
    met: set[int] = set()
    for each in (Tensor, *things):
        if isinstance(each, ModuleType) and id(each) not in met:
            met.add(id(each))
            yield from _absent(vars(each), texts, each.__name__)
        elif isinstance(each, type):
            for cls in each.__mro__:
                if id(cls) not in met and cls is not object:
                    met.add(id(cls))
                    wanted = texts | methods if _is_users(cls) else texts
                    yield from _absent(vars(cls), wanted, cls.__qualname__)


def _absent(held: Mapping[str, Any], wanted: Set[str], name: str) -> Iterator[Watch]:
    return entries(held, sorted(wanted - held.keys()), f"{name}.")


def _bases_told(things: Iterable[Any]) -> Iterator[Watch]:
    """Watch what classes of users derive of."""
    for each in things:
        if isinstance(each, type) and _is_users(each):
            bases = [f"a base of {each.__qualname__}"] * len(each.__mro__)
            yield Watch(partial(_bases, each), bases)


def _bases(cls: type) -> tuple[type, ...]:
    return cls.__mro__


def _counts_told(things: Iterable[Any], asked: Set[str]) -> Iterator[Watch]:
    """Watch how many attributes things of users have, where the code lists them.

    Args:
        things: what the code reaches.
        asked: what code of the user's loads.
    """
    for each in things if asked & _LISTING else ():
        held = getattr(each, "__dict__", None)
        if isinstance(held, Mapping) and (
            each is builtins or _is_users(each) or _is_users(type(each))
        ):
            name = getattr(each, "__qualname__", None) or getattr(each, "__name__", None)
            yield sized(held, f"the number of attributes of {name or type(each).__qualname__}")


def _annotations_told(things: Iterable[Any], names: Set[str]) -> Iterator[Watch]:
    """Watch the annotations of functions and classes of users, where the code asks for them.

    Args:
        things: what the code reaches.
        names: what it loads.
    """
    for each in things if names & _ANNOTATED else ():
        if isinstance(each, FunctionType | type) and _is_users(each):
            held = _annotations(each)
            shown = [f"an annotation of {each.__qualname__}"] * (2 * len(held) + 1)
            yield Watch(partial(_annotated, each), shown)


def _annotations(thing: Any) -> Mapping[str, Any]:
    held = vars(thing) if isinstance(thing, type) else {"__annotations__": thing.__annotations__}
    return held.get("__annotations__") or {}


def _annotated(thing: Any) -> list[Any]:
    held = _annotations(thing)
    return [len(held), *held, *held.values()]


def _is_users(thing: Any) -> bool:
    """Whether a function, a class or a module is neither Python's, mindtorch's, nor that of a package."""
    home = getattr(thing, "__module__", None) or getattr(thing, "__name__", MISSING)
    if is_foreign(home):
        return False
    return not (isinstance(thing, FunctionType | ModuleType) and defined_in_package(thing))
