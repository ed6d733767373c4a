"""Where inputs of a convolution lie if what is beside an image is masked, not stored as zeros.

Lines are as long as those of outputs, and images follow each other: no result is computed in vain. A window's
elements for all outputs are a slice of a row then, too, in which masks leave out those beside the image.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any, NamedTuple

import numpy as np

from mindtorch_core.backend import ConvolutionGeometry

from .convolution_layout import Layout

__all__ = ["Masked", "masked"]


class _Step(NamedTuple):
    """A window's element along a dimension.

    Attributes:
        remainder: of its place by the stride.
        shift: how far it lies behind the output, among elements of its remainder.
        first, last: the outputs for which it is an element of the image.
    """

    remainder: int
    shift: int
    first: int
    last: int


class _Line(NamedTuple):
    """The elements of an image along a dimension that have a remainder: the first one, and how many."""

    first: int
    elements: int


class Masked(Layout):
    """Such a layout; see `Layout` for what else it has.

    Attributes:
        steps: per window position one of each dimension.
    """

    def __init__(
        self, at: ConvolutionGeometry, kernel: Any, small: Any, lines: list[dict[int, _Line]],
        steps: list[list[_Step]],
    ) -> None:  # fmt: skip
        self.at, self.kernel, self.small = at, kernel, small
        self.grid, self.area, self.tail = small, math.prod(small), 0
        self.length = self.area
        self._lines = lines
        self.steps = list(itertools.product(*steps))
        pitches = [math.prod(small[i + 1 :]) for i in range(len(small))]
        self.places = [
            (tuple(s.remainder for s in each),
             sum(s.shift * p for s, p in zip(each, pitches, strict=True)))
            for each in self.steps
        ]  # fmt: skip
        self.phases = sorted({phase for phase, _ in self.places})

    def window(self, phase: tuple[int, ...], sizes: Any) -> tuple[list[slice], list[slice]]:
        """The part of the grid that an image fills in a phase, and the part of the image."""
        inside, source = [], []
        for remainder, lines, step in zip(phase, self._lines, self.at.stride, strict=True):
            first, count = lines[remainder]
            inside.append(slice(0, count))
            source.append(slice(first, first + step * (count - 1) + 1, step) if count else slice(0))
        return inside, source

    def masks(self, images: int, vectors: int, lanes: int) -> Any:
        """Per window position and vector of elements a bit for each: (positions, vectors, bytes)."""
        boxes = tuple(tuple((s.first, s.last) for s in each) for each in self.steps)
        return _bits(boxes, self.small, images, vectors, lanes)


@functools.lru_cache(64)
def _bits(boxes: Any, small: Any, images: int, vectors: int, lanes: int) -> Any:
    seen = np.zeros((len(boxes), vectors, max(lanes, 8)), bool)
    every = np.zeros((len(boxes), vectors * lanes), bool)
    area = math.prod(small)
    for row, box in zip(every, boxes, strict=True):
        grid = row[: images * area].reshape(images, *small)
        grid[(slice(None), *(slice(first, last) for first, last in box))] = True
    seen[:, :, :lanes] = every.reshape(len(boxes), vectors, lanes)
    return np.packbits(seen, axis=-1, bitorder="little")


def masked(at: ConvolutionGeometry, kernel: Any, small: Any, large: Any) -> Masked | None:
    """The layout of inputs of the spatial shape ``large``; None where lines are longer than outputs'."""
    lines, steps = [], []
    for k, n, size, stride, pad, gap in zip(
        kernel, small, large, at.stride, at.padding, at.dilation, strict=True
    ):
        found = _along(k, n, size, stride, pad, gap)
        if found is None:
            return None
        lines.append(found[0])
        steps.append(found[1])
    return Masked(at, kernel, tuple(small), lines, steps)


def _along(
    kernel: int, small: int, size: int, stride: int, padding: int, gap: int
) -> tuple[dict[int, _Line], list[_Step]] | None:
    """What there is along a dimension."""
    places = [divmod(i * gap, stride) for i in range(kernel)]
    lines, behind = {}, {}
    for remainder in {r for _, r in places}:
        first = (remainder - padding) % stride
        behind[remainder] = (first + padding - remainder) // stride
        furthest = max(q for q, r in places if r == remainder) - behind[remainder]
        count = max(0, -(-(size - first) // stride))
        if count > small and furthest > 0:
            return None
        lines[remainder] = _Line(first, min(count, small))
    steps = []
    for q, r in places:
        shift = q - behind[r]
        first, last = max(0, -shift), min(small, lines[r].elements - shift)
        steps.append(_Step(r, shift, min(first, small), max(last, 0)))
    return lines, steps
