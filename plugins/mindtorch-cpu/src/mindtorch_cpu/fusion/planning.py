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
        # Single entries as steps, and groups with what is needed of each entry outside of it.
        self._steps: list[Step | tuple[Block, list[bool]]] = []
        memory = _Memory(survey)
        for block in blocks:
            if block.shape is None or not numel(block.shape):
                for i in block.entries:
                    self._steps.append(Step((i,)))
                    memory.step([i], _present(entries, [i]), [True])
                continue
            members = _present(entries, block.entries)
            inside = set(block.entries)
            needed = [_needed(e, survey, inside) for e in members]
            self._steps.append((block, needed))
            memory.step(block.entries, members, needed)
            self.groups += 1
            self.fused += len(members)
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
                tuple(step[0].entries),
                _Launcher(step[0], _present(entries, step[0].entries), step[1], notes, kernels),
            )
            for step in self._steps
        ]


def _present(entries: Sequence[Entry | None], positions: Sequence[int]) -> list[Entry]:
    return [e for i in positions if (e := entries[i]) is not None]


class _Launcher:
    """Launches a group.

    Attributes:
        note: how it was computed, once it was.
        trusted: it fills memory that it has made itself.
    """

    trusted: Final = True

    __slots__ = ("_block", "_kernels", "_members", "_needed", "_notes", "note")

    def __init__(
        self, block: Block, members: list[Entry], needed: list[bool], notes: Counter[str],
        kernels: dict[str, dict[str, Any]],
    ) -> None:  # fmt: skip
        self._block = block
        self._members = members
        self._needed = needed
        self._notes = notes
        self._kernels = kernels
        self.note: str | None = None

    def __call__(self) -> Sequence[Any]:
        """Compute the results."""
        found = compute_compiled(self._block, self._members, self._needed)
        if isinstance(found, str):
            self._count(f"in tiles: {found}")
            return compute(self._block, self._members, self._needed)
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
