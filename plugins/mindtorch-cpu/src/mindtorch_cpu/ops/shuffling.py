"""Random permutations as PyTorch's loop makes them, by a compiled one or by NumPy's functions."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from ..arrays import uninitialised
from ..compiled import walk
from ..twister import CHUNK, TwisterSource

__all__ = ["shuffled"]

_FEW: Final = 1 << 6  # below, a loop of Python takes less time than a compiled one
_SHORT: Final = 1 << 9  # below, it takes less time than NumPy's functions
_PLACES: Final = np.dtype(np.int64)
_HUGE: Final = ((1 << 32) - 1) // 20  # from here on outputs of 64 bits build the order up


def shuffled(n: int, source: TwisterSource) -> Any:
    """The numbers 0 to n - 1 in random order (Fisher and Yates): each changes places with a later one."""
    if n >= _HUGE:
        return _built_up(n, source)
    if n < 2:
        return np.arange(n)
    partners = source.words(n - 1)
    loop = walk("exchanged", _PLACES, n, _FEW)
    if loop is not None:
        made = np.arange(n, dtype=_PLACES)
        loop(made, partners, n)
        return made
    partners %= np.arange(n, 1, -1, dtype=np.uint32)
    if n < _SHORT:
        order = list(range(n))
        for i, distance in enumerate(partners.tolist()):
            j = i + distance
            order[i], order[j] = order[j], order[i]
        return np.array(order)
    return _exchanged(partners.astype(np.int64) + np.arange(n - 1), n)


def _exchanged(partners: Any, n: int) -> Any:
    """The order after place i has changed with ``partners[i]``, for i = 0, 1, ..., all at once.

    When step i comes, place i holds what the latest earlier step that chose place i had in its own place;
    so on until a step whose place nobody had chosen, which holds its own number. What step i takes from
    ``partners[i]`` came from the latest earlier step with the same partner, in the same way.
    """
    steps = np.arange(n - 1)
    moved = partners != steps
    origin = np.arange(n)  # the latest step that chose a place; a place is left at its own step
    origin[partners[moved]] = steps[moved]
    # What a place holds at its step: follow the steps back.
    held = origin
    while True:
        further = held[held]
        if np.array_equal(further, held):
            break
        held = further
    # Steps by partner and then by time: neighbours share a partner.
    shift = int(n - 1).bit_length()
    keys = np.sort((partners << shift) | steps)
    step, partner = keys & ((1 << shift) - 1), keys >> shift
    taken = np.empty(n, np.int64)
    same = np.empty(n - 1, bool)
    same[0] = False
    np.equal(partner[1:], partner[:-1], out=same[1:])
    previous = np.roll(step, 1)
    taken[step] = np.where(same, held[previous], np.where(partner == step, held[step], partner))
    taken[n - 1] = held[n - 1]
    return taken


def _built_up(n: int, source: TwisterSource) -> Any:
    """The order in which each number is put in a random place, whose holder goes to the end."""
    order = uninitialised((n,), np.dtype(np.int64))
    line = memoryview(order)
    for start in range(0, n, CHUNK):
        stop = min(start + CHUNK, n)
        places = source.long_words(stop - start) % np.arange(start + 1, stop + 1, dtype=np.uint64)
        for i, place in enumerate(places.tolist(), start):
            line[i] = line[place]
            line[place] = i
    return order
