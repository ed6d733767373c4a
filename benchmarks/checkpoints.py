"""Throughput of checkpoints that two processes write and read together, against PyTorch's.

    python benchmarks/checkpoints.py                 writes results/checkpoints.json
    python benchmarks/checkpoints.py --rounds 1      writes nothing
    python benchmarks/checkpoints.py --folder DIR    where the checkpoints are; a temporary folder by default

The state is a DTensor for each layer, of which each process has half, and the number of the step. The
libraries take turns. Each turn saves into an empty folder and reads from it, which the system still has in
memory:

- `save` returns when the files are on the disk (`fsync`), as both libraries have it by default;
- `load` fills a state that is there;
- `async_save` returns when the state has been copied: `blocked` is until then, `async` until `result()`
  returns.

`plain` is what the same bytes take that each process writes into one file and `fsync`s: the disk's part.
Figures are MB (10^6 bytes) a second of the whole state, of the slower process; the median over rounds."""

from __future__ import annotations

import argparse
import importlib
import json
import os
import shutil
import statistics
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from ranks import LIBRARIES, RANKS, Peer, serve

from mindtorch_core.measuring.peers import machine

RESULTS = Path(__file__).parent / "results" / "checkpoints.json"
ROWS, COLUMNS, LAYERS = 2048, 2048, 9
MEGABYTES = ROWS * COLUMNS * LAYERS * 4 / 1e6
ROUNDS = 5
KINDS = ("save", "load", "async", "blocked", "plain")


# ---- a process of one of the libraries ----------------------------------------------------------


def state_of(torch: Any, value: float) -> dict[str, Any]:
    """What is saved."""
    tensor = importlib.import_module(f"{torch.__name__}.distributed.tensor")
    device_mesh = importlib.import_module(f"{torch.__name__}.distributed.device_mesh")
    mesh = device_mesh.init_device_mesh("cpu", (RANKS,))
    parts = {
        f"{number}.weight": tensor.DTensor.from_local(
            torch.full((ROWS // RANKS, COLUMNS), value + number), mesh, [tensor.Shard(0)]
        )
        for number in range(LAYERS)
    }
    return {"model": parts, "step": int(value)}


def plain(folder: Path, rank: int) -> float:
    """Seconds to write the bytes of a process."""
    data = bytes(int(MEGABYTES * 1e6) // RANKS)
    start = time.perf_counter()
    with (folder / f"plain-{rank}").open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return time.perf_counter() - start


def turn(torch: Any, folder: str) -> dict[str, float]:
    """Seconds of each kind, of this process."""
    checkpoint = importlib.import_module(f"{torch.__name__}.distributed.checkpoint")
    dist = torch.distributed
    state, empty = state_of(torch, 1.0), state_of(torch, 0.0)
    found: dict[str, float] = {}

    def timed(name: str, call: Any) -> Any:
        dist.barrier()
        start = time.perf_counter()
        result = call()
        found[name] = time.perf_counter() - start
        return result

    dist.barrier()
    found["plain"] = plain(Path(folder), dist.get_rank())
    timed("save", lambda: checkpoint.save(state, checkpoint_id=f"{folder}/a"))
    timed("load", lambda: checkpoint.load(empty, checkpoint_id=f"{folder}/a"))
    for name, part in empty["model"].items():
        assert torch.equal(part.to_local(), state["model"][name].to_local()), name
    future = timed("blocked", lambda: checkpoint.async_save(state, checkpoint_id=f"{folder}/b"))
    start = time.perf_counter()
    future.result()
    found["async"] = found["blocked"] + time.perf_counter() - start
    return found


# ---- the benchmark ------------------------------------------------------------------------------


def measured(rounds: int, under: Path) -> dict[str, dict[str, float]]:
    """By library and kind the median of the seconds of the slower process."""
    every: dict[str, list[dict[str, float]]] = {each: [] for each in LIBRARIES}
    with ExitStack() as stack:
        peers = {each: stack.enter_context(Peer(each, __file__)) for each in LIBRARIES}
        for number in range(rounds + 1):
            for library, peer in peers.items():
                folder = under / library
                folder.mkdir()
                ranks = peer.ask(str(folder))
                shutil.rmtree(folder)
                if number:  # the first warms up
                    every[library].append({k: max(r[k] for r in ranks) for k in KINDS})
    return {
        library: {k: round(statistics.median(row[k] for row in rows), 4) for k in KINDS}
        for library, rows in every.items()
    }


def main() -> None:
    """Measure, print, and write the results of a whole run."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, help=f"default: {ROUNDS}, which writes the results")
    parser.add_argument("--folder", type=Path, help="where the checkpoints are written")
    parser.add_argument("--beside", default="", help="what else runs on the machine, for the file")
    parser.add_argument("--serve", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.serve:
        serve(args.serve, turn)
        return
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(dir=args.folder) as folder:
        found = measured(args.rounds or ROUNDS, Path(folder))
    rates = {
        library: {k: round(MEGABYTES / seconds, 1) for k, seconds in row.items()}
        for library, row in found.items()
    }
    for kind in KINDS:
        ours, theirs = (found[each][kind] for each in LIBRARIES)
        print(
            f"{kind:8} {ours * 1e3:7.0f} ms, PyTorch {theirs * 1e3:7.0f} ms: {ours / theirs:5.2f};  "
            f"{rates['mindtorch'][kind]:7.0f} MB/s, PyTorch {rates['torch'][kind]:7.0f} MB/s"
        )
    if args.rounds is None:
        settings = {"ranks": RANKS, "threads": 1, "rounds": ROUNDS, "load before": round(load, 1)}
        written = {
            "machine": machine(),
            "settings": {**settings, "megabytes": round(MEGABYTES, 1)},
            "beside": args.beside or "nothing that was noted",
            "seconds": found,
            "megabytes a second": rates,
        }
        RESULTS.write_text(json.dumps(written, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
