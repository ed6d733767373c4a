"""Nested states as one table of values, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Any

from ...tensors.tensor import Tensor

__all__ = ["Stateful", "flattened", "put", "states_of"]

Path = tuple[str | int, ...]


class _StatefulKind(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return all(callable(getattr(instance, n, None)) for n in ("state_dict", "load_state_dict"))


class Stateful(metaclass=_StatefulKind):
    """Anything with ``state_dict()`` and ``load_state_dict(state_dict)``: modules, optimizers, schedulers.

    `save` asks it for its state. `load` asks for it too, to know what is wanted, fills it, and hands it back.
    """

    def state_dict(self) -> dict[str, Any]:
        """What is to be kept."""
        raise NotImplementedError

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what was kept."""
        raise NotImplementedError


def states_of(state_dict: Mapping[str, Any]) -> dict[str, Any]:
    """A state with the states of the objects in it."""
    return {
        key: value.state_dict() if isinstance(value, Stateful) else value
        for key, value in state_dict.items()
    }


def flattened(state: Mapping[str, Any]) -> dict[str, tuple[Path, Any]]:
    """Values by their paths joined with dots, with the paths themselves: keys as texts, and numbers in lists.

    Dicts are gone into, and lists that hold tensors or dicts.

    Raises:
        ValueError: if two values have one name.
    """
    found: dict[str, tuple[Path, Any]] = {}
    for path, value in _walk(state, ()):
        name = ".".join(map(str, path))
        if name in found:
            raise ValueError(f"two values of the state are called {name!r}")
        found[name] = path, value
    return found


def _walk(value: Any, path: Path) -> Iterator[tuple[Path, Any]]:
    if isinstance(value, Mapping) and value:
        for key, each in value.items():
            yield from _walk(each, (*path, str(key)))
    elif isinstance(value, list | tuple) and any(map(_branches, value)):
        for number, each in enumerate(value):
            yield from _walk(each, (*path, number))
    else:
        yield path, value


def _branches(value: Any) -> bool:
    """Whether a list is gone into for the sake of a value in it."""
    if isinstance(value, Tensor | Mapping):
        return True
    return isinstance(value, list | tuple) and any(map(_branches, value))


def put(state: Any, path: Path, value: Any, *, make: bool = False) -> None:
    """Write a value where its path leads.

    Args:
        state: nested dicts and lists.
        path: keys of dicts as texts, and numbers in lists.
        value: to be written.
        make: whether dicts and lists on the way are made.

    Raises:
        TypeError: if that is within a tuple.
    """
    for key, after in pairwise(path):
        if make:
            _make(state, key, [] if isinstance(after, int) else {})
        state = state[_key(state, key)]
    if isinstance(state, tuple):
        raise TypeError(f"the value at {path} lies in a tuple, which cannot be written: use a list")
    if make:
        _make(state, path[-1], None)
    state[_key(state, path[-1])] = value


def _key(state: Any, key: str | int) -> Any:
    """The key of a dict whose text it is."""
    if isinstance(state, Mapping) and key not in state:
        return next((own for own in state if str(own) == key), key)
    return key


def _make(state: Any, key: Any, empty: Any) -> None:
    """Have a place for a key."""
    if isinstance(state, list):
        state.extend([None] * (key + 1 - len(state)))
        if state[key] is None:
            state[key] = empty
    else:
        state.setdefault(key, empty)
