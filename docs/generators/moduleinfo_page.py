"""``docs/moduleinfo.md``: how every module of PyTorch's ModuleInfo database fares here.

It runs PyTorch's own samples, all of them, through both libraries; that takes some minutes. PyTorch has
to be installed. The column of NPUs is made with the simulated toolkit, where it is installed.
"""

from __future__ import annotations

import os
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

os.environ["MINDTORCH_MODULEINFO"] = "all"
sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "opinfo"))
sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "moduleinfo"))

from known_modules import reason_for
from module_checks import CHECKS, FAILED, MODULES, NONE, PASSED, has_npu, outcome

import conftest  # noqa: F401  (names the simulated toolkit)

INTRODUCTION = """\
# PyTorch's ModuleInfo database

Written by `docs/make.py`. Do not edit.

PyTorch tests its modules with a database of {total} entries, each with samples of arguments. These
samples run here on both libraries, with PyTorch's weights copied into ours, and are compared: `repr`, the
keys of `state_dict`, the names of parameters; outputs with their dtypes and shapes; gradients of all
inputs and parameters; buffers afterwards.

| | modules |
| --- | --- |
| everything that can be checked agrees | {passing} |
| something does not, for the reason given | {partial} |

Columns: float32 in training and in evaluation mode, float64, bfloat16 (outputs alone), shapes and dtypes
on `meta`, and the simulated NPU. A dash says that PyTorch has no sample, or cannot do it itself.
"""

SHOWN = {PASSED: "yes", FAILED: "no", NONE: "-"}


def row(name: str) -> tuple[str, dict[str, str]]:
    """How a module's checks go."""
    checks = [c for c in CHECKS if c != "npu" or has_npu()]
    return name, {check: outcome(name, check)[0] for check in checks}


def files() -> dict[str, str]:
    """The page, made by running the samples."""
    count = int(os.environ.get("PROCESSES", os.cpu_count() or 1))
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as processes:
        results = dict(processes.map(row, MODULES))
    states = Counter(FAILED in found.values() for found in results.values())
    lines = [
        INTRODUCTION.format(total=len(results), passing=states[False], partial=states[True]),
        f"| Module | {' | '.join(CHECKS)} | why not |",
        f"| --- {'| --- ' * len(CHECKS)}| --- |",
    ]
    for name, found in results.items():
        why = "; ".join(
            dict.fromkeys(
                reason_for(name, c) or "not known" for c, how in found.items() if how == FAILED
            )
        )
        cells = " | ".join(SHOWN[found.get(check, NONE)] for check in CHECKS)
        lines.append(f"| `{name.removeprefix('nn_')}` | {cells} | {why} |")
    return {"docs/moduleinfo.md": "\n".join(lines) + "\n"}
