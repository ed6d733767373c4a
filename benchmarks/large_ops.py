"""What ops cost at large sizes, where the arithmetic counts and not the call.

    python benchmarks/large_ops.py                 all groups, one thread; writes results/large_ops.json
    python benchmarks/large_ops.py --threads 2     writes results/large_ops_2.json
    python benchmarks/large_ops.py --only softmax  groups or cases whose name contains a text; writes nothing

See `benchmarks/README.md` for how to read the figures.
"""

from __future__ import annotations

import argparse
import gc
import importlib
import os
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import harness
from harness import Results
from large_cases import GROUPS, TARGET, Case

from mindtorch_core.measuring.peers import installed, limit_threads
from mindtorch_core.measuring.turns import (
    OURS,
    Group,
    Measured,
    Schedule,
    interleaved,
    summarise,
)

FOLDER = Path(__file__).parent / "results"
MODULES = {OURS: "mindtorch_core", "torch": "torch"}
TURN = 0.03  # seconds a turn takes at least: a case of a millisecond is repeated in it


def prepare(count: int) -> None:
    """Give every numeric library the same number of threads; before they are imported."""
    os.environ.pop("OPENBLAS_CORETYPE", None)  # each chooses the kernels that suit the processor
    limit_threads(count)
    os.environ["MINDTORCH_NUM_THREADS"] = str(count)


def call_timer(call: Callable[[], Any], clock: Callable[[], float]) -> Callable[[], float]:
    """Seconds of the fastest call within about `TURN` seconds."""
    call()  # fills caches and the memory pools of both

    def timed() -> float:
        best, end = float("inf"), time.perf_counter() + TURN
        while True:
            start = clock()
            call()
            best = min(best, clock() - start)
            if time.perf_counter() > end:
                return best

    return timed


def measure_case(case: Case, peers: Sequence[str], schedule: Schedule, threads: int) -> Measured:
    """Measure a case in every peer; in one thread by processor time, which others do not disturb."""
    clock = time.process_time if threads == 1 else time.perf_counter
    timers = {}
    for peer in peers:
        torch = importlib.import_module(MODULES[peer])
        nn = importlib.import_module(f"{MODULES[peer]}.nn.functional")
        timers[peer] = call_timer(case.make(torch, nn), clock)
    gc.collect()
    return interleaved(timers, schedule)


def measure(only: str, schedule: Schedule, threads: int) -> Results:
    """Measure the groups and cases whose name contains a text, printing each group as it is done."""
    peers = [p for p in MODULES if installed([MODULES[p]])]
    if "torch" in peers:
        importlib.import_module("torch").set_num_threads(threads)
    results = harness.begin(schedule, threads=threads)
    for name, cases in GROUPS.items():
        chosen = [c for c in cases if only in name or only in c.name]
        if not chosen:
            continue
        measured = {c.name: measure_case(c, peers, schedule, threads) for c in chosen}
        summary = summarise(Group(name, TARGET, ()), measured) if peers[1:] else {}
        results.groups[name], results.summary[name] = measured, summary
        print(harness.table(name, measured, summary), end="\n\n", flush=True)
    return results


def missed(results: Results) -> str:
    """The cases above the target, slowest first."""
    ratios = [
        (m.ratio["torch"], f"{group}: {case}")
        for group, cases in results.groups.items()
        for case, m in cases.items()
        if "torch" in m.ratio
    ]
    slow = sorted((r for r in ratios if r[0] > TARGET), reverse=True)
    head = f"above {TARGET} of PyTorch's time: {len(slow)} of {len(ratios)} cases"
    return "\n".join([head, *(f"  {ratio:6.2f}  {name}" for ratio, name in slow)])


def main() -> None:
    """Read the command line and do what it says."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--threads", type=int, choices=(1, 2), default=1)
    parser.add_argument("--only", default="", metavar="TEXT", help="groups or cases to measure")
    parser.add_argument("--json", type=Path, help="where to write the results")
    parser.add_argument("--compare", action="store_true", help="against the committed results")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    prepare(options.threads)
    suffix = "" if options.threads == 1 else f"_{options.threads}"
    committed = FOLDER / f"large_ops{suffix}.json"
    results = measure(options.only, Schedule(options.rounds, turns=3), options.threads)
    if not results.groups:
        parser.error(f"no group or case has {options.only!r} in its name")
    print(missed(results))
    if options.json:
        harness.save(results, options.json)
    elif options.compare:
        print(harness.changes(harness.load(committed), results))
    elif not options.only:
        harness.save(results, committed)


if __name__ == "__main__":
    main()
