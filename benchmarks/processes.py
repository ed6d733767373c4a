"""Libraries that are compared in processes of their own, with as many threads, in turns.

A script that uses this asks with `measure`, and answers with `serve` where it is started with `--serve NAME`.
"""

from __future__ import annotations

import json
import math
import os
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

Run = Callable[[], Any]
CALLS = 10  # that are counted as warming up
SECONDS = 0.3  # of a turn
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "MINDTORCH_NUM_THREADS")
CACHES = ("MINDTORCH_KERNEL_CACHE", "TORCHINDUCTOR_CACHE_DIR")

# ---- in the process of one library --------------------------------------------------------------


def serve(make: Callable[[str], Run]) -> None:
    """Answer requests on standard input: the name of a case, and what to measure of what `make` makes."""
    run: Run | None = None
    for line in sys.stdin:
        request = json.loads(line)
        if request["what"] == "first":
            run = make(request["case"])
            answer: Any = first(run)
        elif request["what"] == "turn" and run is not None:
            answer = fastest(run)
        else:
            answer = peak(make(request["case"]))
        print(json.dumps(answer), flush=True)


def first(run: Run) -> tuple[float, float]:
    """Seconds of the first call, and of that and the next."""
    start = time.perf_counter()
    run()
    one = time.perf_counter() - start
    for _ in range(CALLS - 1):
        run()
    return one, time.perf_counter() - start


def fastest(run: Run) -> float:
    """The fastest call of a turn."""
    best, end = math.inf, time.perf_counter() + SECONDS
    while (start := time.perf_counter()) < end or best == math.inf:
        run()
        best = min(best, time.perf_counter() - start)
    return best


def peak(run: Run) -> int:
    """Bytes by which the resident set's peak grows over three calls."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for _ in range(3):
        run()
    return (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024


# ---- in the process that compares ---------------------------------------------------------------


class Peer:
    """A library's process, with a folder for what it compiles."""

    def __init__(self, command: Sequence[str], name: str, threads: int, folder: str) -> None:
        env = {
            **os.environ,
            **dict.fromkeys(THREADS, str(threads)),
            **dict.fromkeys(CACHES, folder),
        }
        env |= {"OMP_WAIT_POLICY": "PASSIVE", "JAX_PLATFORMS": "cpu"}
        self.process = subprocess.Popen(
            [sys.executable, *command, "--serve", name],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            text=True, env=env,
        )  # fmt: skip
        if name == "jax":  # has as many threads as there are cores for it
            cores = sorted(os.sched_getaffinity(0))
            os.sched_setaffinity(self.process.pid, cores[-threads:])

    def ask(self, case: str, what: str) -> Any:
        """One measurement; None if the library failed."""
        stdin, stdout = self.process.stdin, self.process.stdout
        if stdin is None or stdout is None or self.process.poll() is not None:
            return None
        stdin.write(json.dumps({"case": case, "what": what}) + "\n")
        stdin.flush()
        line = stdout.readline()
        return json.loads(line) if line else None

    def close(self) -> None:
        """End the process."""
        if self.process.stdin is not None:
            self.process.stdin.close()
        self.process.wait(timeout=60)


@dataclass
class Found:
    """What was measured of a case, by peer; nothing of one that failed."""

    turns: dict[str, list[float]] = field(default_factory=dict)
    first: dict[str, float] = field(default_factory=dict)
    warming: dict[str, float] = field(default_factory=dict)
    peak: dict[str, float] = field(default_factory=dict)


def measure(
    commands: dict[str, Sequence[str]], case: str, threads: int, rounds: int, folder: str
) -> Found:
    """Measure a case in the peers, which are started by commands without the interpreter.

    What the first calls took beyond as many later ones is counted as warming up. Compiled code is kept in
    a folder, so that a case compiles what none before it has.
    """
    found = Found()
    running = {p: Peer(command, p, threads, folder) for p, command in commands.items()}
    firsts = {p: each.ask(case, "first") for p, each in running.items()}
    alive = [p for p, answer in firsts.items() if answer is not None]
    turns = [{p: running[p].ask(case, "turn") for p in alive} for _ in range(rounds)]
    for each in running.values():
        each.close()
    for p in alive:
        if any(turn[p] is None for turn in turns):
            continue
        found.turns[p] = [turn[p] for turn in turns]
        found.first[p], calls = firsts[p]
        found.warming[p] = max(0.0, calls - CALLS * min(found.turns[p]))
        fresh = Peer(commands[p], p, threads, folder)
        found.peak[p] = fresh.ask(case, "peak")
        fresh.close()
    return found


# ---- tables -------------------------------------------------------------------------------------


def table(title: str, rows: dict[str, dict[str, float]], peers: Sequence[str], scale: float) -> str:
    """Rows of figures by peer, with blanks where there is none."""
    lines = [f"{title:<24}" + "".join(f"{p:>14}" for p in peers)]
    for name, row in rows.items():
        figures = (f"{row[p] * scale:14.3f}" if row.get(p) is not None else " " * 14 for p in peers)
        lines.append(f"{name:<24}" + "".join(figures))
    return "\n".join(lines) + "\n"


def ratio(turns: dict[str, list[float]], ours: str, other: str) -> float:
    """The median over rounds of one peer's time over the other's."""
    pairs = zip(turns[ours], turns[other], strict=True)
    return round(statistics.median(a / b for a, b in pairs), 4)
