"""What registering ops costs: the schemas and one CPU kernel each of 1,000 ops, and taking them back.

    python benchmarks/registration.py              measure, print, write results/registration.json
    python benchmarks/registration.py --compare    measure and show the change against that file
    python benchmarks/registration.py --profile

See `benchmarks/README.md` for how to read the figures.
"""

from __future__ import annotations

import cProfile
import gc
import importlib
import itertools
import pstats
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import harness
from harness import Results

from mindtorch_core.measuring.peers import pytorch
from mindtorch_core.measuring.turns import (
    OURS,
    Group,
    Measured,
    Schedule,
    interleaved,
    summarise,
)

RESULTS = Path(__file__).parent / "results" / "registration.json"
COUNT = 1000
GROUP = Group("registration", 1.3, ())
SPACES = (f"registration_benchmark{n}" for n in itertools.count())
SERIAL = itertools.count()

Kernel = Callable[..., object]
Taken = dict[str, float]  # seconds per op, by what was done

# Signatures as they are found among PyTorch's own, and kernels that can be called with them.
SIGNATURES: tuple[tuple[str, Kernel], ...] = (
    ("(Tensor self) -> Tensor", lambda self: self),
    (
        "(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
        lambda self, other, *, alpha=1: self,
    ),
    (
        "(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        lambda self, dim, keepdim=False, *, dtype=None: self,
    ),
    (
        "(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, int[2] padding=0, "
        "int[2] dilation=1, int groups=1) -> Tensor",
        lambda input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1: input,
    ),
    ("(Tensor(a!) self, Tensor other) -> Tensor(a!)", lambda self, other: self),
    (
        "(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        lambda self, dim, keepdim=False: (self, self),
    ),
    ("(Tensor[] tensors, int dim=0) -> Tensor", lambda tensors, dim=0: tensors[0]),
    ("(Tensor(a) self, int[] size) -> Tensor(a)", lambda self, size: self),
    (
        "(Tensor self, float p=0.5, bool train=True) -> Tensor",
        lambda self, p=0.5, train=True: self,
    ),
    (
        "(Tensor condition, Tensor self, Tensor other) -> Tensor",
        lambda condition, self, other: self,
    ),
)


def ops() -> list[tuple[str, str, Kernel]]:
    """Names, schemas and kernels of the ops to register; no schema was parsed before."""
    chosen = itertools.islice(itertools.cycle(SIGNATURES), COUNT)
    names = (f"op{n}" for n in SERIAL)
    return [(name := next(names), f"{name}{signature}", fn) for signature, fn in chosen]


def laps() -> Iterator[float]:
    """Seconds of processor time per op since the last lap."""
    last = time.process_time()
    while True:
        now = time.process_time()
        yield (now - last) / COUNT
        last = now


def ours() -> Taken:
    """Register and take back in this project."""
    registry = importlib.import_module("mindtorch_core.dispatch.registry").registry
    space, rows = next(SPACES), ops()
    gc.collect()
    lap = laps()
    next(lap)
    with registry.scope():
        for name, schema, _ in rows:
            registry.register_schema(f"{space}::{name}", schema)
        schemas = next(lap)
        for name, _, kernel in rows:
            registry.register_kernel(f"{space}::{name}", "CPU", kernel)
        kernels = next(lap)
    return {"schema": schemas, "kernel": kernels, "both": schemas + kernels, "undo": next(lap)}


def theirs() -> Taken:
    """Register and take back in PyTorch."""
    torch = importlib.import_module("torch")
    library, rows = torch.library.Library(next(SPACES), "DEF"), ops()
    gc.collect()
    lap = laps()
    next(lap)
    for _, schema, _ in rows:
        library.define(schema)
    schemas = next(lap)
    for name, _, kernel in rows:
        library.impl(name, kernel, "CPU")
    kernels = next(lap)
    library._destroy()
    return {"schema": schemas, "kernel": kernels, "both": schemas + kernels, "undo": next(lap)}


CASES = {
    "schema": "a schema",
    "kernel": "a kernel for it",
    "both": "schema and kernel",
    "undo": "taking both back",
}


def measure(wanted: Sequence[str], schedule: Schedule) -> Results:
    """Let the libraries take turns; microseconds per op. There is nothing to choose from."""
    peers = {OURS: ours} | ({"torch": theirs} if pytorch() is not None else {})
    results = harness.begin(schedule, ops=COUNT)
    for run in peers.values():
        run()  # imports, compiles, fills caches
    turns = schedule.rounds * schedule.turns
    taken: dict[str, list[Taken]] = {peer: [] for peer in peers}
    for _ in range(turns):
        for peer, run in peers.items():
            taken[peer].append(run())

    def row(case: str) -> Measured:
        timers: dict[str, Callable[[], float]] = {}
        for peer, runs in taken.items():
            timers[peer] = partial(next, iter([run[case] for run in runs]))
        return interleaved(timers, schedule)

    measured = {CASES[case]: row(case) for case in CASES}
    whole = {"": measured[CASES["both"]]}
    results.groups[GROUP.name] = measured
    results.summary[GROUP.name] = summarise(GROUP, whole)
    print(harness.table(GROUP.name, measured, results.summary[GROUP.name]))
    milliseconds = whole[""].ns[OURS] * COUNT / 1e6
    print(f"\n  {COUNT:,} ops with schema and kernel: {milliseconds:.1f} ms\n")
    return results


def profile(name: str, runs: int = 10) -> None:
    """Profile this project's registrations."""
    ours()
    profiler = cProfile.Profile()
    for _ in range(runs):
        profiler.runcall(ours)
    pstats.Stats(profiler).sort_stats("tottime").print_stats(25)


def main() -> None:
    """Read the command line and do what it says."""
    harness.run(__doc__, RESULTS, measure, profile=profile)


if __name__ == "__main__":
    main()
