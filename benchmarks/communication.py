"""Collective operations and data parallel steps of two processes, against PyTorch's on gloo.

    python benchmarks/communication.py              needs mindtorch-mpi; writes results/communication.json
    python benchmarks/communication.py --rounds 2   writes nothing

Each library has two processes of its own, with one thread each, which take turns (`ranks.py`). The figure
is the wall time of a call, the mean of some, the least over all rounds. `DistributedDataParallel` of
PyTorch is measured as it is and tuned (``gradient_as_bucket_view`` and ``static_graph``)."""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable
from contextlib import ExitStack, nullcontext
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from ranks import LIBRARIES, RANKS, Peer, serve

from mindtorch_core.measuring.peers import machine

RESULTS = Path(__file__).parent / "results" / "communication.json"
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
_MADE: dict[tuple[str, str], tuple[Callable[[], None], int]] = {}
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


def answer(torch: Any, request: tuple[str, str]) -> float:
    """The least time in ns of a call of a case and kind."""
    if request not in _MADE:
        _MADE.clear()
        _MADE[request] = call(torch, *request)
    run, times = _MADE[request]
    for _ in range(3):
        run()
    least = float("inf")
    for _ in range(PARTS):
        torch.distributed.barrier()
        start = time.perf_counter_ns()
        for _ in range(times):
            run()
        least = min(least, (time.perf_counter_ns() - start) / times)
    return least


# ---- the benchmark ------------------------------------------------------------------------------


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
        peers = {each: stack.enter_context(Peer(each, __file__)) for each in LIBRARIES}
        for _ in range(rounds):
            for name, kind in cases:
                for library, peer in peers.items():
                    if kind == "tuned" and library == "mindtorch":
                        continue
                    key = name, f"{library} {kind}"
                    least[key] = min(
                        least.get(key, float("inf")), max(peer.ask([name, kind])) / 1e3
                    )
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
        serve(args.serve, lambda torch, request: answer(torch, tuple(request)))
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
