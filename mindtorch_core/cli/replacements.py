"""Who takes the place of a process that dies, where `mindtorch run --elastic` has started all.

The store that the launcher serves outlives every process. In it they say when their group is whole, and for
which ranks they start others; the launcher says whether they may. Whoever dies while the group is being
made, or made anew, cannot be replaced, as the others may wait for it without end.
"""

from __future__ import annotations

import json
import time
from datetime import timedelta
from typing import Final

from ..communication.tcp_store import TCPStore

__all__ = ["Replacements"]

# How long processes may take to make the group anew, in seconds: others must start meanwhile.
_LONGEST: Final = 120.0


class Replacements:
    """The launcher's part.

    Args:
        count: how many ranks there are.
        allowed: how many processes may be replaced.
    """

    def __init__(self, count: int, allowed: int) -> None:
        self._store = TCPStore("127.0.0.1", 0, None, True, timedelta(seconds=30))
        self._count, self._allowed = count, allowed
        self._deaths = [0] * count
        self._missing: set[int] = set()  # have died, and nobody is known to be there instead
        self._generation = -1  # of the last group that was whole
        self._anew: set[int] | None = None  # whom the others replace, since when
        self._since = 0.0

    def variables(self, start: list[str]) -> dict[str, str]:
        """What tells processes where the store is, and how a rank is started."""
        return {
            "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": str(self._store.port),
            "TORCHELASTIC_USE_AGENT_STORE": "True",
            "MINDTORCH_ELASTIC": json.dumps(start),
        }

    @property
    def used(self) -> int:
        """How many processes were replaced."""
        return sum(self._deaths) - len(self._missing)

    def deaths(self, rank: int) -> int:
        """How many processes of a rank have died and were to be replaced."""
        return self._deaths[rank]

    def missing(self) -> list[int]:
        """The ranks that have died and were not replaced."""
        return sorted(self._missing)

    def allow(self, rank: int, *, caused: bool) -> bool:
        """Let the others replace a rank that has died, or forbid it.

        Args:
            rank: whose process has died.
            caused: whether it did so by itself, and not because another had died.
        """
        self._look()
        may = caused and self._generation >= 0 and sum(self._deaths) < self._allowed
        if self._anew is not None:  # else who makes it anew has died, or whoever came instead
            may = may and rank in self._anew - self._missing
        number = self._deaths[rank] + 1
        if may:
            self._deaths[rank] = number
            self._missing.add(rank)
        self._store.set(f"elastic/{rank}/{number}", "replace" if may else "stop")
        return may

    def hopeless(self) -> bool:
        """Whether the group will not be whole again: nobody is left, or it is made without some that died."""
        if not self._missing:
            return False
        self._look()
        if self._anew is None:
            return len(self._missing) == self._count
        return bool(self._missing - self._anew) or time.monotonic() > self._since + _LONGEST

    def _look(self) -> None:
        """See how far the processes are."""
        whole = [f"elastic/whole/{rank}" for rank in range(self._count)]
        if self._store.check(whole):
            while self._generation < min(map(int, self._store.multi_get(whole))):
                self._generation += 1
                self._missing -= self._anew or self._replaced(self._generation) or set()
                self._anew = None
        if self._anew is None and self._generation >= 0:
            self._anew, self._since = self._replaced(self._generation + 1), time.monotonic()

    def _replaced(self, generation: int) -> set[int] | None:
        """The ranks that others replace to make a generation of the group; None before they say so."""
        key = f"elastic/anew/{generation}"
        return set(json.loads(self._store.get(key))) if self._store.check([key]) else None
