"""Kernels for convolutions are tried on small whole numbers before they are used: their sums are exact."""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np

from .launch import address
from .planes import Plane, PlaneGradient
from .sliding import Gradient, Product, Turn

__all__ = ["agrees", "arguments"]

_DTYPES: Final[dict[str, Any]] = {
    "f4": np.dtype(np.float32),
    "f8": np.dtype(np.float64),
    "bf": np.dtype(np.float32),
}
_INNER: Final = 7


def arguments(*values: Any) -> Any:
    """What a kernel is given: arrays by their addresses, and numbers."""
    return np.array([v if isinstance(v, int) else address(v) for v in values], np.int64)


def agrees(kind: Any, call: Any, lanes: int) -> bool:
    """Whether a kernel computes what NumPy does; ``lanes`` are the elements of a vector."""
    draw = np.random.default_rng(5)

    def numbers(*shape: int) -> Any:
        return draw.integers(-4, 5, shape).astype(_DTYPES[kind.dtype])

    check: Any = {
        Product: _product, Gradient: _gradient, Turn: _turn, Plane: _plane,
        PlaneGradient: _plane_gradient,
    }[type(kind)]  # fmt: skip
    return bool(check(kind, call, lanes, numbers))


def _run(call: Any, given: Any, items: int, scratch: Any = None) -> None:
    call(address(given), 0, items, None if scratch is None else address(scratch))


def _product(kind: Product, call: Any, lanes: int, numbers: Any) -> bool:
    wide, rows = kind.vectors * lanes, kind.rows + 1
    x, weights, bias = numbers(2 * wide + _INNER), numbers(rows, _INNER), numbers(2 * kind.rows)
    size = x.itemsize
    shifts = np.arange(_INNER)[::-1] * size
    out = np.zeros((2 * kind.rows, 2 * wide), x.dtype)
    seen = np.stack([x[s // size : s // size + 2 * wide] for s in shifts])
    wanted = weights @ seen + bias[:rows, None]
    if kind.dtype == "bf":  # the first of each pair is the number, the second its negative
        wanted = 2 * (weights @ seen) + bias[:rows, None]
        x, weights = (
            np.stack([t, -t], -1).astype(ml_dtypes.bfloat16).view(np.float32)[..., 0]
            for t in (x, weights)
        )
    places = np.arange(_INNER) * size
    for first, last in ((0, 3), (3, _INNER)):  # the second goes on from the first
        given = arguments(
            x, weights, shifts[first:], places[first:], bias, out, last - first, 2, out.strides[0], rows,
            _INNER * size, int(first > 0),
        )  # fmt: skip
        _run(call, given, 4)
    return np.array_equal(out[:rows], wanted)


def _gradient(kind: Gradient, call: Any, lanes: int, numbers: Any) -> bool:
    wide, lines, width = kind.vectors * lanes, 3, 5
    x, y = numbers(2 * kind.rows + lines * 9 + width), numbers(lines * width, wide)
    size = x.itemsize
    shifts, places = np.arange(2 * kind.rows) * size, np.arange(lines) * 9 * size
    out = numbers(2 * kind.rows, wide)
    at = np.add.outer(np.arange(lines) * 9, np.arange(width)).reshape(-1)
    wanted = out + np.stack([x[i + at] for i in range(2 * kind.rows)]) @ y
    given = arguments(
        x, shifts, y, out, places, lines, width, y.strides[0], out.strides[0], 1, 2
    )  # fmt: skip
    _run(call, given, 2)
    return np.array_equal(out, wanted)


def _turn(kind: Turn, call: Any, lanes: int, numbers: Any) -> bool:
    a = numbers(lanes + 3, 2 * lanes + 5)
    out = np.zeros(a.shape[::-1], a.dtype)
    _run(call, arguments(a, out, *a.shape, a.strides[0], out.strides[0]), 2)
    return np.array_equal(out, a.T)


def _laid(kind: Any, lines: int, width: int, apart: int) -> tuple[Any, Any, Any]:
    """A plane's head of arguments, where its elements go, and its table of phases."""
    taken, size = kind.taken, _DTYPES[kind.dtype].itemsize
    long = width * apart + kind.taps + 64
    counts = [-(-(width - r) // taken) for r in range(taken)]
    phases = np.array([(r * size, r * long * size, n) for r, n in enumerate(counts)], np.int64)
    pitch = long * taken
    head = lines * width * size, width * size, pitch * size, lines, address(phases), taken
    places = np.add.outer(
        np.arange(lines) * pitch,
        [(j % taken) * long + j // taken * apart for j in range(width)],
    )
    return head, places, phases


def _plane(kind: Plane, call: Any, lanes: int, numbers: Any) -> bool:
    planes, lines, width, wide = 2, 3, lanes + 5, kind.vectors * lanes
    tiles = -(-width // wide)
    x, weights, bias = numbers(planes, lines, width), numbers(planes, kind.taps), numbers(planes)
    head, places, phases = _laid(kind, lines, width, kind.apart)
    size, pitch = x.itemsize, int(places[1, 0])
    spare = lines * pitch + tiles * wide + kind.taps
    scratch, out = np.zeros(spare + tiles * wide, x.dtype), np.zeros_like(x)
    shifts = np.arange(kind.taps) * size
    given = arguments(
        *head, x, weights, shifts, bias, out, planes, lines, pitch * size, width * size, tiles,
        spare * size,
    )  # fmt: skip
    _run(call, given, planes, scratch)
    for plane in range(planes):
        memory = np.zeros(spare + tiles * wide, x.dtype)
        memory[places] = x[plane]
        at = np.add.outer(np.arange(lines) * pitch, np.arange(width))
        wanted = sum(w * memory[at + k] for k, w in enumerate(weights[plane])) + bias[plane]
        if not np.array_equal(out[plane], wanted):
            return False
    return phases is not None


def _plane_gradient(kind: PlaneGradient, call: Any, lanes: int, numbers: Any) -> bool:
    images, channels, lines, width = 3, 2, 3, lanes + 5
    x, y = numbers(images, channels, lines, width), numbers(images, channels, lines, width)
    head, places, phases = _laid(kind, lines, width, 1)
    size, pitch = x.itemsize, int(places[1, 0])
    wide = -(-width // lanes) * lanes
    spare = lines * pitch + wide + kind.taps
    scratch, out = np.zeros(spare + wide, x.dtype), np.zeros((channels, kind.taps), x.dtype)
    given = arguments(
        *head, x, np.arange(kind.taps) * size, y, out, channels, images, lines, pitch * size, width,
        spare * size, 2,
    )  # fmt: skip
    _run(call, given, channels, scratch)
    memory = np.zeros((images, channels, spare + wide), x.dtype)
    memory[:, :, places] = x
    at = np.add.outer(np.arange(lines) * pitch, np.arange(width))
    wanted = [(memory[:, :, at + k] * y).sum((0, 2, 3)) for k in range(kind.taps)]
    return phases is not None and np.array_equal(out, np.stack(wanted, 1))
