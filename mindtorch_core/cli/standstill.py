"""Processes for which a launcher would wait for ever: stopped ones, or such as wait for one that ended."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Container
from contextlib import suppress
from pathlib import Path
from typing import Final

__all__ = ["Standstill", "Unbegun"]

_GAP: Final = 1.0  # between two looks: after a longer one the launcher was stopped itself


class Standstill:
    """Watches for the ranks that stand still when all others have ended.

    Args:
        folder: where each rank writes the number of its process, as ``<rank>.pid``, and has ``<rank>.over``
            when its program has come to its end: MPI lets no process end before all others.
        count: of the ranks.
        patience: how long they may stand still, in seconds.
    """

    def __init__(self, folder: Path, count: int, patience: float) -> None:
        self._folder, self._count, self._patience = folder, count, patience
        self._since = self._looked = 0.0

    def end(self, ended: Container[int]) -> dict[int, int]:
        """Kill them once they have stood still for too long; their processes by rank.

        Args:
            ended: ranks that have.
        """
        now = time.monotonic()
        left = {
            rank: _process(self._folder, rank)
            for rank in range(self._count)
            if rank not in ended and not (self._folder / f"{rank}.over").exists()
        }
        if len(left) == self._count or not left or not all(map(_is_stopped, left.values())):
            self._since = 0.0
        elif not self._since or now > self._looked + _GAP:
            self._since = now
        self._looked = now
        if not self._since or now < self._since + self._patience:
            return {}
        return _killed(left)


class Unbegun:
    """Watches for the ranks whose engine waits for all to begin, of which one has ended without.

    Args:
        folder: where each rank has ``<rank>.begins`` while it waits so, beside ``<rank>.pid``.
        count: of the ranks.
        patience: how long they may do that after an end, in seconds.
    """

    def __init__(self, folder: Path, count: int, patience: float) -> None:
        self._folder, self._count, self._patience = folder, count, patience
        self._since = 0.0

    def end(self, ended: Container[int]) -> dict[int, int]:
        """Kill them once they have waited for too long; their processes by rank.

        Args:
            ended: ranks that have.
        """
        ranks = range(self._count)
        left = [r for r in ranks if r not in ended and (self._folder / f"{r}.begins").exists()]
        if not left or not any(rank in ended for rank in ranks):
            self._since = 0.0
            return {}
        self._since = self._since or time.monotonic()
        if time.monotonic() < self._since + self._patience:
            return {}
        for rank in left:
            (self._folder / f"{rank}.begins").unlink(missing_ok=True)
        return _killed({rank: _process(self._folder, rank) for rank in left})


def _killed(processes: dict[int, int]) -> dict[int, int]:
    for process in processes.values():
        with suppress(ProcessLookupError):
            os.kill(process, signal.SIGKILL)
    return processes


def _process(folder: Path, rank: int) -> int:
    """Of a rank's command; 0 where it has none yet."""
    try:
        return int((folder / f"{rank}.pid").read_text("ascii") or 0)
    except FileNotFoundError:
        return 0


def _is_stopped(process: int) -> bool:
    """Whether a signal has stopped a process; False where the system does not say."""
    try:
        said = Path(f"/proc/{process}/stat").read_text("utf-8", "replace")
    except OSError:
        return False
    return said.rpartition(")")[2].split()[:1] == ["T"]
