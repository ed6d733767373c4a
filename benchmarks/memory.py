"""Peak memory of forward and backward pass: in one program, in a block, eagerly, and PyTorch's.

    python benchmarks/memory.py                    measure, print, write results/memory.json
    python benchmarks/memory.py gelu lstm          some networks; writes nothing

Each figure is by how much the resident set's peak during a step, in one thread, is above what a fresh process
held before, after a step of two rows that compiled what there is to compile. Linux alone tells it.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from processes import THREADS, table

from mindtorch_core.measuring.peers import installed, machine

RESULTS = Path(__file__).parent / "results" / "memory.json"
WAYS = ("program", "block", "eager", "torch")
AIMS = {"gelu": 0.7}


def _layers(torch: Any, activation: Callable[[], Any]) -> Any:
    layers = [layer for _ in range(6) for layer in (torch.nn.Linear(512, 512), activation())]
    return torch.nn.Sequential(*layers), torch.randn(4096, 512)


def _written_out(torch: Any) -> Any:
    class Gelu(torch.nn.Module):  # type: ignore[misc]
        """By tanh, as many programs write it."""

        def forward(self, x: Any) -> Any:
            return 0.5 * x * (1.0 + torch.tanh(0.79788 * (x + 0.044715 * torch.pow(x, 3.0))))

    return _layers(torch, Gelu)


def _transformer(torch: Any) -> Any:
    layer = torch.nn.TransformerEncoderLayer
    options = {"dropout": 0.0, "batch_first": True, "activation": "gelu"}
    layers = (layer(256, 4, 1024, **options) for _ in range(2))
    return torch.nn.Sequential(*layers), torch.randn(16, 256, 256)


def _convolutions(torch: Any) -> Any:
    nn = torch.nn
    each = (nn.Conv2d(32, 32, 3, padding=1, bias=False), nn.BatchNorm2d(32), nn.ReLU())
    return nn.Sequential(*each, *each), torch.randn(16, 32, 56, 56)


def _lstm(torch: Any) -> Any:
    class Network(torch.nn.Module):  # type: ignore[misc]
        """A layer, and what reads it."""

        def __init__(self) -> None:
            super().__init__()
            self.layer = torch.nn.LSTM(256, 256, batch_first=True)
            self.head = torch.nn.Linear(256, 256)

        def forward(self, x: Any) -> Any:
            return self.head(self.layer(x)[0])

    return Network(), torch.randn(64, 64, 256)


NETWORKS: dict[str, Callable[[Any], Any]] = {
    "gelu": lambda torch: _layers(torch, torch.nn.GELU),
    "gelu by tanh": _written_out,
    "silu": lambda torch: _layers(torch, torch.nn.SiLU),
    "relu": lambda torch: _layers(torch, torch.nn.ReLU),
    "transformer": _transformer,
    "convolutions": _convolutions,
    "lstm": _lstm,
}


def peak(network: str, way: str) -> int:
    """Bytes that a step takes at most, in this process."""
    torch: Any = importlib.import_module("torch" if way == "torch" else "mindtorch_core")
    torch.manual_seed(0)
    torch.set_num_threads(1)
    net, x = NETWORKS[network](torch)
    blocks = {
        "program": lambda: torch.pipeline(through_backward=True),
        "block": lambda: torch.pipeline(),
    }

    def step(rows: Any) -> None:
        for p in net.parameters():
            p.grad = None
        with blocks.get(way, contextlib.nullcontext)():
            loss = net(rows).square().mean()
            loss.backward()
        loss.item()

    few = x[:2].clone()
    step(few)
    step(few)
    before = _held("VmRSS:")
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")  # forget the peak so far
    step(x)
    return _held("VmHWM:") - before


def _held(key: str) -> int:
    with open("/proc/self/status", encoding="ascii") as file:
        return next(1024 * int(line.split()[1]) for line in file if line.startswith(key))


def measured(network: str, way: str, rounds: int) -> int:
    """The least of some processes' peaks."""
    command = [sys.executable, __file__, "--serve", network, way]
    env = {**os.environ, **dict.fromkeys(THREADS, "1")}
    runs = [
        subprocess.run(command, env=env, capture_output=True, text=True, check=True)
        for _ in range(rounds)
    ]
    return min(int(run.stdout) for run in runs)


def main(argv: Sequence[str] | None = None) -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=", ".join(NETWORKS))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--serve", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args(argv)
    if options.serve:
        print(peak(*options.serve))
        return
    if unknown := set(options.networks) - set(NETWORKS):
        parser.error(f"no networks {', '.join(sorted(unknown))}; there are {', '.join(NETWORKS)}")
    ways = [way for way in WAYS if way != "torch" or installed(["torch"])]
    cases = {}
    for name in options.networks or NETWORKS:
        print(f"{name} ...", file=sys.stderr, flush=True)
        found = {way: measured(name, way, options.rounds) for way in ways}
        ratios = {way: round(found["program"] / found[way], 4) for way in ways if way != "program"}
        cases[name] = {"peak_bytes": found, "ratio": ratios}
    print(table("peak, MB", {n: c["peak_bytes"] for n, c in cases.items()}, ways, 1e-6))
    print(table("the program's over", {n: c["ratio"] for n, c in cases.items()}, ways[1:], 1))
    for name in set(cases) & set(AIMS):
        print(f"aim against PyTorch, {name}: {AIMS[name]}")
    if not options.networks:
        results = {"machine": machine(), "settings": {"threads": 1, "rounds": options.rounds}}
        RESULTS.write_text(json.dumps({**results, "cases": cases}, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
