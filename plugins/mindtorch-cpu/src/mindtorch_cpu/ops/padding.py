"""Padding by a tensor's own elements, and its gradients, which the core's compositions add up one by one."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import Shape

from ..addresses import address
from ..arrays import quietly, wrap
from ..compiled import walk
from ..memory_pool import POOL
from ..register import composition_of, register_in_format, rule_of
from ..turned import OF_SIZE
from ..workers import share_out

_CACHED: Final = 1 << 20  # bytes of images that are padded at a time
_SHARE: Final = 1 << 16  # elements that a thread is worth


def _source(kind: str, at: int, size: int) -> int:
    """The element that a padded position repeats."""
    if kind == "replication":
        return min(max(at, 0), size - 1)
    return (size - 1) - abs((size - 1) - abs(at))


def _folded(g: Any, axis: int, size: int, pads: tuple[int, int], kind: str, out: Any) -> Any:
    """Gradients of a padded dimension added where their elements came from; in ``out`` unless it is None."""
    before, after = pads
    if out is None:
        out = np.empty((*g.shape[:axis], size, *g.shape[axis + 1 :]), g.dtype)
    lead = (slice(None),) * axis
    first, last = max(-before, 0), min(size + after, size)
    if last - first < size:
        out[...] = 0
    if last > first:
        kept = slice(first + before, last + before)
        out[(*lead, slice(first, last))] = g[(*lead, kept)]
    for at in (*range(-before, min(0, size + after)), *range(max(size, -before), size + after)):
        place = _source(kind, at, size)
        target = out[(*lead, slice(place, place + 1))]
        np.add(target, g[(*lead, slice(at + before, at + before + 1))], out=target)
    return out


def _unfolded(a: Any, kind: str, padding: Any) -> Any:
    """An array with its last dimensions padded by its own elements, the last one first."""
    rank, n = a.ndim, len(padding) // 2
    pairs = [(padding[2 * i], padding[2 * i + 1]) for i in reversed(range(n))]
    shape = list(a.shape)
    for i, (before, after) in enumerate(pairs, rank - n):
        shape[i] += before + after
    out = POOL.empty(tuple(shape), a.dtype)
    whole = a.reshape(-1, *a.shape[rank - n :]), out.reshape(-1, *shape[rank - n :])
    if _by_loop(*whole, kind, pairs):
        return out
    # Some at a time: edges are copied from what is in the cache still, and a call costs as much as a few.
    step = max(1, _CACHED // max(whole[1][0].nbytes, 1))

    def work(at: int) -> None:
        _unfold(whole[0][at : at + step], whole[1][at : at + step], kind, pairs)

    share_out(work, range(0, len(whole[0]), step))
    return out


@functools.lru_cache(256)
def _sources(kind: str, shape: Shape, pairs: tuple[tuple[int, int], ...]) -> tuple[Any, Any]:
    """The line that each padded line repeats, and the elements of a line that its edges do."""
    rows = np.zeros(1, np.int64)
    for size, (before, after) in zip(shape[:-1], pairs[:-1], strict=True):
        own = [_source(kind, at, size) for at in range(-before, size + after)]
        rows = np.add.outer(rows * size, own).reshape(-1)
    size, (before, after) = shape[-1], pairs[-1]
    edges = (*range(-before, 0), *range(size, size + after))
    return rows, np.array([_source(kind, at, size) for at in edges], np.int64)


def _by_loop(a: Any, out: Any, kind: str, pairs: Sequence[tuple[int, int]]) -> bool:
    """Whether a compiled loop has padded all dimensions but the first."""
    if a.itemsize not in OF_SIZE or not a.flags.c_contiguous:
        return False
    loop = walk("padding", OF_SIZE[a.itemsize], out.size)
    if loop is None:
        return False
    lines, edges = _sources(kind, a.shape[1:], tuple(pairs))
    high, wide, (before, after) = math.prod(a.shape[1:-1]), a.shape[-1], pairs[-1]
    per, given, made = len(lines), address(a), address(out)

    def part(first: int, last: int) -> tuple[Any, ...]:
        starts = made + first * out.strides[0], given + first * a.strides[0]
        return *starts, lines, edges, last - first, high, per, before, after, wide

    loop.shared(len(a), part, max(1, _SHARE // out[0].size))
    return True


def _unfold(a: Any, out: Any, kind: str, pairs: Sequence[tuple[int, int]]) -> None:
    """Write an array with all dimensions but the first padded."""
    inside = [slice(None), *(slice(b, b + s) for (b, _), s in zip(pairs, a.shape[1:], strict=True))]
    out[tuple(inside)] = a
    for i in reversed(range(1, a.ndim)):
        before, after = pairs[i - 1]
        size = a.shape[i]
        for at in (*range(-before, 0), *range(size, size + after)):
            here, there = inside.copy(), inside.copy()
            here[i] = slice(at + before, at + before + 1)
            place = _source(kind, at, size) + before
            there[i] = slice(place, place + 1)
            out[tuple(here)] = out[tuple(there)]
        inside[i] = slice(None)


def _pad(kind: str, n: int) -> Any:
    name = f"{kind}_pad{n}d"
    rule, decomposed = rule_of(name), composition_of(name)

    def run(self: Any, padding: Any) -> Any:
        rule(self, padding)
        if (
            min(padding) < 0 or not self.raw_data.size
        ):  # cut off as well, so that sources may be gone
            return decomposed(self, padding)
        return wrap(_unfolded(self.raw_data, kind, padding), self.raw_dtype)

    return run


def _pad_backward(kind: str, n: int) -> Any:
    name = f"{kind}_pad{n}d"
    padded, decomposed = rule_of(name), composition_of(f"{name}_backward")

    def run(grad_output: Any, self: Any, padding: Any) -> Any:
        d = grad_output.raw_dtype
        if grad_output.raw_shape != padded(self, padding).shape or not grad_output.raw_data.size:
            return decomposed(grad_output, self, padding)
        shape = self.raw_shape
        planes = grad_output.raw_data.reshape(-1, *grad_output.raw_shape[-n:])
        out = POOL.empty((len(planes), *shape[-n:]), planes.dtype)
        pads = [(padding[2 * i], padding[2 * i + 1]) for i in range(n)]
        step = max(1, _CACHED // planes[:1].nbytes)

        def work(at: int) -> None:
            g, target = planes[at : at + step], out[at : at + step]
            for i, each in enumerate(pads):
                size = target.shape[n - i]
                g = quietly(_folded, g, n - i, size, each, kind, target if i == n - 1 else None)

        share_out(work, range(0, len(planes), step))
        return wrap(out.reshape(shape), d)

    return run


for _kind in ("reflection", "replication"):
    for _n in (1, 2, 3):
        register_in_format(f"{_kind}_pad{_n}d", _pad(_kind, _n))
        register_in_format(f"{_kind}_pad{_n}d_backward", _pad_backward(_kind, _n))
