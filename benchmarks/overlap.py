"""How much of the time that collective operations take is hidden behind computing, seen in traces.

    python benchmarks/overlap.py              writes results/overlap.json and .png
    python benchmarks/overlap.py --rounds 1   writes nothing
    python benchmarks/overlap.py --keep DIR   leaves the traces there, for Perfetto or chrome://tracing

Two processes of each library, with one thread each, make training steps of an MLP: by
`DistributedDataParallel`, and cut layer by layer by `fully_shard`. Each step is recorded by the library's
own profiler and written by `export_chrome_trace`. Of such a file, `{"traceEvents": [...]}`, this reads the
events with `"ph": "X"`, each of which has a `name`, `ts` and `dur` in microseconds:

- `aten::...` are ops: the process computes from the first's begin to the last's end, wherever one is open;
- `mpi:all_reduce`, `gloo:all_reduce` and the like are collective operations that are under way.

Both are sets of intervals. The share is the length of what both have in common over that of the second: 1
if nothing of the collective operations was waited for without computing, 0 if all was. PyTorch's begin when
they are queued, mindtorch's when their turn has come, which makes no difference to the set of a step."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import statistics
import tempfile
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ranks import LIBRARIES, RANKS, Peer, serve

from mindtorch_core.measuring.peers import machine

RESULTS = Path(__file__).parent / "results" / "overlap.json"
WIDTH, DEPTH, BATCH = 1024, 12, 128
BUCKET = 8  # MB: a model of 50 MB has as many buckets as one of 150 has by default
CASES = {"ddp": "DistributedDataParallel", "fsdp": "fully_shard"}
WARM, STEPS = 3, 3
ROUNDS = 5
Interval = tuple[float, float]


# ---- a process of one of the libraries ----------------------------------------------------------


def training(torch: Any, case: str) -> Callable[[], None]:
    """A step: forward, backward, SGD."""
    nn = torch.nn
    layers = [nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.ReLU()) for _ in range(DEPTH)]
    if case == "ddp":
        model = nn.parallel.DistributedDataParallel(
            nn.Sequential(*layers), bucket_cap_mb=BUCKET, gradient_as_bucket_view=True
        )
    else:
        fsdp = importlib.import_module(f"{torch.__name__}.distributed.fsdp")
        device_mesh = importlib.import_module(f"{torch.__name__}.distributed.device_mesh")
        mesh = device_mesh.init_device_mesh("cpu", (RANKS,))
        for layer in layers:
            fsdp.fully_shard(layer, mesh=mesh)
        model = fsdp.fully_shard(nn.Sequential(*layers), mesh=mesh)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.ones(BATCH, WIDTH)

    def step() -> None:
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()

    return step


def traced(torch: Any, request: tuple[str, str]) -> str:
    """Make steps, the last of them recorded; the trace's path."""
    case, prefix = request
    step = training(torch, case)
    for _ in range(WARM):
        step()
    torch.distributed.barrier()
    profiler = importlib.import_module(f"{torch.__name__}.profiler")
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU]) as found:
        for number in range(STEPS):
            with profiler.record_function(f"step {number}"):
                step()
    path = f"{prefix}-{torch.distributed.get_rank()}.json"
    found.export_chrome_trace(path)
    return path


# ---- intervals ----------------------------------------------------------------------------------


def joined(intervals: Iterable[Interval]) -> list[Interval]:
    """The same times as intervals that do not touch, in order."""
    found: list[Interval] = []
    for start, end in sorted(intervals):
        if found and start <= found[-1][1]:
            found[-1] = found[-1][0], max(end, found[-1][1])
        elif end > start:
            found.append((start, end))
    return found


def common(first: Sequence[Interval], second: Sequence[Interval]) -> list[Interval]:
    """The times that are in both, each of which `joined` has made."""
    found, i, j = [], 0, 0
    while i < len(first) and j < len(second):
        start, end = max(first[i][0], second[j][0]), min(first[i][1], second[j][1])
        if start < end:
            found.append((start, end))
        if first[i][1] < second[j][1]:
            i += 1
        else:
            j += 1
    return found


def length(intervals: Iterable[Interval]) -> float:
    """How long they are together."""
    return sum(end - start for start, end in intervals)


def sets(trace: Path, within: str = "step ") -> tuple[list[Interval], ...]:
    """Of a trace the times of steps, of computing in them, and of collective operations in them."""
    events = json.loads(trace.read_text("utf-8"))["traceEvents"]
    whole = [e for e in events if e.get("ph") == "X"]

    def of(*starts: str) -> list[Interval]:
        return joined((e["ts"], e["ts"] + e["dur"]) for e in whole if e["name"].startswith(starts))

    steps = of(within)
    return steps, common(of("aten::"), steps), common(of("mpi:", "gloo:"), steps)


def figures(trace: Path) -> dict[str, float]:
    """Milliseconds of a step, and the share."""
    steps, computing, moving = sets(trace)
    hidden = length(common(computing, moving))
    per_step = 1e3 * STEPS
    return {
        "step_ms": length(steps) / per_step,
        "computing_ms": length(computing) / per_step,
        "collectives_ms": length(moving) / per_step,
        "hidden_ms": hidden / per_step,
        "share": hidden / length(moving),
    }


# ---- the benchmark ------------------------------------------------------------------------------


def measured(rounds: int, folder: Path) -> dict[str, dict[str, dict[str, float]]]:
    """By case and library the medians over rounds of what the ranks have on average."""
    every: dict[str, dict[str, list[dict[str, float]]]] = {}
    with ExitStack() as stack:
        peers = {each: stack.enter_context(Peer(each, __file__)) for each in LIBRARIES}
        for _ in range(rounds):
            for case in CASES:
                for library, peer in peers.items():
                    paths = peer.ask([case, str(folder / f"{library}-{case}")])
                    ranks = [figures(Path(path)) for path in paths]
                    row = {key: statistics.mean(r[key] for r in ranks) for key in ranks[0]}
                    every.setdefault(case, {}).setdefault(library, []).append(row)
    return {
        case: {
            library: {key: round(statistics.median(row[key] for row in rows), 3) for key in rows[0]}
            for library, rows in libraries.items()
        }
        for case, libraries in every.items()
    }


def plot(folder: Path, path: Path) -> None:
    """Draw the last recorded step of rank 0 in each trace: computing above collective operations."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(len(CASES), len(LIBRARIES), figsize=(11, 3.6), squeeze=False)
    for row, case in zip(axes, CASES, strict=True):
        for axis, library in zip(row, LIBRARIES, strict=True):
            steps, computing, moving = sets(folder / f"{library}-{case}-0.json", "step 2")
            start = steps[0][0]
            rows = ((1, computing, "tab:blue"), (0, moving, "tab:orange"))
            for height, intervals, color in rows:
                bars = [((a - start) / 1e3, (b - a) / 1e3) for a, b in intervals]
                axis.broken_barh(bars, (height + 0.1, 0.8), color=color)
            axis.set_yticks([0.5, 1.5], ["collectives", "computing"])
            axis.set_xlim(0, length(steps) / 1e3)
            axis.set_title(f"{CASES[case]}, {_shown(library)}", fontsize=9)
            axis.set_xlabel("ms", fontsize=8)
    figure.tight_layout()
    figure.savefig(path, dpi=110)


def _shown(library: str) -> str:
    return "PyTorch, gloo" if library == "torch" else "mindtorch, MPI"


def main() -> None:
    """Measure, print, and write the results of a whole run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, help=f"default: {ROUNDS}, which writes the results")
    parser.add_argument("--keep", type=Path, help="a folder for the traces")
    parser.add_argument("--beside", default="", help="what else runs on the machine, for the file")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.serve, traced)
        return
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as made:
        folder = args.keep or Path(made)
        folder.mkdir(parents=True, exist_ok=True)
        found = measured(args.rounds or ROUNDS, folder)
        if args.rounds is None:
            plot(folder, RESULTS.with_suffix(".png"))
    for case, libraries in found.items():
        for library, row in libraries.items():
            cells = "  ".join(f"{key} {value:8.2f}" for key, value in row.items())
            print(f"{CASES[case]:24} {_shown(library):15} {cells}")
    if args.rounds is None:
        settings = {"ranks": RANKS, "threads": 1, "rounds": ROUNDS, "load before": round(load, 1)}
        settings |= {"layers": DEPTH, "width": WIDTH, "batch": BATCH, "bucket MB": BUCKET}
        written = {
            "machine": machine(),
            "settings": settings,
            "beside": args.beside or "nothing that was noted",
            "steps": found,
        }
        RESULTS.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
