"""Sums whose rounding errors stay small, however many elements there are and however they lie.

NumPy adds by halves along the dimension that lies densest in memory, and one element after another
along all others: a million rows lose three digits in float32. Here few elements are added one after
another. Large arrays are cut into pieces that fit the cache, shared out over threads. Where they
are cut depends on shapes alone, so that the sum is the same whichever thread was first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_core.backend import get_num_threads

from .arrays import quietly, recast
from .many_columns import sums_of_groups
from .many_rows import are_looped, sums
from .row_sums import sums_of_rows
from .rows import PIECE, dots
from .short_rows import reduce_rows
from .workers import share_out

__all__ = ["FEW", "deviations", "down", "long_sums", "mean_of_large", "naive", "total"]

# Elements that NumPy may add one after another: for so few, another way costs more than they do.
FEW: Final = 128
# As many rows are added at a time, all columns at once; of so many elements at least, if rows are short.
_GROUP: Final = 32
_BROAD: Final = 1 << 10
# Rows of fewer elements are added by NumPy, others as products with ones.
_SHORT: Final = 64
# Elements of short rows that a kernel adds up in less time than NumPy.
_MANY: Final = 1 << 12
# Rows of as many are cut into pieces of one size and a rest, others into pieces alike.
_LONG: Final = 1 << 15
# Elements of a piece, and of one that is copied, which should stay in the cache.
_PIECE: Final = 1 << 20
_COPIED: Final = 1 << 18
# Variances of float32 below this are computed in float64: squares might vanish.
_TINY: Final = 1e-30
# Of float32, means that are further from 0, in squares over variances, are refined: pieces are united by
# how their means differ, of which the rounding of large means is a part that counts.
_FAR: Final = 16
# Rows of a piece from which they are cut for threads only.
_FEW_ROWS: Final = 8
# Results of a piece that are few beside what is added up to them.
_FEW_SUMS: Final = 1 << 13


class _Statistic(NamedTuple):
    """What pieces are reduced to.

    Attributes:
        width: how many statistics there are.
        compute: makes an array of (statistics, *kept dimensions) of a piece.
        merge: makes one array of those of pieces, (pieces, statistics, kept elements), given how many
            elements went into each.
    """

    width: int
    compute: Callable[[Any, Sequence[bool]], Any]
    merge: Callable[[Any, Any], Any]


def naive(a: Any, axis: Sequence[int] | None) -> bool:
    """Whether NumPy would add more than a few elements one after another.

    Args:
        a: the array.
        axis: the dimensions to add up along, counted from the front; None for all.
    """
    if a.size <= FEW:
        return False
    if axis is None:
        return not (a.flags.c_contiguous or a.flags.f_contiguous)
    count = 1
    for i in axis:
        count *= a.shape[i]
    return count > FEW and not (a.flags.c_contiguous and min(axis) == a.ndim - len(axis))


def down(x: Any, y: Any = None) -> Any:
    """Sums along the second of three dimensions, of ``x * y`` where there are two row-major arrays."""
    groups, n, width = x.shape
    if n <= 2 * _GROUP:
        return sums_of_groups(x, 1, n, y)[:, 0]
    beside = min(_BROAD // width, n // 2)
    if beside > 1:  # rows side by side, which are one broad row
        whole = n - n % beside
        shape = groups, whole // beside, beside * width
        broad = [None if each is None else each[:, :whole].reshape(shape) for each in (x, y)]
        left = down(*broad).reshape(groups, beside, width)
        if whole < n:
            left = np.concatenate([left, _products(x, y, whole)], 1)
        if left.shape[1] > 2 * _GROUP:
            return np.add.reduce(np.ascontiguousarray(left.swapaxes(1, 2)), 2)
        return np.add.reduce(left, 1)
    whole = n - n % _GROUP
    found = down(sums_of_groups(x, whole // _GROUP, _GROUP, y))
    return found if whole == n else found + np.add.reduce(_products(x, y, whole), 1)


def _products(x: Any, y: Any, first: int) -> Any:
    """The rows from a first one on, of ``x * y`` where there are two."""
    return x[:, first:] if y is None else np.multiply(x[:, first:], y[:, first:])


def long_sums(x: Any) -> Any:
    """Sums of long rows, by pieces that begin where lines of the cache do."""
    whole = x.shape[-1] - x.shape[-1] % PIECE
    found = sums(x[..., :whole])
    return found if whole == x.shape[-1] else found + sums(x[..., whole:])


def _sum_along(x: Any, over: Sequence[bool]) -> Any:
    """Sum along the dimensions that ``over`` marks; of half precision if they are long rows."""
    left = list(over)
    while True in left:
        at = len(left) - 1 - left[::-1].index(True)
        last = at == len(left) - 1
        if last and x.shape[at] < _SHORT and left.count(True) > 1:
            at = len(left) - 2 - left[-2::-1].index(True)  # those before first, for all of the last
            last = False
        del left[at]
        before, (n, *after) = x.shape[:at], x.shape[at:]
        if not last:
            x = down(x.reshape(math.prod(before), n, math.prod(after)))
        else:
            dense = n >= _SHORT and x.strides[-1] == x.itemsize
            if dense:
                x = long_sums(x) if n >= _LONG else sums(x)
            else:
                found = sums_of_rows(x, (at,), keepdims=False) if x.size >= _MANY else None
                x = reduce_rows(np.add, x, at) if found is None else found
        x = x.reshape((*before, *after))
    return x


def _piece_sum(x: Any, over: Sequence[bool]) -> Any:
    if x.dtype.itemsize < 4:
        if len(over) == 1 and x.size >= _LONG and x.flags.c_contiguous:
            return np.asarray(long_sums(x))[None]
        x = recast(x, np.float32)
    return _sum_along(x, over)[None]


def _added(parts: Any, counts: Any) -> Any:
    return down(parts.reshape(1, len(parts), -1))


def mean_of_large(x: Any, axis: Any, count: int) -> Any:
    """Means of numbers whose sum may be too large; dimensions stay with size 1."""
    found = np.add.reduce(x / x.dtype.type(count), axis, keepdims=True)
    return np.clip(found, x.min(axis, keepdims=True), x.max(axis, keepdims=True))


def _piece_moments(x: Any, over: Sequence[bool]) -> Any:
    """Means and sums of squared deviations, in float64."""
    found = _moments_in(np.float32 if x.dtype.itemsize < 4 else x.dtype, x, over)
    spread = found[1]
    if x.dtype != np.float64 and not ((spread > _TINY * x.size) & (spread < np.inf)).all():
        found = _moments_in(np.float64, x, over)  # squares vanished, or were too large
    return found


def _moments_in(d: Any, x: Any, over: Sequence[bool]) -> Any:
    """Means and sums of squared deviations, computed in a dtype."""
    x = x.astype(d, "C", copy=False)
    shape = tuple(1 if reduced else n for n, reduced in zip(x.shape, over, strict=True))
    count = x.size // math.prod(shape)
    mean = _sum_along(x, over) / x.dtype.type(count)
    if not np.isfinite(mean).all():
        axis = tuple(i for i, reduced in enumerate(over) if reduced)
        mean = mean_of_large(x, axis, count).reshape(mean.shape)
    apart = np.subtract(x, np.reshape(mean, shape))
    squares = _squares(apart, over)
    # Where the mean's rounding counts beside what deviates, and where a square of it is too large.
    if not ((squares > count * np.finfo(d).eps * np.square(mean)) & (squares < np.inf)).all():
        left = _sum_along(apart, over) / x.dtype.type(count)
        np.subtract(apart, np.reshape(left, shape), apart)
        mean, squares = mean + np.float64(left), _squares(apart, over)
    elif x.itemsize == 4 and (_FAR * squares < count * np.square(mean, dtype=np.float64)).any():
        left = np.asarray(_sum_along(apart, over), np.float64) / count
        mean, squares = mean + left, squares - count * np.square(left)
    return np.stack([mean, squares])


def _squares(x: Any, over: Sequence[bool]) -> Any:
    """Sums of squares, in float64."""
    last = over[-1] and sum(over) == 1
    return np.asarray(dots(x, x) if last else _sum_along(np.square(x), over), np.float64)


def _united(parts: Any, counts: Any) -> Any:
    """Moments of all from those of pieces (Chan, Golub and LeVeque, 1979)."""
    means, squares = parts[:, 0], parts[:, 1]
    apart = means - means[0]
    centre = np.add.reduce(apart * (counts / counts.sum())[:, None], 0)
    between = np.add.reduce(np.square(apart - centre) * counts[:, None], 0)
    return np.stack([means[0] + centre, np.add.reduce(squares, 0) + between])


_SUM: Final = _Statistic(1, _piece_sum, _added)
_MOMENTS: Final = _Statistic(2, _piece_moments, _united)


# ---- pieces -------------------------------------------------------------------------------------


def _cut(shape: Sequence[int], over: Sequence[bool], piece: int) -> tuple[int, int]:
    """The dimension to cut, and how many elements of it to take at a time.

    That is the outermost. But if it is added up to many sums, there would be as many for each piece:
    then the longest of those that are kept.
    """
    kept = [(n, i) for i, n in enumerate(shape) if not over[i]]
    sums_of_piece = math.prod(n for n, _ in kept)
    if not over[0] or sums_of_piece <= _FEW_SUMS:
        return 0, max(1, shape[0] * piece // math.prod(shape))
    n, at = max(kept)
    return at, max(
        1, n * max(piece * sums_of_piece // math.prod(shape), _FEW_SUMS // 2) // sums_of_piece
    )


def _are_rows(x: Any, over: Sequence[bool]) -> bool:
    """Whether dense rows are reduced one after the other: what is made of them takes no memory."""
    dense = x.strides[-1] == x.itemsize >= 4
    return dense and list(over) == [False, True] and x.shape[1] >= _SHORT


def _in_pieces(x: Any, over: Sequence[bool], piece: int, statistic: _Statistic) -> Any:
    """A statistic of an array of any strides: (statistics, *kept dimensions).

    Args:
        x: the array, dimensions of size 1 left out.
        over: the dimensions to reduce.
        piece: how many elements are computed with at a time.
        statistic: what to compute.
    """
    width = statistic.width
    rows = statistic is _SUM and _are_rows(x, over)
    if x.size <= piece or (rows and are_looped(x)):
        return quietly(statistic.compute, x, over)
    at, step = _cut(x.shape, over, piece)
    n = x.shape[at]
    if rows and step >= _FEW_ROWS:
        step = max(step, -(-n // (2 * get_num_threads())))
        piece = max(piece, step * x.shape[1])
    starts = range(0, n, step)
    kept = [m for m, reduced in zip(x.shape, over, strict=True) if not reduced]
    before = (slice(None),) * at
    place = (slice(None),) * (1 + sum(not reduced for reduced in over[:at]))
    wide = width > 1 or x.dtype == np.float64
    shape = (len(starts), width, *kept) if over[at] else (width, *kept)
    out = np.empty(shape, np.float64 if wide else np.float32)

    def work(start: int) -> None:
        part, inner = x[(*before, slice(start, start + step))], over
        if step == 1:
            part, inner = part[(*before, 0)], (*over[:at], *over[at + 1 :])
        found = _in_pieces(part, inner, piece, statistic)
        if over[at]:
            out[start // step] = found
        else:
            target = out[(*place, slice(start, start + step))]
            target[...] = found.reshape(target.shape)

    share_out(work, starts)
    if not over[at]:
        return out
    others = x.size // n // math.prod(kept)
    counts = np.array([min(step, n - start) for start in starts], np.float64) * others
    found = quietly(statistic.merge, out.reshape(len(starts), width, -1), counts)
    return found.reshape(width, *kept)


def _reduced(a: Any, axis: Sequence[int] | None, statistic: _Statistic) -> tuple[Any, int]:
    """A statistic of an array that is not empty, and how often each of its elements counts.

    Dimensions are taken in the order in which they lie in memory, neighbours as one where they are
    reduced or kept alike. One of stride 0 shows the same elements again and again: they are computed
    with once.

    Returns:
        (statistics, *dimensions), those that were reduced of size 1.
    """
    over = [axis is None or i in axis for i in range(a.ndim)]
    live = [
        i for i, (n, stride) in enumerate(zip(a.shape, a.strides, strict=True)) if n > 1 < stride
    ]
    live.sort(key=lambda i: -a.strides[i])
    rest = [i for i in range(a.ndim) if i not in live]
    again = math.prod(a.shape[i] for i in rest if over[i])
    shape: list[int] = []
    joined: list[bool] = []
    end = 0
    for i in live:
        n, stride = a.shape[i], a.strides[i]
        if joined and joined[-1] == over[i] and end == n * stride:
            shape[-1] *= n
        else:
            shape.append(n)
            joined.append(over[i])
        end = stride
    x = a.transpose(*live, *rest)[(..., *(0,) * len(rest))].reshape(shape or 1)
    width = statistic.width
    piece = _COPIED if width > 1 else 2 * _COPIED if a.itemsize < 4 else _PIECE
    found = _in_pieces(x, joined or [False], piece, statistic)
    kept = [i for i in live if not over[i]]
    found = found.reshape(width, *(a.shape[i] for i in kept))
    if kept != sorted(kept):
        found = np.ascontiguousarray(found.transpose(0, *(1 + np.argsort(kept))))
    found = found.reshape(width, *(n if i in kept else 1 for i, n in enumerate(a.shape)))
    wanted = (width, *(1 if reduced else n for n, reduced in zip(a.shape, over, strict=True)))
    return (found if found.shape == wanted else np.array(np.broadcast_to(found, wanted))), again


def total(a: Any, axis: Sequence[int] | None = None) -> Any:
    """The sum of an array along dimensions, which stay with size 1; half precision in float32.

    Args:
        a: of a floating or complex dtype and any layout; not empty.
        axis: the dimensions, counted from the front; None for all.
    """
    if a.dtype.kind == "c":
        found = np.ascontiguousarray(total(*_as_pairs(a, axis)))
        return found.view(a.dtype)[..., 0]
    if a.flags.c_contiguous and a.size <= (_PIECE if a.itemsize >= 4 else 2 * _COPIED):
        found = _short_way(a, axis)  # nothing is to be prepared
        if found is not None:
            return found
    (found,), again = _reduced(a, axis, _SUM)
    return found if again == 1 else quietly(np.multiply, found, found.dtype.type(again))


def _as_pairs(a: Any, axis: Sequence[int] | None) -> tuple[Any, Sequence[int]]:
    """Complex numbers as pairs along a dimension more, and the dimensions that are meant."""
    return a[..., None].view(a.real.dtype), range(a.ndim) if axis is None else axis


def _short_way(a: Any, axis: Sequence[int] | None) -> Any:
    """The sum of a small row-major array along all, the first or the last dimensions; else None."""
    if axis is None and a.size >= _LONG:
        return np.asarray(quietly(long_sums, a.reshape(-1))).reshape((1,) * a.ndim)
    if axis is None:
        return quietly(_sum_along, _single(a.reshape(-1)), (True,)).reshape((1,) * a.ndim)
    shape, count = a.shape, len(axis)
    if max(axis) == count - 1:
        kept = math.prod(shape[count:])
        found = quietly(down, _single(a).reshape(1, a.size // kept, kept))
        return found.reshape((1,) * count + shape[count:])
    if min(axis) == a.ndim - count:
        kept = math.prod(shape[:-count])
        rows = a.reshape(kept, a.size // kept)
        found = quietly(
            _sum_along, rows if rows.shape[1] >= _SHORT else _single(rows), (False, True)
        )
        return found.reshape(shape[:-count] + (1,) * count)
    return None


def _single(a: Any) -> Any:
    return recast(a, np.float32) if a.itemsize < 4 else a


def deviations(a: Any, axis: Sequence[int] | None = None) -> Any:
    """Sums of squared deviations from the mean along dimensions, which stay with size 1, in float64.

    Args:
        a: of a floating or complex dtype and any layout; not empty.
        axis: the dimensions, counted from the front; None for all.
    """
    if a.dtype.kind == "c":
        return np.add.reduce(deviations(*_as_pairs(a, axis)), -1)
    (_, squares), again = _reduced(a, axis, _MOMENTS)
    return squares if again == 1 else squares * again
