"""Collective operations and data parallel steps of two processes, against PyTorch's on gloo.

    python benchmarks/communication.py              needs mindtorch-mpi; writes results/communication.json
    python benchmarks/communication.py --rounds 2   writes nothing

Each library has two processes of its own, with one thread each, which take turns: those that have no turn
wait at a socket. The figure is the wall time of a call, the mean of some, the least over all rounds.
`DistributedDataParallel` of PyTorch is measured as it is and tuned (``gradient_as_bucket_view`` and
``static_graph``).
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from mindtorch_core.measuring.peers import machine

RESULTS = Path(__file__).parent / "results" / "communication.json"
RANKS = 2
# How many numbers of 4 bytes, and how many calls a part of a turn has.
SIZES = {"4 B": (1, 100), "4 KB": (1 << 10, 100), "1 MB": (1 << 18, 10), "64 MB": (1 << 24, 1)}
# Widths of an MLP, and how many steps a part of a turn has: 9 k, 670 k and 8.4 million parameters.
MODELS = {
    "9 k": ((64, 128, 10), 20),
    "670 k": ((256, 768, 600, 16), 8),
    "8.4 M": ((1024, 2048, 2048, 1000), 2),
}
BATCH = 16
PARTS = 5  # of a turn
# Aims for our time over PyTorch's, and for a step over the same step without sums.
AIMS = {
    "4 B": {"gloo": 0.15},
    "4 KB": {"gloo": 0.10},
    "1 MB": {"gloo": 0.35},
    "64 MB": {"gloo": 0.60},
    "9 k": {"ddp": 0.35, "tuned": 0.40, "no_sync": 1.5},
    "670 k": {"ddp": 0.60, "tuned": 0.70, "no_sync": 1.3},
    "8.4 M": {"ddp": 0.80, "tuned": 0.95, "no_sync": 1.2},
}


# ---- a process of one of the libraries ----------------------------------------------------------


def summed(torch: Any, count: int) -> Callable[[], None]:
    """An all-reduce of float32 numbers: ours through the op, which checks each call."""
    values = torch.zeros(count)
    return lambda: torch.distributed.all_reduce(values)


def step(torch: Any, widths: tuple[int, ...], sync: bool, **options: bool) -> Callable[[], None]:
    """A step of an MLP by `DistributedDataParallel`: forward, backward, SGD."""
    nn = torch.nn
    layers = [nn.Linear(a, b) for a, b in pairwise(widths)]
    model = nn.Sequential(*(each for layer in layers for each in (layer, nn.ReLU())))
    learner = nn.parallel.DistributedDataParallel(model, **options)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.ones(BATCH, widths[0])

    def run() -> None:
        with nullcontext() if sync else learner.no_sync():
            optimizer.zero_grad()
            learner(x).square().mean().backward()
            optimizer.step()

    return run


def call(torch: Any, name: str, kind: str) -> tuple[Callable[[], None], int]:
    """What a turn measures, and how often it does so."""
    if name in SIZES:
        count, times = SIZES[name]
        return summed(torch, count), times
    widths, times = MODELS[name]
    tuned = {"gradient_as_bucket_view": True, "static_graph": True} if kind == "tuned" else {}
    return step(torch, widths, kind != "no_sync", **tuned), times


def serve(library: str) -> None:
    """Take turns until the benchmark ends: a line names a case, the answer is its time in ns."""
    torch = importlib.import_module(library)
    torch.distributed = importlib.import_module(f"{library}.distributed")
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo" if library == "torch" else None)
    made: dict[tuple[str, str], tuple[Callable[[], None], int]] = {}
    link = socket.create_connection(("127.0.0.1", int(os.environ["BENCHMARK_PORT"])))
    with link, link.makefile("rw", encoding="ascii") as turns:
        for line in turns:
            name, kind = json.loads(line)
            if (name, kind) not in made:
                made.clear()
                made[name, kind] = call(torch, name, kind)
            run, times = made[name, kind]
            for _ in range(3):
                run()
            least = float("inf")
            for _ in range(PARTS):
                torch.distributed.barrier()
                start = time.perf_counter_ns()
                for _ in range(times):
                    run()
                least = min(least, (time.perf_counter_ns() - start) / times)
            turns.write(f"{least}\n")
            turns.flush()
    torch.distributed.destroy_process_group()


# ---- the benchmark ------------------------------------------------------------------------------


class Peer:
    """Two processes of a library."""

    def __init__(self, library: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as probe:
            free = probe.getsockname()[1]
        self._server = socket.create_server(("127.0.0.1", 0))
        self._server.settimeout(60)
        env = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        env |= {"BENCHMARK_PORT": str(self._server.getsockname()[1])}
        own = [__file__, "--serve", library]
        if library == "torch":
            env |= {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free), "WORLD_SIZE": str(RANKS)}
            self._started = [
                subprocess.Popen([sys.executable, *own], env={**env, "RANK": str(rank)})
                for rank in range(RANKS)
            ]
        else:
            command = [sys.executable, "-m", "mindtorch_core", "run", "-n", str(RANKS), *own]
            self._started = [subprocess.Popen(command, env=env)]
        self._links: list[Any] = []

    def __enter__(self) -> Peer:
        for _ in range(RANKS):
            self._links.append(self._server.accept()[0].makefile("rw", encoding="ascii"))
        return self

    def turn(self, name: str, kind: str) -> float:
        """The least time of a call in ns, of the rank that was slower."""
        for link in self._links:
            link.write(json.dumps([name, kind]) + "\n")
            link.flush()
        return max(float(link.readline()) for link in self._links)

    def __exit__(self, *error: object) -> None:
        for link in self._links:
            link.close()
        self._server.close()
        for each in self._started:
            try:
                each.wait(20)
            except subprocess.TimeoutExpired:
                each.kill()


@dataclass
class Figures:
    """Of a size of data or of a model.

    Attributes:
        us: least time of a call in microseconds, by library and kind.
        ratio: ours over PyTorch's, and ``no_sync``: a step of ours over one without sums.
        pytorch_no_sync: the same of PyTorch's step.
    """

    us: dict[str, float]
    ratio: dict[str, float] = field(default_factory=dict)
    pytorch_no_sync: float | None = None


def measured(rounds: int) -> dict[str, Figures]:
    """Let the libraries take turns at everything."""
    cases = [(name, "call") for name in SIZES]
    cases += [(name, kind) for name in MODELS for kind in ("ddp", "tuned", "no_sync")]
    least: dict[tuple[str, str], float] = {}
    with ExitStack() as stack:
        peers = {each: stack.enter_context(Peer(each)) for each in ("mindtorch", "torch")}
        for _ in range(rounds):
            for name, kind in cases:
                for library, peer in peers.items():
                    if kind == "tuned" and library == "mindtorch":
                        continue
                    key = name, f"{library} {kind}"
                    least[key] = min(least.get(key, float("inf")), peer.turn(name, kind) / 1e3)
    found = {name: Figures({k: round(v, 1) for (n, k), v in least.items() if n == name})
             for name in AIMS}  # fmt: skip
    for name, each in found.items():
        us = each.us
        if name in SIZES:
            each.ratio = {"gloo": us["mindtorch call"] / us["torch call"]}
            continue
        each.ratio = {kind: us["mindtorch ddp"] / us[f"torch {kind}"] for kind in ("ddp", "tuned")}
        each.ratio["no_sync"] = us["mindtorch ddp"] / us["mindtorch no_sync"]
        each.pytorch_no_sync = round(us["torch ddp"] / us["torch no_sync"], 2)
    for each in found.values():
        each.ratio = {key: round(value, 3) for key, value in each.ratio.items()}
    return found


def shown(found: dict[str, Figures]) -> None:
    """Print the table."""
    for name, each in found.items():
        times = "  ".join(f"{key} {value:,.1f}" for key, value in each.us.items())
        print(f"{name:6} us: {times}")
        for key, value in each.ratio.items():
            missed = "" if value <= AIMS[name][key] else "  above it"
            beside = f"; PyTorch's {each.pytorch_no_sync}" if key == "no_sync" else ""
            print(f"       {key:8} {value:6.2f}  aim {AIMS[name][key]}{missed}{beside}")


def main() -> None:
    """Measure, print, and write the results of a whole run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, help="default: 4, which writes the results")
    parser.add_argument("--beside", default="", help="what else runs on the machine, for the file")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.serve)
        return
    load = os.getloadavg()[0]
    found = measured(args.rounds or 4)
    shown(found)
    if args.rounds is None:
        written = {
            "machine": machine(),
            "settings": {"ranks": RANKS, "threads": 1, "rounds": 4, "load before": round(load, 1)},
            "beside": args.beside or "nothing that was noted",
            "aims": AIMS,
            "figures": {name: asdict(each) for name, each in found.items()},
        }
        RESULTS.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
