"""Running kernels on arrays: strips of them are shared out over threads."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from mindtorch_core.backend import get_num_threads

from ..addresses import address
from ..rows import FOLD, PIECE, ones, pieces
from .direct import bound
from .pool import Pool, pool
from .program import DTYPES, Program
from .schedule import STRIP
from .sharing import in_strips

if TYPE_CHECKING:
    from .kernels import Kernel

__all__ = ["LONGEST_SUM", "Launch", "Strides", "packed", "pieces_of"]

# Elements of a call in a thread: enough that waking it does not show.
_ELEMENTS: Final = 1 << 16
# Rows that are added up: longer ones leave the cache.
LONGEST_SUM: Final = 1 << 15

# Calls of a thread: one that comes late leaves its share to the others.
_CALLS: Final = 8

Strides = tuple[int, ...]


_ONES: Final = tuple(address(ones(np.dtype(d))) for d in ("f4", "f8"))


def _together(program: Program, width: int) -> int:
    """How many rows a strip has."""
    count = max(STRIP // width, 1)
    if not program.graph.folded:
        return count
    return min(1 << (count.bit_length() - 1), FOLD)  # as many divide those that are added up


class Launch:
    """A graph on arrays of one shape, with its kernel.

    Attributes:
        kernel: what computes it.
        strips: how many there are in all.
        elements: of all rows.
    """

    __slots__ = (
        "_numbers",
        "_places",
        "_scratch",
        "_step",
        "_words",
        "elements",
        "kernel",
        "strips",
    )

    def __init__(
        self, kernel: Kernel, sizes: tuple[int, ...], steps: tuple[Strides, ...],
        arrays: Sequence[Any], numbers: Any,
    ) -> None:  # fmt: skip
        self.kernel = kernel
        self._numbers = numbers
        width = sizes[-1]
        rows = kernel.program.rows
        pieces = max(pieces_of(width), 1) if rows else 1
        together = _together(kernel.program, width) if rows else 0
        words = [width, kernel.loops, address(numbers), pieces, *_ONES, together, *sizes[:-1]]
        self._places = []
        for array, own, code in zip(arrays, steps, kernel.program.graph.arrays, strict=True):
            self._places.append(len(words))
            inner = DTYPES[code].itemsize if sizes[-1] == 1 else own[-1]
            words += address(array), inner, *own[:-1]
        self._words = np.array(words, np.int64)
        self.elements = math.prod(sizes)
        if rows:
            length = strip = together * width
            self.strips = math.prod(sizes[:-2]) * -(-sizes[-2] // together)
        else:
            length, strip = STRIP, min(STRIP, width)
            self.strips = math.prod(sizes[:-1]) * -(-width // STRIP)
        self._scratch = kernel.slots * length
        # Short strips cost little: many make a call of a thread.
        self._step = max(_ELEMENTS // strip, 1)
        if kernel.program.graph.folded:  # what is added to one row is added by one thread
            self._step = -(-self._step * together // FOLD) * FOLD // together

    def run(self) -> None:
        """Compute everything, in this thread and others."""
        step = _of_a_call(self.strips, self._step)
        in_strips(self.kernel, address(self._words), self.strips, step, 8 * self._scratch)

    def bound(self, arrays: Sequence[Any]) -> Callable[..., bool] | None:
        """A function that does the same for arrays like those that this was made of, see `direct`."""
        shared = self.strips > self._step
        threads = pool() if shared else None
        call = bound(
            arrays, self._places, self._words, kernel=self.kernel.address, strips=self.strips,
            scratch=8 * self._scratch, elements=self.elements, alive=self,
            pool=threads,
        )  # fmt: skip
        if call is None or not shared:
            return call
        return None if threads is None else _Shared(call, threads, self.strips, self._step)


class _Shared:
    """A bound function whose strips are shared out over threads."""

    __slots__ = ("_call", "_pool", "_step", "_strips")

    def __init__(self, call: Callable[..., bool], threads: Pool, strips: int, step: int) -> None:
        self._call = call
        self._pool = threads
        self._strips = strips
        self._step = step

    def __call__(self, *arrays: Any) -> bool:
        """Run it; False if the arrays are others, and nothing was done."""
        if get_num_threads() == 1:
            return self._call(*arrays)
        return self._call(*arrays, self._pool.seats(), _of_a_call(self._strips, self._step))


def _of_a_call(strips: int, least: int) -> int:
    """How many strips a call of a thread computes: a multiple of the least number."""
    return least * max(strips // (_CALLS * get_num_threads() * least), 1)


def packed(numbers: Sequence[Any]) -> Any:
    """Numbers as kernels read them, eight bytes each."""
    made = np.zeros(len(numbers) + 1, np.int64)
    raw = made.view(np.uint8)
    for i, number in enumerate(numbers):
        data = np.frombuffer(number.tobytes(), np.uint8)
        raw[8 * i : 8 * i + data.size] = data
    return made


@functools.lru_cache(1024)
def pieces_of(width: int) -> int:
    """Into how many pieces a row is cut to be added up; 0 for one that programs do not serve."""
    if width > LONGEST_SUM:
        return 0
    return 1 if width <= PIECE else pieces(width, PIECE)
