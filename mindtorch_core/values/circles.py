"""What holds itself has no end: functions that go through what values hold say so."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

__all__ = ["ending", "held_by_itself"]

F = TypeVar("F", bound=Callable[..., Any])
Contents = Callable[[Any], Iterable[Any] | None]


def _contents(value: Any) -> Iterable[Any] | None:
    """What a mapping, list or tuple holds; None for anything else."""
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else None


def held_by_itself(value: Any, contents: Contents = _contents) -> type | None:
    """The class of what holds itself, directly or in others; None if nothing does.

    Args:
        value: where to begin.
        contents: gives what a value holds, or None.
    """
    above: dict[int, Iterator[Any]] = {}
    child = value
    while True:
        if id(child) in above:
            return type(child)
        held = contents(child)
        if held is not None:
            above[id(child)] = iter(held)
        while above:
            last = next(reversed(above))
            child = next(above[last], above)
            if child is not above:
                break
            del above[last]
        else:
            return None


def ending(contents: Contents = _contents) -> Callable[[F], F]:
    """Decorator: where a function came to no end, its error says which of its arguments holds itself."""

    def decorate(fn: F) -> F:
        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            try:
                return fn(*args, **kwargs)
            except RecursionError:
                given = (*args, *kwargs.values())
                kind = next((k for a in given if (k := held_by_itself(a, contents))), None)
                if kind is None:
                    raise
            raise RecursionError(f"a {kind.__name__} that holds itself has no end")

        return call  # type: ignore[return-value]

    return decorate
