"""Sorting and choosing by rank.

NumPy's stable sort of 32-bit elements is a merge sort. An element's order and its position together
fit into 64 bits, and sorting those by NumPy's vectorised quicksort is several times as fast. Wider
elements are sorted first, and those that are equal then by their positions.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mindtorch_core.backend import int64, wrap_dim

from ..arrays import HALVES, laid_as, quietly, recast, row_major, wrap
from ..compiled import walk
from ..large import LARGE
from ..memory_pool import POOL
from ..register import composition_of, kernel, register, rule_of
from ..workers import in_parts
from .equal_ones import first_ones

_UNSIGNED: dict[int, Any] = {1: np.dtype(np.uint8), 2: np.dtype(np.uint16), 4: np.dtype(np.uint32)}
_FEW = 64  # up to here, making keys costs more than sorting them
# Words of a row from which sorting them digit by digit takes less than NumPy's quicksort, and a digit's bits.
_LONG = 1 << 10
_DIGIT = 10
_WORD = np.dtype(np.int64)


def ordered_bits(a: Any) -> Any:
    """Unsigned integers in the order of an array's elements; NaN are equal and largest.

    Args:
        a: elements of at most four bytes.
    """
    unsigned = _UNSIGNED[a.itemsize]
    if a.dtype.kind in "bu":
        return a.view(unsigned)
    top = unsigned.type(1 << (8 * a.itemsize - 1))
    if a.dtype.kind == "i":
        return a.view(unsigned) ^ top
    bits = quietly(np.add, a, a.dtype.type(0)).view(unsigned)  # -0.0 becomes 0.0
    keys = np.where(bits & top, ~bits, bits | top)
    keys[a != a] = unsigned.type(~unsigned.type(0))
    return keys


def positions_in_order(a: Any, descending: bool) -> Any:
    """Positions that sort the last dimension; equal elements keep their order."""
    n = a.shape[-1]
    keys = _keys(a) if n > _FEW or a.dtype.kind == "V" else None
    if keys is None:
        packed = _packed_integers(a, descending) if n > _FEW else None
        if packed is not None:
            return packed
        if descending:
            return (n - 1) - _ascending(a[..., ::-1])[..., ::-1]
        return _ascending(a)
    if descending:
        keys = ~keys
    if keys.itemsize <= 2 or n >= 1 << 32:
        return keys.argsort(-1, "stable")
    packed = keys.astype(np.uint64) << np.uint64(32)
    packed |= np.arange(n, dtype=np.uint64)
    packed = _in_order(packed, 32, 32)
    packed &= np.uint64(0xFFFFFFFF)
    return packed.view(np.int64)


def _packed_integers(a: Any, descending: bool) -> Any:
    """Positions in order of 64-bit integers whose spread leaves room for the positions, or None."""
    if a.dtype.kind not in "iu" or not a.size:
        return None
    low, high = int(a.min()), int(a.max())
    room = (a.shape[-1] - 1).bit_length()
    if (high - low).bit_length() + room > 64:
        return None
    packed = (a - a.dtype.type(low)).view(np.uint64)
    if descending:
        packed = np.uint64(high - low) - packed
    packed = packed << np.uint64(room)
    packed |= np.arange(a.shape[-1], dtype=np.uint64)
    packed = _in_order(packed, room, (high - low).bit_length())
    packed &= np.uint64((1 << room) - 1)
    return packed.view(np.int64)


def _in_order(words: Any, low: int, bits: int) -> Any:
    """Unsigned words sorted along the last dimension, in their own memory where they are row-major.

    Args:
        words: those that differ only below bit ``low`` are in order already.
        low: where bits begin that count.
        bits: how many of these are not 0 everywhere.
    """
    n = words.shape[-1]
    loop = walk("by_digits", _WORD, words.size) if n >= _LONG and bits else None
    if loop is None:
        words.sort(-1)
        return words
    words = np.ascontiguousarray(words)
    lines, passes = words.reshape(-1, n), -(-bits // _DIGIT)
    digit = -(-bits // passes)

    def some(first: int, last: int) -> tuple[Any, ...]:
        room, counts = POOL.empty((n,), _WORD), np.zeros(1 << digit, _WORD)
        return lines[first:last], room, counts, last - first, n, low, digit, passes

    loop.shared(len(lines), some, -(-LARGE // n))
    return words


def _ascending(a: Any) -> Any:
    """Positions that sort the last dimension; equal elements keep their order.

    NumPy's vectorised quicksort and a second one of equal elements' positions take a third of the
    time of its stable sort.
    """
    n = a.shape[-1]
    if n <= _FEW or n >= 1 << 31 or a.dtype.kind not in "iuf":
        return a.argsort(-1, "stable")
    order = a.argsort(-1)
    values = np.take_along_axis(a, order, -1)
    left, right = values[..., :-1], values[..., 1:]
    apart = left != right
    if a.dtype.kind == "f":
        apart &= (left == left) | (right == right)
    if apart.all():
        return order
    packed = np.zeros(a.shape, np.int64)
    np.cumsum(apart, -1, out=packed[..., 1:])
    packed <<= 32
    packed |= order
    packed.sort(-1)
    packed &= 0xFFFFFFFF
    return packed


def _keys(a: Any) -> Any:
    """Unsigned integers of at most 32 bits in the order of the elements; None if there are none."""
    if a.itemsize <= 4:
        return ordered_bits(np.ascontiguousarray(a))
    if a.dtype.kind in "iu" and a.size:  # indices and counts seldom need all of their bits
        low, high = int(a.min()), int(a.max())
        if high - low < 1 << 32:
            return (a - a.dtype.type(low)).astype(np.uint32)
    return None


def along(a: Any, order: Any) -> Any:
    """Elements at positions along the last dimension."""
    if a.ndim == 1:
        return a.take(order)
    if not order.size:
        return np.empty(order.shape, a.dtype)
    n = a.shape[-1]
    lines = np.ascontiguousarray(a).reshape(-1, n)
    starts = np.arange(0, lines.size, n)[:, None]
    return lines.take(order.reshape(lines.shape[0], -1) + starts).reshape(order.shape)


def _last(a: Any, axis: int) -> Any:
    """An array with a dimension moved to the end."""
    return a if axis == a.ndim - 1 else np.moveaxis(a, axis, -1)


@kernel("sort.stable")
def sort(self: Any, *, stable: Any = None, dim: int = -1, descending: bool = False) -> Any:
    """Elements in order and their positions; always stable."""
    a = self.raw_data
    spec, at = rule_of("sort.stable")(self, stable=stable, dim=dim, descending=descending)
    if not a.ndim:
        return wrap(a.copy(), self.raw_dtype), wrap(np.zeros((), np.int64), int64)
    axis = wrap_dim(dim, a.ndim)
    moved = _last(a, axis)
    order = positions_in_order(moved, descending)
    if spec.strides is None:
        return _picked(moved, order, axis, self.raw_dtype)
    found = (along(moved, order), spec), (order, at)
    return tuple(laid_as(np.moveaxis(x, -1, axis), s) for x, s in found)


def _picked(moved: Any, order: Any, axis: int, d: Any, values: Any = None) -> Any:
    """Elements at positions along the last dimension, if they are not there yet, and the positions."""
    values = along(moved, order) if values is None else values
    if axis != moved.ndim - 1:
        values, order = np.moveaxis(values, -1, axis), np.moveaxis(order, -1, axis)
    return wrap(_dense(values), d), wrap(_dense(order), int64)


def _dense(a: Any) -> Any:
    """An array in row-major order whose strides know nothing of what it is a part of."""
    return row_major(a) if a.base is None else np.array(a, order="C")


# Blocks whose extremes bound what is asked for.
_BLOCK = 128


def _few_of_many(a: Any, k: int, largest: bool) -> Any:
    """Positions that hold those of the ``k`` largest or smallest of one long row, and some more; or None.

    The extremes of blocks that are among the first ``k`` of them are as many elements, so that no element
    beyond the last of these extremes is among those asked for.
    """
    n = a.shape[-1]
    if a.ndim > 1 or n < 8 * k * _BLOCK or not a.flags.c_contiguous or a.dtype.kind not in "iuf":
        return None
    whole = n - n % _BLOCK
    blocks = a[:whole].reshape(-1, _BLOCK)
    tops = (np.maximum if largest else np.minimum).reduce(blocks, 1)
    if a.dtype.kind == "f" and (np.isnan(tops).any() or np.isnan(a[whole:]).any()):
        return None
    at = len(tops) - k if largest else k - 1
    bound = np.partition(tops, at)[at]
    return np.flatnonzero(a >= bound if largest else a <= bound)


def _beyond_bound(a: Any, k: int, largest: bool) -> Any:
    """Positions of the ``k`` largest or smallest of each row, the first ones of those that equal the last.

    NumPy parts elements several times faster than their positions.
    """
    n = a.shape[-1]
    at = n - k if largest else k - 1
    bound = np.partition(a, at, -1)[..., at, None]
    chosen = a >= bound if largest else a <= bound
    if (chosen.sum(-1) != k).any():
        beyond, equal = (a > bound if largest else a < bound), a == bound
        if a.dtype.kind == "f":  # NaN is the largest
            none, last = a != a, bound != bound
            beyond = np.where(last, ~(none | largest), beyond | (none & largest))
            equal = np.where(last, none, equal)
        chosen = beyond | (equal & (equal.cumsum(-1) <= k - beyond.sum(-1, keepdims=True)))
    return (np.flatnonzero(chosen) % n).reshape(*a.shape[:-1], k)


@kernel("topk")
def topk(self: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The largest or smallest elements: parted from the rest first, then put in order.

    Of equal elements those are picked that PyTorch picks where rows are short, and the first ones else.
    """
    rule_of("topk")(self, k, dim, largest, sorted)
    a = self.raw_data
    if not a.ndim:
        return wrap(a.copy(), self.raw_dtype), wrap(np.zeros((), np.int64), int64)
    axis = wrap_dim(dim, a.ndim)
    moved = _last(a, axis)
    n = moved.shape[-1]
    order = _by_walk(moved, k, largest) if n > _FEW and 4 * k <= n and k else None
    if order is not None:
        return _picked(moved, order, axis, self.raw_dtype)
    if a.dtype.kind == "V" or n <= _FEW or 4 * k > n or not k:
        order = positions_in_order(moved, largest)
        if 1 < n <= _FEW and k:
            keys = ordered_bits(row_major(moved)) if a.dtype.kind == "V" else moved
            held = along(keys, order)
            others = first_ones(held, order, k)
            if others is not None:
                return _picked(moved, others, axis, self.raw_dtype)
            values = held[..., :k] if keys is moved else None
            return _picked(moved, order[..., :k], axis, self.raw_dtype, values)
        return _picked(moved, order[..., :k], axis, self.raw_dtype)
    if moved.ndim == 1 or a.size < 4 * LARGE:
        return _picked(moved, _first_ones(moved, k, largest), axis, self.raw_dtype)
    lines = np.ascontiguousarray(moved).reshape(-1, n)
    order = np.empty((len(lines), k), np.int64)

    def some(low: int, high: int) -> None:
        order[low:high] = _first_ones(lines[low:high], k, largest)

    in_parts(some, len(lines), -(-LARGE // n))
    return _picked(moved, order.reshape(*moved.shape[:-1], k), axis, self.raw_dtype)


# As many at most are kept in order while rows are gone through.
_KEPT = 128


def _by_walk(a: Any, k: int, largest: bool) -> Any:
    """Positions of the largest or smallest along the last dimension, in order, by a compiled loop; or None.

    Also where too many elements have to be moved, as of rows that are almost in order.
    """
    loop = None
    if k <= _KEPT:
        single = np.dtype(np.float32) if a.dtype in HALVES else a.dtype
        loop = walk("largest_first" if largest else "smallest_first", single, a.size)
    if loop is None:
        return None
    lines = np.ascontiguousarray(recast(a, single) if single != a.dtype else a)
    lines = lines.reshape(-1, a.shape[-1])
    rows, n = lines.shape
    values, order = np.empty((rows, k), single), np.empty((rows, k), np.int64)
    moved = []

    def some(low: int, high: int) -> tuple[Any, ...]:
        most = int(4 * (high - low) * k * (2 + math.log(n / k)))
        moved.append((np.zeros(1, np.int64), most))
        part = slice(low, high)
        return values[part], order[part], lines[part], moved[-1][0], high - low, n, k, most

    loop.shared(rows, some, -(-LARGE // n))
    if any(count[0] >= most for count, most in moved):
        return None
    return order.reshape(*a.shape[:-1], k)


def _first_ones(a: Any, k: int, largest: bool) -> Any:
    """Positions of the largest or smallest along the last dimension, in order."""
    found = _few_of_many(a, k, largest)
    if found is None:
        found = _beyond_bound(a, k, largest)
    return along(found, positions_in_order(along(a, found), largest)[..., :k])


# ---- medians ------------------------------------------------------------------------------------


def _middle(a: Any, name: str) -> Any:
    """Ranks of the medians along the last dimension: of NaN the first, where they count."""
    n = a.shape[-1]
    if a.dtype.kind in "iu":
        return (n - 1) // 2
    valid = n - np.count_nonzero(a != a, -1)
    middle = np.maximum(valid - 1, 0) // 2
    return np.where(valid < n, valid, middle) if name == "median" else middle


def _medians(name: str) -> None:
    """Register the median of all elements and that along a dimension."""
    composed, composed_along = composition_of(name), composition_of(f"{name}.dim")
    rule, rule_along = rule_of(name), rule_of(f"{name}.dim")

    def of_all(self: Any) -> Any:
        a = self.raw_data
        if not a.size or a.dtype.kind not in "iuf":
            return composed(self)
        rule(self)
        line = a.reshape(-1)
        rank = int(_middle(line, name))
        ordered = np.sort(line, kind="stable") if a.size <= _FEW else np.partition(line, rank)
        return wrap(ordered[rank], self.raw_dtype)

    def along_one(self: Any, dim: int, keepdim: bool = False) -> Any:
        a = self.raw_data
        if not a.size or not a.ndim or a.dtype.kind not in "iuf":
            return composed_along(self, dim, keepdim)
        values, indices = rule_along(self, dim, keepdim)
        moved = _last(a, wrap_dim(dim, a.ndim))
        order, rank = positions_in_order(moved, False), _middle(moved, name)
        if rank.__class__ is int:
            order = np.ascontiguousarray(order[..., rank, None])
        else:
            order = along(order, rank[..., None])
        found = (along(moved, order), values), (order, indices)
        return tuple(wrap(row_major(x.reshape(s.shape)), s.dtype) for x, s in found)

    register(name, of_all)
    register(f"{name}.dim", along_one)


_medians("median")
_medians("nanmedian")
