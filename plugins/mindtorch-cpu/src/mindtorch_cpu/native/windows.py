"""Pooling: the largest element of each window, and the mean, window by window.

Of few elements the calls of NumPy's cost more than that, one for each position in a window.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .code_of_walks import TYPES, Code

__all__ = [
    "DIMS",
    "averaged",
    "averaged_along",
    "largest_of_windows",
    "means_along",
    "means_of_windows",
    "placed",
]

# Of windows: inputs of fewer dimensions have others of size 1.
DIMS: Final = 3


class _Windows:
    """The loops over planes and windows.

    ``WINDOWS`` holds for each dimension how many there are, a plane's size and the steps in a window; then
    the elements of a window that lies inside; then for each dimension and window where it begins in the
    plane, how far it goes, and by what its sum is divided, of which the product counts.
    """

    def __init__(self, w: Code) -> None:
        self.w = w
        head = [w.load("i64", "%WINDOWS", str(i)) for i in range(3 * DIMS + 1)]
        self.counts, self.sizes, self.steps = (head[DIMS * i : DIMS * (i + 1)] for i in range(DIMS))
        self.inside = head[-1]
        self.tables = [str(len(head))]
        for count in self.counts[:-1]:
            self.tables.append(w.sum(self.tables[-1], w.times(count, "3")))

    def over(self, body: Callable[[str, str, list[list[str]]], None]) -> str:
        """Do something with each window: its number, its plane's first element, its rows of the table."""
        w, (deep, high, wide) = self.w, self.counts
        plane_size, windows = w.times(*self.sizes), w.times(*self.counts)

        def plane(p: str) -> None:
            base, first = w.times(p, plane_size), w.times(p, windows)

            def at(x: str, y: str, z: str) -> None:
                number = w.sum(first, w.times(w.sum(w.times(x, high), y), wide), z)
                rows = []
                for table, i in zip(self.tables, (x, y, z), strict=True):
                    row = w.sum(table, w.times(i, "3"))
                    rows.append(
                        [w.load("i64", "%WINDOWS", w.sum(row, str(j))) for j in range(DIMS)]
                    )
                body(number, base, rows)

            w.loop(deep, lambda x: w.loop(high, lambda y: w.loop(wide, lambda z: at(x, y, z))))

        w.loop("%planes", plane)
        return w.text()

    def flat(self, x: str, y: str, z: str) -> str:
        """An element's place in its plane."""
        w, (_, high, wide) = self.w, self.sizes
        return w.sum(w.times(w.sum(w.times(x, high), y), wide), z)


def largest_of_windows(code: str) -> str:
    """The text of a loop that finds maxima and their places in the planes; of NaN the last one."""
    w, kind = Code(("OUT", "PLACES", "GIVEN", "WINDOWS", "planes")), TYPES[code]
    windows, floats = _Windows(w), code[0] == "f"
    lowest = "0xFFF0000000000000" if floats else str(-(1 << (8 * int(code[1]) - 1)))

    def window(number: str, base: str, rows: list[list[str]]) -> None:
        (x, deep, _), (y, high, _), (z, wide, _) = rows
        best, place = w.variable(kind, lowest), w.variable("i64", windows.flat(x, y, z))

        def element(i: str, j: str, k: str) -> None:
            at = windows.flat(w.sum(x, i), w.sum(y, j), w.sum(z, k))
            seen, before = (
                w.load(kind, "%GIVEN", w.sum(base, at)),
                w.set(f"load {kind}, ptr {best}"),
            )
            taken = w.set(f"{'fcmp ogt' if floats else 'icmp sgt'} {kind} {seen}, {before}")
            if floats:
                taken = w.set(f"or i1 {taken}, {w.set(f'fcmp uno {kind} {seen}, {seen}')}")

            def take() -> None:
                w.put(f"store {kind} {seen}, ptr {best}")
                w.put(f"store i64 {at}, ptr {place}")

            w.when(taken, take)

        a, b, c = windows.steps
        w.loop(
            deep,
            lambda i: w.loop(high, lambda j: w.loop(wide, lambda k: element(i, j, k), c), b),
            a,
        )
        w.store(kind, w.set(f"load {kind}, ptr {best}"), "%OUT", number)
        w.store("i64", w.set(f"load i64, ptr {place}"), "%PLACES", number)

    return windows.over(window)


def means_of_windows(code: str) -> str:
    """The text of a loop that adds up windows along their first dimension first, and divides the sums."""
    w, kind = Code(("OUT", "GIVEN", "WINDOWS", "planes")), TYPES[code]
    windows = _Windows(w)

    def window(number: str, base: str, rows: list[list[str]]) -> None:
        (x, deep, one), (y, high, two), (z, wide, three) = rows
        less = w.set(f"icmp slt i64 {w.times(deep, high, wide)}, {windows.inside}")
        # Zeros of the padding count: a sum with one is not -0.
        first = w.set(f"select i1 {less}, {kind} 0.0, {kind} -0.0")

        def total(begin: str, count: str, each: Callable[[str], str]) -> str:
            held = w.variable(kind, begin)

            def add(i: str) -> None:
                more, before = each(i), w.set(f"load {kind}, ptr {held}")
                w.put(f"store {kind} {w.set(f'fadd {kind} {before}, {more}')}, ptr {held}")

            w.loop(count, add)
            return w.set(f"load {kind}, ptr {held}")

        def element(i: str, j: str, k: str) -> str:
            at = windows.flat(w.sum(x, i), w.sum(y, j), w.sum(z, k))
            return w.load(kind, "%GIVEN", w.sum(base, at))

        found = total(
            first,
            wide,
            lambda k: total(
                "-0.0", high, lambda j: total("-0.0", deep, lambda i: element(i, j, k))
            ),
        )
        by = w.set(f"sitofp i64 {w.times(one, two, three)} to {kind}")
        w.store(kind, w.set(f"fdiv {kind} {found}, {by}"), "%OUT", number)

    return windows.over(window)


def means_along(code: str) -> str:
    """The text of a loop that adds up windows along one dimension of three, beginning with 0, and divides.

    ``WINDOWS`` holds for each where it begins, how far it goes, and by what its sum is divided.
    """
    w, kind = Code(("OUT", "GIVEN", "WINDOWS", "outer", "count", "size", "inner")), TYPES[code]

    def window(o: str, i: str) -> None:
        start, length, whole = (
            w.load("i64", "%WINDOWS", w.sum(w.times(i, "3"), str(j))) for j in range(3)
        )
        to = w.times(w.sum(w.times(o, "%count"), i), "%inner")
        first = w.times(w.sum(w.times(o, "%size"), start), "%inner")
        w.loop("%inner", lambda r: w.store(kind, "0.0", "%OUT", w.sum(to, r)))

        def add(k: str) -> None:
            base = w.sum(first, w.times(k, "%inner"))

            def each(r: str) -> None:
                at, more = w.sum(to, r), w.load(kind, "%GIVEN", w.sum(base, r))
                total = w.set(f"fadd {kind} {w.load(kind, '%OUT', at)}, {more}")
                w.store(kind, total, "%OUT", at)

            w.loop("%inner", each)

        w.loop(length, add)
        by = w.set(f"sitofp i64 {whole} to {kind}")

        def divide(r: str) -> None:
            at = w.sum(to, r)
            mean = w.set(f"fdiv {kind} {w.load(kind, '%OUT', at)}, {by}")
            w.store(kind, mean, "%OUT", at)

        w.loop("%inner", divide)

    w.loop("%outer", lambda o: w.loop("%count", lambda i: window(o, i)))
    return w.text()


# ---- what they are checked against --------------------------------------------------------------


def _case(d: Any, random: Any) -> tuple[Any, Any, list[tuple[slice, ...]]]:
    """Two volumes, windows of two elements along each dimension, and what these are."""
    sizes = [int(n) for n in random.integers(3, 7, DIMS)]
    given = random.integers(-20, 20, (2, *sizes)).astype(d)
    if d.kind == "f":
        given[0, 0], given[1, :, 1:, 1] = -0.0, np.nan
    starts = [[0, 1, n - 2] for n in sizes]
    table = [(start, 2, 2 + i) for i, own in enumerate(starts) for start in own]
    head = [*[len(own) for own in starts], *sizes, 1, 1, 1, 8]
    windows = np.array([*head, *np.ravel(table)], np.int64)
    places = itertools.product(*starts)
    return given, windows, [tuple(slice(at, at + 2) for at in place) for place in places]


def placed(d: Any, random: Any) -> Any:
    """A case of maxima: equal ones, NaN and zeros of both signs."""
    given, windows, seen = _case(d, random)
    numbers = np.arange(given[0].size).reshape(given[0].shape)
    values, places = [], []
    for volume, window in itertools.product(given, seen):
        line = volume[window].ravel()
        none = np.flatnonzero(line != line)
        best = none[-1] if none.size else np.argmax(line)
        values.append(line[best])
        places.append(numbers[window].ravel()[best])
    memory = np.zeros((d.itemsize + 8) * len(values), np.uint8)  # of both results
    out, at = (
        part.view(t)
        for part, t in zip(np.split(memory, [-8 * len(values)]), (d, "i8"), strict=True)
    )
    wanted = np.array(values, d).tobytes() + np.array(places, np.int64).tobytes()
    return (out, at, given, windows, 2), memory, np.frombuffer(wanted, np.uint8)


def averaged(d: Any, random: Any) -> Any:
    """A case of means."""
    given, windows, seen = _case(d, random)
    wanted = []
    for volume, window in itertools.product(given, seen):
        sums = volume[window]
        for _ in range(DIMS):
            sums = sums[0] + sums[1]
        wanted.append(sums / d.type(math.prod(range(2, 2 + DIMS))))
    out = np.zeros(len(wanted), d)
    return (out, given, windows, 2), out, np.array(wanted, d)


def averaged_along(d: Any, random: Any) -> Any:
    """A case of means along a dimension."""
    outer, size, inner = 3, 9, int(random.choice([1, 5, 40]))
    given = random.normal(0, 9, (outer, size, inner)).astype(d)
    given[0], given[1, 3] = -0.0, np.nan
    windows = np.array([(0, 3, 3), (2, 4, 4), (7, 2, 1), (4, 1, 7)], np.int64)
    wanted = np.zeros((outer, len(windows), inner), d)
    for i, (start, length, whole) in enumerate(windows):
        for k in range(start, start + length):
            wanted[:, i] += given[:, k]
        wanted[:, i] /= d.type(whole)
    out = np.empty_like(wanted)
    return (out, given, windows, outer, len(windows), size, inner), out, wanted
