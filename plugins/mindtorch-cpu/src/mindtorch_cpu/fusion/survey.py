"""What one walk over the recorded ops of a launch tells, all that planning has to know of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from numpy.lib.array_utils import byte_bounds

from mindtorch_core.backend import REFERENCES_OF_A_LOOK, Tensor, numel
from mindtorch_core.dispatch.pipeline import Entry

from ..arrays import CPU
from .classify import reduction_of
from .grouping import memory_of
from .limits import LIMITS

__all__ = ["Survey"]

_getrefcount = sys.getrefcount


class Survey:
    """One walk over the entries of a launch.

    Attributes:
        results: by id, the tensors that entries make or write.
        users: by id of a tensor, the positions of the entries that take it.
        live: ids of results that somebody outside the trace can see.
        large: whether an operand or a result is worth fusing.
        structure: what groups depend on: ops, shapes, layouts, which arguments share memory, and how
            reductions reduce. Other arguments are read at launch.
        visible: which results are live, in order of appearance.
        written: memory that entries write.
    """

    __slots__ = (
        "_internal", "_memories", "_operands", "_parts", "_places", "_sharers", "large", "live",
        "results", "structure", "users", "visible", "written",
    )  # fmt: skip

    def __init__(self, entries: Sequence[Entry | None]) -> None:
        self.results: dict[int, Tensor] = {}
        self.users: dict[int, list[int]] = {}
        self.large = False
        self._operands: dict[int, Tensor] = {}
        self.written: set[int] = set()
        self._internal: dict[int, int] = {}  # by id of a tensor, how often the trace refers to it
        self._sharers: dict[int, int] = {}  # by id of a storage, how many results it has
        self._places: dict[int, int] = {}  # tensors and memory by order of appearance
        self._memories: dict[int, int] = {}
        self._parts: list[Any] = [LIMITS.min_elements]
        # In a frame of its own, which leaves no references behind.
        for i, entry in enumerate(entries):
            self._add(i, entry)
        del entry
        self.live = {key for key in self.results if self._seen(key)}
        self.visible = tuple([key in self.live for key in self.results])
        self.structure = tuple(self._parts)

    def _add(self, i: int, entry: Entry | None) -> None:
        parts = self._parts
        if entry is None:
            parts.append(None)
            return
        op, args, kwargs, outs = entry.op, entry.args, entry.kwargs, entry.outs
        parts += op.number, len(outs)
        reduction = reduction_of(entry)
        if reduction is not None:
            parts += reduction.kept, reduction.keepdim
        for t in outs:
            self._describe(t)
            key = id(t)
            self._internal[key] = self._internal.get(key, 0) + 1
            if key not in self.results:
                self.results[key] = t
                self._sharers[id(t.raw_storage)] = self._sharers.get(id(t.raw_storage), 0) + 1
        if op.writes:
            self.written.update(map(memory_of, outs))
        for value in (*args, *kwargs.values()):
            if isinstance(value, Tensor):
                self._internal[id(value)] = self._internal.get(id(value), 0) + 1
                self._use(value, i)
            elif value.__class__ is list or value.__class__ is tuple:
                for each in value:  # the tuple may be the user's: its tensors count as seen
                    if isinstance(each, Tensor):
                        self._use(each, i)

    def _use(self, t: Tensor, i: int) -> None:
        self._describe(t)
        self._operands[id(t)] = t
        self.users.setdefault(id(t), []).append(i)

    def _describe(self, t: Tensor) -> None:
        shape, places, memories = t.raw_shape, self._places, self._memories
        self._parts += (
            places.setdefault(id(t), len(places)),
            memories.setdefault(memory_of(t), len(memories)),
            shape,
            t.raw_dtype,
            t.raw_geometry(),
        )
        if not self.large and numel(shape) >= LIMITS.min_elements:
            self.large = True

    def _seen(self, key: int) -> bool:
        """Whether there are more references than the trace's, those of two dicts and this look's."""
        result = self.results[key]
        held = self._internal[key] + (key in self._operands)
        if _getrefcount(result) > held + 1 + REFERENCES_OF_A_LOOK:
            return True
        storage = result.raw_storage
        return storage is not None and (
            _getrefcount(storage) > self._sharers[id(storage)] + REFERENCES_OF_A_LOOK
            or storage.memory is not None
        )

    def hidden_aliases(self) -> bool:
        """Whether memory that is written overlaps what does not share its storage.

        The user may have made both of one array. Neither the order of groups nor that of the ops on
        a tile takes it into account.
        """
        written = self.written
        if not written:
            return False
        bounds: dict[int, tuple[int, int]] = {}
        for t in self._operands.values():
            if t.raw_data is not None and t.raw_device is CPU and t.raw_data.size:
                low, high = byte_bounds(t.raw_data)
                first, last = bounds.get(memory_of(t), (low, high))
                bounds[memory_of(t)] = min(first, low), max(last, high)
        end = end_of_written = 0
        for (low, high), memory in sorted((span, memory) for memory, span in bounds.items()):
            if low < (end if memory in written else end_of_written):
                return True
            end = max(end, high)
            if memory in written:
                end_of_written = max(end_of_written, high)
        return False
