"""What all code of a captured function loads, taken together: it may read any attribute of these names."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any

from .captured_code import (
    by_text,
    globals_of,
    joins_names,
    loaded_by,
    read_by,
    stored_by,
    texts_of,
)
from .captured_packages import nested

__all__ = ["Reading", "defaults_of", "outer_names"]


class Reading:
    """The names that code loads.

    Attributes:
        names: all of them.
        asked: those that code of the user's loads.
        read: names of what the code does not only add to.
        texts: names that are asked for by texts.
        stored: attributes that the code sets.
        joins: whether it puts names together.
        reached: the code that was looked into since things hold it, with the names of its modules.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.asked: set[str] = set()
        self.read: set[str] = set()
        self.texts: set[str] = set()
        self.stored: set[str] = set()
        self.joins = False
        self.reached: set[tuple[CodeType, str]] = set()

    @property
    def size(self) -> int:
        """It grows where there is something new."""
        return len(self.names) + len(self.asked) + len(self.read) + self.joins

    def learn(self, code: CodeType, *, of_user: bool) -> set[str]:
        """The names that code loads, and add them."""
        loaded = loaded_by(code)
        self.names |= loaded
        if of_user:
            self.asked |= loaded
        self.read |= read_by(code)
        self.stored |= stored_by(code)
        self.joins = self.joins or joins_names(code)
        if by_text(loaded):
            self.texts |= texts_of(code)
        return loaded

    def reach(self, fn: FunctionType) -> None:
        """Remember that a function was looked into, and what is within it."""
        name = str(fn.__globals__.get("__name__"))
        self.reached |= {(fn.__code__, name), *((c, name) for c in nested(fn.__code__))}


def outer_names(code: CodeType, around: dict[str, Any], loaded: set[str]) -> list[str]:
    """The variables of its module that code loads, also by texts."""
    unbound = globals_of(code)
    if by_text(loaded):
        unbound |= loaded & around.keys()
    return sorted(unbound)


def defaults_of(fn: FunctionType) -> tuple[list[str], Callable[[], Sequence[Any]]]:
    """The arguments that have defaults, and what gives these."""
    code = fn.__code__
    count, keywords = code.co_argcount, fn.__kwdefaults__ or {}
    names = [*code.co_varnames[count - len(fn.__defaults__ or ()) : count], *keywords]
    return names, lambda: [*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values()]
