"""Running kernels on arrays: how these lie is brought into few dimensions, and strips are shared out."""

from __future__ import annotations

import functools
import math
import threading
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import get_num_threads

from ..rows import FOLD, PIECE, ones, pieces
from ..workers import share_out
from .direct import bound
from .kernels import KERNELS, Kernel
from .program import DTYPES, REDUCTIONS, Graph, Program
from .schedule import STRIP

__all__ = [
    "Launch",
    "Unservable",
    "address",
    "arranged",
    "packed",
    "prepared",
    "prepared_rows",
]

# Elements of a call in a thread: enough that waking it does not show.
_ELEMENTS: Final = 1 << 16
# With shorter rows each costs more than its elements do.
_SHORT: Final = 16
_DEEP: Final = 8
# Rows that are reduced: shorter ones NumPy adds in another way, longer ones leave the cache.
_SHORTEST_SUM: Final = 64
_LONGEST_SUM: Final = 1 << 15

_POWERS: Final = frozenset({"power", "float_power"})

Strides = tuple[int, ...]


class Unservable(Exception):
    """Arrays lie in a way that no program serves; the text says how."""


class _Scratch(threading.local):
    """Memory of a thread for what stands between phases."""

    def __init__(self) -> None:
        self.memory = np.empty(0, np.int64)

    def address(self, words: int) -> int:
        if self.memory.size < words + 8:
            self.memory = np.empty(words + 8, np.int64)
        return -(-address(self.memory) // 64) * 64


_SCRATCH: Final = _Scratch()


def address(array: Any) -> int:
    """Address of an array's first element."""
    start: int = array.__array_interface__["data"][0]
    return start


_ONES: Final = tuple(address(ones(np.dtype(d))) for d in ("f4", "f8"))


@functools.lru_cache(4096)
def arranged(
    shape: tuple[int, ...], strides: tuple[Strides, ...]
) -> tuple[tuple[int, ...], tuple[Strides, ...]]:
    """The same elements in as few dimensions as possible, the innermost last.

    Args:
        shape: the shape that is iterated over, without zero sizes.
        strides: of each array, in bytes, 0 where it is broadcast.

    Returns:
        Sizes, and strides of each array.
    """
    dims = [d for d, n in enumerate(shape) if n > 1]
    dims.sort(key=lambda d: -max((s[d] for s in strides), default=0))
    sizes: list[int] = []
    steps: list[list[int]] = [[] for _ in strides]
    for d in dims:
        if sizes and all(own[-1] == s[d] * shape[d] for own, s in zip(steps, strides, strict=True)):
            sizes[-1] *= shape[d]
            for own, s in zip(steps, strides, strict=True):
                own[-1] = s[d]
            continue
        sizes.append(shape[d])
        for own, s in zip(steps, strides, strict=True):
            own.append(s[d])
    if not sizes:
        return (1,), tuple((0,) for _ in strides)
    if sizes[-1] < _SHORT < max(sizes):
        at = sizes.index(max(sizes))
        for each in (sizes, *steps):
            each.append(each.pop(at))
    return tuple(sizes), tuple(map(tuple, steps))


@functools.lru_cache(4096)
def _program(graph: Graph, sizes: tuple[int, ...], steps: tuple[Strides, ...]) -> Program | None:
    """The program for arrays that lie so; None where it would not pay or cannot be."""
    layouts = []
    if len(sizes) > _DEEP:
        return None
    for i, (own, code) in enumerate(zip(steps, graph.arrays, strict=True)):
        itemsize = DTYPES[code].itemsize
        single = sizes[-1] == 1 or own[-1] == 0
        if sizes[-1] == 1:
            layouts.append("dense")
            continue
        layouts.append("single" if single else "dense" if own[-1] == itemsize else "strided")
        if any(at == i for _, at in graph.outputs) and any(
            step == 0 and n > 1 for step, n in zip(own, sizes, strict=True)
        ):
            return None  # a result that has elements in common with itself
    program = Program(graph, tuple(layouts), len(sizes) - 1)
    return None if _exponents_repeat(program, sizes, steps) else program


def _exponents_repeat(program: Program, sizes: tuple[int, ...], steps: tuple[Strides, ...]) -> bool:
    """Whether a power of an array of exponents may be given one of them for many elements.

    NumPy's loop has formulas of its own for some exponents then, see `powers`.
    """
    graph = program.graph
    exponents = [node.operands[1] for node in graph.nodes if node.op in _POWERS]
    if not exponents:
        return False
    constant = program.constant_in_rows()
    for v in exponents:
        if v >= graph.first_node and (v in constant or sizes == (1,)):
            return True
        if v < len(graph.inputs) and (sizes == (1,) or 0 in steps[v] or v in constant):
            return True
    return False


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
        strips = self.strips
        words = address(self._words)
        kernel = self.kernel
        step, scratch = self._step * max(strips // (64 * self._step), 1), self._scratch

        def some(first: int) -> None:
            kernel.call(words, first, min(first + step, strips), _SCRATCH.address(scratch))

        if strips <= step:
            some(0)
        else:
            share_out(some, range(0, strips, step))

    def bound(self, arrays: Sequence[Any]) -> Callable[..., bool] | None:
        """A function that does the same for arrays like those that this was made of, see `direct`."""
        call = bound(
            arrays, self._places, self._words, kernel=self.kernel.address, strips=self.strips,
            scratch=8 * self._scratch, elements=self.elements, alive=self,
        )  # fmt: skip
        step = self._step * max(self.strips // (64 * self._step), 1)
        return call if call is None or self.strips <= step else _Shared(call, self.strips, step)


class _Shared:
    """A bound function whose strips are shared out over threads."""

    __slots__ = ("_call", "_step", "_strips")

    def __init__(self, call: Callable[..., bool], strips: int, step: int) -> None:
        self._call = call
        self._strips = strips
        self._step = step

    def __call__(self, *arrays: Any) -> bool:
        """Run it; False if the arrays are others, and nothing was done."""
        call, step, strips = self._call, self._step, self._strips
        if get_num_threads() == 1:
            return call(*arrays)
        if not call(*arrays, 0, 0):
            return False

        def some(first: int) -> None:
            call(*arrays, first, min(first + step, strips))

        share_out(some, range(0, strips, step))
        return True


def packed(numbers: Sequence[Any]) -> Any:
    """Numbers as kernels read them, eight bytes each."""
    made = np.zeros(len(numbers) + 1, np.int64)
    raw = made.view(np.uint8)
    for i, number in enumerate(numbers):
        data = np.frombuffer(number.tobytes(), np.uint8)
        raw[8 * i : 8 * i + data.size] = data
    return made


def prepared(
    graph: Graph, arrays: Sequence[Any], numbers: Any, *, at_once: bool = False
) -> Launch | None:
    """A launch of a graph, or None where its kernel is not there yet.

    Args:
        graph: what to compute.
        arrays: inputs and results, broadcast to one shape that is not empty.
        numbers: see `packed`.
        at_once: wait for the kernel if it is not there.

    Raises:
        Unservable: if no program does it.
    """
    sizes, steps = arranged(arrays[0].shape, tuple([a.strides for a in arrays]))
    program = _program(graph, sizes, steps)
    return _launch(program, sizes, steps, arrays, numbers, at_once=at_once)


def prepared_rows(
    graph: Graph, arrays: Sequence[Any], numbers: Any, kept: int, shortest: int = _SHORTEST_SUM
) -> Launch | None:
    """The same for a graph that reduces rows.

    Args:
        graph: see `prepared`.
        arrays: see there.
        numbers: see there.
        kept: how many dimensions are around the rows.
        shortest: rows of fewer elements are not added up by products.
    """
    shape = arrays[0].shape
    folded = graph.folded
    steps = tuple([a.strides for i, a in enumerate(arrays) if i not in folded])
    width, rows = arranged(shape[kept:], tuple([s[kept:] for s in steps]))
    sizes, outer = arranged(shape[:kept], tuple([s[:kept] for s in steps]))
    if len(width) > 1 or not _reducible(graph, width[0], shortest):
        raise Unservable(f"rows of {math.prod(width)} elements")
    if folded and len(sizes) > 1:
        raise Unservable("sums of columns of rows in several dimensions")
    found = iter([o + r for o, r in zip(outer, rows, strict=True)])
    steps = tuple([a.strides if i in folded else next(found) for i, a in enumerate(arrays)])
    sizes += width
    return _launch(_rows_program(graph, sizes, steps), sizes, steps, arrays, numbers)


def _launch(
    program: Program | None, sizes: tuple[int, ...], steps: tuple[Strides, ...], arrays: Sequence[Any],
    numbers: Any, *, at_once: bool = False,
) -> Launch | None:  # fmt: skip
    if program is None:
        raise Unservable("memory that lies in a way that programs do not have")
    kernel = KERNELS.get(program, arrays[0].size * len(program.graph.nodes), at_once=at_once)
    return None if kernel is None else Launch(kernel, sizes, steps, arrays, numbers)


@functools.lru_cache(4096)
def _rows_program(
    graph: Graph, sizes: tuple[int, ...], steps: tuple[Strides, ...]
) -> Program | None:
    """The program that reduces rows; None where NumPy would do it in another order."""
    layouts = []
    if len(sizes) > _DEEP:
        return None
    folded = graph.folded
    for i, (own, code) in enumerate(zip(steps, graph.arrays, strict=True)):
        if i in folded:
            layouts.append("folded")
            continue
        if own[-1] not in (0, DTYPES[code].itemsize):
            return None
        flat = sizes[-2] == 1 or own[-2] == sizes[-1] * own[-1]
        layouts.append("single" if not own[-1] else "dense" if flat else "spread")
    program = Program(graph, tuple(layouts), len(sizes) - 1, True)
    if _exponents_repeat(program, sizes, steps):
        return None
    constant = program.constant_in_rows()
    for at in {at for _, at in graph.outputs} - folded:
        outer = zip(steps[at][:-1], sizes[:-1], strict=True)
        if any(step == 0 and n > 1 for step, n in outer):
            return None
    if any(layouts[at] == "single" and v not in constant for v, at in graph.outputs):
        return None
    if any(node.op in REDUCTIONS and constant.intersection(node.operands) for node in graph.nodes):
        return None
    return program


def _reducible(graph: Graph, width: int, shortest: int) -> bool:
    """Whether programs reduce rows of a width: by products with ones only some, by NumPy's sum all."""
    if any(node.op in ("row_sum", "row_dot") for node in graph.nodes):
        return width >= shortest and pieces_of(width) > 0
    return width <= _LONGEST_SUM


@functools.lru_cache(1024)
def pieces_of(width: int) -> int:
    """Into how many pieces a row is cut to be added up; 0 for one that programs do not serve."""
    if width > _LONGEST_SUM:
        return 0
    return 1 if width <= PIECE else pieces(width, PIECE)
