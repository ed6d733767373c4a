"""What training costs: programs of modules and optimizers, and the import of all that they use.

    python benchmarks/programs.py                  measure, print, write results/programs.json
    python benchmarks/programs.py gpt adamw        some programs; writes nothing
    python benchmarks/programs.py --compare        the change against results/programs.json
    python benchmarks/programs.py --profile gpt    cProfile of one program's step

`ways.py` measures the same programs in blocks, captured, compiled by PyTorch, and in JAX. See
`benchmarks/README.md` for how to read the figures.
"""

from __future__ import annotations

import cProfile
import gc
import importlib
import pstats
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import harness
from harness import Results
from programs_cases import TRAININGS, Step, adamw

from mindtorch_core.measuring.imports import run_python
from mindtorch_core.measuring.peers import installed, pytorch
from mindtorch_core.measuring.turns import (
    OURS,
    Group,
    Measured,
    Schedule,
    interleaved,
    summarise,
)

RESULTS = Path(__file__).parent / "results" / "programs.json"
PEERS = {OURS: "mindtorch", "torch": "torch"}
PARTS = ("nn", "optim", "utils.data", "distributions")

TARGETS = {"gpt": 1.5, "cnn": 1.2, "lstm": 1.5, "adamw": 1.0, "transformer": 1.3, "import": 0.35}


def made(name: str, peer: str) -> Step:
    """A program's step in a library, seeded."""
    torch = importlib.import_module(PEERS[peer])
    torch.manual_seed(0)
    return adamw(torch) if name == "adamw" else TRAININGS[name](torch).step


def timer(step: Step) -> Callable[[], float]:
    """Seconds of processor time of a step; two at least, and 20 ms."""
    step()

    def timed() -> float:
        count, start = 0, time.process_time()
        while (taken := time.process_time() - start) < 0.02 or count < 2:
            step()
            count += 1
        return taken / count

    return timed


def measure_import(peers: Sequence[str], schedule: Schedule) -> Measured:
    """A fresh interpreter that imports all, less the start of a bare one."""
    lines = {
        p: "; ".join(f"import {PEERS[p]}{part}" for part in ("", *(f".{x}" for x in PARTS)))
        for p in peers
    }
    turns = {
        p: lambda line=line: run_python(line) - run_python("pass") for p, line in lines.items()
    }
    for turn in turns.values():
        turn()  # write byte code, fill the file cache
    return interleaved(turns, Schedule(schedule.rounds, 2))


def measure(wanted: Sequence[str], schedule: Schedule) -> Results:
    """Measure the wanted programs, printing each as it is done."""
    peers = [p for p in PEERS if installed([PEERS[p]])]
    pytorch()  # in one thread
    results = harness.begin(schedule)
    for name, target in TARGETS.items():
        if wanted and name not in wanted:
            continue
        if name == "import":
            measured = measure_import(peers, schedule)
        else:
            timers = {p: timer(made(name, p)) for p in peers}
            gc.collect()
            gc.freeze()
            measured = interleaved(timers, schedule)
        cases = {"import of everything" if name == "import" else "a step": measured}
        summary = summarise(Group(name, target, ()), cases)
        results.groups[name], results.summary[name] = cases, summary
        print(harness.table(name, cases, summary), end="\n\n", flush=True)
    return results


def profile(name: str, steps: int = 20) -> None:
    """Profile a program's step in mindtorch.

    Raises:
        SystemExit: if there is no such program; the text lists them all.
    """
    if name not in TARGETS or name == "import":
        raise SystemExit(f"no program {name!r}; there are {', '.join(TARGETS)}")
    step = made(name, OURS)
    step()
    profiler = cProfile.Profile()
    profiler.runcall(lambda: [step() for _ in range(steps)])
    pstats.Stats(profiler).sort_stats("tottime").print_stats(30)


def main() -> None:
    """Read the command line and do what it says."""
    harness.run(
        __doc__, RESULTS, measure,
        names=TARGETS, what="programs", profile=profile, profiled="PROGRAM", turns=3,
    )  # fmt: skip


if __name__ == "__main__":
    main()
