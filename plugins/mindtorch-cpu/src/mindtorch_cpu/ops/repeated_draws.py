"""Many numbers of one distribution, each of which takes as many uniform numbers as it needs.

Where parameters differ, the elements have to be drawn one after the other. Where all are the same, what would
happen from each place of the stream on is computed for all places at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ..twister import TwisterSource

__all__ = ["FEW", "by_rejection", "by_sums"]

FEW: Final = 1 << 7  # so many numbers or fewer are drawn one after the other
_BLOCK: Final = 1 << 14
_CLOSE: Final = 1e-9


def by_rejection(
    source: TwisterSource, count: int, propose: Callable[[Any, Any], tuple[Any, Any]]
) -> Any:
    """Numbers that are proposed by two uniform ones, and accepted or not.

    Args:
        source: the stream.
        count: how many numbers.
        propose: gives proposals, and which are accepted, for arrays of uniform numbers from [-1/2, 1/2)
            and from [0, 1).
    """
    made: list[Any] = []
    missing = count
    while missing:
        start = source.bits_state()
        pairs = source.doubles(2 * min(missing + missing // 4 + 16, _BLOCK))
        values, accepted = propose(pairs[::2] - 0.5, pairs[1::2])
        at = np.flatnonzero(accepted)
        if at.size >= missing:
            at = at[:missing]
            source.go_back(start, 4 * (int(at[-1]) + 1))
        made.append(values[at])
        missing -= at.size
    return np.concatenate(made)


def by_sums(
    source: TwisterSource,
    count: int,
    terms: Callable[[Any], Any],
    limit: float,
    reaches: Callable[[Any], int] | None = None,
) -> Any:
    """How many terms it takes until their sum is above a limit, less one.

    Args:
        source: the stream.
        count: how many numbers.
        terms: gives positive terms for uniform numbers; few make up the limit.
        limit: of the sums.
        reaches: gives the number itself for uniform numbers that begin with its own, where a sum comes
            close to the limit; None where sums are exact.
    """
    made: list[int] = []
    while len(made) < count:
        start = source.bits_state()
        uniform = source.doubles(_BLOCK)
        sums = np.cumsum(terms(uniform))
        targets = np.concatenate(([0.0], sums[:-1])) + limit
        ends = np.searchsorted(sums, targets, "right")
        if reaches is not None:
            above, below = sums[np.minimum(ends, _BLOCK - 1)], sums[np.maximum(ends - 1, 0)]
            close = (np.abs(above - targets) < _CLOSE) | (np.abs(below - targets) < _CLOSE)
            for i in np.flatnonzero(close & (ends < _BLOCK)).tolist():
                ends[i] = i + reaches(uniform[i:])
        steps = ends.tolist()
        place = 0
        for _ in range(count - len(made)):
            end = steps[place]
            if end >= _BLOCK - 1:  # it goes on in the next block, where it is drawn again
                break
            made.append(end - place)
            place = end + 1
        source.go_back(start, 2 * place)
    return np.array(made, np.float64)
