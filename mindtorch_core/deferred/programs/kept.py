"""What backends have made of programs, kept by their keys."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Final

from ...values.devices import device as device_of
from ...values.forks import fork_safe
from ..positions import whole
from .program import Executable, Program

__all__ = ["PROGRAMS", "Kept", "Programs"]


class Kept:
    """A program with what its backend made of it.

    Attributes:
        program: the program.
        executable: None where the backend has declined it.
    """

    __slots__ = ("executable", "program")

    def __init__(self, program: Program, executable: Executable | None) -> None:
        self.program = program
        self.executable = executable


class Programs:
    """Executables by device type and key; the least recently used go first.

    Attributes:
        also_forget: called with it where programs are forgotten, for what holds executables as well.
    """

    def __init__(self, bound: int = 512) -> None:
        self.bound = bound
        self.also_forget: list[Callable[[], None]] = []
        self._lock = fork_safe(threading.RLock())
        self._kept: OrderedDict[tuple[str, Hashable], Kept] = OrderedDict()
        self._hits = self._misses = self._evictions = 0
        self._seconds = 0.0

    @property
    def bound(self) -> int:
        """How many are kept at most. Smaller ones take effect with the next program."""
        return self._bound

    @bound.setter
    def bound(self, bound: int) -> None:
        if (count := whole(bound)) < 0:
            raise ValueError(f"PROGRAMS.bound must be at least 0, got {bound}")
        self._bound = count

    def get(self, device: str, key: Hashable) -> Kept | None:
        """What was made of a program earlier."""
        with self._lock:
            found = self._kept.get((device, key))
            if found is None:
                self._misses += 1
            else:
                self._hits += 1
                self._kept.move_to_end((device, key))
            return found

    def put(self, kept: Kept, seconds: float) -> None:
        """Keep what was made of a program, and how long that took."""
        with self._lock:
            self._kept[kept.program.device, kept.program.key] = kept
            self._seconds += seconds
            while len(self._kept) > self.bound:
                self._kept.popitem(last=False)
                self._evictions += 1

    def stats(self) -> dict[str, float]:
        """``hits``, ``misses``, ``evictions`` and ``kept`` programs, and ``seconds`` spent compiling."""
        with self._lock:
            return {
                "hits": self._hits,
                "misses": self._misses,
                "evictions": self._evictions,
                "kept": len(self._kept),
                "seconds": self._seconds,
            }

    def forget(self, device: str | None = None) -> None:
        """Forget the programs of a device type, None for all: blocks are compiled anew, replayed ones too.

        Raises:
            TypeError, ValueError: for what is no type of a device, such as ``"cpu"``.
            RuntimeError: for one that no backend provides.
        """
        if device is not None:
            _check_type(device)
        with self._lock:
            for key in [k for k in self._kept if device in (None, k[0])]:
                del self._kept[key]
        for forget in self.also_forget:
            forget()


def _check_type(name: object) -> None:
    if not isinstance(name, str):
        raise TypeError(
            f"PROGRAMS.forget() takes the type of a device, such as 'cpu', or None, not {name!r}"
        )
    if device_of(name).type != name:
        raise ValueError(
            f"PROGRAMS.forget() takes the type of a device, such as {device_of(name).type!r}, not {name!r}"
        )


PROGRAMS: Final = Programs()
