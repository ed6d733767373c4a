"""Random numbers: a seed and a position, as ACLNN's random operators take them.

The operators count in the manner of Philox (Salmon et al., 2011): numbers depend on the seed and on
the position alone, so a kernel that draws moves the position on by what it used, and no two kernels
draw the same numbers.
"""

from __future__ import annotations

import struct
import threading
from typing import Final

__all__ = ["PhiloxSource"]

STATE: Final = struct.Struct("<Qq")
INCREMENT: Final = (
    12  # one draw of a kernel, a multiple of the four numbers that Philox makes at once
)


class PhiloxSource:
    """A stream of random numbers on one device; threads may share it."""

    __slots__ = ("_lock", "_offset", "_seed")

    def __init__(self) -> None:
        self._lock = threading.RLock()  # a finaliser may draw, too
        self._seed = 0
        self._offset = 0

    def draw(self, increment: int = INCREMENT) -> tuple[int, int]:
        """Seed and position for one kernel; the position moves on.

        Args:
            increment: how far, rounded up to a multiple of 4.
        """
        with self._lock:
            offset = self._offset
            self._offset = offset + -(-increment // 4) * 4
            return self._seed, offset

    def manual_seed(self, seed: int) -> None:
        """Start the stream of a seed."""
        with self._lock:
            self._seed = seed % (1 << 64)
            self._offset = 0

    def initial_seed(self) -> int:
        """The running stream's seed."""
        return self._seed

    def get_state(self) -> bytes:
        """Seed and position as 16 bytes."""
        with self._lock:
            return STATE.pack(self._seed, self._offset)

    def set_state(self, raw: bytes) -> None:
        """Go to a position that `get_state` gave.

        Raises:
            RuntimeError: if it is none.
        """
        if len(raw) != STATE.size:
            raise RuntimeError(f"RNG state is wrong size: an NPU's has 16 bytes, got {len(raw)}")
        seed, offset = STATE.unpack(raw)
        if offset < 0 or offset % 4:
            raise RuntimeError(f"offset must be a multiple of 4, got {offset}")
        with self._lock:
            self._seed, self._offset = seed, offset
