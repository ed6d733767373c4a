"""Memory of a process that trains in parts, against one that trains a copy.

    python benchmarks/sharding.py                2 processes
    python benchmarks/sharding.py --ranks 4

The model is a stack of layers that is trained by AdamW. "Held" counts the bytes of parameters, gradients and
states of the optimizer after a step; "grown" is how much larger the process is then than before the model was
made; "peak" is the same of its largest size. Each is of the rank that has most; the ratio is to that of
`DistributedDataParallel`.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
from pathlib import Path
from typing import Any

MODES = {
    "copies": "DistributedDataParallel",
    "kept": "fully_shard, parameters kept until backward",
    "sharded": "fully_shard",
}


def size_now() -> int:
    """Bytes of this process that are in memory."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize()


def largest() -> int:
    """Bytes of this process when it was largest."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def held(model: Any, optimizer: Any) -> int:
    """Bytes of parameters, gradients and states."""
    found = list(model.parameters())
    found += [p.grad for p in found if p.grad is not None]
    found += [v for state in optimizer.state.values() for v in state.values()]
    return sum(getattr(t, "_local_tensor", t).nbytes for t in found)


def measured(mode: str, width: int, depth: int) -> dict[str, float]:
    """The figures of this rank."""
    import mindtorch_core as torch
    from mindtorch_core import distributed as dist
    from mindtorch_core import nn
    from mindtorch_core.distributed.fsdp import fully_shard

    dist.init_process_group()
    warm = nn.Linear(4, 4)
    torch.optim.AdamW(warm.parameters())
    warm(torch.ones(1, 4)).sum().backward()
    before, most = size_now(), largest()
    layers: list[Any] = []
    for _ in range(depth):
        layer: Any = nn.Sequential(nn.Linear(width, width), nn.ReLU())
        if mode != "copies":  # each before the next is made: no process has all of it
            fully_shard(layer, reshard_after_forward=mode == "sharded")
        layers.append(layer)
    model: Any = nn.Sequential(*layers)
    model = nn.parallel.DistributedDataParallel(model) if mode == "copies" else fully_shard(model)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    for _ in range(3):
        model(torch.ones(8, width)).square().mean().backward()
        optimizer.step()
        taken = held(model, optimizer)
        now = size_now()
        optimizer.zero_grad()
    figures = {"held": taken, "grown": now - before, "peak": largest() - most}
    every: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(every, figures)
    dist.destroy_process_group()
    return {key: max(each[key] for each in every) for key in figures}


def launched(mode: str, args: argparse.Namespace) -> dict[str, float]:
    """The figures of several processes that are started for them."""
    command = [sys.executable, "-m", "mindtorch_core", "run", "-n", str(args.ranks), __file__]
    command += ["--mode", mode, "--width", str(args.width), "--depth", str(args.depth)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=True)
    line = next(each for each in done.stdout.splitlines() if each.startswith("[0] {"))
    found: dict[str, float] = json.loads(line.removeprefix("[0] "))
    return found


def main() -> None:
    """Print the table, or one rank's figures."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--ranks", type=int, default=2, help="processes: %(default)s")
    parser.add_argument("--width", type=int, default=1024, help="of layers: %(default)s")
    parser.add_argument("--depth", type=int, default=8, help="layers: %(default)s")
    parser.add_argument("--mode", choices=MODES, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.mode:
        figures = measured(args.mode, args.width, args.depth)
        if os.environ["RANK"] == "0":
            print(json.dumps(figures))
        return
    found = {mode: launched(mode, args) for mode in MODES}
    print(
        f"{args.depth} layers of {args.width}, {args.ranks} processes; MiB of a rank, ratio to copies"
    )
    for mode, figures in found.items():
        cells = [
            f"{key} {figures[key] / 2**20:6.0f} ({figures[key] / found['copies'][key]:.2f})"
            for key in ("held", "grown", "peak")
        ]
        print(f"{MODES[mode]:45}", *cells, sep="  ")


if __name__ == "__main__":
    main()
