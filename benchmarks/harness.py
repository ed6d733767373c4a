"""Measuring the same statement in several libraries, and showing the result as ratios.

Absolute times say little on a machine that does other things as well, so peers take turns
(A B C A B C ...) within a round, a round keeps each peer's fastest turn, and the figure reported is
the median over rounds of the ratio of two peers. Processor time is measured, all threads together.
"""

from __future__ import annotations

import gc
import importlib.metadata
import importlib.util
import json
import math
import os
import platform
import statistics
import time
import timeit
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

OURS = "mindtorch"
TURN = 3e-3  # seconds one turn of one peer takes: short enough to fit between other processes
RISE = 1.05  # a ratio that grew by more than this is marked

Namespace = dict[str, Any]


@dataclass(frozen=True)
class Case:
    """One statement in each library; ``statements`` maps a peer to its source text."""

    name: str
    statements: Mapping[str, str]


@dataclass(frozen=True)
class Group:
    """Cases that are summed up by one figure, the geometric mean of their ratios to PyTorch.

    ``make`` gives, for a peer, the names its statements use. ``target`` is the mean aimed at.
    """

    name: str
    target: float
    cases: tuple[Case, ...]
    make: Callable[[str], Namespace] = lambda peer: {}


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


@dataclass
class Results:
    """A whole run."""

    machine: dict[str, Any]
    settings: dict[str, Any]
    groups: dict[str, dict[str, Measured]] = field(default_factory=dict)
    summary: dict[str, dict[str, float]] = field(default_factory=dict)


def installed(names: Iterable[str]) -> list[str]:
    """Those of the modules that can be imported."""
    return [n for n in names if importlib.util.find_spec(n) is not None]


def one_thread() -> None:
    """Keep numeric libraries to one thread; before they are imported."""
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"


# ---- measuring ----------------------------------------------------------------------------------


def interleaved(timers: Mapping[str, Callable[[], float]], schedule: Schedule) -> Measured:
    """Let timers (each gives seconds per call) take turns; ours is compared with the others."""
    rounds: list[dict[str, float]] = []
    for number in range(schedule.rounds):
        names = list(timers) if number % 2 == 0 else list(reversed(timers))
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


def statement_timer(statement: str, names: Namespace) -> Callable[[], float]:
    """Seconds per execution of a statement, measured over about `TURN` seconds."""
    # The garbage collector stays on: what a library leaves to it is part of its cost.
    scope = {**names, "gc": gc}
    timer = timeit.Timer(statement, "gc.enable()", time.process_time, scope)
    timer.timeit(100)  # the first calls fill caches and would mislead the choice of count
    count = 1
    while (took := timer.timeit(count)) < TURN / 4:
        count = max(count * 2, int(count * TURN / 4 / max(took, 1e-7)))
    count = max(1, int(count * TURN / took))
    return lambda: timer.timeit(count) / count


def measure_group(group: Group, peers: Iterable[str], schedule: Schedule) -> dict[str, Measured]:
    """Measure every case of a group in every peer that has a statement for it."""
    out: dict[str, Measured] = {}
    for case in group.cases:
        timers = {
            peer: statement_timer(case.statements[peer], group.make(peer))
            for peer in peers
            if peer in case.statements
        }
        gc.collect()
        gc.freeze()
        out[case.name] = interleaved(timers, schedule)
    return out


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
    return {**out, "target": group.target}


# ---- showing ------------------------------------------------------------------------------------


def machine() -> dict[str, Any]:
    """What a reader needs to know about where the figures come from; no names of hosts or paths."""
    versions = {
        name: importlib.metadata.version(name)
        for name in ("mindtorch-core", "mindtorch-cpu", "numpy", "torch")
        if name.startswith("mindtorch") or installed([name])
    }
    return {
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "os": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **versions,
    }


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((x.partition(":")[2].strip() for x in lines if x.startswith("model name")), "")


def table(name: str, measured: Mapping[str, Measured], summary: Mapping[str, float]) -> str:
    """One group as text: microseconds per call, then our ratio to each other peer."""
    peers = list(dict.fromkeys(peer for m in measured.values() for peer in m.ns))
    others = [p for p in peers if p != OURS]

    def line(label: str, times: Mapping[str, float], ratios: Mapping[str, float]) -> str:
        left = "".join(f"{times[p] / 1e3:14.2f}" if p in times else " " * 14 for p in peers)
        right = "".join(f"{ratios[p]:9.3f}" if p in ratios else " " * 9 for p in others)
        return f"  {label:<26}{left}{right}"

    heads = "".join(f"{p + ' us':>14}" for p in peers), "".join(f"{'/ ' + p:>9}" for p in others)
    lines = [f"{name:<28}{''.join(heads)}"]
    lines += [line(case, m.ns, m.ratio) for case, m in measured.items()]
    lines.append(line("summary", {}, summary) + verdict(summary))
    return "\n".join(lines)


def verdict(summary: Mapping[str, float]) -> str:
    """The target and whether it is met, as text after the mean."""
    if "torch" not in summary:
        return ""
    met = "met" if summary["torch"] <= summary["target"] else "MISSED"
    return f"   target {summary['target']:.2f}: {met}"


def save(results: Results, path: Path) -> None:
    """Write a run as JSON."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(asdict(results), indent=1) + "\n", encoding="utf-8")


def load(path: Path) -> Results:
    """Read a run back."""
    raw = json.loads(path.read_text(encoding="utf-8"))
    groups = {g: {c: Measured(**m) for c, m in cases.items()} for g, cases in raw["groups"].items()}
    return Results(raw["machine"], raw["settings"], groups, raw["summary"])


def changes(old: Results, new: Results, peer: str = "torch") -> str:
    """How each ratio to a peer changed, with rises above 5 % marked."""
    lines = [f"{'change of the ratio to ' + peer:<40}{'before':>9}{'now':>9}{'change':>9}"]
    for group, cases in new.groups.items():
        before = {c: m.ratio.get(peer) for c, m in old.groups.get(group, {}).items()}
        rows = [(f"{group}: {c}", before.get(c), m.ratio.get(peer)) for c, m in cases.items()]
        mean = old.summary.get(group, {}).get(peer), new.summary[group].get(peer)
        for name, was, now in [*rows, (f"{group}: geometric mean", *mean)]:
            if was and now:
                mark = "  ROSE" if now > was * RISE else ""
                lines.append(f"{name:<40}{was:9.3f}{now:9.3f}{now / was - 1:+9.1%}{mark}")
    return "\n".join(lines)


def conclude(results: Results, path: Path, *, compare: bool, part: str = "") -> None:
    """Compare results with those of a file, or write them there.

    Args:
        results: of this run.
        path: the committed ones.
        compare: show what changed, instead of writing.
        part: what was measured a part of, so that nothing is written; empty for all.
    """
    if compare:
        print(changes(load(path), results))
    elif part:
        print(f"a part of the {part} was measured, so no results were written")
    else:
        save(results, path)
