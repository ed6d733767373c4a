"""What calls cost between ranks on this machine; run as a program by ranks.

``python -m mindtorch_core.measuring.scaling.host FOLDER``; rank 0 writes ``FOLDER/host.json``: times
of calls by size, and in which share of computing messages move on.
"""

from __future__ import annotations

import functools
import importlib
import json
import statistics
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from .lost_time import LostTime
from .steps import Message
from .time_tables import TimeTable

__all__ = ["Host", "main", "read_host"]

_SIZES: Final = tuple(4**i for i in range(3, 13))  # bytes: 64 to 16 Mi
_OVERLAPPED: Final = 4 << 20  # bytes
_TURNS: Final = 7


@dataclass(frozen=True)
class Host:
    """What was measured at one number of ranks.

    Attributes:
        tables: by op.
        overlap: the share of computing in which messages move on.
    """

    tables: Mapping[str, TimeTable]
    overlap: float

    def time(self, message: Message) -> float:
        """Seconds of a message; ops that were not measured count as all_gather."""
        op = "all_reduce" if message.op in ("barrier", "reduce") else message.op
        return self.tables.get(op, self.tables["all_gather"])(message.bytes)


def read_host(report: Mapping[str, Any]) -> Host:
    """What rank 0 has written."""
    tables = {
        op: TimeTable({int(size): seconds for size, seconds in row.items()})
        for op, row in report["seconds"].items()
    }
    return Host(tables, report["overlap"])


def _calls(torch: Any, size: int, ranks: int) -> dict[str, Callable[..., Any]]:
    """A call of each op that moves so many bytes in all."""
    dist = torch.distributed
    part = torch.ones(max(size // 4 // ranks, 1))
    whole = torch.ones(part.numel() * ranks)
    return {
        "all_reduce": lambda: dist.all_reduce(whole),
        "all_gather": lambda: dist.all_gather_single(whole, part),
        "reduce_scatter": lambda: dist.reduce_scatter_single(part, whole),
        "broadcast": lambda: dist.broadcast(whole, 0),
    }


@functools.cache
def _lost_time() -> LostTime:
    return LostTime()


def _median(dist: Any, call: Callable[[], Any]) -> float:
    """The middle of some turns' seconds, without those in which there was no core: steps count these."""
    times: list[float] = []
    lost = _lost_time()
    call()
    for _ in range(_TURNS):
        dist.barrier()
        begun = time.perf_counter() - lost()
        call()
        times.append(time.perf_counter() - lost() - begun)
    return statistics.median(times)


def _busy(torch: Any) -> Callable[[], None]:
    """A piece of computing, of a few milliseconds: a product and small ops."""
    a, b = torch.ones(192, 192), torch.ones(64)

    def work() -> None:
        for _ in range(20):
            (a @ a).relu().sum()
            for _ in range(10):
                b.add(b)

    return work


def _overlap(torch: Any, work: Callable[[], None], busy: float) -> float:
    """The share of computing in which a message moves on."""
    dist = torch.distributed
    data = torch.ones(_OVERLAPPED // 4)
    alone = _median(dist, lambda: dist.all_reduce(data))

    def both() -> None:
        pending = dist.all_reduce(data, async_op=True)
        work()
        pending.wait()

    together = _median(dist, both)
    return min(max((alone + busy - together) / min(alone, busy), 0.0), 1.0)


def main(folder: Path) -> None:
    """Measure with the other ranks."""
    torch: Any = importlib.import_module("torch")
    dist = torch.distributed
    dist.init_process_group()
    rank, ranks = dist.get_rank(), dist.get_world_size()
    seconds: dict[str, dict[int, float]] = {}
    for size in _SIZES:
        for op, call in _calls(torch, size, ranks).items():
            seconds.setdefault(op, {})[size] = _median(dist, call)
    work = _busy(torch)
    overlap = _overlap(torch, work, _median(dist, work)) if ranks > 1 else 1.0
    if rank == 0:
        report = {"seconds": seconds, "overlap": overlap}
        (folder / "host.json").write_text(json.dumps(report), "utf-8")
    dist.destroy_process_group()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
