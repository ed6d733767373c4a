"""Axes of a mesh: which steps through its ranks they take."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import TypeAlias

__all__ = ["Axis", "are_apart", "axis_of", "cut", "length", "row_major", "rows", "steps"]

# Sizes and strides, outermost first, those that can be one made one: equal axes are equal.
Axis: TypeAlias = tuple[tuple[int, int], ...]


def axis_of(pairs: Iterable[tuple[int, int]]) -> Axis:
    """One axis of sizes and strides."""
    found: list[tuple[int, int]] = []
    for size, stride in pairs:
        if size == 1:
            continue
        if found and found[-1][1] == size * stride:
            found[-1] = (found[-1][0] * size, stride)
        else:
            found.append((size, stride))
    return tuple(found)


def row_major(shape: Sequence[int]) -> tuple[Axis, ...]:
    """The axes of ranks that lie in rows."""
    return tuple(axis_of([(size, math.prod(shape[i + 1 :]))]) for i, size in enumerate(shape))


def length(axis: Axis) -> int:
    """How many ranks it has."""
    return math.prod(size for size, _ in axis)


def steps(axes: Iterable[Axis]) -> list[int]:
    """Where the ranks along axes lie, from the first one on, the last axis fastest."""
    ranges = [range(0, size * stride, stride) for axis in axes for size, stride in axis]
    return [sum(each) for each in itertools.product(*ranges)]


def are_apart(axes: Iterable[Axis]) -> bool:
    """Whether no two places along axes are the same rank."""
    found = steps(axes)
    return len(set(found)) == len(found)


def rows(ranks: Sequence[int], axes: Iterable[Axis]) -> list[list[int]]:
    """Ranks as parts that lie along axes, in the order of their first ones."""
    within, found, left = steps(axes), [], dict.fromkeys(range(len(ranks)))
    while left:
        first = next(iter(left))
        places = [first + step for step in within]
        for each in places:
            del left[each]
        found.append([ranks[each] for each in places])
    return found


def cut(axis: Axis, sizes: Sequence[int]) -> tuple[Axis, ...]:
    """An axis as several, the last one fastest; their sizes' product is its length.

    Raises:
        ValueError: if sizes do not fit the steps that it takes.
    """
    left, found = list(axis), []
    for wanted in reversed(sizes):
        pairs: list[tuple[int, int]] = []
        while wanted > 1:
            size, stride = left.pop()
            part = math.gcd(size, wanted)
            if part not in (size, wanted):
                raise ValueError(
                    f"an axis of {axis} (sizes and strides) cannot be cut into {sizes}"
                )
            if part < size:
                left.append((size // part, stride * part))
            pairs.insert(0, (part, stride))
            wanted //= part
        found.append(axis_of(pairs))
    return tuple(reversed(found))
