"""What is known of a value in a function's code: whether it depends on the elements of tensors, and how."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum
from types import CodeType
from typing import Any, Final, NamedTuple

__all__ = ["NOTHING", "TEXT", "Entry", "GraphEnds", "Mark", "item_of", "joined", "taken"]


class Mark(IntEnum):
    """How a value depends on elements; of two, what comes later counts where ways through code meet."""

    SEQUENCE = 0  # a list, a tuple or a str, without such values
    TABLE = 1  # a dict or a set
    NOTHING = 2
    HOLDER = 3  # a container of numbers of tensors
    SIZES = 4  # of a tensor whose first size depends on elements
    SIZED = 5  # such a tensor
    TIMES = 6  # a range of so many numbers
    TRUTH = 7  # of a comparison of numbers
    NUMBER = 8


class Entry(NamedTuple):
    """A value on the stack of an interpreter, or of a variable.

    Attributes:
        mark: how it depends on elements.
        name: of the variable, attribute or global that it was taken from.
        value: a constant, the code of a function, or the marks of the items of what is iterated over.
        owner: the name of what an attribute is of.
    """

    mark: Mark = Mark.NOTHING
    name: str | None = None
    value: Any = None
    owner: str | None = None

    @property
    def is_number(self) -> bool:
        """Whether it is a number that was taken from a tensor, or made of one."""
        return self.mark >= Mark.TRUTH

    @property
    def is_tainted(self) -> bool:
        """Whether it, or what it holds, depends on elements."""
        return self.mark > Mark.NOTHING

    @property
    def code(self) -> CodeType | None:
        """Of a function that is written in Python."""
        return self.value if isinstance(self.value, CodeType) else None


NOTHING: Final = Entry()
TEXT: Final = "text"  # the value of one with numbers of tensors in it


class GraphEnds(Exception):
    """A graph of PyTorch's compiler ends where code does this."""


def joined(a: Entry, b: Entry) -> Entry:
    """What is known of a value that is one or the other."""
    if a == b:
        return a
    plain = [Mark.NOTHING] if a.mark != b.mark and max(a.mark, b.mark) <= Mark.TABLE else []
    return Entry(
        max(a.mark, b.mark, *plain),
        a.name if a.name == b.name else None,
        a.value if type(a.value) is type(b.value) and a.value == b.value else None,
    )


def item_of(holder: Entry) -> Entry:
    """An item of what is iterated over or unpacked."""
    if isinstance(holder.value, tuple) and holder.mark is Mark.HOLDER:
        return Entry(Mark.HOLDER, "items", holder.value)
    return Entry(Mark.NUMBER) if holder.mark in (Mark.HOLDER, Mark.NUMBER) else NOTHING


def taken(entries: Iterable[Entry]) -> Entry:
    """A new list or tuple of values."""
    return Entry(Mark.HOLDER if any(e.is_tainted for e in entries) else Mark.SEQUENCE)
