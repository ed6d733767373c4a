"""What a pipeline counts."""

from __future__ import annotations

from collections import Counter
from types import CodeType
from typing import Any, Final

from .frames import user_line
from .trace import Plan, location_of

__all__ = ["Counts"]

_MANY: Final = 64


class Counts:
    """What one pipeline has done so far; see `Pipeline.stats`."""

    __slots__ = (
        "breaks", "counted", "dropped", "followed", "fused_groups", "fused_ops", "kernels", "launched",
        "launching", "notes", "peak_bytes", "places", "plan_hits", "planning", "walks",
    )  # fmt: skip

    def __init__(self) -> None:
        self.launched = 0
        self.dropped = 0
        self.followed = 0
        self.fused_groups = 0
        self.fused_ops = 0
        self.peak_bytes = 0
        self.plan_hits = 0
        self.walks = 0
        self.planning = 0.0
        self.launching = 0.0
        self.breaks: dict[str, int] = {}  # plain ones: a Counter takes longer to make than an op
        # Of flushes, why and where: as they came, and counted.
        self.places: list[tuple[str, CodeType, int]] = []
        self.counted: dict[tuple[str, CodeType, int], int] = {}
        self.notes: list[Counter[str]] = []  # of plans, which fill them as they are launched
        self.kernels: list[dict[str, dict[str, Any]]] = []  # the same

    def flush(self, reason: str, depth: int = 1) -> None:
        """Count a flush, with the user's line that made it necessary.

        Args:
            reason: why it is.
            depth: how many callers up that line is to be looked for.
        """
        self.places.append((reason, *user_line(depth)))
        if len(self.places) >= _MANY:
            self._count()

    def _count(self) -> None:
        """Count flushes at the same place: not at once, as code objects take long to look up."""
        places, self.places = self.places, []
        for place in places:
            self.counted[place] = self.counted.get(place, 0) + 1

    def break_off(self, reason: str) -> None:
        """Count an op that was not deferred, or a look at a value that left the rest for later."""
        self.breaks[reason] = self.breaks.get(reason, 0) + 1

    def plan(self, plan: Plan) -> None:
        """Count what a plan does."""
        self.fused_groups += plan.groups
        self.fused_ops += plan.fused
        self.plan_hits += plan.cached
        self.peak_bytes = max(self.peak_bytes, plan.peak_bytes)
        if plan.notes is not None:
            self.notes = [sum(self.notes, Counter()), plan.notes]
        if plan.kernels is not None:
            self.kernels = [_together(self.kernels), plan.kernels]

    def replayed(self, ops: int, needed: int, peak_bytes: int, seconds: float) -> None:
        """Count a flush of what followed a known trace.

        Args:
            ops: how many there were.
            needed: how many of them had to be computed.
            peak_bytes: memory that they took at most.
            seconds: how long that took.
        """
        self.launched += ops
        self.followed += ops
        self.dropped += ops - needed
        self.plan_hits += 1
        if peak_bytes > self.peak_bytes:
            self.peak_bytes = peak_bytes
        self.launching += seconds

    def as_dict(self, pending: int, recording: float | None) -> dict[str, Any]:
        """The counts as `Pipeline.stats` gives them.

        Args:
            pending: number of ops that wait.
            recording: seconds spent recording, if they were measured.
        """
        seconds = {"plan": self.planning, "launch": self.launching}
        if recording is not None:
            seconds["record"] = recording
        lines: dict[str, int] = {}
        reasons: dict[str, int] = {}
        self._count()
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
            "seconds": seconds,
            "breaks": dict(self.breaks),
        }


def _together(plans: list[dict[str, dict[str, Any]]]) -> dict[str, dict[str, Any]]:
    """What is said of kernels of some plans, with the launches of all."""
    found: dict[str, dict[str, Any]] = {}
    for plan in plans:
        for name, about in plan.items():
            before = found.get(name, {}).get("launches", 0)
            found[name] = {**about, "launches": before + about.get("launches", 0)}
    return found
