"""Convolutions by compiled kernels, on the layout of `convolution`; without a compiler nothing is served.

A kernel multiplies a small matrix with rows that lie shifted in the padded input, so no windows are copied.
Each result is added up by one thread in one order: the bits do not depend on threads.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import ConvolutionGeometry

from ..addresses import address, arguments
from ..arrays import QUIET, row_major
from ..memory_pool import POOL
from ..native.compiler import vector_bytes, vector_registers
from ..native.sharing import Call, in_calls
from ..native.sliding import Gradient, Turn
from ..native.synchronous import Direct, served
from ..workers import in_parts, of_a_part, share_out
from .convolution_layout import Layout
from .masked_layout import Masked, masked
from .sliding_products import DTYPES, Products, Tiles, beginning, even, pitch_of

__all__ = ["backward", "forward", "weights"]

# Bytes of a tile of gradients that all weights' sums go through before the next ones: it stays in a
# first-level cache.
_GIVEN: Final = 1 << 14
_PARTS: Final = 8  # sums of weights that threads make at a time
_JOINED: Final = 256  # elements of lines that are gone through as one
_MOVED: Final = 1 << 16  # elements that a thread moves at least
_WASTED: Final = 20  # lines may have one more element for so many
_COPYING: Final = (
    0.4  # blocks of filters whose products cost as much as the copies of masked vectors
)
_COPIED: Final = 7  # or be copied so often, without those elements


class _Inputs:
    """The phases of inputs (phase, channel, place), padded or to be masked, some images at a time."""

    def __init__(self, plan: Layout, images: int, channels: int, slack: int, d: Any) -> None:
        self._plan = plan
        elements = images * plan.area + plan.tail + slack
        self.pitch = pitch_of(elements, d.itemsize)
        self.data = POOL.empty((len(plan.phases), channels, self.pitch), d)
        if not isinstance(plan, Masked):
            self.data.fill(0)
        self.size = d.itemsize

    def fill(self, x: Any) -> None:
        """Take some images; what lies between them stays zero."""
        plan, channels = self._plan, self.data.shape[1]
        windows = [plan.window(phase, x.shape[2:]) for phase in plan.phases]

        def some(low: int, high: int) -> None:
            for data, (inside, source) in zip(self.data, windows, strict=True):
                elements = data[low:high, : len(x) * plan.area]
                grid = elements.reshape(high - low, len(x), *plan.grid)
                part = x[(slice(None), slice(low, high), *source)]
                grid[(slice(None), slice(None), *inside)] = part.swapaxes(0, 1)

        in_parts(some, channels, max(1, _MOVED // x[:, 0].size))

    def shifts(self, channels: int) -> Any:
        """How many bytes a window's elements lie behind it, channel by channel of a group."""
        plan = self._plan
        phase = self.data.shape[1] * self.pitch
        places = [plan.phases.index(at) * phase + shift for at, shift in plan.places]
        rows = np.arange(channels) * self.pitch
        return (np.add.outer(rows, places) * self.size).astype(np.int64).reshape(-1)


def forward(x: Any, w: Any, bias: Any, at: ConvolutionGeometry, y: Any) -> bool:
    """Outputs from inputs and weights; whether that was served."""
    inner = w[0].size
    matrices = w.reshape(at.groups, -1, inner)
    sizes = (len(y), *y.shape[2:]), x.shape[2:]
    plan = _cheapest(at, w.shape[2:], *sizes, matrices.shape[1], x.dtype)
    return _slid(x, matrices, np.arange(inner), bias, plan, y)


def _layout(at: ConvolutionGeometry, kernel: Any, small: Any, large: Any) -> Layout:
    """A layout, in which lines hold outputs only if they are so short that the rest counts."""
    plan = Layout(at, kernel, small, large)
    if kernel[-1] <= _COPIED and plan.grid[-1] * _WASTED > small[-1] * (_WASTED + 1):
        return Layout(at, kernel, small, large, True)
    return plan


@functools.lru_cache(512)
def _cheapest(
    at: ConvolutionGeometry, kernel: Any, small: Any, large: Any, filters: int, d: Any
) -> Layout:
    """The layout of images with which the least is computed: in vain, or to copy what is masked.

    Args:
        at: the convolution.
        kernel: its sizes.
        small: how many images there are, and their spatial shape behind it.
        large: spatial shape before it.
        filters: of a group.
        d: NumPy dtype.
    """
    images, *sizes = small
    plan = _layout(at, kernel, sizes, large)
    other = masked(at, kernel, sizes, large)
    if other is None:
        return plan
    blocks, costs = 0, []
    for each in (plan, other):
        step = each.images(images)
        tiles = Tiles(DTYPES[d], d.itemsize, filters, (step - 1) * each.area + each.length)
        blocks = tiles.blocks
        costs.append(-(-images // step) * tiles.tiles * tiles.wide)
    return other if costs[1] * (blocks + _COPYING) < costs[0] * blocks else plan


def _slid(x: Any, matrices: Any, places: Any, bias: Any, plan: Layout, y: Any) -> bool:
    """Slide windows over inputs; ``places`` says which element of a matrix's row meets each of theirs."""
    groups, d = plan.at.groups, x.dtype
    filters, channels = matrices.shape[1], x.shape[1] // groups
    step = plan.images(len(x))
    length = (step - 1) * plan.area + plan.length
    tiles = Tiles(DTYPES[d], d.itemsize, filters, length)
    if tiles.kernel is None:
        return False
    inputs = _Inputs(plan, step, channels * groups, tiles.wide, d)
    first = beginning(bias, groups, filters, tiles, d)
    rows = channels * len(plan.phases)
    shifts = inputs.shifts(channels)
    masks = None
    if isinstance(plan, Masked):
        lanes = vector_bytes() // d.itemsize
        masks = plan.masks(step, tiles.tiles * tiles.wide // lanes, lanes)
    products = Products(tiles, matrices, places * d.itemsize, first, shifts, rows, masks)
    width = pitch_of(max(tiles.tiles * tiles.wide, step * plan.area), d.itemsize)
    inside = tuple(slice(0, s) for s in plan.small)
    starts = range(0, len(x), step)

    part_of = of_a_part(len(starts), 1)

    def some(low: int) -> None:
        given = inputs if not low else _Inputs(plan, step, channels * groups, tiles.wide, d)
        out = POOL.empty((groups, first.shape[1], width), d)
        for start in starts[low : low + part_of]:
            part = x[start : start + step]
            given.fill(part)
            products.run(address(given.data), channels * given.pitch * d.itemsize, out)
            found = out[:, :filters, : len(part) * plan.area]
            grid = found.reshape(groups, filters, len(part), *plan.grid)
            made = np.moveaxis(grid[(..., *inside)], 2, 0)
            _move(made, y[start : start + step].reshape(len(part), groups, filters, *plan.small))

    share_out(some, range(0, len(starts), part_of), each=1)
    return True


def _move(made: Any, target: Any) -> None:
    """Write images elsewhere, some in each thread."""
    least = max(1, _MOVED // made[0].size)
    in_parts(lambda low, high: np.copyto(target[low:high], made[low:high]), len(made), least)


def _turned(w: Any, groups: int) -> Any:
    """A weight (O, C / groups, *kernel) with channels first: (groups, C / groups, O / groups * places)."""
    filters, channels = w.shape[0] // groups, w.shape[1]
    whole = np.dtype((np.void, w[0, 0].nbytes))  # a filter's numbers for a channel are moved as one
    moved = w.reshape(groups, filters, -1).view(whole).swapaxes(1, 2).copy()
    return moved.view(w.dtype).reshape(groups, channels, -1)


def backward(y: Any, w: Any, bias: Any, at: ConvolutionGeometry, x: Any) -> bool:
    """Inputs from outputs and weights; whether that was served."""
    kernel, count = w.shape[2:], w[0, 0].size
    matrices = _turned(w, at.groups)
    if any(s > 1 for s in at.stride):
        return _by_phases(y, matrices, bias, Layout(at, kernel, y.shape[2:], x.shape[2:]), x)
    reach = [(k - 1) * d for k, d in zip(kernel, at.dilation, strict=True)]
    padding = tuple(r - p for r, p in zip(reach, at.padding, strict=True))
    at, sizes = at._replace(padding=padding), ((len(x), *x.shape[2:]), y.shape[2:])
    plan = _cheapest(at, kernel, *sizes, matrices.shape[1], x.dtype)
    backwards = np.arange(matrices.shape[2]).reshape(-1, count)[:, ::-1].reshape(-1)
    return _slid(y, matrices, backwards, bias, plan, x)


def _by_phases(y: Any, matrices: Any, bias: Any, plan: Layout, x: Any) -> bool:
    """Inputs from outputs that strides set apart: a phase of inputs after the other."""
    groups, d = plan.at.groups, y.dtype
    filters, channels = y.shape[1] // groups, matrices.shape[1]
    step = plan.images(len(y))
    tiles = Tiles(DTYPES[d], d.itemsize, channels, step * plan.area)
    if tiles.kernel is None:
        return False
    margin = max(shift for _, shift in plan.places)
    pitch = pitch_of(margin + tiles.tiles * tiles.wide, d.itemsize)
    given = POOL.empty((groups * filters, pitch), d)
    given.fill(0)
    first = beginning(bias, groups, channels, tiles, d)
    out = POOL.empty((groups, first.shape[1], pitch_of(tiles.tiles * tiles.wide, d.itemsize)), d)
    inside = tuple(slice(0, s) for s in plan.small)
    if not _covered(plan, x.shape[2:]):
        x[...] = 0 if bias is None else bias.reshape(-1, *(1,) * len(plan.small))
    phases = []
    for phase in plan.phases:
        found = _phase(plan, phase, filters, pitch, margin)
        places, shifts = (a * d.itemsize for a in found)
        products = Products(tiles, matrices, places, first, shifts, filters)
        phases.append((plan.window(phase, x.shape[2:]), products))
    for start in range(0, len(y), step):
        part = y[start : start + step]
        size = len(part) * plan.area
        grid = given[:, margin : margin + size].reshape(len(given), len(part), *plan.grid)
        grid[(slice(None), slice(None), *inside)] = part.swapaxes(0, 1)
        target = x[start : start + step]
        view = target.reshape(len(part), groups, channels, *x.shape[2:])
        for (seen, into), products in phases:
            products.run(address(given), filters * pitch * d.itemsize, out)
            made = out[:, :channels, :size].reshape(groups, channels, len(part), *plan.grid)
            _move(np.moveaxis(made[(..., *seen)], 2, 0), view[(..., *into)])
    return True


def _phase(plan: Layout, phase: Any, filters: int, pitch: int, margin: int) -> tuple[Any, Any]:
    """What gives a phase of inputs: elements of a matrix's row, and where they meet outputs."""
    taps = [i for i, (at, _) in enumerate(plan.places) if at == phase]
    shifts = [margin - plan.places[i][1] for i in taps]
    rows = np.arange(filters)
    return (
        np.add.outer(rows * len(plan.places), taps).reshape(-1),
        np.add.outer(rows * pitch, shifts).reshape(-1),
    )


def _covered(plan: Layout, sizes: tuple[int, ...]) -> bool:
    """Whether every input is in some phase that windows see."""
    parts = [plan.window(at, sizes)[0] for at in plan.phases]
    seen: int = sum(math.prod(s.stop - s.start for s in part) for part in parts)
    return seen == math.prod(sizes)


def weights(x: Any, y: Any, plan: Layout) -> Any:
    """Weights (O, C / groups, *kernel) from inputs and outputs, or None where that is not served."""
    plan = _layout(plan.at, plan.kernel, plan.small, x.shape[2:])
    groups, d = plan.at.groups, x.dtype
    filters, channels = y.shape[1] // groups, x.shape[1] // groups
    size, lanes = d.itemsize, vector_bytes() // d.itemsize
    tiles, vectors = even(-(-filters // lanes), 4 if vector_registers() == 32 else 2)
    inner = channels * len(plan.places)
    blocks, rows = even(inner, 8 if vectors < 4 and vector_registers() == 32 else 6)
    kernel, turn = served(Gradient(DTYPES[d], rows, vectors)), served(Turn(DTYPES[d]))
    if kernel is None or turn is None:
        return None
    step, wide = plan.images(len(x)), vectors * lanes
    shifts = np.zeros(blocks * rows, np.int64)
    lines = _lines(plan, step, size)
    starts = range(0, len(x), step)
    shape = groups, blocks * rows, tiles * wide
    parts = _sums(len(starts), math.prod(shape), x.size + y.size)
    sums = np.zeros((parts, *shape), d)

    def some(number: int) -> None:
        inputs = _Inputs(plan, step, channels * groups, 0, d)
        seen = shifts.copy()
        seen[:inner] = inputs.shifts(channels)
        given = POOL.empty((groups, tiles, step * math.prod(plan.small), wide), d)
        job = _Gradients(kernel, plan, seen, lines, blocks, blocks * tiles)
        for start in starts[number::parts]:
            part = slice(start, start + step)
            inputs.fill(x[part])
            _lanes(y[part], given, turn)
            count = len(y[part]) * len(lines) // step
            job.run(
                address(inputs.data), channels * inputs.pitch * size, given, sums[number], count
            )

    share_out(some, range(parts))
    out = sums[0]
    for other in sums[1:]:
        QUIET.run(np.add, out, other, out)
    made = np.empty((groups, filters, inner), d)
    for found, target in zip(out, made, strict=True):
        _turn(found[:inner, :filters], target, turn)
    return made.reshape(groups * filters, channels, *plan.kernel)


def _sums(batches: int, elements: int, read: int) -> int:
    """How many sums there are, each of some batches, that become one: it depends on nothing but sizes."""
    return max(1, min(batches, _PARTS, read // (4 * elements)))


def _lanes(y: Any, given: Any, kernel: Direct) -> None:
    """Write images with a tile of channels innermost: (groups, tiles, places, channels of a tile)."""
    groups, tiles, _, wide = given.shape
    flat = row_major(y).reshape(len(y), groups, y.shape[1] // groups, -1)
    count = flat.shape[3]
    for image, group, tile in itertools.product(*map(range, (len(y), groups, tiles))):
        seen = flat[image, group, tile * wide : (tile + 1) * wide]
        _turn(seen, given[group, tile, image * count : (image + 1) * count], kernel)


def _turn(a: Any, out: Any, kernel: Direct) -> None:
    """Write a matrix, turned, into another."""
    rows, columns = a.shape
    given = arguments(a, out, rows, columns, a.strides[0], out.strides[0])
    kernel.call(given, 0, -(-rows // (vector_bytes() // a.itemsize)), None)


def _joined(plan: Layout) -> int:
    """How many of the last dimensions make a line: its elements follow each other in a phase too."""
    joined = 1
    while (
        joined < len(plan.small)
        and plan.grid[-joined:] == plan.small[-joined:]
        and math.prod(plan.small[-joined - 1 :]) <= _JOINED
    ):
        joined += 1
    return joined


def _lines(plan: Layout, images: int, size: int) -> Any:
    """Where the lines of all images begin in a phase, in bytes."""
    places = np.arange(images) * plan.area
    for i, count in enumerate(plan.small[: -_joined(plan)]):
        places = np.add.outer(places, np.arange(count) * math.prod(plan.grid[i + 1 :]))
    return (places.reshape(-1) * size).astype(np.int64)


class _Gradients:
    """Sums over the lines of images, for all weights."""

    def __init__(
        self, kernel: Direct, plan: Layout, shifts: Any, lines: Any, blocks: int, items: int
    ) -> None:
        self._kernel, self._shifts, self._lines, self._blocks = kernel, shifts, lines, blocks
        self._width = math.prod(plan.small[-_joined(plan) :])
        step = -(-items // 8) if plan.at.groups < 8 else items  # enough for some threads
        parts = [(i, min(i + step, items)) for i in range(0, items, step)]
        self._items = [(g, low, high) for g in range(plan.at.groups) for low, high in parts]

    def run(self, source: int, between: int, given: Any, out: Any, count: int) -> None:
        """Add what ``count`` lines give."""
        row, apart = out.strides[1], given.strides[1]
        step = max(1, _GIVEN // (given.strides[2] * self._width))
        y, target, shifts, lines = map(address, (given, out, self._shifts, self._lines))

        def call_of(group: int, low: int, high: int) -> Call:
            told = arguments(
                source + group * between, shifts, y + group * given.strides[0],
                target + group * out.strides[0], lines, count, self._width, apart, row, self._blocks, step,
            )  # fmt: skip
            return told, low, high

        in_calls(self._kernel, [[call_of(*item)] for item in self._items])
