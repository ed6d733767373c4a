"""Memory for large results, kept for the next one of the size.

Fresh pages from the system cost more than the arithmetic of an element-wise op: each is zeroed and
mapped when it is first touched. Memory that a tensor, a NumPy view or a DLPack export still holds
is never handed out again: a block comes back when the last array over it is gone.
"""

from __future__ import annotations

import contextlib
import mmap
from collections import deque
from functools import partial
from typing import Any, Final

import numpy as np

__all__ = ["POOL", "Pool"]

LARGE: Final = 1 << 17  # bytes; below, NumPy's allocator gets memory that is there already
# Bytes of a line of the cache, where blocks begin: vectors that reach over two lines take twice as long.
_LINE: Final = 64


# Bytes of a huge page: memory in such pages is read in two thirds of the time. What C's allocator gives may
# have been used before, in small ones.
_HUGE: Final = 1 << 21
_ADVICE: Final = getattr(mmap, "MADV_HUGEPAGE", None)


class _Memory(np.ndarray[Any, Any]):
    """A block's memory, and what owns it while arrays refer to it: a view of the block.

    The owner's finaliser is an attribute, and built in: an interrupt that came in one written in Python
    were lost. NumPy takes a view's base in its place where that has the same class as an array: this has
    not.
    """

    __slots__ = ("__del__",)


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
        owner = memory.view()
        owner.__del__ = partial(free.append, memory)
        return np.ndarray(shape, d, owner)

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
            return _block(size)
        except MemoryError:  # blocks of other sizes may be all that is missing
            self.empty_cache()
            return _block(size)

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


def _block(size: int) -> Any:
    """Fresh memory that begins with a line of the cache; of huge pages if it is large."""
    if size >= _HUGE and _ADVICE is not None:
        with contextlib.suppress(OSError, OverflowError):  # NumPy says that there is no memory
            pages = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
            with contextlib.suppress(OSError):  # a system without such pages
                pages.madvise(_ADVICE)
            return np.frombuffer(pages, np.uint8).view(_Memory)
    memory = np.empty(size + _LINE, np.uint8)
    start = -memory.__array_interface__["data"][0] % _LINE
    return memory[start : start + size].view(_Memory)


def _rounded(nbytes: int) -> int:
    """The size class: an eighth of the power of two below, so that at most an eighth is lost."""
    step = max(1 << 12, 1 << (nbytes.bit_length() - 4))
    return -(-nbytes // step) * step


POOL: Final = Pool()
