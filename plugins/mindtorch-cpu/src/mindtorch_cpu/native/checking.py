"""A kernel is compared with NumPy on numbers that are hard before it is used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..addresses import address
from ..rows import FOLD
from .launch import Launch, packed
from .program import DTYPES
from .reference import evaluated, probes, same
from .schedule import STRIP
from .streaming import LINE

if TYPE_CHECKING:
    from .kernels import Kernel

__all__ = ["wrong"]

# A strip and a tail; where rows are reduced, one that is added up in pieces, and one that is not.
_WIDTH = 2048 + 77
_ROWS = (3000, 131)
_SHORT_ROWS = (3000, 131, 10)
# Rows: more than a strip has of those of which it has several, and of the others.
_COUNT = 37
_FEW = 3


def wrong(kernel: Kernel) -> str | None:
    """What a kernel computes otherwise than NumPy, or None."""
    widths: tuple[int, ...] = (_WIDTH,)
    if kernel.program.rows:
        ops = {node.op for node in kernel.program.graph.nodes}
        widths = _ROWS if ops & {"row_sum", "row_dot"} else _SHORT_ROWS
    for width in widths:
        # Of hard numbers a row has some that are NaN, and so is its sum.
        for hard in (True, False) if kernel.program.rows else (True,):
            found = _wrong(kernel, width, hard)
            if found is not None:
                return found
    return None


def _wrong(kernel: Kernel, width: int, hard: bool) -> str | None:
    program = kernel.program
    graph = program.graph
    outer = (2,) * program.outer if program.outer < 4 else (1,) * program.outer
    folded = graph.folded
    if program.rows:
        count = FOLD + 7 if folded else _COUNT
        outer = (*outer[1:], _FEW if width > STRIP else count)
    sizes = (*outer, width)
    arrays = [
        _array(code, layout, sizes, n, hard)
        for n, (code, layout) in enumerate(zip(graph.arrays, program.layouts, strict=True))
    ]
    count = len(graph.inputs)
    numbers = [_number(code, n) for n, code in enumerate(graph.constants)]
    shown = [a if i in folded else np.broadcast_to(a, sizes) for i, a in enumerate(arrays)]
    wanted = [np.array(a) for a in evaluated(graph, shown[:count], numbers)]
    steps = tuple(a.strides for a in shown)
    Launch(kernel, sizes, steps, arrays, packed(numbers)).run()
    for (value, at), good in zip(graph.outputs, wanted, strict=True):
        if not same(shown[at], good if at in folded else np.broadcast_to(good, sizes)):
            op = graph.nodes[value - graph.first_node].op if value >= graph.first_node else "a copy"
            return f"result {at} of {len(graph.nodes)} operations, the last of them {op}"
    return None


def _array(code: str, layout: str, sizes: tuple[int, ...], seed: int, hard: bool) -> Any:
    count = int(np.prod(sizes))
    if layout == "folded":
        return np.zeros((-(-sizes[-2] // FOLD), sizes[-1]), DTYPES[code])
    if layout == "single":
        return probes(code, seed, count // sizes[-1], hard=hard).reshape(*sizes[:-1], 1)
    made = probes(code, seed, count, hard=hard)
    if layout == "dense":
        return made.reshape(sizes)
    if layout == "streamed":
        room = np.empty(made.nbytes + LINE, np.uint8)
        room = room[-address(room) % LINE :][: made.nbytes]
        return room.view(DTYPES[code]).reshape(sizes)
    if layout == "spread":
        wide = np.zeros((*sizes[:-1], sizes[-1] + 3), DTYPES[code])
        wide[..., : sizes[-1]] = made.reshape(sizes)
        return wide[..., : sizes[-1]]
    wide = np.zeros(2 * count, DTYPES[code])
    wide[::2] = made
    return wide.reshape(*sizes[:-1], 2 * sizes[-1])[..., ::2]


def _number(code: str, seed: int) -> Any:
    """One of numbers that are drawn once for all."""
    at = (7 + 31 * seed) % _WIDTH
    return probes(code, 1000, _WIDTH)[at : at + 1].reshape(())
