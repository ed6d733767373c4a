"""``docs/opinfo.md``: how every op of PyTorch's OpInfo database fares here.

It runs PyTorch's own samples, all of them, through both libraries; that takes some minutes. PyTorch has
to be installed. ``tests/opinfo`` runs a part of the same samples and knows what does not pass.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from pathlib import Path

os.environ["MINDTORCH_OPINFO"] = "all"
sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "opinfo"))

from known import reason_for
from survey import FAILED, MISSING, NONE, PASSED, survey

Results = dict[str, tuple[str, str]]

INTRODUCTION = """\
# PyTorch's OpInfo database

Written by `docs/make.py`. Do not edit.

PyTorch tests its operators with a database of {total} entries, each with samples of arguments. These
samples run here on both libraries, on the CPU, and results are compared: values, dtypes, shapes, memory
and strides of views, gradients and second gradients, the in-place form, `out=`, the method, and the type
of error that wrong arguments give.

| | ops |
| --- | --- |
| pass: everything that can be checked agrees | {passing} |
| partial: float32 agrees, something else does not | {partial} |
| missing | {missing} |
| float32 agrees on all samples | {single} |
| float64 gradients agree as well | {gradients} |
| and second gradients | {second} |

Columns: how many dtypes agree, of those that PyTorch's CPU and this library have; gradients and second
gradients in float64 and complex128; then in-place, `out=`, method and errors. A dash says that PyTorch
has no such form or no sample.
"""


def part(results: Results, prefix: str) -> str:
    """How many of the checks of one kind pass: ``yes``, ``3/4``, ``no``, or a dash for none."""
    found = [how for check, (how, _) in results.items() if check.split("-")[0] == prefix]
    counted = [how for how in found if how != NONE]
    if not counted:
        return "-"
    passed = counted.count(PASSED)
    if prefix == "forward" or 0 < passed < len(counted):
        return f"{passed}/{len(counted)}"
    return "yes" if passed else "no"


def status(results: Results) -> str:
    """``pass``, ``partial`` or ``missing``."""
    counts = Counter(how for how, _ in results.values())
    if counts[PASSED] and not counts[FAILED] and not counts[MISSING]:
        return "pass"
    return "partial" if results.get("forward-float32", ("",))[0] == PASSED else "missing"


def reasons(op: str, results: Results) -> str:
    """Why checks do not pass."""
    found = [reason_for(op, c) for c, (how, _) in results.items() if how in (FAILED, MISSING)]
    return "; ".join(dict.fromkeys(r or "not known" for r in found))


def files() -> dict[str, str]:
    """The page, made by running the samples."""
    results = survey(processes=int(os.environ.get("PROCESSES", os.cpu_count() or 1)))
    states = Counter(status(r) for r in results.values())

    def agree(*checks: str) -> int:
        return sum(all(r.get(c, ("",))[0] == PASSED for c in checks) for r in results.values())

    single, double = "forward-float32", "grad-float64"
    lines = [
        INTRODUCTION.format(
            total=len(results),
            passing=states["pass"],
            partial=states["partial"],
            missing=states["missing"],
            single=agree(single),
            gradients=agree(single, double),
            second=agree(single, double, "gradgrad-float64"),
        ),
        "| Op | | dtypes | gradient | second | in-place | out= | method | errors | why not |",
        "| --- " * 10 + "|",
    ]
    kinds = ("forward", "grad", "gradgrad", "inplace", "out", "method", "errors")
    for op, found in results.items():
        cells = [f"`{op}`", status(found), *(part(found, k) for k in kinds), reasons(op, found)]
        lines.append("| " + " | ".join(cells) + " |")
    return {"docs/opinfo.md": "\n".join(lines) + "\n"}
