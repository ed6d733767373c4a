"""What the benchmarks share beside the measuring: their options, results in files, and tables.

The measuring itself is `mindtorch_core.measuring`, which `mindtorch bench` uses too.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from mindtorch_core.measuring.peers import limit_threads, machine
from mindtorch_core.measuring.turns import OURS, Measured, Schedule

RISE = 1.05  # a ratio that grew by more than this is marked


@dataclass
class Results:
    """A whole run."""

    machine: dict[str, Any]
    settings: dict[str, Any]
    groups: dict[str, dict[str, Measured]] = field(default_factory=dict)
    summary: dict[str, dict[str, float]] = field(default_factory=dict)


# ---- options ------------------------------------------------------------------------------------


def run(
    about: str,
    path: Path,
    measure: Callable[[Sequence[str], Schedule], Results],
    *,
    names: Iterable[str] = (),
    what: str = "",
    profile: Callable[[str], None],
    profiled: str = "",
    turns: int = Schedule.turns,
) -> None:
    """Read a benchmark's command line and do what it says.

    Args:
        about: the module's docstring; its first line is shown as help.
        path: of the committed results.
        measure: measures what is named, or everything.
        names: what can be named.
        what: what that is, such as ``groups``; empty where nothing can be named.
        profile: profiles one thing of mindtorch.
        profiled: how that is named; empty where there is one thing to profile.
        turns: of each peer in a round.
    """
    known = list(names)
    parser = argparse.ArgumentParser(description=about.partition("\n")[0])
    if what:
        parser.add_argument("names", nargs="*", metavar=what, help=f"of {', '.join(known)}")
    parser.add_argument("--compare", action="store_true", help="against the committed results")
    if profiled:
        parser.add_argument("--profile", metavar=profiled, help="profile one of mindtorch")
    else:
        parser.add_argument("--profile", action="store_const", const="all", help="profile instead")
    parser.add_argument("--rounds", type=int, default=Schedule.rounds)
    options = parser.parse_args()
    wanted = getattr(options, "names", [])
    if unknown := set(wanted) - set(known):
        parser.error(f"unknown {what} {', '.join(sorted(unknown))}; there are {', '.join(known)}")
    limit_threads()
    if options.profile:
        profile(options.profile)
        return
    results = measure(wanted, Schedule(options.rounds, turns))
    conclude(results, path, compare=options.compare, part=what if wanted else "")


def begin(schedule: Schedule, **settings: Any) -> Results:
    """Empty results of this machine, which is shown."""
    results = Results(machine(), {"threads": 1, "rounds": schedule.rounds, **settings})
    threads = results.settings["threads"]
    shown = "one thread" if threads == 1 else f"threads {threads}"
    print(", ".join(f"{k} {v}" for k, v in results.machine.items()) + f"; {shown}\n")
    return results


# ---- showing ------------------------------------------------------------------------------------


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
