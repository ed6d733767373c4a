"""What a launch remembers of ops whose results it does not hold."""

from __future__ import annotations

import weakref
from types import CodeType
from typing import NamedTuple

from ..tensors.storage import Storage
from ..tensors.tensor import Tensor
from ..values.errors import PipelineError
from .failures import error_from
from .trace import Entry, RecordedOp, tensors_of

__all__ = ["Collected", "Omitted"]


class Omitted(NamedTuple):
    """A result for which a step gave no value, of which nothing is held.

    Attributes:
        op: its op.
        where: the code object and instruction that recorded the op.
        tensor, storage: what was handed out.
    """

    op: RecordedOp
    where: tuple[CodeType, int]
    tensor: weakref.ref[Tensor]
    storage: weakref.ref[Storage]


class Collected:
    """An op that a batch may hold: what an error says of it, and its results that are still alive."""

    __slots__ = ("_inputs", "_op", "_results", "_where", "position")

    def __init__(self, position: int, entry: Entry) -> None:
        op, args, kwargs, outs, code, instruction = entry
        self.position = position
        self._op = op
        self._where = code, instruction
        self._results = [weakref.ref(t) for t in outs]
        operands = tensors_of((*args, *kwargs.values())) if kwargs else tensors_of(args)
        self._inputs = [(t._shape, t._dtype) for t in operands]

    def results(self) -> tuple[Tensor, ...]:
        """The results that somebody still holds."""
        return tuple(t for ref in self._results if (t := ref()) is not None)

    def error(self, cause: BaseException) -> PipelineError:
        """What is said if it could not be sent."""
        return error_from(self._op, self._inputs, self._where, cause)
