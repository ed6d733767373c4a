"""Memory for large results, kept for the next one of the size.

Fresh pages from the system cost more than the arithmetic of an element-wise op: each is zeroed and
mapped when it is first touched. Memory that a tensor, a NumPy view or a DLPack export still holds
is never handed out again: a block comes back when the last array over it is gone.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

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
        if hasattr(self, "__array_interface__"):  # otherwise its making was interrupted
            self._pool.give_back(self._memory)


class Pool:
    """Blocks of memory by size.

    There is no lock. Blocks come back from finalisers, which may interrupt any thread at any place, also
    inside the pool, as may handlers, and these may wait for threads that ask for blocks. A block is taken
    from a list or put there in one step of the interpreter.

    Attributes:
        limit: bytes it keeps at most.
    """

    def __init__(self, limit: int = 1 << 30) -> None:
        self.limit = limit
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
        try:
            memory = self._free[size].pop()
        except (KeyError, IndexError):
            self._made += 1
            return None
        self._held -= size
        self._reused += 1
        return memory

    def give_back(self, memory: Any) -> None:
        """Keep a block for later, or let it go if the pool is full."""
        size = memory.nbytes
        if self._held + size > self.limit:
            kept = self._free.copy()  # counted again: an interrupt may have come before a count
            self._held = sum(n * len(blocks) for n, blocks in kept.items())
        if self._held + size <= self.limit:
            self._free.setdefault(size, []).append(memory)
            self._held += size

    def empty_cache(self) -> None:
        """Return what nobody uses to the system."""
        self._free = {}
        self._held = 0

    def stats(self) -> dict[str, int]:
        """Bytes kept for later, and how many blocks were made and reused."""
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
