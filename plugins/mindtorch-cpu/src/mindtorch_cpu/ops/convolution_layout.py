"""Where inputs and outputs of a convolution lie, so that windows' elements are slices of rows."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np

from mindtorch_core.backend import ConvolutionGeometry

from ..memory_pool import POOL

__all__ = ["Layout", "zeros"]

# Elements of a slice: products of this length keep their operands in the cache.
_LENGTH = 1 << 12


def zeros(shape: Any, d: Any) -> Any:
    """An array of zeros, in memory that is used again."""
    made = POOL.empty(shape, d)
    made.fill(0)
    return made


def _pitch(small: int, large: int, kernel: int, stride: int, padding: int, gap: int) -> int:
    """Elements from one row to the next: outputs and what the last window sees."""
    reach = (kernel - 1) * gap
    grid = small + reach // stride
    if stride > 1:
        return grid
    return grid - max(min(padding, grid - padding - large, reach), 0)


class Layout:
    """Where inputs and outputs of a convolution lie.

    Attributes:
        grid: spatial shape of a phase: what inputs and outputs are padded to. With stride 1 the
            padding behind a row, or an image, is also that before the next one.
        places: per window position its phase, and how far its elements lie behind their windows. A phase
            is the remainder of each stride, and how far the elements of lines are moved to the front.
        phases: the phases that some position sees.
        length: elements from the first to the last window of an image.
        area: elements of a phase of an image.
        tail: elements behind the last image that windows see.
    """

    def __init__(
        self, at: ConvolutionGeometry, kernel: Any, small: Any, large: Any, dense: bool = False
    ) -> None:
        """Lay out a convolution from inputs of the spatial shape ``large`` to ``small``.

        With ``dense`` lines are as long as those of outputs: there is a copy for each place in a line.
        """
        n = len(kernel)
        self.at, self.kernel, self.small = at, kernel, small
        steps, gaps = at.stride, at.dilation
        grid = tuple(map(_pitch, small, large, kernel, steps, at.padding, gaps))
        self.grid = (*grid[:-1], small[-1]) if dense else grid
        self.area: int = math.prod(self.grid)
        strides = [math.prod(self.grid[i + 1 :]) for i in range(n)]
        self.places: list[tuple[tuple[int, ...], int]] = []
        for place in itertools.product(*map(range, kernel)):
            parts = [divmod(p * d, s) for p, d, s in zip(place, gaps, steps, strict=True)]
            moved, steps_of = (parts[-1][0], parts[:-1]) if dense else (0, parts)
            shift = sum(q * stride for (q, _), stride in zip(steps_of, strides, strict=False))
            self.places.append(((*(r for _, r in parts), moved), shift))
        self.phases = sorted({phase for phase, _ in self.places})
        self.length: int = sum((o - 1) * s for o, s in zip(small, strides, strict=True)) + 1
        furthest = max(shift for _, shift in self.places)
        self.tail: int = max(furthest + self.length - self.area, 0)

    def images(self, batch: int) -> int:
        """How many images are computed together: about as many each time."""
        most = max(1, min(batch, _LENGTH // self.area))
        return -(-batch // -(-batch // most))

    def window(self, phase: tuple[int, ...], sizes: Any) -> tuple[list[slice], list[slice]]:
        """The part of the grid that an image fills in a phase, and the part of the image."""
        inside, source = [], []
        *remainders, moved = phase
        padding = list(self.at.padding)
        padding[-1] -= moved * self.at.stride[-1]
        for r, s, p, size, grid in zip(
            remainders, self.at.stride, padding, sizes, self.grid, strict=True
        ):
            first = max(-((r - p) // s), 0)  # of the grid elements at r - p + s * i
            start = r - p + s * first
            count = max(min(-(-(size - start) // s), grid - first), 0)
            inside.append(slice(first, first + count))
            source.append(slice(start, start + s * (count - 1) + 1, s) if count else slice(0, 0))
        return inside, source

    def spread(self, x: Any, phase: tuple[int, ...]) -> Any:
        """A phase of images (images, C, *sizes) as (groups, C / groups, images * area)."""
        images, channels = x.shape[:2]
        inside, source = self.window(phase, x.shape[2:])
        full = not self.tail and all(
            s.stop - s.start == g for s, g in zip(inside, self.grid, strict=True)
        )
        size = images * self.area
        out = (POOL.empty if full else zeros)((channels, size + self.tail), x.dtype)
        grid = out[:, :size].reshape(channels, images, *self.grid)
        part = x[(slice(None), slice(None), *source)]
        grid[(slice(None), slice(None), *inside)] = part.swapaxes(0, 1)
        return out.reshape(self.at.groups, channels // self.at.groups, size + self.tail)

    def gather(self, phase: tuple[int, ...], whole: Any, x: Any) -> None:
        """Write a phase (groups, C / groups, images * area) into images."""
        inside, source = self.window(phase, x.shape[2:])
        images, channels = x.shape[:2]
        flat = whole.reshape(channels, images * self.area + self.tail)
        grid = flat[:, : images * self.area].reshape(channels, images, *self.grid)
        part = grid[(slice(None), slice(None), *inside)]
        x[(slice(None), slice(None), *source)] = part.swapaxes(0, 1)

    def spread_small(self, y: Any) -> Any:
        """Outputs (images, O, *small) as (groups, O / groups, images * area), zeros between."""
        images, filters = y.shape[:2]
        inside = tuple(slice(0, s) for s in self.small)
        full = self.small == self.grid
        out = (POOL.empty if full else zeros)((filters, images, *self.grid), y.dtype)
        out[(slice(None), slice(None), *inside)] = y.swapaxes(0, 1)
        return out.reshape(self.at.groups, filters // self.at.groups, images * self.area)

    def gather_small(self, whole: Any, y: Any) -> None:
        """Write (groups, O / groups, images * area) into outputs (images, O, *small)."""
        grid = whole.reshape(y.shape[1], y.shape[0], *self.grid)
        inside = tuple(slice(0, s) for s in self.small)
        np.copyto(y, grid[(slice(None), slice(None), *inside)].swapaxes(0, 1))

    def matrices(self, w: Any) -> Any:
        """A weight (O, C / groups, *kernel) as (position, groups, O / groups, C / groups)."""
        groups = self.at.groups
        flat = w.reshape(groups, w.shape[0] // groups, w.shape[1], len(self.places))
        return np.ascontiguousarray(flat.transpose(3, 0, 1, 2))
