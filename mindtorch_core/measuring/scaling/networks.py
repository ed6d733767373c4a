"""Descriptions of networks: files that say what a message costs inside a node and between nodes."""

from __future__ import annotations

import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .formulas import call_time, tree_depth

__all__ = ["Level", "Network", "NetworkError", "read_network"]


class NetworkError(ValueError):
    """A description that cannot be used; the text names the file and the key."""


@dataclass(frozen=True)
class Level:
    """Links of one kind.

    Attributes:
        name: such as ``HCCS``.
        latency: of one hop, in seconds.
        bandwidth: of one rank, in bytes a second.
        ranks: how many ranks it joins; None for all.
    """

    name: str
    latency: float
    bandwidth: float
    ranks: int | None = None


@dataclass(frozen=True)
class Network:
    """Levels of links, from the innermost to the one that joins all.

    Attributes:
        name: for people.
        levels: each joins groups of the one before.
        overlap: the share of computing in which messages move on; None for what was measured.
    """

    name: str
    levels: tuple[Level, ...]
    overlap: float | None = None

    def time(self, op: str, size: float, ranks: int) -> float:
        """Seconds of a call of all ranks, with the comparison of calls that precedes it.

        A reduction is scattered inside the inner groups, done between these on what each rank then has,
        and gathered again; gathering and scattering go through the levels in the same way.
        """
        total, inner, part = 0.0, 1, float(size)
        for level in self.levels:
            joined = ranks if level.ranks is None else min(level.ranks, ranks)
            n = math.ceil(joined / inner)
            beta = 1 / level.bandwidth
            total += tree_depth(n) * level.latency  # calls are compared before data moves
            last = joined >= ranks
            if op in ("all_reduce", "barrier") and not last:
                total += 2 * call_time("all_gather", n, part, level.latency, beta)
            else:
                total += call_time(op, n, part, level.latency, beta)
            if op in ("all_reduce", "all_gather", "reduce_scatter", "barrier"):
                part /= n
            inner = joined
            if last:
                break
        return total


def read_network(path: Path) -> Network:
    """Read a description.

    Raises:
        NetworkError: naming the file, and the key that is missing, unknown or of no sense.
    """
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except OSError as error:
        raise NetworkError(f"cannot read {str(path)!r}: {error.strerror}") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise NetworkError(f"{path}: {error}") from None
    top = _Table(str(path), "", data, ("name", "overlap", "level"))
    name = top.text("name")
    overlap = top.number("overlap", most=1.0) if "overlap" in data else None
    rows = data.get("level")
    if not isinstance(rows, list) or not rows or not all(isinstance(r, dict) for r in rows):
        raise NetworkError(f"{path}: 'level' must be one or more tables [[level]]")
    levels: list[Level] = []
    for i, row in enumerate(rows):
        levels.append(_level(str(path), i, row, levels[-1].ranks if levels else 1, len(rows)))
    return Network(name, tuple(levels), overlap)


def _level(path: str, i: int, row: Mapping[str, Any], inner: int | None, count: int) -> Level:
    where = f"level[{i}]."
    table = _Table(path, where, row, ("name", "latency_us", "bandwidth_gbit", "ranks"))
    name = table.text("name")
    latency = table.number("latency_us") * 1e-6
    bandwidth = table.number("bandwidth_gbit") * 1e9 / 8
    if not bandwidth:
        table.wrong("bandwidth_gbit", "must be more than 0")
    ranks = row.get("ranks")
    if i == count - 1:
        if ranks is not None:
            table.wrong("ranks", "must not be there: the last level joins all ranks")
        return Level(name, latency, bandwidth)
    if type(ranks) is not int:
        table.wrong(
            "ranks", "is missing" if ranks is None else f"must be an integer, got {ranks!r}"
        )
    assert isinstance(ranks, int)
    assert inner is not None
    if ranks <= inner or ranks % inner:
        table.wrong("ranks", f"must be a multiple of {inner} and more, got {ranks}")
    return Level(name, latency, bandwidth, ranks)


class _Table:
    """A table of a file, whose errors say where they are."""

    def __init__(
        self, path: str, where: str, row: Mapping[str, Any], known: tuple[str, ...]
    ) -> None:
        self._path, self._where, self._row = path, where, row
        for key in row:
            if key not in known:
                self.wrong(key, f"is not known (known: {', '.join(known)})")

    def wrong(self, key: str, what: str) -> None:
        """Raise about a key."""
        raise NetworkError(f"{self._path}: '{self._where}{key}' {what}")

    def text(self, key: str) -> str:
        """A text that must be there."""
        found = self._row.get(key)
        if not isinstance(found, str):
            self.wrong(key, "is missing" if found is None else f"must be a text, got {found!r}")
        return str(found)

    def number(self, key: str, most: float = math.inf) -> float:
        """A number that must be there and not be negative."""
        found = self._row.get(key)
        if found is None:
            self.wrong(key, "is missing")
        if isinstance(found, bool) or not isinstance(found, int | float):
            self.wrong(key, f"must be a number, got {found!r}")
        value = float(found)  # type: ignore[arg-type]  # it is a number
        if not math.isfinite(value) or not 0 <= value <= most:
            limit = "not be negative" if most == math.inf else f"lie between 0 and {most:g}"
            self.wrong(key, f"must be finite and {limit}, got {found!r}")
        return value
