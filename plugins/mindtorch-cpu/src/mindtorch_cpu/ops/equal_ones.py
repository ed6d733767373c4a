"""Which of equal elements are among the largest or smallest of a short row: those that PyTorch picks.

PyTorch parts a row by the selection of the standard C++ library, and sorts what it has picked by the
library's sort. Neither keeps the order of equal elements, but both always do the same.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

__all__ = ["first_ones"]

# Beyond so many kinds of rows the first of equal elements are taken.
_KINDS: Final = 1024

_Row = list[tuple[int, int]]  # the rank of each element, and its position


def first_ones(held: Any, order: Any, k: int) -> Any:
    """The first ``k`` positions of each row; None where those of ``order`` are.

    Args:
        held: the elements in order, of shape (..., n).
        order: their positions, at most 256, where equal elements keep their order.
        k: how many.
    """
    n = order.shape[-1]
    apart = (held[..., 1:] != held[..., :-1]).reshape(-1, max(n - 1, 0))
    if apart[:, :k].all():
        return None
    rows = np.flatnonzero(~apart[:, :k].all(-1))
    ranks = np.zeros((len(rows), n), np.uint8)
    places = np.cumsum(apart[rows], -1)
    np.put_along_axis(ranks, order.reshape(-1, n)[rows, 1:], places, -1)
    kinds = ranks.view(f"V{n}").ravel().tolist()  # bytes, a rank each
    if len({*kinds}) > _KINDS:
        return None
    picks = {kind: _picked([*kind], k) for kind in {*kinds}}
    found = np.array(order[..., :k], order="C")
    found.reshape(-1, k)[rows] = [picks[kind] for kind in kinds]
    return found


def _picked(ranks: list[int], k: int) -> list[int]:
    """The positions of the ``k`` lowest ranks.

    For rows that are made to be hard to part the library changes to heaps after many rounds, and then other
    ones of equal elements are picked there.
    """
    row = [*zip(ranks, range(len(ranks)), strict=True)]
    if k * 64 <= len(ranks):
        return [min(row)[1]]
    _part(row, k - 1)
    _sort(row, 0, k - 1)
    row[: k - 1] = sorted(row[: k - 1], key=_rank)
    return [position for _, position in row[:k]]


def _part(row: _Row, at: int) -> None:
    """Put the element that belongs ``at`` there, with none above before it and none below behind it."""
    first, last = 0, len(row)
    while last - first > 3:
        cut = _divide(row, first, last)
        first, last = (cut, last) if cut <= at else (first, cut)
    row[first:last] = sorted(row[first:last], key=_rank)


def _sort(row: _Row, first: int, last: int) -> None:
    """Divide a part of a row until pieces have at most 16 elements."""
    while last - first > 16:
        cut = _divide(row, first, last)
        _sort(row, cut, last)
        last = cut


def _divide(row: _Row, first: int, last: int) -> int:
    """Move what is below a pivot before what is above it; what equals it is swapped. The place between."""
    middle = _middle(row, first + 1, (first + last) // 2, last - 1)
    row[first], row[middle] = row[middle], row[first]
    pivot = row[first][0]
    low, high = first + 1, last
    while True:
        while row[low][0] < pivot:
            low += 1
        high -= 1
        while pivot < row[high][0]:
            high -= 1
        if low >= high:
            return low
        row[low], row[high] = row[high], row[low]
        low += 1


def _middle(row: _Row, a: int, b: int, c: int) -> int:
    """The one of three places whose element is neither below nor above both others."""
    x, y, z = row[a][0], row[b][0], row[c][0]
    if x < y:
        return b if y < z else c if x < z else a
    return a if x < z else c if y < z else b


def _rank(entry: tuple[int, int]) -> int:
    return entry[0]
