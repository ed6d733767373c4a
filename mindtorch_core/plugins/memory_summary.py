"""An allocator's counters as a table for people."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

__all__ = ["summary"]

WIDTH: Final = 81


def _size(value: int) -> str:
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if value >> shift >= 10 or (unit == "KiB" and value >> shift):
            return f"{value >> shift} {unit}"
    return f"{value} B"


def _count(value: int) -> str:
    return str(value)


ROWS: Final[tuple[tuple[str, str, Callable[[int], str]], ...]] = (
    ("allocated_bytes", "Allocated memory", _size),
    ("active_bytes", "Active memory", _size),
    ("requested_bytes", "Requested memory", _size),
    ("reserved_bytes", "Reserved memory", _size),
    ("inactive_split_bytes", "Non-releasable memory", _size),
    ("allocation", "Allocations", _count),
    ("active", "Active allocations", _count),
    ("segment", "Reserved segments", _count),
    ("inactive_split", "Non-releasable parts", _count),
)
POOLS: Final = (
    ("all", ""),
    ("large_pool", "  from large pool"),
    ("small_pool", "  from small pool"),
)


def summary(stats: Mapping[str, int], device: str, abbreviated: bool) -> str:
    """A table of counters, present, peak and total.

    Args:
        stats: counters under PyTorch's names; those that are missing count as 0.
        device: what the title names.
        abbreviated: whether to leave out the pools.
    """
    line, double = "-" * WIDTH, "=" * WIDTH
    retries, failures = stats.get("num_alloc_retries", 0), stats.get("num_ooms", 0)
    lines = [
        double,
        f" Memory of {device} ".center(WIDTH),
        line,
        f" Out of memory: {failures:<12} | Retries of allocations: {retries}".ljust(WIDTH),
        double,
        _row("Metric", ("Current", "Peak", "Total made", "Total freed")),
    ]
    for metric, title, readable in ROWS:
        lines.append(line)
        for pool, name in POOLS[: 1 if abbreviated else None]:
            parts = (f"{metric}.{pool}.{p}" for p in ("current", "peak", "allocated", "freed"))
            lines.append(_row(name or title, [readable(stats.get(part, 0)) for part in parts]))
    lines.append(double)
    return "".join(f"|{text}|\n" for text in lines)


def _row(title: str, cells: list[str] | tuple[str, ...]) -> str:
    return f" {title:<22}" + "".join(f"| {cell:>11} " for cell in cells) + "  "
