"""Copies of arrays whose dimensions change places or ends, by compiled loops where there are any."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from .addresses import address
from .compiled import walk
from .memory_pool import POOL

__all__ = ["OF_SIZE", "copied", "in_rows", "laid_as_first", "mirrored", "row_major_copy"]

# Elements of a thread's part at least; fewer than those, and columns, that NumPy copies as fast.
_PART: Final = 1 << 16
_FEW: Final = 1 << 13
_NARROW: Final = 8
_MOST: Final = 1 << 24
OF_SIZE: Final = {n: np.dtype(f"i{n}") for n in (1, 2, 4, 8)}


class _Turn(NamedTuple):
    """What a copy is, where dimensions that lie together are one: matrices written the other way around.

    Attributes:
        apart: sizes and strides of dimensions around those of the loop.
        blocks, far: how many matrices there are, and elements from one to the next.
        rows, step, width: of a matrix as it lies, elements from one row to the next among them.
    """

    apart: tuple[tuple[int, int], ...]
    blocks: int
    far: int
    rows: int
    step: int
    width: int


@functools.lru_cache(1024)
def _turn(shape: tuple[int, ...], strides: tuple[int, ...], size: int) -> _Turn | None:
    """How the loop makes a row-major copy; None where elements lie otherwise."""
    merged: list[tuple[int, int]] = []
    for n, step in zip(shape, strides, strict=True):
        if n == 1:
            continue
        if merged and merged[-1][1] == step * n:
            n *= merged.pop()[0]
        merged.append((n, step))
    if len(merged) < 2 or merged[-2][1] != size or any(step % size for _, step in merged):
        return None
    *around, (width, _), (rows, step) = merged
    blocks, far = around.pop() if around else (1, 0)
    if blocks * rows * width < _FEW or width < _NARROW or not step:  # NumPy repeats as fast
        return None
    return _Turn(tuple(around), blocks, far // size, rows, step // size, width)


def copied(out: Any, a: Any) -> None:
    """``np.copyto(out, a)`` for arrays of one shape and dtype."""
    if a.size < _FEW or a.ndim < 2 or not _turned(out, a):
        np.copyto(out, a)


def row_major_copy(a: Any) -> Any:
    """A copy in row-major order; also of what is traced."""
    if type(a) is not np.ndarray or a.size < _FEW:
        return a.copy()
    out = POOL.empty(a.shape, a.dtype)
    if a.dtype.kind == "V" and a.itemsize in OF_SIZE:  # which NumPy copies one by one
        copied(out.view(OF_SIZE[a.itemsize]), a.view(OF_SIZE[a.itemsize]))
    else:
        copied(out, a)
    return out


def in_rows(a: Any) -> Any:
    """An array, or its row-major copy where a loop makes that faster than NumPy reads it."""
    return a if a.size < _FEW or a.flags.c_contiguous or _loop_for(a) is None else row_major_copy(a)


def laid_as_first(arrays: Sequence[Any]) -> list[Any] | None:
    """Operands of one shape, with copies of those that lie otherwise than the first one, which has no gaps.

    None where no loop makes such copies, or of operands so large that there may be no memory for them.
    """
    first = arrays[0]
    order = sorted(range(first.ndim), key=lambda i: -first.strides[i])
    if first.size > _MOST or not first.transpose(order).flags.c_contiguous:
        return None
    back = sorted(range(len(order)), key=order.__getitem__)
    made = []
    for a in arrays:
        if a.shape != first.shape:
            return None
        turned = a.transpose(order)
        if a.strides != first.strides:
            if _loop_for(turned) is None:
                return None
            turned = row_major_copy(turned)
        made.append(turned.transpose(back))
    return made


def _loop_for(a: Any) -> tuple[Any, _Turn] | None:
    """The loop that makes a row-major copy, and how; None where NumPy has to."""
    turn = _turn(a.shape, a.strides, a.itemsize) if a.itemsize in OF_SIZE else None
    loop = None if turn is None else walk("turning", OF_SIZE[a.itemsize], a.size)
    return None if turn is None or loop is None else (loop, turn)


def mirrored(a: Any, axes: tuple[int, ...]) -> Any:
    """A row-major copy with the elements along some dimensions in reverse order."""
    loop = None
    if a.ndim and a.ndim - 1 in axes and a.flags.c_contiguous and a.itemsize in OF_SIZE:
        loop = walk("mirroring", OF_SIZE[a.itemsize], a.size)
    if loop is None:
        return np.array(np.flip(a, axes), order="C")
    if axes != (a.ndim - 1,):
        a = np.array(np.flip(a, tuple(at for at in axes if at != a.ndim - 1)), order="C")
    out, width, size = np.empty(a.shape, a.dtype), a.shape[-1], a.itemsize
    made, given = address(out), address(a)

    def rows(first: int, last: int) -> tuple[int, ...]:
        before = first * width * size
        return made + before, given + before, last - first, width, width

    loop.shared(a.size // width, rows, -(-_PART // width))
    return out


def _turned(out: Any, a: Any) -> bool:
    """Whether the loop has copied."""
    if not out.flags.c_contiguous:
        order = sorted(range(out.ndim), key=lambda i: -out.strides[i])
        out, a = out.transpose(order), a.transpose(order)
    found = _loop_for(a) if out.flags.c_contiguous else None
    if found is None or np.may_share_memory(out, a):
        return False
    loop, turn = found
    made, given = address(out), address(a)
    each = turn.blocks * turn.rows * turn.width * a.itemsize
    for place in itertools.product(*([i * step for i in range(n)] for n, step in turn.apart)):
        _share(loop, made, given + sum(place), turn, a.itemsize)
        made += each
    return True


def _share(loop: Any, made: int, given: int, turn: _Turn, size: int) -> None:
    """Copy matrices from an address to another one in several threads: some of them each, or some columns."""
    _, blocks, far, rows, step, width = turn

    def matrices(first: int, last: int) -> tuple[int, ...]:
        to, of = made + first * rows * width * size, given + first * far * size
        return to, of, last - first, far, rows, step, width

    def columns(first: int, last: int) -> tuple[int, ...]:
        to, of = made + first * rows * size, given + first * size
        return to, of, 1, 0, rows, step, last - first

    if blocks * rows * width < 2 * _PART:
        loop(*matrices(0, blocks))
    elif blocks > 1:
        loop.shared(blocks, matrices, -(-_PART // (rows * width)))
    else:
        loop.shared(width, columns, -(-_PART // rows))
