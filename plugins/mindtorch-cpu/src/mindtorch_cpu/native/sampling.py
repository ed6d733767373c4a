"""Sampling images at positions, bilinearly: each result is a sum of four neighbours by weights.

The positions of some results are found first, so that channels only pick and add up.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from .code_of_walks import TYPES, Code

__all__ = ["sampled", "sampled_images"]

# Results whose neighbours are kept at a time.
_BLOCK: Final = 128
_NEIGHBOURS: Final = 4


class _Sampled:
    """Writes the loop.

    Positions from [-1, 1] become elements as ``((x + 1) * SCALES[k] - SCALES[2]) * SCALES[3]``, k being 0
    for lines and 1 along them; with ``border`` they are moved inside. An element outside is 0.
    """

    def __init__(self, code: str) -> None:
        names = "OUT", "GIVEN", "GRID", "SCALES", "images", "channels", "high", "wide", "points"
        self.w = w = Code((*names, "border"))
        self.kind = TYPES[code]
        self.scales = [w.load(self.kind, "%SCALES", str(i)) for i in range(4)]
        self.inside = w.set("icmp ne i64 %border, 0")
        self.places = w.room("i64", _NEIGHBOURS * _BLOCK)
        self.weights = w.room(self.kind, _NEIGHBOURS * _BLOCK)

    def text(self) -> str:
        """The module."""
        w = self.w
        plane = w.times("%high", "%wide")
        rounded = w.set(f"add i64 %points, {_BLOCK - 1}")
        blocks = w.set(f"sdiv i64 {rounded}, {_BLOCK}")

        def image(n: str) -> None:
            def block(b: str) -> None:
                first = w.times(b, str(_BLOCK))
                left = w.set(f"sub i64 %points, {first}")
                full = w.set(f"icmp slt i64 {left}, {_BLOCK}")
                count = w.set(f"select i1 {full}, i64 {left}, i64 {_BLOCK}")
                start = w.sum(w.times(n, "%points"), first)
                w.loop(count, lambda i: self._neighbours(w.sum(start, i), i))

                def channel(c: str) -> None:
                    each = w.sum(w.times(n, "%channels"), c)
                    given, to = w.times(each, plane), w.sum(w.times(each, "%points"), first)
                    w.loop(count, lambda i: self._add_up(given, w.sum(to, i), i))

                w.loop("%channels", channel)

            w.loop(blocks, block)

        w.loop("%images", image)
        return w.text()

    def _neighbours(self, point: str, i: str) -> None:
        """Write where the neighbours of a position are, -1 outside, and what they weigh."""
        w, kind = self.w, self.kind
        at = w.times(point, "2")  # they come as x, y
        lines = self._along(w.load(kind, "%GRID", w.sum(at, "1")), self.scales[0], "%high")
        columns = self._along(w.load(kind, "%GRID", at), self.scales[1], "%wide")
        k = w.times(i, str(_NEIGHBOURS))
        for line, fits, weight in lines:
            row = w.times(line, "%wide")
            for column, fits_too, other in columns:
                here = w.sum(row, column)
                both = w.set(f"and i1 {fits}, {fits_too}")
                w.store("i64", w.set(f"select i1 {both}, i64 {here}, i64 -1"), self.places, k)
                w.store(kind, w.set(f"fmul {kind} {weight}, {other}"), self.weights, k)
                k = w.sum(k, "1")

    def _along(self, x: str, scale: str, size: str) -> list[tuple[str, str, str]]:
        """Of both neighbours along a dimension: where, whether they are inside, and their weights."""
        w, kind = self.w, self.kind
        x = w.set(f"fmul {kind} {w.set(f'fadd {kind} {x}, 1.0')}, {scale}")
        x = w.set(f"fmul {kind} {w.set(f'fsub {kind} {x}, {self.scales[2]}')}, {self.scales[3]}")
        last = w.set(f"sitofp i64 {w.set(f'sub i64 {size}, 1')} to {kind}")
        moved = w.set(f"select i1 {w.set(f'fcmp olt {kind} {x}, 0.0')}, {kind} 0.0, {kind} {x}")
        beyond = w.set(f"fcmp ogt {kind} {moved}, {last}")
        moved = w.set(f"select i1 {beyond}, {kind} {last}, {kind} {moved}")
        x = w.set(f"select i1 {self.inside}, {kind} {moved}, {kind} {x}")
        # What is no number, or beyond all integers, is outside.
        below = w.set(f"fcmp olt {kind} {x}, 0x41D0000000000000")
        above = w.set(f"fcmp ogt {kind} {x}, 0xC1D0000000000000")
        near = w.set(f"and i1 {below}, {above}")
        x = w.set(f"select i1 {near}, {kind} {x}, {kind} -100.0")
        whole = w.set(f"sitofp i64 {w.set(f'fptosi {kind} {x} to i64')} to {kind}")
        less = w.set(f"fsub {kind} {whole}, 1.0")
        up = w.set(f"fcmp ogt {kind} {whole}, {x}")
        low = w.set(f"select i1 {up}, {kind} {less}, {kind} {whole}")
        upper = w.set(f"fsub {kind} {w.set(f'fadd {kind} {low}, 1.0')}, {x}")
        lower = w.set(f"fadd {kind} {w.set(f'fsub {kind} {x}, {low}')}, 0.0")  # 0 is not -0
        first = w.set(f"fptosi {kind} {low} to i64")
        second = w.sum(first, "1")
        return [
            (at, w.set(f"icmp ult i64 {at}, {size}"), weight)
            for at, weight in ((first, upper), (second, lower))
        ]

    def _add_up(self, given: str, to: str, i: str) -> None:
        """Write a result."""
        w, kind, total = self.w, self.kind, ""
        k = w.times(i, str(_NEIGHBOURS))
        for j in range(_NEIGHBOURS):
            at = w.sum(k, str(j))
            place = w.load("i64", self.places, at)
            outside = w.set(f"icmp slt i64 {place}, 0")
            there = w.set(f"select i1 {outside}, i64 0, i64 {place}")
            seen = w.load(kind, "%GIVEN", w.sum(given, there))
            seen = w.set(f"select i1 {outside}, {kind} 0.0, {kind} {seen}")
            part = w.set(f"fmul {kind} {seen}, {w.load(kind, self.weights, at)}")
            total = w.set(f"fadd {kind} {total}, {part}") if total else part
        w.store(kind, total, "%OUT", to)


def sampled(code: str) -> str:
    """The text of the loop."""
    return _Sampled(code).text()


def sampled_images(d: Any, random: Any) -> Any:
    """A case: positions inside, on the border and outside, and some that are no numbers."""
    images, channels, high, wide, points = 2, 3, 5, 7, 200
    border = int(random.integers(2))
    given = random.normal(0, 9, (images, channels, high * wide)).astype(d)
    given[0, 1, 3], given[1, 2] = np.inf, -0.0
    grid = random.uniform(-1.6, 1.6, (images, points, 2)).astype(d)
    grid[0, :5, 0], grid[1, 3:6, 1] = (-1, 1, np.nan, np.inf, 1e30), (-1, 1, -np.inf)
    scales = np.array([high, wide, 1, 0.5], d)
    total: Any = 0
    pairs = []
    for x, size in ((grid[..., 1], high), (grid[..., 0], wide)):
        with np.errstate(all="ignore"):
            at = ((x + d.type(1)) * d.type(size) - d.type(1)) * d.type(0.5)
            at = np.minimum(np.maximum(at, d.type(0)), d.type(size - 1)) if border else at
            at = np.where(np.abs(at) < 1 << 30, at, d.type(-100))
        low = np.floor(at)
        pairs.append(((low, low + d.type(1) - at, size), (low + d.type(1), at - low, size)))
    for line, weight, _ in pairs[0]:
        for column, other, _ in pairs[1]:
            fits = (line >= 0) & (line < high) & (column >= 0) & (column < wide)
            place = np.where(fits, line * wide + column, 0).astype(np.int64)
            seen = np.take_along_axis(given, np.repeat(place[:, None], channels, 1), 2)
            with np.errstate(all="ignore"):
                part = np.where(fits[:, None], seen, d.type(0)) * (weight * other)[:, None]
                total = part if isinstance(total, int) else total + part
    out = np.empty((images, channels, points), d)
    arguments = (out, given, grid, scales, images, channels, high, wide, points, border)
    return arguments, out, total
