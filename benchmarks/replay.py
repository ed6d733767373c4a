"""Blocks that come again, and captured steps, against PyTorch's eager calls.

    python benchmarks/replay.py                      all groups; writes results/replay.json
    python benchmarks/replay.py chain step           some groups; writes nothing
    python benchmarks/replay.py --compare            the change against results/replay.json
    python benchmarks/replay.py --profile step       cProfile of a group here

Both sides compute the same; here each statement is a block at a line of its own, which is replayed from
the fourth time on. `recording` is what an op costs in such a block before it ends, beside the same op
at once in PyTorch.
"""

from __future__ import annotations

import cProfile
import os
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

os.environ.setdefault("MINDTORCH_NATIVE", "now")  # kernels are there before a round is measured

import harness

from mindtorch_core.measuring.peers import installed, library
from mindtorch_core.measuring.small_calls import _mlp
from mindtorch_core.measuring.turns import (
    OURS,
    Case,
    Group,
    Measured,
    Namespace,
    Schedule,
    interleaved,
    measure_group,
    summarise,
)

RESULTS = Path(__file__).parent / "results" / "replay.json"
CHAIN = "(((((((x * y) + x).relu() - y) * 0.5).abs() + 1).neg()))"
OPS = 200  # of the block whose recording is measured
SMALL = "l = ((a * b + c).tanh() @ m).sum(); l.backward(); a.grad = b.grad = None"


def _blocks(name: str, statement: str) -> Case:
    """A statement that stands in a block here."""
    lines = "".join(f"\n    {line}" for line in statement.split("; "))
    return Case(name, {OURS: f"with pipeline():{lines}", "torch": statement})


def _vectors(size: int, peer: str) -> Namespace:
    torch = library(peer)
    x, y = torch.linspace(-1, 1, size), torch.linspace(1, 2, size)
    return {"torch": torch, "pipeline": getattr(torch, "pipeline", None), "x": x, "y": y}


def _small(peer: str, *, through: bool = False) -> Namespace:
    torch = library(peer)
    a, b = (torch.tensor([1.0, 2.0], requires_grad=True) for _ in range(2))
    names = {"a": a, "b": b, "c": torch.tensor([0.5, 0.25]), "m": torch.ones(2, 2)}
    if peer == OURS:
        names["pipeline"] = partial(torch.pipeline, through_backward=through)
    return names


def _step(peer: str, *, captured: bool = False) -> Namespace:
    names = _mlp("cpu", peer)
    torch = library(peer)
    if captured and peer == OURS:
        names["step"] = torch.pipeline.capture(names["step"])
    elif peer == OURS:
        names["pipeline"] = partial(torch.pipeline, through_backward=True)
    return names


GROUPS = (
    Group("chain", 0.85, (_blocks("7 ops, 2 elements", f"z = {CHAIN}"),), partial(_vectors, 2)),
    Group("chain of 1 k", 0.9, (_blocks("7 ops, 1,000", f"z = {CHAIN}"),), partial(_vectors, 1000)),
    Group("backward", 0.65, (_blocks("4 ops, forward and backward", SMALL),), _small),
    Group(
        "backward in one", 0.5, (_blocks("the same, through backward", SMALL),),
        partial(_small, through=True),
    ),
    Group("step", 0.9, (_blocks("MLP step, batch 64", "step()"),), _step),
    Group(
        "captured", 0.6, (Case("MLP step, captured", {OURS: "step()", "torch": "step()"}),),
        partial(_step, captured=True),
    ),
)  # fmt: skip


def _recording(peer: str) -> Any:
    """Seconds that an op takes within a block, whose end is not counted."""
    torch = library(peer)
    x = torch.ones(2)

    def within() -> float:
        start = time.process_time()
        y = x
        for _ in range(OPS // 4):
            y = (((y + x) * x) - x).abs()
        return (time.process_time() - start) / OPS

    def recorded() -> float:
        with torch.pipeline():
            return within()

    run = recorded if peer == OURS else within
    for _ in range(6):
        run()
    return lambda: min(run() for _ in range(5))


def measure(names: Sequence[str], schedule: Schedule) -> harness.Results:
    """Measure groups, and show them."""
    peers = installed((OURS, "torch"))
    results = harness.begin(schedule)
    for group in GROUPS:
        if not names or group.name in names:
            measured = measure_group(group, peers, schedule)
            _show(results, group, measured)
    if not names or "recording" in names:
        timers = {peer: _recording(peer) for peer in peers}
        found = {"an op in a replayed block": interleaved(timers, schedule)}
        _show(results, Group("recording", 0.7, ()), found)
    return results


def _show(results: harness.Results, group: Group, measured: dict[str, Measured]) -> None:
    results.groups[group.name] = measured
    results.summary[group.name] = summary = summarise(group, measured)
    print(harness.table(group.name, measured, summary), "\n")


def profile(name: str) -> None:
    """Show where a group's statement spends its time here."""
    group = next(g for g in GROUPS if g.name == name)
    code = compile(group.cases[0].statements[OURS], name, "exec")
    names = group.make(OURS)
    with cProfile.Profile() as profiler:
        for _ in range(2_000):
            exec(code, names)
    profiler.print_stats("tottime")


if __name__ == "__main__":
    harness.run(
        __doc__ or "", RESULTS, measure, names=[*(g.name for g in GROUPS), "recording"],
        what="groups", profile=profile, profiled="GROUP",
    )  # fmt: skip
