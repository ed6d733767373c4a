"""Measuring the same statement in several libraries, and the ratios of what they take.

Absolute times say little on a machine that does other things as well, so peers take turns
(A B C A B C ...) within a round, a round keeps each peer's fastest turn, and the figure reported is
the median over rounds of the ratio of two peers. Processor time is measured, all threads together.
"""

from __future__ import annotations

import gc
import math
import statistics
import time
import timeit
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

__all__ = [
    "OURS",
    "Case",
    "Group",
    "Measured",
    "Namespace",
    "Schedule",
    "geometric_mean",
    "interleaved",
    "measure_case",
    "measure_group",
    "same",
    "statement_timer",
    "summarise",
]

OURS: Final = "mindtorch"
TURN: Final = (
    3e-3  # seconds one turn of one peer takes: short enough to fit between other processes
)

Namespace = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One statement in each library; ``statements`` maps a peer to its source text."""

    name: str
    statements: Mapping[str, str]


@dataclass(frozen=True)
class Group:
    """Cases that are summed up by one figure, the geometric mean of their ratios to PyTorch.

    Attributes:
        name: what it is called.
        target: the mean aimed at; None where there is no aim.
        cases: its members.
        make: gives, for a peer, the names its statements use.
        settle: waits until what was queued on the device is done; None where nothing is queued.
    """

    name: str
    target: float | None
    cases: tuple[Case, ...]
    make: Callable[[str], Namespace] = lambda peer: {}
    settle: Callable[[], None] | None = None


@dataclass(frozen=True)
class Schedule:
    """How often things are measured."""

    rounds: int = 7
    turns: int = 5


@dataclass
class Measured:
    """One case's result: nanoseconds per call by peer, and ours relative to each other peer's."""

    ns: dict[str, float]
    ratio: dict[str, float]


def same(name: str, statement: str, numpy: str = "") -> Case:
    """A case with one text for mindtorch and PyTorch, and perhaps one for NumPy."""
    both = {OURS: statement, "torch": statement}
    return Case(name, {**both, "numpy": numpy} if numpy else both)


def interleaved(timers: Mapping[str, Callable[[], float]], schedule: Schedule) -> Measured:
    """Let timers (each gives seconds per call) take turns; ours is compared with the others."""
    rounds: list[dict[str, float]] = []
    for number in range(schedule.rounds):
        names = list(timers) if number % 2 == 0 else list(timers)[::-1]
        best = dict.fromkeys(timers, math.inf)
        for _ in range(schedule.turns):
            for name in names:
                best[name] = min(best[name], timers[name]())
        rounds.append(best)
    return Measured(
        {n: round(statistics.median(r[n] for r in rounds) * 1e9, 1) for n in timers},
        {
            n: round(statistics.median(r[OURS] / r[n] for r in rounds), 4)
            for n in timers
            if n != OURS
        },
    )


def statement_timer(
    statement: str, names: Namespace, settle: Callable[[], None] | None = None
) -> Callable[[], float]:
    """Seconds per execution of a statement, measured over about `TURN` seconds.

    Args:
        statement: its source text.
        names: what it uses.
        settle: called at the end of each turn, and part of it.
    """
    # The garbage collector stays on: what a library leaves to it is part of its cost.
    scope = {**names, "gc": gc}
    timer = timeit.Timer(statement, "gc.enable()", time.process_time, scope)
    timer.timeit(100)  # the first calls fill caches and would mislead the choice of count
    count = 1
    while (took := timer.timeit(count)) < TURN / 4:
        count = max(count * 2, int(count * TURN / 4 / max(took, 1e-7)))
    count = max(1, int(count * TURN / took))
    if settle is None:
        return lambda: timer.timeit(count) / count

    def settled() -> float:
        settle()
        start = time.process_time()
        timer.timeit(count)
        settle()
        return (time.process_time() - start) / count

    return settled


def measure_case(group: Group, case: Case, peers: Iterable[str], schedule: Schedule) -> Measured:
    """Measure one case of a group in every peer that has a statement for it."""
    timers = {
        peer: statement_timer(
            case.statements[peer], group.make(peer), group.settle if peer == OURS else None
        )
        for peer in peers
        if peer in case.statements
    }
    gc.collect()
    gc.freeze()
    return interleaved(timers, schedule)


def measure_group(group: Group, peers: Iterable[str], schedule: Schedule) -> dict[str, Measured]:
    """Measure every case of a group."""
    wanted = list(peers)
    return {case.name: measure_case(group, case, wanted, schedule) for case in group.cases}


def geometric_mean(values: Iterable[float]) -> float:
    """Geometric mean, to four places."""
    return round(statistics.geometric_mean(values), 4)


def summarise(group: Group, measured: Mapping[str, Measured]) -> dict[str, float]:
    """A group's figures: the mean ratio to each peer, and the target for PyTorch."""
    out = {
        peer: geometric_mean(found)
        for peer in ("torch", "numpy")
        if (found := [m.ratio[peer] for m in measured.values() if peer in m.ratio])
    }
    return out if group.target is None else {**out, "target": group.target}
