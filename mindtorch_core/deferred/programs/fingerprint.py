"""What of a program is the same in every process, as a text: for compilers that keep their work on disk."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any, Final

from ...values.devices import device
from ...values.dtypes import dtype
from ...values.layouts import layout
from ...values.memory_formats import memory_format
from .operands import Number, Ref

if TYPE_CHECKING:
    from .program import Program

__all__ = ["fingerprint_of"]

# Values whose text says all of them, with their class.
_SAID: Final = frozenset({
    bool, bytes, complex, device, dtype, float, int, layout, memory_format, str, type(None), type(...),
})  # fmt: skip


class _Unsaid(Exception):
    """A value that no text says in every process."""


def fingerprint_of(program: Program) -> str | None:
    """The digest of a program's structure; None where an argument is an object that no text says."""
    digest = hashlib.sha256()
    try:
        for part in _lines(program):
            digest.update(f"{part}\n".encode())
    except _Unsaid:
        return None
    return digest.hexdigest()


def _lines(program: Program) -> Iterator[str]:
    yield program.device
    for value in program.values:
        yield f"{tuple(value.shape)} {value.dtype} {value.device} {tuple(value.strides)} {value[4:]}"
    for each in program.instructions:
        named = sorted(each.kwargs.items())
        yield f"{each.name} {_said(each.args)} {_said([*map(list, named)])} {each.outs}"
    yield _numbers(program.inputs)
    yield " ".join(kind.__name__ for kind in program.numbers)
    yield _numbers(program.outputs)
    yield _numbers(sorted(program.donated))
    yield _numbers(n for pair in sorted(program.again.items()) for n in pair)


def _numbers(found: Iterable[int]) -> str:
    return " ".join(map(str, map(int, found)))


def _said(value: Any) -> str:
    """An argument as a text that is another one for each other argument.

    Raises:
        _Unsaid: for an object of some other class.
    """
    kind = type(value)
    if kind is list or kind is tuple:
        return f"{kind.__name__}({', '.join(map(_said, value))})"
    if kind is slice:
        return f"slice{_said((value.start, value.stop, value.step))}"
    if isinstance(value, Enum):
        return f"{kind.__qualname__}.{value.name}"
    if kind in _SAID or kind is Ref or kind is Number:
        return f"{kind.__name__} {value!r}"
    raise _Unsaid
