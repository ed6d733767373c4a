"""Memory for large results, kept for the next one of the size.

Fresh pages from the system cost more than the arithmetic of an element-wise op: each is zeroed and
mapped when it is first touched. Memory that a tensor, a NumPy view or a DLPack export still holds
is never handed out again: a block comes back when the last array over it is gone.
"""

from __future__ import annotations

from collections import deque
from functools import partial
from typing import Any, Final

import numpy as np

__all__ = ["POOL", "Pool"]

LARGE: Final = 1 << 17  # bytes; below, NumPy's allocator gets memory that is there already


class _Block:
    """Owner of a block's memory while arrays refer to it.

    Its finaliser is an attribute, and built in: an interrupt that came in one written in Python were lost.
    """

    __slots__ = ("__array_interface__", "__del__")

    def __init__(self, memory: Any, shape: tuple[int, ...], d: Any, free: deque[Any]) -> None:
        self.__array_interface__ = {
            "version": 3,
            "shape": shape,
            "typestr": d.str,
            "data": memory.__array_interface__["data"],
        }
        self.__del__ = partial(free.append, memory)


class Pool:
    """Blocks of memory by size.

    There is no lock. Blocks come back from finalisers, which may interrupt any thread at any place, also
    inside the pool, as may handlers, and these may wait for threads that ask for blocks. A block is taken
    from a queue or put there in one step of the interpreter.

    Attributes:
        limit: bytes that it keeps of a size at most, and of all sizes when it makes another block.
    """

    def __init__(self, limit: int = 1 << 30) -> None:
        self.limit = limit
        self._free: dict[int, deque[Any]] = {}
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
        free = self._free.get(size)
        if free is None:
            free = self._free.setdefault(size, deque(maxlen=self.limit // size))
        memory = self._take(free)
        if memory is None:
            memory = self._make(size)
        if d.kind == "V":  # ml_dtypes' types have no type string that NumPy reads back
            owner = _Block(memory, (nbytes,), np.dtype(np.uint8), free)
            return np.asarray(owner).view(d).reshape(shape)
        return np.asarray(_Block(memory, shape, d, free))

    def _take(self, free: deque[Any]) -> Any:
        try:
            memory = free.pop()
        except IndexError:
            return None
        self._reused += 1
        return memory

    def _make(self, size: int) -> Any:
        self._made += 1
        excess = self._kept() - self.limit
        for other, free in self._free.copy().items():
            if excess <= 0:
                break
            excess -= other * len(free)
            free.clear()
        try:
            return np.empty(size, np.uint8)
        except MemoryError:  # blocks of other sizes may be all that is missing
            self.empty_cache()
            return np.empty(size, np.uint8)

    def _kept(self) -> int:
        return sum(size * len(free) for size, free in self._free.copy().items())

    def empty_cache(self) -> None:
        """Return what nobody uses to the system."""
        for free in self._free.copy().values():
            free.clear()

    def stats(self) -> dict[str, int]:
        """Bytes kept for later, and how many blocks were made and reused."""
        return {
            "cached_bytes": self._kept(),
            "blocks_made": self._made,
            "blocks_reused": self._reused,
        }


def _rounded(nbytes: int) -> int:
    """The size class: an eighth of the power of two below, so that at most an eighth is lost."""
    step = max(1 << 12, 1 << (nbytes.bit_length() - 4))
    return -(-nbytes // step) * step


POOL: Final = Pool()
