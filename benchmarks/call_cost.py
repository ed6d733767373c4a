"""What a call costs: small ops, backward, a training step, meta tensors and the import.

    python benchmarks/call_cost.py                 measure, print, write results/call_cost.json
    python benchmarks/call_cost.py --compare       measure and show the change against that file
    python benchmarks/call_cost.py --profile eager/add

See `benchmarks/README.md` for how to read the figures.
"""

from __future__ import annotations

import cProfile
import pstats
import time
from collections.abc import Sequence
from pathlib import Path

import harness
from harness import Results

from mindtorch_core.measuring.imports import IMPORT_TARGET, measure_imports
from mindtorch_core.measuring.peers import MODULES, installed, pytorch
from mindtorch_core.measuring.small_calls import groups
from mindtorch_core.measuring.turns import OURS, Group, Schedule, measure_group, summarise

RESULTS = Path(__file__).parent / "results" / "call_cost.json"
GROUPS = groups()


def measure(wanted: Sequence[str], schedule: Schedule) -> Results:
    """Measure the wanted groups, printing each as it is done."""
    peers = [p for p in MODULES if installed([MODULES[p]])]
    pytorch()  # in one thread
    results = harness.begin(schedule)
    for group in (*GROUPS, Group("import", IMPORT_TARGET, ())):
        if wanted and group.name not in wanted:
            continue
        if group.name == "import":
            measured = measure_imports(peers, schedule)
            summary = summarise(group, {"": measured["core and plugins"]})
        else:
            measured = measure_group(group, peers, schedule)
            summary = summarise(group, measured)
        results.groups[group.name], results.summary[group.name] = measured, summary
        print(harness.table(group.name, measured, summary), end="\n\n", flush=True)
    return results


def profile(name: str, seconds: float = 1.0) -> None:
    """Profile one case of mindtorch, given as ``group/case``.

    Raises:
        SystemExit: if there is no such case; the text lists them all.
    """
    cases = {f"{g.name}/{c.name}": (g, c) for g in GROUPS for c in g.cases}
    if name not in cases:
        raise SystemExit(f"no case {name!r}; there are:\n  " + "\n  ".join(cases))
    group, case = cases[name]
    names = group.make(OURS)
    code = compile(f"for _ in range(100):\n    {case.statements[OURS]}", f"<{name}>", "exec")
    exec(code, names)
    profiler = cProfile.Profile()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        profiler.runctx(code, names, names)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(25)


def main() -> None:
    """Read the command line and do what it says."""
    names = [*(g.name for g in GROUPS), "import"]
    harness.run(
        __doc__, RESULTS, measure,
        names=names, what="groups", profile=profile, profiled="GROUP/CASE",
    )  # fmt: skip


if __name__ == "__main__":
    main()
