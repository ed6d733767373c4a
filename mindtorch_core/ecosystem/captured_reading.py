"""What all code of a captured function loads, taken together: it may read any attribute of these names."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any, Final

from .captured_code import (
    by_text,
    globals_of,
    joins_names,
    loaded_by,
    names_in,
    read_by,
    stored_by,
    texts_of,
    tried_by,
    walked_by,
)
from .captured_packages import nested

__all__ = ["Reading", "defaults_of", "outer_names"]


# What code loads that asks a dict for more than entries that it has.
_LOOKED_THROUGH: Final = frozenset({
    "Exception", "KeyError", "LookupError", "__contains__", "copy", "get", "items", "keys", "pop", "popitem",
    "setdefault", "values",
})  # fmt: skip


class Reading:
    """The names that code loads.

    Attributes:
        names: all of them.
        asked: those that code of the user's loads.
        read: names of what the code does not only add to.
        walked: names of what the code hands on as a whole, walks through or takes the truth of.
        texts: names that are asked for by texts.
        texts_asked: those that code of the user's asks for.
        stored: attributes that the code sets.
        joins: whether it puts names together.
        reached: the code that was looked into since things hold it, with the names of its modules.
    """

    def __init__(self) -> None:
        self.names: set[str] = set()
        self.asked: set[str] = set()
        self.read: set[str] = set()
        self.walked: set[str] = set()
        self.texts: set[str] = set()
        self.texts_asked: set[str] = set()
        self.stored: set[str] = set()
        self.joins = False
        self.reached: set[tuple[CodeType, str]] = set()

    @property
    def size(self) -> int:
        """It grows where there is something new."""
        return (
            len(self.names)
            + len(self.asked)
            + len(self.read)
            + len(self.walked)
            + len(self.texts)
            + self.joins
        )

    def learn(self, code: CodeType, *, of_user: bool) -> set[str]:
        """The names that code loads, and add them."""
        loaded = loaded_by(code)
        self.names |= loaded
        if of_user:
            self.asked |= loaded
        self.read |= read_by(code)
        self.walked |= walked_by(code)
        self.stored |= stored_by(code)
        self.joins = self.joins or joins_names(code)
        if by_text(loaded):
            self.texts |= texts_of(code)
            if of_user:
                self.texts_asked |= texts_of(code)
        if of_user:
            self.texts |= tried_by(code)
            self.texts_asked |= tried_by(code)
        return loaded

    def hold(self, path: str, text: str) -> None:
        """A text that may name attributes, where code asks for them by texts: a variable's is one of them.

        Args:
            path: how it is called.
            text: it.
        """
        if by_text(self.names):
            names = names_in(text)
            self.names |= names
            if path.isidentifier() and by_text(self.asked):
                self.texts |= names
                self.texts_asked |= names

    def walks_through(self, path: str, held: dict[Any, Any]) -> bool:
        """Whether code may ask a dict for more than entries that it has.

        Args:
            path: how it is called.
            held: it.
        """
        name = "[]" if path.endswith("]") else path.rpartition(".")[2]
        return (
            name in self.walked
            or hasattr(type(held), "__missing__")
            or not self.names.isdisjoint(_LOOKED_THROUGH)
        )

    def reach(self, fn: FunctionType) -> None:
        """Remember that a function was looked into, and what is within it."""
        name = str(fn.__globals__.get("__name__"))
        self.reached |= {(fn.__code__, name), *((c, name) for c in nested(fn.__code__))}


def outer_names(code: CodeType, around: dict[str, Any], loaded: set[str]) -> list[str]:
    """The variables of its module that code loads, also by texts."""
    unbound = globals_of(code)
    if by_text(loaded):
        unbound |= loaded & around.keys()
        unbound |= texts_of(code) - {*vars(builtins)}
    return sorted(unbound)


def defaults_of(fn: FunctionType) -> tuple[list[str], Callable[[], Sequence[Any]]]:
    """The arguments that have defaults, and what gives these."""
    code = fn.__code__
    count, keywords = code.co_argcount, fn.__kwdefaults__ or {}
    names = [*code.co_varnames[count - len(fn.__defaults__ or ()) : count], *keywords]
    return names, lambda: [*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values()]
