"""What comes of numbers of tensors that operators, functions and methods are given, in PyTorch's graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any, Final

from .compiled_marks import NOTHING, TEXT, Entry, GraphEnds, Mark, taken

__all__ = [
    "attribute_of",
    "computed",
    "is_container",
    "item_at",
    "known",
    "result_of_call",
    "result_of_look",
]

_ASKING_TYPES: Final = frozenset({"callable", "hasattr", "id", "isinstance", "type"})
_CHOOSING: Final = frozenset({"all", "any", "filter", "sorted"})  # they go on by each truth
_WANTS_NUMBERS: Final = _CHOOSING | {
    "ascii", "bin", "chr", "complex", "divmod", "frozenset", "hash", "hex", "oct", "repr", "set", "str",
}  # fmt: skip
_MATH: Final = frozenset({
    "acos", "asin", "atan", "ceil", "cos", "cosh", "floor", "log2", "radians", "sin", "sinh", "sqrt",
    "tan", "tanh", "trunc",
})  # fmt: skip
_ITERATING: Final = frozenset({
    "enumerate", "iter", "list", "map", "max", "min", "reversed", "sum", "tuple", "zip",
})  # fmt: skip
_WITH_SIZES: Final = frozenset({
    "arange", "empty", "expand", "eye", "full", "linspace", "narrow", "new_empty", "new_full", "new_ones",
    "new_zeros", "ones", "rand", "randint", "randn", "randperm", "repeat", "zeros",
})  # fmt: skip
_KEEPING_SIZES: Final = frozenset({
    "abs", "bool", "clone", "contiguous", "cpu", "detach", "double", "flatten", "float", "half", "int",
    "long", "relu", "sigmoid", "squeeze", "tanh", "to",
})  # fmt: skip
_OF_NUMBERS: Final = frozenset({"conjugate", "is_integer"})
_INTO_LISTS: Final = frozenset({"append", "extend", "format", "insert"})


def result_of_look(reason: str, callee: Entry, receiver: Entry) -> Entry:
    """What a call gives that has looked at an element of a tensor itself.

    Args:
        reason: what has looked, as ``item()``.
        callee: what was called.
        receiver: of which object, if that is a method.

    Raises:
        GraphEnds: where a graph ends there.
    """
    name = callee.name
    if reason == "bool()" and name in _CHOOSING:
        raise GraphEnds
    if reason == "float()" and name != "float" and receiver.name == "math":
        raise GraphEnds
    if reason in ("complex()", "format()") and name == reason[:-2] and receiver is NOTHING:
        raise GraphEnds
    if reason == "index()" and name == "range":
        return Entry(Mark.TIMES)
    if reason == "tolist()":
        return Entry(Mark.HOLDER)
    return Entry(Mark.TRUTH if reason == "bool()" and name != "bool" else Mark.NUMBER)


def result_of_call(callee: Entry, receiver: Entry, args: Sequence[Entry]) -> Entry:
    """What a call gives whose arguments, or whose object, may depend on elements.

    Raises:
        GraphEnds: where a graph ends there.
    """
    name = callee.name or ""
    marks = {a.mark for a in args}
    if name in _ASKING_TYPES:
        return NOTHING
    if receiver.mark in (Mark.NUMBER, Mark.TRUTH):
        if name == "bit_length":
            raise GraphEnds
        return Entry(Mark.NUMBER) if name in _OF_NUMBERS else NOTHING
    if receiver.mark is Mark.SIZED:
        return _of_sized(name, args)
    if receiver.mark in (Mark.SEQUENCE, Mark.TABLE, Mark.HOLDER):
        return _of_container(name, receiver, args)
    if not any(a.is_tainted for a in args):
        return _of_plain(name, receiver, args)
    if receiver.name == "math":
        if name not in _MATH:
            raise GraphEnds
        return Entry(Mark.NUMBER)
    if receiver is not NOTHING or name in _WITH_SIZES:
        numbers = any(a.is_number for a in args)
        return Entry(Mark.SIZED) if numbers and name in _WITH_SIZES else NOTHING
    if name in _WANTS_NUMBERS or name == "format":
        raise GraphEnds
    return _of_builtin(name, args, marks)


def _of_plain(name: str, receiver: Entry, args: Sequence[Entry]) -> Entry:
    """What a call of a function with nothing that depends on elements gives."""
    if receiver is NOTHING and name in ("list", "tuple"):
        return Entry(Mark.SEQUENCE)
    return Entry(Mark.TABLE) if receiver is NOTHING and name in ("dict", "set") else NOTHING


def _of_builtin(name: str, args: Sequence[Entry], marks: set[Mark]) -> Entry:
    if name == "len":
        if args[0].value == TEXT:
            raise GraphEnds
        return Entry(Mark.NUMBER) if marks & {Mark.SIZED, Mark.TIMES} else NOTHING
    if name == "range":
        return Entry(Mark.TIMES)
    if name in _ITERATING:
        if marks & {Mark.SIZED, Mark.TIMES} or (name == "map" and args[0].name in _WANTS_NUMBERS):
            raise GraphEnds
        if name == "enumerate":
            return Entry(Mark.HOLDER, value=(Mark.NOTHING, Mark.NUMBER))
        if name == "zip":
            return Entry(
                Mark.HOLDER, value=tuple([Mark.NUMBER if a.is_tainted else a.mark for a in args])
            )
        return Entry(Mark.NUMBER) if name in ("max", "min", "sum") else taken(args)
    if (name in ("bool", "int") and Mark.TRUTH in marks) or (name == "pow" and args[-1].is_number):
        raise GraphEnds
    return Entry(Mark.NUMBER) if any(a.is_number for a in args) else NOTHING


def _of_sized(name: str, args: Sequence[Entry]) -> Entry:
    """What a method of a tensor gives whose first size depends on elements."""
    if name == "size":
        if not args:
            return Entry(Mark.SIZES)
        return Entry(Mark.NUMBER) if args[0].value == 0 else NOTHING
    if name in ("chunk", "unbind"):
        dims = args[name == "chunk" :]
        if not dims or dims[0].value in (0, None):
            raise GraphEnds
        return NOTHING
    if name in ("nelement", "numel", "__len__"):
        return Entry(Mark.NUMBER)
    return Entry(Mark.SIZED) if name in _KEEPING_SIZES else NOTHING


def _of_container(name: str, receiver: Entry, args: Sequence[Entry]) -> Entry:
    """What a method of a list, a tuple, a str, a dict or a set gives."""
    numbers = [a for a in args if a.is_number]
    if numbers and (name not in _INTO_LISTS or (name == "insert" and args[0].is_number)):
        raise GraphEnds
    if receiver.mark is not Mark.HOLDER:
        return NOTHING
    if name == "items":
        return Entry(Mark.HOLDER, value=(Mark.NOTHING, Mark.NUMBER))
    if name in ("sort", "index", "count", "remove"):
        raise GraphEnds
    if name in ("copy", "values"):
        return Entry(Mark.HOLDER)
    return Entry(Mark.NUMBER) if name in ("get", "pop") else NOTHING


# ---- operators -------------------------------------------------------------------------------------


def known(value: Any) -> Entry:
    """What is known of a global."""
    if isinstance(value, FunctionType):
        return Entry(value=value.__code__)
    if isinstance(value, list | tuple | str):
        return Entry(Mark.SEQUENCE)
    return Entry(Mark.TABLE) if isinstance(value, dict | set | frozenset) else NOTHING


def is_container(entry: Entry) -> bool:
    """Whether a value is a list, a tuple, a str, a dict or a set."""
    return entry.mark in (Mark.SEQUENCE, Mark.TABLE, Mark.HOLDER)


def attribute_of(owner: Entry, name: str, names: Mapping[str, Entry]) -> Entry:
    """What an attribute is, of an object or as it was stored under that name."""
    if owner.mark is Mark.SIZED:
        return Entry(Mark.SIZES if name == "shape" else Mark.NOTHING, name)
    if owner.mark >= Mark.TRUTH:
        return Entry(Mark.NUMBER if name in ("imag", "real") else Mark.NOTHING, name)
    return names.get(f".{name}", NOTHING)._replace(name=name, owner=owner.name)


def item_at(container: Entry, key: Entry) -> Entry:
    """What an index, a slice or a key gives."""
    if key.mark >= Mark.TRUTH:
        return Entry(Mark.SIZED) if key.name == "slice" else NOTHING
    if container.mark is Mark.SIZES:
        return Entry(Mark.NUMBER) if key.value == 0 else NOTHING
    if container.mark in (Mark.HOLDER, Mark.NUMBER):
        return Entry(Mark.HOLDER) if key.name == "slice" else Entry(Mark.NUMBER)
    return NOTHING


def computed(a: Entry, b: Entry, operator: str) -> Entry:
    """What an operator gives.

    Raises:
        GraphEnds: where a graph ends there.
    """
    if not (a.is_tainted or b.is_tainted):
        return Entry(a.mark) if a.mark is b.mark is Mark.SEQUENCE else NOTHING
    if a.is_number or b.is_number:
        if Mark.SEQUENCE in (a.mark, b.mark):
            raise GraphEnds
        other = a if b.is_number else b
        constant = isinstance(other.value, int | float) or other.is_number
        power = operator.startswith("**") and b.is_number
        if constant and (power or Mark.TRUTH in (a.mark, b.mark)):
            raise GraphEnds
        return Entry(Mark.NUMBER)
    return Entry(Mark.SIZED if Mark.SIZED in (a.mark, b.mark) else Mark.HOLDER)
