"""Plans: how recorded ops are launched, kept by the structure of the trace."""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, Final

from numpy.lib.array_utils import byte_bounds

from mindtorch_core.dispatch.pipeline import Entry, Plan, Step
from mindtorch_core.shapes import numel
from mindtorch_core.tensor import Tensor

from ..arrays import CPU
from .group import compute
from .grouping import Block, group_entries, memory_of, operands_of
from .limits import LIMITS

__all__ = ["plan"]

_getrefcount = sys.getrefcount


def plan(entries: Sequence[Entry | None]) -> Plan | None:
    """Plan a launch; None where no op gains from it, or the order must stay as it is."""
    if not any(e is not None and _is_large(e) for e in entries) or _hidden_aliases(entries):
        return None
    key = structure_of(entries)
    blocks = _PLANS.get(key)
    cached = blocks is not None
    if blocks is None:
        blocks = group_entries(entries)
        _PLANS.put(key, blocks)
    seen = _Uses(entries)
    steps: list[Step | None] = []
    groups = fused = 0
    memory = _Memory(seen)
    for block in blocks:
        positions = tuple(block.entries)
        if block.shape is None or not numel(block.shape):
            for i in positions:
                entry = entries[i]
                if entry is not None:
                    steps.append(Step((i,)))
                    memory.step((i,), [entry], [True])
            continue
        inside = set(positions)
        members = [e for i in positions if (e := entries[i]) is not None]
        needed = [_needed(e, seen, inside) for e in members]
        steps.append(Step(positions, _launcher(block, members, needed)))
        memory.step(positions, members, needed)
        groups += 1
        fused += len(positions)
    return Plan(steps, groups=groups, fused=fused, peak_bytes=memory.peak, cached=cached)


def _hidden_aliases(entries: Sequence[Entry | None]) -> bool:
    """Whether memory that is written overlaps what does not share its storage.

    The user may have made both of one array. Neither the order of groups nor that of the ops on a
    tile takes it into account.
    """
    written = {memory_of(e[3][0]) for e in entries if e is not None and e[0].writes}
    if not written:
        return False
    operands = {id(t): t for e in entries if e is not None for t in operands_of(e)}
    bounds: dict[int, tuple[int, int]] = {}
    for t in operands.values():
        if t._data is not None and t._device is CPU and t._data.size:
            low, high = byte_bounds(t._data)
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


class _Memory:
    """Follows what the launch will hold in memory.

    Attributes:
        peak: bytes at the fullest moment, without what was there before.
    """

    __slots__ = ("_held", "_last", "_now", "_seen", "peak")

    def __init__(self, seen: _Uses) -> None:
        self._seen = seen
        self._held: dict[int, int] = {}  # by id of a result that only the trace holds, its bytes
        self._last: dict[int, int] = {k: max(users) for k, users in seen.users.items()}
        self._now = 0
        self.peak = 0

    def step(
        self, positions: Sequence[int], members: Sequence[Entry], needed: Sequence[bool]
    ) -> None:
        """Account for one step: what it makes, and what nobody uses after it."""
        for entry, want in zip(members, needed, strict=True):
            if not want or entry[0].writes or entry[0].view:
                continue
            for t in entry[3]:
                size = numel(t._shape) * t._dtype.itemsize
                self._now += size
                if id(t) not in self._seen.live:
                    self._held[id(t)] = size
        self.peak = max(self.peak, self._now)
        end = max(positions)
        for key in [k for k in self._held if self._last.get(k, -1) <= end]:
            self._now -= self._held.pop(key)


class _Plans:
    """Groupings by the structure of the trace; the least recently used go first."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._lock = threading.Lock()
        self._kept: OrderedDict[Any, list[Block]] = OrderedDict()

    def get(self, key: Any) -> list[Block] | None:
        """A grouping made earlier for this structure."""
        if key is None:
            return None
        with self._lock:
            found = self._kept.get(key)
            if found is not None:
                self._kept.move_to_end(key)
            return found

    def put(self, key: Any, blocks: list[Block]) -> None:
        """Keep a grouping."""
        if key is None:
            return
        with self._lock:
            self._kept[key] = blocks
            if len(self._kept) > self._bound:
                self._kept.popitem(last=False)


_PLANS: Final = _Plans(256)


def structure_of(entries: Sequence[Entry | None]) -> Any:
    """What a grouping depends on: ops, shapes, layouts, and which arguments share memory.

    Returns:
        A hashable key, or None where an argument has no hash.
    """
    values: dict[int, int] = {}
    memories: dict[int, int] = {}

    def described(value: Any) -> Any:
        if value.__class__ is Tensor:
            place = values.setdefault(id(value), len(values))
            memory = memories.setdefault(memory_of(value), len(memories))
            return place, memory, value._shape, value._dtype, value._geometry()
        if value.__class__ is list or value.__class__ is tuple:
            return tuple(map(described, value))
        return value.__class__, value

    parts: list[Any] = [LIMITS.min_elements]
    for entry in entries:
        if entry is None:
            parts.append(None)
            continue
        op, args, kwargs, outs = entry[0], entry[1], entry[2], entry[3]
        parts.append((op, described(args), described(tuple(kwargs.items())), described(outs)))
    key = tuple(parts)
    try:
        hash(key)
    except TypeError:
        return None
    return key


def _is_large(entry: Entry) -> bool:
    return any(numel(t._shape) >= LIMITS.min_elements for t in (*entry[3], *operands_of(entry)))


def _launcher(
    block: Block, members: list[Entry], needed: list[bool]
) -> Callable[[], Sequence[Any]]:
    return lambda: compute(block, members, needed)


class _Uses:
    """Who refers to the results of a trace.

    Attributes:
        results: by id, the tensors that entries make or write.
        internal: by id of a tensor, how many references to it the trace holds.
        sharers: by id of a storage, how many results it has.
        users: by id of a tensor, the positions of the entries that take it.
        live: ids of results that somebody outside the trace can see.
    """

    __slots__ = ("internal", "live", "results", "sharers", "users")

    def __init__(self, entries: Sequence[Entry | None]) -> None:
        self.results: dict[int, Tensor] = {}
        self.internal: dict[int, int] = {}
        self.sharers: dict[int, int] = {}
        self.users: dict[int, list[int]] = {}
        self._count(entries)
        self.live = {key for key in self.results if self._seen(key)}

    def _count(self, entries: Sequence[Entry | None]) -> None:
        """Count the trace's own references, in a frame that leaves none of its own behind."""
        internal = self.internal
        for i, entry in enumerate(entries):
            if entry is None:
                continue
            for t in entry[3]:
                internal[id(t)] = internal.get(id(t), 0) + 1
                if id(t) not in self.results:
                    self.results[id(t)] = t
                    self.sharers[id(t._storage)] = self.sharers.get(id(t._storage), 0) + 1
            for value in (*entry[1], *entry[2].values()):
                if value.__class__ is Tensor:
                    internal[id(value)] = internal.get(id(value), 0) + 1
                    self.users.setdefault(id(value), []).append(i)
                elif value.__class__ is list or value.__class__ is tuple:
                    for each in value:  # the list may be the user's: its tensors count as seen
                        if each.__class__ is Tensor:
                            self.users.setdefault(id(each), []).append(i)

    def _seen(self, key: int) -> bool:
        """Whether there are more references than the trace's, the dict's and this call's."""
        if _getrefcount(self.results[key]) > self.internal[key] + 2:
            return True
        storage = self.results[key]._storage
        return storage is not None and (
            _getrefcount(storage) > self.sharers[id(storage)] + 2 or storage.memory is not None
        )


def _needed(entry: Entry, uses: _Uses, inside: set[int]) -> bool:
    """Whether an entry's result is used outside its group."""
    key = id(entry[3][0])
    return key in uses.live or any(i not in inside for i in uses.users.get(key, ()))
