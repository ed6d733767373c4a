"""Plans: how recorded ops are launched, kept by the structure of the trace."""

from __future__ import annotations

import threading
from collections import Counter, OrderedDict
from collections.abc import Sequence
from typing import Any, Final

from mindtorch_core.backend import fork_safe, numel
from mindtorch_core.dispatch.pipeline import Entry, Plan, Step

from .compiled import compute_compiled
from .group import compute
from .grouping import Block, group_entries
from .remaking import computed_again
from .survey import Survey

__all__ = ["plan"]

_OUTLINES: Final = 8  # kept of one structure


def plan(entries: Sequence[Entry | None]) -> Plan | None:
    """Plan a launch; None where no op gains from it, or the order must stay as it is."""
    survey = Survey(entries)
    if not survey.large or survey.hidden_aliases():
        return None
    grouping = _PLANS.get(survey.structure)
    cached = grouping is not None
    if grouping is None:
        grouping = _Grouping(group_entries(entries))
        _PLANS.put(survey.structure, grouping)
    outline = grouping.outline(entries, survey)
    notes: Counter[str] = Counter()
    kernels: dict[str, dict[str, Any]] = {}
    return Plan(
        outline.steps(entries, notes, kernels),
        groups=outline.groups,
        fused=outline.fused,
        peak_bytes=outline.peak_bytes,
        cached=cached,
        notes=notes,
        kernels=kernels,
    )


class _Grouping:
    """The groups of all launches of one structure; it refers to no tensor and no op."""

    __slots__ = ("_blocks", "_outlines")

    def __init__(self, blocks: list[Block]) -> None:
        self._blocks = blocks
        self._outlines: dict[tuple[bool, ...], _Outline] = {}

    def outline(self, entries: Sequence[Entry | None], survey: Survey) -> _Outline:
        """What to do where the same results are visible."""
        found = self._outlines.get(survey.visible)
        if found is None:
            if len(self._outlines) >= _OUTLINES:
                self._outlines.clear()
            found = self._outlines[survey.visible] = _Outline(self._blocks, entries, survey)
        return found


class _Outline:
    """The steps of launches of one structure of which the same results are visible.

    Attributes:
        groups, fused: how many groups there are, and how many entries they have.
        peak_bytes: what the launch holds in memory at its fullest moment.
    """

    def __init__(
        self, blocks: list[Block], entries: Sequence[Entry | None], survey: Survey
    ) -> None:
        self.groups = self.fused = 0
        self._steps: list[Step | _Group] = []
        memory = _Memory(survey)
        again = computed_again(blocks, entries, survey)
        for at, block in enumerate(blocks):
            if block.shape is None or not numel(block.shape):
                for i in block.entries:
                    self._steps.append(Step((i,)))
                    memory.step([i], _present(entries, [i]), [True])
                continue
            group = _Group(at, block, entries, survey, again)
            if not group.own:
                continue  # later groups compute all of it
            self._steps.append(group)
            memory.step(group.own, _present(entries, group.own), group.needed_of_own)
            self.groups += 1
            self.fused += len(group.own)
        self.peak_bytes = memory.peak

    def steps(
        self,
        entries: Sequence[Entry | None],
        notes: Counter[str],
        kernels: dict[str, dict[str, Any]],
    ) -> list[Step | None]:
        """The steps of a launch of these entries."""
        return [
            step
            if isinstance(step, Step)
            else Step(
                step.own,
                _Launcher(step, _present(entries, step.block.entries), notes, kernels),
                step.borrowed,
            )
            for step in self._steps
        ]


class _Group:
    """What a step computes: a block, and values of earlier ones that are not kept for it.

    Attributes:
        block: all that is computed.
        needed: of each of its entries, whether its result is used outside.
        own: positions of the entries that are launched by this step.
        borrowed: positions of those that a later step launches, which needs them as well.
        needed_of_own: `needed`, of these alone.
    """

    __slots__ = ("block", "borrowed", "needed", "own")

    def __init__(
        self, at: int, block: Block, entries: Sequence[Entry | None], survey: Survey,
        again: dict[int, set[int]],
    ) -> None:  # fmt: skip
        more = {i for i, where in again.items() if at in where}
        self.block = block.with_more(more) if more.difference(block.entries) else block
        positions = self.block.entries
        inside = set(positions)
        self.needed = [
            i not in again and _needed(e, survey, inside)
            for i, e in zip(positions, _present(entries, positions), strict=True)
        ]
        self.borrowed = tuple([i for i in positions if i in again and max(again[i]) > at])
        self.own = tuple([i for i in positions if i not in self.borrowed])

    @property
    def needed_of_own(self) -> list[bool]:
        own = set(self.own)
        return [want for i, want in zip(self.block.entries, self.needed, strict=True) if i in own]


def _present(entries: Sequence[Entry | None], positions: Sequence[int]) -> list[Entry]:
    return [e for i in positions if (e := entries[i]) is not None]


class _Launcher:
    """Launches a group.

    Attributes:
        note: how it was computed, once it was.
        trusted: it fills memory that it has made itself.
    """

    trusted: Final = True

    __slots__ = ("_group", "_kernels", "_members", "_notes", "note")

    def __init__(
        self, group: _Group, members: list[Entry], notes: Counter[str],
        kernels: dict[str, dict[str, Any]],
    ) -> None:  # fmt: skip
        self._group = group
        self._members = members
        self._notes = notes
        self._kernels = kernels
        self.note: str | None = None

    def __call__(self) -> Sequence[Any]:
        """Compute the results."""
        group = self._group
        found = self._compute()
        if not group.borrowed:
            return found
        lent = set(group.borrowed)
        return [r for i, r in zip(group.block.entries, found, strict=True) if i not in lent]

    def _compute(self) -> Sequence[Any]:
        """The results of all entries."""
        block, needed = self._group.block, self._group.needed
        found = compute_compiled(block, self._members, needed)
        if isinstance(found, str):
            self._count(f"in tiles: {found}")
            return compute(block, self._members, needed)
        results, used = found
        for kernel in used:
            about = self._kernels.setdefault(
                kernel.name,
                {"launches": 0, "operations": len(kernel.program.graph.nodes),
                 "seconds": kernel.seconds, "source": kernel.source},
            )  # fmt: skip
            about["launches"] += 1
        self._count("compiled", f": {', '.join(kernel.name for kernel in used)}")
        return results

    def _count(self, how: str, more: str = "") -> None:
        self._notes[how] += 1
        self.note = how + more


def _needed(entry: Entry, survey: Survey, inside: set[int]) -> bool:
    """Whether an entry's result is used outside its group."""
    key = id(entry.outs[0])
    return key in survey.live or any(i not in inside for i in survey.users.get(key, ()))


class _Memory:
    """Follows what the launch will hold in memory.

    Attributes:
        peak: bytes at the fullest moment, without what was there before.
    """

    __slots__ = ("_held", "_last", "_live", "_now", "peak")

    def __init__(self, survey: Survey) -> None:
        self._live = survey.live
        self._held: dict[int, int] = {}  # by id of a result that only the trace holds, its bytes
        self._last: dict[int, int] = {k: max(users) for k, users in survey.users.items()}
        self._now = 0
        self.peak = 0

    def step(
        self, positions: Sequence[int], members: Sequence[Entry], needed: Sequence[bool]
    ) -> None:
        """Account for one step: what it makes, and what nobody uses after it."""
        for entry, want in zip(members, needed, strict=True):
            if not want or entry.op.writes or entry.op.view:
                continue
            for t in entry.outs:
                size = numel(t.raw_shape) * t.raw_dtype.itemsize
                self._now += size
                if id(t) not in self._live:
                    self._held[id(t)] = size
        self.peak = max(self.peak, self._now)
        end = max(positions)
        for key in [k for k in self._held if self._last.get(k, -1) <= end]:
            self._now -= self._held.pop(key)


class _Plans:
    """Groupings by the structure of the trace; the least recently used go first."""

    def __init__(self, bound: int) -> None:
        self._bound = bound
        self._lock = fork_safe(threading.RLock())
        self._kept: OrderedDict[Any, _Grouping] = OrderedDict()

    def get(self, structure: Any) -> _Grouping | None:
        """A grouping made earlier for this structure."""
        with self._lock:
            found = self._kept.get(structure)
            if found is not None:
                self._kept.move_to_end(structure)
            return found

    def put(self, structure: Any, grouping: _Grouping) -> None:
        """Keep a grouping."""
        with self._lock:
            self._kept[structure] = grouping
            if len(self._kept) > self._bound:
                self._kept.popitem(last=False)


_PLANS: Final = _Plans(256)
