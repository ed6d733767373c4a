"""Convolutions of each channel with a filter of its own, by compiled kernels that go plane by plane."""

from __future__ import annotations

import itertools
import math
from typing import Any, Final, NamedTuple

import numpy as np

from mindtorch_core.backend import get_num_threads

from ..addresses import address, arguments
from ..arrays import row_major
from ..native.compiler import vector_bytes, vector_registers
from ..native.planes import Plane, PlaneGradient
from ..native.sharing import in_strips
from ..native.synchronous import served
from .sliding_products import DTYPES, even

__all__ = ["backward", "fits", "forward", "weights"]

_MOST_TAPS: Final = 64
_CALLS: Final = 4  # of a thread: one that comes late leaves its share to others
_ADDED: Final = 1 << 12  # numbers of a plane and others that a vector adds up


class _Geometry(NamedTuple):
    """Numbers of a convolution, of lines and within them; inputs of one dimension are one line."""

    stride: tuple[int, int]
    padding: tuple[int, int]
    dilation: tuple[int, int]
    kernel: tuple[int, int]
    small: tuple[int, int]
    large: tuple[int, int]


def _two(numbers: Any, missing: int) -> tuple[int, int]:
    return (missing, *numbers) if len(numbers) == 1 else tuple(numbers)


def _geometry(at: Any, kernel: Any, small: Any, large: Any) -> _Geometry:
    return _Geometry(
        _two(at.stride, 1), _two(at.padding, 0), _two(at.dilation, 1), _two(kernel, 1),
        _two(small, 1), _two(large, 1),
    )  # fmt: skip


def fits(w: Any, at: Any) -> bool:
    """Whether a convolution has a filter per channel, of at most two dimensions."""
    alone: bool = w.ndim <= 4 and w.shape[0] == at.groups and w.shape[1] == 1
    return alone and math.prod(w.shape[2:]) <= _MOST_TAPS


class _Scratch:
    """Where a plane's elements go: the arguments that kernels begin with.

    Attributes:
        head: those arguments.
        elements: how many the memory has.
        spare: where a line fits behind everything.
        line: elements of a line.
    """

    def __init__(self, lines: int, line: int, wide: int) -> None:
        self.line, self.spare = line, (lines + 1) * line + wide
        self.elements = self.spare + wide

    def lay(self, sizes: Any, size: int, step: int, phases: list[tuple[int, int, int]]) -> None:
        """Say which elements are copied.

        Args:
            sizes: lines of a plane that are copied, and elements of the plane and of a line.
            size: bytes of an element.
            step: lines of scratch from one to the next.
            phases: of each its first element, where that goes, and how many there are.
        """
        count, plane, line = sizes
        self._phases = np.array([(a * size, b * size, n) for a, b, n in phases], np.int64)
        self.head = (plane * size, line * size, self.line * step * size, count, self._phases,
                     len(phases))  # fmt: skip


def _run(kernel: Any, scratch: _Scratch, d: Any, rest: tuple[Any, ...], items: int) -> None:
    """Compute all items, some at a time in each thread."""
    given = arguments(*scratch.head, *rest)
    step = max(1, -(-items // (_CALLS * get_num_threads())))
    words = np.frombuffer(given, np.int64)
    in_strips(kernel, address(words), items, step, scratch.elements * d.itemsize, zeroed=True)


def _slid(g: _Geometry, size: int, wide: int, plane: int) -> tuple[_Scratch, Any]:
    """Inputs with padding, each remainder of the stride in a row of its own; shifts of the windows."""
    (rows, columns), (down, along) = g.kernel, g.dilation
    step = g.stride[1]
    part = wide + (columns - 1) * along // step + 1
    lines = (g.small[0] - 1) * g.stride[0] + (rows - 1) * down + 1
    scratch = _Scratch(lines, part * step, wide)
    top, left = g.padding
    phases = []
    for r in range(step):
        first = (r - left) % step
        place = (first + left) // step
        count = min(-(-(g.large[1] - first) // step), part - place)
        if count > 0:
            phases.append((first, r * part + place + top * scratch.line, count))
    copied = max(min(g.large[0], lines - top), 0)
    scratch.lay((copied, plane, g.large[1]), size, 1, phases)
    shifts = [
        (i * down * scratch.line + (j * along % step) * part + j * along // step) * size
        for i, j in itertools.product(range(rows), range(columns))
    ]
    return scratch, np.array(shifts, np.int64)


def _set_apart(g: _Geometry, size: int, wide: int, plane: int) -> tuple[_Scratch, Any]:
    """Outputs with zeros between as the stride says, and around; shifts of the windows backward."""
    (rows, columns), (down, along) = g.kernel, g.dilation
    reach = (rows - 1) * down, (columns - 1) * along
    above, left = (max(r - p, 0) for r, p in zip(reach, g.padding, strict=True))
    line = wide + g.padding[1] + left
    lines = g.large[0] + g.padding[0] + above
    scratch = _Scratch(lines, line, wide)
    count = min(g.small[1], -(-(line - left) // g.stride[1]))
    copied = min(g.small[0], -(-(lines - above) // g.stride[0]))
    phases = [(0, above * line + left, count)]
    scratch.lay((copied, plane, g.small[1]), size, g.stride[0], phases)
    shifts = [
        ((g.padding[0] + above - i * down) * line + g.padding[1] + left - j * along) * size
        for i, j in itertools.product(range(rows), range(columns))
    ]
    return scratch, np.array(shifts, np.int64)


def _computed(x: Any, w: Any, bias: Any, g: _Geometry, out: Any, back: bool) -> bool:
    """Slide windows over inputs, or backward over outputs."""
    d, channels = x.dtype, w.shape[0]
    lines, width = g.large if back else g.small
    size, lanes = d.itemsize, vector_bytes() // d.itemsize
    tiles, vectors = even(-(-width // lanes), 4 if vector_registers() == 32 else 2)
    wide = tiles * vectors * lanes
    taken, apart = (1, g.stride[1]) if back else (g.stride[1], 1)
    kernel = served(Plane(DTYPES[d], w[0].size, vectors, taken, apart))
    if kernel is None:
        return False
    x = row_major(x)
    scratch, shifts = (_set_apart if back else _slid)(g, size, wide, x[0, 0].size)
    first = np.zeros(channels, d) if bias is None else np.ascontiguousarray(bias)
    rest = (
        x, w, shifts, first, out, channels, lines,
        scratch.line * (1 if back else g.stride[0]) * size, width * size, tiles, scratch.spare * size,
    )  # fmt: skip
    _run(kernel, scratch, d, rest, len(x) * channels)
    return True


def forward(x: Any, w: Any, bias: Any, at: Any, y: Any) -> bool:
    """Outputs from inputs and weights; whether that was served."""
    return _computed(x, w, bias, _geometry(at, w.shape[2:], y.shape[2:], x.shape[2:]), y, False)


def backward(y: Any, w: Any, bias: Any, at: Any, x: Any) -> bool:
    """Inputs from outputs and weights; whether that was served."""
    return _computed(y, w, bias, _geometry(at, w.shape[2:], y.shape[2:], x.shape[2:]), x, True)


def weights(x: Any, y: Any, at: Any, shape: Any) -> Any:
    """Weights (C, 1, *kernel) from inputs and outputs, or None where that is not served."""
    d, channels = x.dtype, x.shape[1]
    g = _geometry(at, shape, y.shape[2:], x.shape[2:])
    taps = g.kernel[0] * g.kernel[1]
    kernel = served(PlaneGradient(DTYPES[d], taps, g.stride[1])) if taps <= _MOST_TAPS else None
    if kernel is None:
        return None
    size, lanes = d.itemsize, vector_bytes() // d.itemsize
    x, y = row_major(x), row_major(y)
    scratch, shifts = _slid(g, size, -(-g.small[1] // lanes) * lanes, x[0, 0].size)
    out = np.empty((channels, 1, *shape), d)
    together = max(1, _ADDED // y[0, 0].size)
    rest = (
        x, shifts, y, out, channels, len(x), g.small[0], scratch.line * g.stride[0] * size, g.small[1],
        scratch.spare * size, together,
    )  # fmt: skip
    _run(kernel, scratch, d, rest, channels)
    return out
