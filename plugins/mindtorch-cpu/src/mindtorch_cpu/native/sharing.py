"""Calls of kernels that are shared out over threads: the system's (`pool`), or Python's."""

from __future__ import annotations

import struct
import threading
from collections.abc import Sequence
from typing import Any, Final, Protocol

import numpy as np

from mindtorch_core.backend import get_num_threads

from ..addresses import address
from ..workers import share_out
from .pool import pool

__all__ = ["SCRATCH", "Call", "Runnable", "in_calls", "in_strips"]

_ALIGNED: Final = 64

# Arguments of a kernel, and the first of its items and the one behind its last.
Call = tuple[bytes, int, int]


class Runnable(Protocol):
    """A kernel.

    Attributes:
        address: of its function, ``kernel(arguments, low, high, scratch)``.
        call: the same as a function of Python; it releases the interpreter's lock.
    """

    address: int
    call: Any


class _Scratch(threading.local):
    """Memory of a thread for what stands between phases."""

    def __init__(self) -> None:
        self.memory = np.empty(0, np.int64)

    def address(self, words: int) -> int:
        if self.memory.size < words + 8:
            self.memory = np.empty(words + 8, np.int64)
        return _aligned(self.memory)


SCRATCH: Final = _Scratch()


def _aligned(memory: Any) -> int:
    return -(-address(memory) // _ALIGNED) * _ALIGNED


def in_strips(
    kernel: Runnable, words: int, strips: int, step: int, scratch: int = 0, *, zeroed: bool = False
) -> None:
    """Compute all items of a kernel, some at a time in each thread.

    Args:
        kernel: what computes them.
        words: address of its arguments.
        strips: how many items there are.
        step: how many a call computes.
        scratch: bytes of memory that a thread needs.
        zeroed: whether that memory has to be zero.
    """
    room = -(-scratch // _ALIGNED) * _ALIGNED
    several = strips > step and get_num_threads() > 1
    threads = pool() if several else None
    if several and threads is None:

        def some(first: int) -> None:
            _, start = _memory(room, zeroed)
            kernel.call(words, first, min(first + step, strips), start)

        share_out(some, range(0, strips, step))
        return
    seats = threads.seats() if threads is not None else 0
    memory, start = _memory(room * (seats + 1), zeroed)
    if threads is None:
        kernel.call(words, 0, strips, start)
    else:
        threads.run(seats, kernel.address, words, 0, step, strips, scratch=start, room=room)
    del memory  # it is used until here


def _memory(size: int, zeroed: bool) -> tuple[Any, int]:
    """Memory that has to be held, and the address of some bytes of it."""
    if not zeroed:
        return None, SCRATCH.address(size // 8)
    made = np.zeros(size + _ALIGNED, np.int8)
    return made, _aligned(made)


def in_calls(kernel: Runnable, items: Sequence[Sequence[Call]], scratch: int = 0) -> None:
    """Make calls of a kernel; those of an item one after the other, by one thread.

    Args:
        kernel: what is called.
        items: calls of each, as many for all, with arguments of one size.
        scratch: bytes of memory that a thread needs.
    """
    threads = pool() if len(items) > 1 < get_num_threads() else None
    if threads is None:

        def work(item: Sequence[Call]) -> None:
            for told, low, high in item:
                kernel.call(told, low, high, SCRATCH.address(scratch // 8))

        share_out(work, items)
        return
    told = b"".join(_RANGE.pack(low, high) + given for item in items for given, low, high in item)
    words = np.frombuffer(told, np.int64)
    calls = len(items[0])
    seats, room = threads.seats(), -(-scratch // _ALIGNED) * _ALIGNED
    threads.run(
        seats, kernel.address, address(words), len(told) // (len(items) * calls), 0, len(items),
        scratch=SCRATCH.address(room * (seats + 1) // 8), room=room, calls=calls,
    )  # fmt: skip


_RANGE: Final = struct.Struct("2q")
