"""Programs computed by NumPy, one operation after the other: what compiled kernels are checked against."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from random import Random
from typing import Any, Final

import numpy as np

from ..rows import dots, folds, sums
from .loops import UFUNCS
from .program import DTYPES, REDUCTIONS, Graph, Node
from .schedule import STRIP

__all__ = ["evaluated", "probes", "same"]

_FLOATS: Final = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 3.0, 20.0, -20.0, 100.0, -100.0, 1e-3, 1e-40, -1e-40,
    1e-45, 6e-8, 65504.0, 65520.0, 3e9, -3e9, 2147483648.0, -2147483648.0, 1e19, 1e30, -1e30, 3.4e38,
    np.inf, -np.inf, np.nan,
)  # fmt: skip


def evaluated(graph: Graph, arrays: Sequence[Any], numbers: Sequence[Any]) -> list[Any]:
    """The values of a graph's outputs, for arrays of one shape."""
    shape = np.broadcast_shapes(*(a.shape for a in arrays)) if arrays else ()
    values: list[Any] = [*arrays, *numbers]
    with np.errstate(all="ignore"):
        for node in graph.nodes:
            values.append(_one(node, [values[o] for o in node.operands]))
        folded = graph.folded
        return [
            folds(np.ascontiguousarray(values[v]))
            if at in folded
            else np.broadcast_to(values[v], shape)
            for v, at in graph.outputs
        ]


def _one(node: Node, operands: list[Any]) -> Any:
    d = DTYPES[node.dtype]
    if node.op == "row_sum":
        return sums(np.ascontiguousarray(operands[0]))[..., None]
    if node.op == "row_dot":
        return dots(*map(np.ascontiguousarray, operands))[..., None]
    if node.op == "row_add":
        return np.add.reduce(np.ascontiguousarray(operands[0]), -1, keepdims=True)
    if node.op in REDUCTIONS:
        return UFUNCS[REDUCTIONS[node.op][0]].reduce(operands[0], -1, keepdims=True)
    if node.op == "fold":
        return operands[0]
    if node.op == "cast":
        return operands[0].astype(d)
    if node.op == "bits":
        return operands[0].view(d)
    if node.op == "where":
        return np.where(*operands)
    return UFUNCS[node.op](*operands)


def probes(code: str, seed: int, count: int = STRIP + 77, *, hard: bool = True) -> Any:
    """Elements that operations may go wrong on: limits, zeros, NaN, and numbers between; or these alone."""
    return np.resize(_pool(code, seed, hard), count)


@functools.lru_cache(maxsize=64)
def _pool(code: str, seed: int, hard: bool, count: int = 4099) -> Any:
    """As many of them as repeat at no place of a vector or a row.

    They are kept.
    """
    d = DTYPES[code]
    random = Random(seed)
    with np.errstate(all="ignore"):
        if code == "b1":
            return np.frombuffer(random.randbytes(count), np.uint8) < 128
        if code[0] in "iu":
            info = np.iinfo(d)
            made = np.frombuffer(random.randbytes(count * d.itemsize), d).copy()
            made[::3] = np.abs(made[::3] % 5)
            made[:2] = (info.min, info.max)[:count]
            return made
        radius, angle, far, some = _uniform(random, (4, count))
        wide = np.sqrt(-2 * np.log(1 - radius)) * np.cos(2 * np.pi * angle)  # Box and Muller's
        wide[far < 0.5] *= 30
        made = wide.astype(np.float32 if code == "bf" else d).astype(d)
        if not hard:
            return made
        put = np.argsort(some)[: count // 4]
        made[put] = np.resize(np.array(_FLOATS), len(put)).astype(np.float32).astype(d)
        return made


def _uniform(random: Random, shape: tuple[int, ...]) -> Any:
    """Float64 numbers from 0 up to 1; NumPy's generators take 10 ms to import."""
    words = np.frombuffer(random.randbytes(8 * math.prod(shape)), np.uint64)
    return (words >> np.uint64(11)).reshape(shape) * 2.0**-53


def same(a: Any, b: Any) -> bool:
    """Whether arrays agree to the last bit, but for NaN, which are all alike."""
    if a.dtype == b.dtype and a.tobytes() == b.tobytes():
        return True
    if a.dtype.kind in "fV":
        wide = a.astype(np.float64), b.astype(np.float64)
        nan = np.isnan(wide[0])
        signs = np.signbit(wide[0]) == np.signbit(wide[1])
        return bool(np.all(np.where(nan, np.isnan(wide[1]), (wide[0] == wide[1]) & signs)))
    return bool(np.array_equal(a, b))
