"""Placing elements through positions in memory read as one row.

NumPy serves indices along one dimension many times faster than along several: ``ufunc.at`` takes about
1 ns per element for a flat array, and 25 to 100 ns for others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import contiguous_strides, numel

from ..arrays import WIDER, quietly, recast, recast_into
from ..compiled import walk

__all__ = ["checked", "combine_at", "gathered_positions", "indexed_positions"]

# Below this many elements the positions cost more than they save.
FEW: Final = 256


def gathered_positions(index: Any, shape: tuple[int, ...], at: int) -> Any:
    """Flat positions in an array of a shape, where ``index`` runs along one dimension.

    Args:
        index: positions along the dimension, in range.
        shape: of the array that is read or written.
        at: the dimension.
    """
    strides = contiguous_strides(shape)
    flat: Any = index.astype(np.int64, copy=False)
    if strides[at] != 1:
        flat = flat * strides[at]
    for d, n in enumerate(index.shape):
        if d != at and n > 1:
            flat = flat + _counted(n, strides[d], d, index.ndim)
    return flat


def _counted(n: int, step: int, d: int, rank: int) -> Any:
    """Multiples of a stride along one of ``rank`` dimensions."""
    return np.arange(0, n * step, step).reshape((1,) * d + (-1,) + (1,) * (rank - d - 1))


def indexed_positions(shape: tuple[int, ...], indices: Sequence[Any]) -> Any:
    """Flat positions of what index arrays name in an array of a shape; None keeps a dimension.

    Raises:
        IndexError: if an index is out of range.
    """
    strides = contiguous_strides(shape)
    flat: Any = 0
    chosen = [d for d, i in enumerate(indices) if i is not None]
    for d in chosen:
        flat = flat + _wrapped(indices[d], shape[d], d) * strides[d]
    flat = np.asarray(flat)
    rest = [d for d in range(len(shape)) if d not in chosen]
    adjacent = chosen == list(range(chosen[0], chosen[-1] + 1))
    place = chosen[0] if adjacent else 0
    rank = flat.ndim + len(rest)
    flat = flat.reshape((1,) * place + flat.shape + (1,) * (len(rest) - place))
    for i, d in enumerate(rest):
        flat = flat + _counted(shape[d], strides[d], i if i < place else rank - len(rest) + i, rank)
    return flat


def _wrapped(index: Any, size: int, d: int) -> Any:
    """Positions with negative ones counted from the end."""
    index = index.astype(np.int64, copy=False)
    if index.size:
        low, high = index.min(), index.max()
        if low < -size or high >= size:
            bad = low if low < -size else high
            raise IndexError(f"index {bad} is out of bounds for dimension {d} with size {size}")
        if low < 0:
            return np.where(index < 0, index + size, index)
    return index


def combine_at(ufunc: Any, out: Any, flat: Any, values: Any, d: Any) -> None:
    """Combine values with what is at flat positions, in place; half precision in float32.

    Args:
        ufunc: such as ``np.add``.
        out: the array that is written, in any layout.
        flat: positions in it, read in row-major order.
        values: as many, or what broadcasts.
        d: dtype of the tensor.
    """
    if 0 in out.strides:
        out, flat = _shown_once(out, flat)
    wide = WIDER.get(d)
    kind = np.dtype(np.float32) if wide is not None else out.dtype
    row = out.reshape(-1) if kind == out.dtype and out.flags.c_contiguous else None
    target = (_dense(out, kind) if kind != out.dtype else out.copy()) if row is None else row
    target = target.reshape(-1)
    if values.shape != flat.shape:
        values = np.broadcast_to(values, flat.shape)
    given = _dense(values, kind).reshape(-1)
    if ufunc is not np.add or not _added(target, flat, given):
        quietly(ufunc.at, target, flat.reshape(-1), given)
    if row is None:
        recast_into(target.reshape(out.shape), out)


def _shown_once(out: Any, flat: Any) -> tuple[Any, Any]:
    """An array that `expand` made, without its repetitions, and the positions there."""
    once = out[tuple(slice(0, 1 if step == 0 else None) for step in out.strides)]
    places = np.arange(once.size).reshape(once.shape)
    return once, np.broadcast_to(places, out.shape).reshape(-1)[flat]


def _dense(a: Any, kind: Any) -> Any:
    """A row-major array of a dtype."""
    return np.ascontiguousarray(a if a.dtype == kind else recast(a, kind))


def _added(target: Any, flat: Any, given: Any) -> bool:
    """Whether a compiled loop added elements at flat positions, one after another as NumPy does."""
    loop = walk("scatter_add", target.dtype, given.size)
    if loop is None or np.may_share_memory(target, given):
        return False
    at = np.ascontiguousarray(flat, np.int64)
    return bool(loop(target, given, at, 1, 1, at.size, target.size, target.size, 1, 0))


def few(shape: tuple[int, ...]) -> bool:
    """Whether there are too few elements for flat positions to pay."""
    return numel(shape) < FEW


def checked(
    name: str, index: Any, size: int, dim: int, kind: type[Exception] = RuntimeError
) -> Any:
    """Index values, refused if one is out of range.

    Raises:
        Exception: of the given kind, naming the value, dimension and size.
    """
    if index.size:
        low, high = index.min(), index.max()
        if low < 0 or high >= size:
            bad = low if low < 0 else high
            begun = "index out of range in self: " if kind is IndexError else ""
            raise kind(
                f"{name}(): {begun}index {bad} is out of bounds for dimension {dim} with size {size}"
            )
    return index
