"""Launches of graphs: how arrays lie is brought into few dimensions, and a kernel is chosen."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, Final

from .kernels import KERNELS
from .launch import LONGEST_SUM, Launch, Strides, pieces_of
from .program import DTYPES, REDUCTIONS, Graph, Program

__all__ = ["SHORTEST_SUM", "Unservable", "arranged", "prepared", "prepared_rows"]

# With shorter rows each costs more than its elements do.
_SHORT: Final = 16
_DEEP: Final = 8
# Rows that are reduced: shorter ones NumPy adds in another way.
SHORTEST_SUM: Final = 64
# Bytes of results that are written past the caches: half of what a last-level cache holds.
_UNCACHED: Final = 16 << 20
_POWERS: Final = frozenset({"power", "float_power"})


class Unservable(Exception):
    """Arrays lie in a way that no program serves; the text says how."""


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
    program = Program(graph, _streamed(graph, layouts, sizes), len(sizes) - 1)
    return None if _exponents_repeat(program, sizes, steps) else program


def _streamed(graph: Graph, layouts: list[str], sizes: tuple[int, ...]) -> tuple[str, ...]:
    """Layouts, where results that no cache holds are written past them."""
    results = {at for _, at in graph.outputs if at >= len(graph.inputs)}
    bytes_each = sum(DTYPES[graph.arrays[at]].itemsize for at in results if layouts[at] == "dense")
    if math.prod(sizes) * bytes_each < _UNCACHED:
        return tuple(layouts)
    return tuple(
        "streamed" if at in results and layout == "dense" else layout
        for at, layout in enumerate(layouts)
    )


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
    graph: Graph, arrays: Sequence[Any], numbers: Any, kept: int, shortest: int = SHORTEST_SUM
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
    program = Program(graph, _streamed(graph, layouts, sizes), len(sizes) - 1, True)
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
    return width <= LONGEST_SUM
