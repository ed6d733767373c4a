"""Undoing what a call changed, also where an interrupt ends it.

An interrupt (Ctrl-C, and whatever else a signal handler raises) comes where a function begins, where a
call of something built in has ended, and where a loop begins again, so also inside what is to undo.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator, Iterator
from functools import wraps
from types import FunctionType, TracebackType
from typing import Any, Final, ParamSpec, TypeVar, cast

__all__ = ["contextmanager", "from_entry", "leaving", "surely", "undone"]

_UNKNOWN: Final = (3, 15)  # of Python: what its tables look like, nobody has tried

F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")
T = TypeVar("T")


def from_entry(function: F) -> F:
    """The function, whose first ``try`` also covers the instant at which a call of it begins.

    A signal that arrived before is handled there, when no line of the function has run: no ``try`` can be
    written around it. But where handlers apply is said by a table beside the code, and costs a call nothing.

    An interpreter that has another kind of table keeps the function as it is.

    Args:
        function: it begins with ``try:``.
    """
    if sys.implementation.name != "cpython" or sys.version_info >= _UNKNOWN:
        return function
    code = cast(FunctionType, function).__code__
    table = code.co_exceptiontable  # entries of four numbers: start, length, handler, depth
    assert table[0] & 0x40 == 0, "the first try is too far from the beginning"
    handler = 2  # past a start and a length of six bits each; those of 0x40 go on
    while table[handler - 1] & 0x40:
        handler += 1
    end = handler
    while end < len(table) and not table[end] & 0x80:  # where the next entry starts
        end += 1
    covered = bytes((0x80, table[0] & 0x3F)) + table[handler:end]
    function.__code__ = code.replace(co_exceptiontable=covered + table)
    return function


@from_entry
def undone(undo: Callable[[], None], call: Callable[..., T], /, *args: Any, **kwargs: Any) -> T:
    """``call(*args, **kwargs)``, and ``undo()`` in any case.

    Args:
        undo: makes things as they were before the call; may be called again.
        call: what changes them.
        *args: its arguments.
        **kwargs: its keyword arguments.
    """
    try:
        return call(*args, **kwargs)
    finally:
        try:
            undo()
        except Exception:
            raise
        except BaseException:  # an interrupt, before all was done
            undo()
            raise


@from_entry
def surely(undo: Callable[[], object]) -> None:
    """``undo()``, and once more where an interrupt came first or in between."""
    try:
        undo()
    except BaseException:
        undo()
        raise


def leaving(undo: Callable[[Any], None]) -> Callable[..., None]:
    """An ``__exit__`` that undoes something, whatever instant an interrupt comes at.

    Args:
        undo: makes things as they were before ``__enter__``; may be called again if it was interrupted.
    """

    @from_entry
    def __exit__(self: Any, *exc_info: object) -> None:
        try:
            undo(self)
        except BaseException:
            undo(self)
            raise

    return __exit__


class _Context(contextlib._GeneratorContextManager[T]):
    """One of the standard library's that also ends where an interrupt comes as it begins to."""

    gen: Generator[T, Any, Any]

    @from_entry
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool | None:
        try:
            return super().__exit__(kind, error, trace)
        except BaseException:
            self.gen.close()
            raise


def contextmanager(make: Callable[P, Iterator[T]]) -> Callable[P, _Context[T]]:
    """As `contextlib.contextmanager`: the block ends also where an interrupt comes at its end."""

    @wraps(make)
    def made(*args: P.args, **kwargs: P.kwargs) -> _Context[T]:
        return _Context(cast(Any, make), args, kwargs)

    return made
