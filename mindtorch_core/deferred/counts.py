"""What a pipeline counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import CodeType
from typing import Any, Final

from .frames import user_line
from .observers import BROKEN_OFF
from .trace import Plan, location_of

__all__ = ["Counts"]

_MANY: Final = 64


class Counts:
    """What one pipeline has done so far; see `Pipeline.stats`.

    What it begins with is found at the class, and never changed there: most pipelines have one block.

    Attributes:
        places: of flushes, why and where, as they came.
        counted: the same, counted.
        replays: flushes of what followed a known trace, as they came: what each did, see `replayed`, and
            the seconds it took.
        notes, kernels: of plans, which fill them as they are launched.
    """

    launched = 0
    dropped = 0
    followed = 0
    fused_groups = 0
    fused_ops = 0
    peak_bytes = 0
    plan_hits = 0
    remade = 0
    remade_bytes = 0
    walks = 0
    planning = 0.0
    launching = 0.0
    breaks: Mapping[str, int] = {}
    places: tuple[tuple[str, CodeType, int], ...] = ()
    counted: Mapping[tuple[str, CodeType, int], int] = {}
    replays: tuple[tuple[tuple[int, ...], float], ...] = ()
    notes: Sequence[Counter[str]] = ()
    kernels: Sequence[dict[str, dict[str, Any]]] = ()

    def flush(self, reason: str, line: tuple[CodeType, int] | None = None) -> None:
        """Count a flush, with the user's line that made it necessary.

        Args:
            reason: why it is.
            line: that line, as code object and instruction; it is looked for where None is given.
        """
        place = (reason, *(line or user_line(1)))
        self.places += (place,)
        if len(self.places) >= _MANY:
            self._count()

    def _count(self) -> None:
        """Count flushes at the same place: not at once, as code objects take long to look up."""
        self._add_replays()
        places, self.places = self.places, ()
        counted = dict(self.counted)
        for place in places:
            counted[place] = counted.get(place, 0) + 1
        self.counted = counted

    def only(self, reason: str) -> bool:
        """Whether all flushes so far, a few, were for one reason."""
        return not self.counted and all(place[0] == reason for place in self.places)

    def break_off(self, reason: str) -> None:
        """Count an op that was not deferred, or a look at a value that left the rest for later."""
        for tell in BROKEN_OFF:
            tell(reason)
        self.breaks = {**self.breaks, reason: self.breaks.get(reason, 0) + 1}

    def plan(self, plan: Plan) -> None:
        """Count what a plan does."""
        self.fused_groups += plan.groups
        self.fused_ops += plan.fused
        self.plan_hits += plan.cached
        self.peak_bytes = max(self.peak_bytes, plan.peak_bytes)
        self.made_again(plan.remade, plan.remade_bytes)
        if plan.notes is not None:
            self.notes = [sum(self.notes, Counter()), plan.notes]
        if plan.kernels is not None:
            self.kernels = [_together(self.kernels), plan.kernels]

    def made_again(self, values: int, saved: int) -> None:
        """Count values that a launch makes again, and by how many bytes less it holds for that."""
        self.remade += values
        self.remade_bytes = max(self.remade_bytes, saved)

    def replayed(self, reason: str, place: Any, did: tuple[int, ...], seconds: float) -> None:
        """Count a flush of what followed a known trace, which most blocks do but once.

        Args:
            reason: why it is.
            place: the line that made it necessary, see `flush`.
            did: how many ops there were, how many of them had to be computed, the memory that they took at
                most, how many values were made again, and by how many bytes less was held for it.
            seconds: how long that took.
        """
        if place is None:
            place = user_line(1)
        self.replays += ((did, seconds),)
        self.places += ((reason, *place),)
        if len(self.places) >= _MANY:
            self._count()

    def _add_replays(self) -> None:
        replays, self.replays = self.replays, ()
        for (ops, needed, peak_bytes, remade, saved), seconds in replays:
            self.launched += ops
            self.followed += ops
            self.dropped += ops - needed
            self.plan_hits += 1
            self.peak_bytes = max(self.peak_bytes, peak_bytes)
            self.made_again(remade, saved)
            self.launching += seconds

    def as_dict(self, pending: int, recording: float | None) -> dict[str, Any]:
        """The counts as `Pipeline.stats` gives them.

        Args:
            pending: number of ops that wait.
            recording: seconds spent recording, if they were measured.
        """
        self._count()
        seconds = {"plan": self.planning, "launch": self.launching}
        if recording is not None:
            seconds["record"] = recording
        lines: dict[str, int] = {}
        reasons: dict[str, int] = {}
        for (reason, code, instruction), times in self.counted.items():
            line = f"{reason} at {location_of(code, instruction)}"
            lines[line] = lines.get(line, 0) + times
            reasons[reason] = reasons.get(reason, 0) + times
        return {
            "recorded": self.launched + pending,
            "launched": self.launched,
            "replayed": self.followed,
            "replayed_walks": self.walks,
            "pending": pending,
            "dropped": self.dropped,
            "flushes": sum(reasons.values()),
            "flush_reasons": reasons,
            "flush_lines": lines,
            "fused_groups": self.fused_groups,
            "fused_ops": self.fused_ops,
            "group_notes": dict(sum(self.notes, Counter())),
            "kernels": _together(self.kernels),
            "plan_cache_hits": self.plan_hits,
            "peak_bytes": self.peak_bytes,
            "remade": self.remade,
            "remade_bytes": self.remade_bytes,
            "seconds": seconds,
            "breaks": dict(self.breaks),
        }


def _together(plans: Sequence[dict[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """What is said of kernels of some plans, with the launches of all."""
    found: dict[str, dict[str, Any]] = {}
    for plan in plans:
        for name, about in plan.items():
            before = found.get(name, {}).get("launches", 0)
            found[name] = {**about, "launches": before + about.get("launches", 0)}
    return found
