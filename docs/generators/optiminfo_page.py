"""``docs/optiminfo.md``: how every optimizer of PyTorch's OptimizerInfo database fares here.

It runs every configuration of the database through both libraries; that takes some minutes. PyTorch has
to be installed. ``tests/optim`` runs a part of the same.
"""

from __future__ import annotations

import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "optim"))

from optim_reasons import REASONS
from optim_survey import NAMES, STEPS, TOLERANCE, cases, compare, has_npu, on_npu

INTRODUCTION = """\
# PyTorch's OptimizerInfo database

Written by `docs/make.py`. Do not edit.

PyTorch tests its optimizers with a database of {entries} entries, each with configurations of its own, for
the plain loop, `foreach`, `fused` and `differentiable` steps. All {total} run here on both libraries, in
float32, float64 and complex64 where the optimizer takes that: {steps} steps with the same gradients. Then
parameters and all tensors of the states are compared; a difference counts relative to values above 1.

| | configurations |
| --- | --- |
| equal to {tolerance:g} | {passing} |
| equal to a wider tolerance, for the reason given | {wider} |
| not comparable, for the reason given | {none} |
| different | {failing} |

Where PyTorch's `foreach`, `fused` or `differentiable` step differs from its own loop by more than the
tolerance, the nearer of both counts: here they are one step. The last column runs the plain loop in float32
on the simulated NPU, where it is installed, for {npu_steps} steps.
"""
NPU_STEPS = 10


def row(name: str) -> tuple[str, list[float | None], str]:
    """The differences of an optimizer's configurations, and how it does on an NPU."""
    tolerance, _ = REASONS.get(name, (TOLERANCE, ""))
    found: list[float | None] = [
        None if tolerance is None else compare(case) for case in cases(name)
    ]
    if tolerance is None or not has_npu():
        return name, found, "-"
    return name, found, "yes" if on_npu(name, NPU_STEPS) <= max(tolerance, 1e-5) else "no"


def files() -> dict[str, str]:
    """The page, made by running the configurations."""
    count = int(os.environ.get("PROCESSES", os.cpu_count() or 1))
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as processes:
        results = list(processes.map(row, NAMES))
    sums = dict.fromkeys(("passing", "wider", "none", "failing"), 0)
    lines = ["| optimizer | configurations | equal | largest difference | NPU | remark |"]
    lines.append("| --- | --- | --- | --- | --- | --- |")
    for name, found, npu in results:
        tolerance, reason = REASONS.get(name, (TOLERANCE, ""))
        exact = sum(d is not None and d <= TOLERANCE for d in found)
        near = sum(d is not None and TOLERANCE < d <= (tolerance or 0) for d in found)
        missing = sum(d is None for d in found)
        sums["passing"] += exact
        sums["wider"] += near
        sums["none"] += missing
        sums["failing"] += len(found) - exact - near - missing
        known = [d for d in found if d is not None]
        largest = _digit(max(known)) if known else "-"
        remark = reason if near or missing else ""
        lines.append(f"| {name} | {len(found)} | {exact} | {largest} | {npu} | {remark} |")
    head = INTRODUCTION.format(
        entries=len(NAMES), total=sum(len(f) for _, f, _ in results), steps=STEPS,
        tolerance=TOLERANCE, npu_steps=NPU_STEPS, **sums,
    )  # fmt: skip
    return {"docs/optiminfo.md": f"{head}\n" + "\n".join(lines) + "\n"}


def _digit(difference: float) -> str:
    """The power of ten that a difference stays below: its digits change from machine to machine."""
    power = next((p for p in range(-17, 3) if difference <= 10.0**p), None)
    return "more" if power is None else "0" if difference == 0 else f"< 1e{power}"
