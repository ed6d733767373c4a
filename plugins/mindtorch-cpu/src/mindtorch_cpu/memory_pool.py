"""Memory for large results, kept for the next one of the size.

Fresh pages from the system cost more than the arithmetic of an element-wise op: each is zeroed and
mapped when it is first touched. Memory that a tensor, a NumPy view or a DLPack export still holds
is never handed out again: a block comes back when the last array over it is gone.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import fork_safe

__all__ = ["POOL", "Pool"]

LARGE: Final = 1 << 17  # bytes; below, NumPy's allocator gets memory that is there already


class _Block:
    """Owner of a block's memory while arrays refer to it."""

    __slots__ = ("__array_interface__", "_memory", "_pool")

    def __init__(self, pool: Pool, memory: Any, shape: tuple[int, ...], d: Any) -> None:
        self._pool = pool
        self._memory = memory
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": d.str,
            "data": memory.__array_interface__["data"],
        }

    def __del__(self) -> None:
        self._pool.give_back(self._memory)


class Pool:
    """Blocks of memory by size.

    Blocks come back from finalisers, which may interrupt any thread at any place, also inside the
    pool: giving one back only appends it to a queue, and whoever gets the lock puts it away.

    Attributes:
        limit: bytes it keeps at most.
    """

    def __init__(self, limit: int = 1 << 30) -> None:
        self.limit = limit
        self._lock = fork_safe(threading.Lock())
        self._returned: deque[Any] = deque()
        self._free: dict[int, list[Any]] = {}
        self._held = 0
        self._reused = 0
        self._made = 0

    def empty(self, shape: tuple[int, ...], d: Any) -> Any:
        """An array with undefined elements, row-major."""
        nbytes = d.itemsize
        for n in shape:
            nbytes *= n
        if nbytes < LARGE:
            return np.empty(shape, d)
        size = _rounded(nbytes)
        memory = self._take(size)
        if memory is None:
            try:
                memory = np.empty(size, np.uint8)
            except MemoryError:  # blocks of other sizes may be all that is missing
                self.empty_cache()
                memory = np.empty(size, np.uint8)
        if d.kind == "V":  # ml_dtypes' types have no type string that NumPy reads back
            return (
                np.asarray(_Block(self, memory, (nbytes,), np.dtype(np.uint8)))
                .view(d)
                .reshape(shape)
            )
        return np.asarray(_Block(self, memory, shape, d))

    def _take(self, size: int) -> Any:
        with self._lock:
            self._put_away()
            blocks = self._free.get(size)
            if not blocks:
                self._made += 1
                return None
            self._held -= size
            self._reused += 1
            return blocks.pop()

    def give_back(self, memory: Any) -> None:
        """Keep a block for later, or let it go if the pool is full."""
        self._returned.append(memory)
        self._settle()

    def _settle(self) -> None:
        """Put away what came back, unless somebody has the lock: then the next call does.

        That may be this thread. If it is another one that takes it now, this one waits for it: only ``with``
        leaves no lock taken where an interrupt comes.
        """
        while self._returned and not self._lock.locked():
            with self._lock:
                self._put_away()

    def _put_away(self) -> None:
        """Keep what came back, as far as the limit allows; the caller has the lock."""
        returned = self._returned
        while returned:
            memory = returned.popleft()
            size = memory.nbytes
            if self._held + size <= self.limit:
                self._free.setdefault(size, []).append(memory)
                self._held += size

    def empty_cache(self) -> None:
        """Return what nobody uses to the system."""
        with self._lock:
            self._returned.clear()
            self._free.clear()
            self._held = 0

    def stats(self) -> dict[str, int]:
        """Bytes kept for later, and how many blocks were made and reused."""
        self._settle()
        return {
            "cached_bytes": self._held,
            "blocks_made": self._made,
            "blocks_reused": self._reused,
        }


def _rounded(nbytes: int) -> int:
    """The size class: an eighth of the power of two below, so that at most an eighth is lost."""
    step = max(1 << 12, 1 << (nbytes.bit_length() - 4))
    return -(-nbytes // step) * step


POOL: Final = Pool()
