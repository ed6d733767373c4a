"""Where the tensors of a part of a block stood, for a backward pass that the next part begins with."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, NamedTuple

from ...tensors.tensor import Tensor
from ..programs.describing import Description

__all__ = ["Before", "Identities"]


class Identities:
    """Places of what was recorded, by identity; nothing of it is held.

    Attributes:
        metas: by id of a place in the graph, that place, and where the tensor there stands.
        made: where results of ops stand.
        numbers: the Python numbers.
        known: the trace that it has become.
    """

    __slots__ = ("_storages", "_tensors", "known", "made", "metas", "numbers")

    known: object

    def __init__(self, found: Description) -> None:
        self.metas: dict[int, tuple[weakref.ref[Any], int]] = {}
        self._storages: dict[int, list[tuple[weakref.ref[Any], int, tuple[Any, ...]]]] = {}
        self._tensors = {id(t): (weakref.ref(t), n) for n, t in enumerate(found.tensors)}
        inputs = {id(t) for t in found.inputs}
        self.made = {n for n, t in enumerate(found.tensors) if id(t) not in inputs}
        self.numbers = [*found.numbers]
        for n, t in enumerate(found.tensors):
            if t._autograd is not None:
                self.metas[id(t._autograd)] = weakref.ref(t._autograd), n
            s = t._own_storage()
            self._storages.setdefault(id(s), []).append((weakref.ref(s), n, _look(t)))

    @classmethod
    def of(cls, found: Description) -> Identities | None:
        """The identities of what was recorded; None where nothing of it requires grad."""
        return cls(found) if any(t._autograd is not None for t in found.tensors) else None

    def place_of(self, t: Tensor) -> int | None:
        """Where a tensor stood, or one like it over the same memory."""
        own = self._tensors.get(id(t))
        if own is not None and own[0]() is t:
            return own[1]
        s = t._storage
        for ref, n, look in self._storages.get(id(s), ()):
            if ref() is s and look == _look(t):
                return n
        return None


class Before(NamedTuple):
    """What a part of a block that was replayed has left, for the next one.

    Attributes:
        known: the trace that was replayed.
        values: by place; the places in the graph that they had, and the numbers.
    """

    known: object
    values: Sequence[Any]
    metas: Sequence[Any]
    numbers: Sequence[Any]


def _look(t: Tensor) -> tuple[Any, ...]:
    return t._shape, t._dtype, t._geometry()
