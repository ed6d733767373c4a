"""What importing a library costs, in a fresh interpreter."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

from .turns import OURS, Measured, Schedule, interleaved

__all__ = ["IMPORT_TARGET", "measure_imports", "run_python"]

IMPORT_TARGET: Final = 0.2
_LINES: Final = {
    "nothing": "pass",
    "core": "import mindtorch_core",
    OURS: "import mindtorch_core.plugins as p; p.load_all()",
    "numpy": "import numpy",
    "torch": "import torch",
}
# Installed packages have their byte code beside them, so a checkout may write it too.
_UNWANTED: Final = ("MINDTORCH_BACKENDS", "PYTHONDONTWRITEBYTECODE")


def run_python(code: str) -> float:
    """Seconds of processor time a fresh interpreter takes for a line of code."""
    import resource  # systems other than POSIX lack it

    environment = {k: v for k, v in os.environ.items() if k not in _UNWANTED}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", code], check=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def measure_imports(peers: Sequence[str], schedule: Schedule) -> dict[str, Measured]:
    """Import times less the start of the interpreter: the core alone, and with all plugins."""
    names = ["nothing", "core", *peers]
    for name in names:
        run_python(_LINES[name])  # write byte code, fill the file cache
    best: dict[str, list[float]] = {name: [] for name in names}
    for _ in range(schedule.rounds):
        for name in names:
            best[name].append(min(run_python(_LINES[name]) for _ in range(2)))
    taken = {n: [t - bare for t, bare in zip(best[n], best["nothing"], strict=True)] for n in names}

    def row(ours: str) -> Measured:
        rounds = {n: iter(taken[ours if n == OURS else n]) for n in peers}
        turns: dict[str, Callable[[], float]] = {n: partial(next, t) for n, t in rounds.items()}
        return interleaved(turns, Schedule(schedule.rounds, turns=1))

    return {"core alone": row("core"), "core and plugins": row(OURS)}
