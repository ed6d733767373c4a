"""Kernels are tried on small whole numbers before they are used: sums of convolutions are exact."""

from __future__ import annotations

from typing import Any, Final

import ml_dtypes
import numpy as np

from ..addresses import address, arguments
from .attending import GRADIENT_TENSORS, TENSORS, Attention, AttentionGradient
from .planes import Plane, PlaneGradient
from .sliding import Gradient, Product, Turn

__all__ = ["agrees"]

_DTYPES: Final[dict[str, Any]] = {
    "f4": np.dtype(np.float32),
    "f8": np.dtype(np.float64),
    "bf": np.dtype(np.float32),
}
_INNER: Final = 7
_BEHIND: Final = 3


def agrees(kind: Any, call: Any, lanes: int) -> bool:
    """Whether a kernel computes what NumPy does; ``lanes`` are the elements of a vector."""
    draw = np.random.default_rng(5)

    def numbers(*shape: int) -> Any:
        return draw.integers(-4, 5, shape).astype(_DTYPES[kind.dtype])

    check: Any = {
        Product: _product, Gradient: _gradient, Turn: _turn, Plane: _plane,
        PlaneGradient: _plane_gradient, Attention: _attention, AttentionGradient: _attention_gradient,
    }[type(kind)]  # fmt: skip
    return bool(check(kind, call, lanes, numbers))


def _run(call: Any, given: Any, items: int, scratch: Any = None) -> None:
    call(given, 0, items, None if scratch is None else address(scratch))


def _product(kind: Product, call: Any, lanes: int, numbers: Any) -> bool:
    wide, rows = kind.vectors * lanes, kind.rows + 1
    x, weights, bias = (
        numbers(2, 2 * wide + _INNER),
        numbers(2, rows, _INNER),
        numbers(2, 2 * kind.rows),
    )
    size = x.itemsize
    shifts = np.arange(_INNER)[::-1] * size
    out = np.zeros((2, 2 * kind.rows, 2 * wide), x.dtype)
    seen = np.stack([x[:, s // size : s // size + 2 * wide] for s in shifts], 1)
    shape = _INNER, 1 + 2 * kind.vectors, -(-lanes // 8)
    bits = np.random.default_rng(6).integers(0, 256, shape, np.uint8)
    masks = np.array([address(row) for row in bits], np.int64)
    left = np.unpackbits(bits[:, 1:], axis=-1, bitorder="little")[..., :lanes].reshape(
        seen.shape[1:]
    )
    # Once as it is, and behind the first ones again without what is masked.
    sums = weights @ seen + weights[..., _BEHIND:] @ (seen * left)[:, _BEHIND:]
    wanted = sums + bias[:, :rows, None]
    if kind.dtype == "bf":  # the first of each pair is the number, the second its negative
        wanted += sums
        x, weights = (
            np.stack([t, -t], -1).astype(ml_dtypes.bfloat16).view(np.float32)[..., 0]
            for t in (x, weights)
        )
    places = np.arange(_INNER) * size
    copies, scratch = places * 2 * wide, np.zeros((_INNER, 2 * wide), x.dtype)
    for first, last, masked in ((0, _BEHIND, 0), (_BEHIND, _INNER, 0), (_BEHIND, _INNER, 1)):
        copied, items = ((copies, 2, 1), 2) if first else ((0, 2, 2), 1)
        given = arguments(
            x, weights, shifts[first:], places[first:], bias, out, last - first, out.strides[1], rows,
            _INNER * size, int(first > 0), *copied, masks[first:] if masked else 0, bits.shape[2],
            items, *(a.strides[0] for a in (x, weights, bias, out)),
        )  # fmt: skip
        _run(call, given, 2 * items, scratch)
    return np.array_equal(out[:, :rows], wanted)


def _gradient(kind: Gradient, call: Any, lanes: int, numbers: Any) -> bool:
    wide, lines, width = kind.vectors * lanes, 3, 5
    x, y = numbers(2 * kind.rows + lines * 9 + width), numbers(2, lines * width, wide)
    size = x.itemsize
    shifts, places = np.arange(2 * kind.rows) * size, np.arange(lines) * 9 * size
    out = numbers(2 * kind.rows, 2 * wide)
    at = np.add.outer(np.arange(lines) * 9, np.arange(width)).reshape(-1)
    wanted = out + np.stack([x[i + at] for i in range(2 * kind.rows)]) @ np.concatenate(y, 1)
    given = arguments(
        x, shifts, y, out, places, lines, width, y.strides[0], out.strides[0], 2, 2
    )  # fmt: skip
    _run(call, given, 4)
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
    planes, lines, width, wide = 2, 3, kind.taken * lanes + 5, kind.vectors * lanes
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
    images, channels, lines, width = 3, 2, 3, kind.taken * lanes + 5
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


def _attention(kind: Attention, call: Any, lanes: int, numbers: Any) -> bool:
    t, given, scratch = _heads(kind, TENSORS, lanes, numbers)
    _run(call, given, 4, scratch)
    scores, weights = _weights(t)
    highest = scores.max(3)
    return (
        np.array_equal(t["highest"], highest.swapaxes(1, 2))
        and _close(t["total"].swapaxes(1, 2), np.exp(scores - highest[..., None]).sum(3))
        and _close(t["out"], (weights @ t["v"]))
    )


def _attention_gradient(kind: AttentionGradient, call: Any, lanes: int, numbers: Any) -> bool:
    t, given, scratch = _heads(kind, GRADIENT_TENSORS, lanes, numbers)
    scores, weights = _weights(t)
    np.copyto(t["total"], np.log(np.exp(scores).sum(3)).swapaxes(1, 2))
    np.copyto(t["out"], weights @ t["v"])
    _run(call, given, 4, scratch)
    slopes = weights * (t["g"] @ t["v"].swapaxes(2, 3) - (t["g"] * t["out"]).sum(3)[..., None])
    return (
        _close(t["by_q"], slopes @ t["k"] * _SCALE)
        and _close(t["by_k"], slopes.swapaxes(2, 3) @ t["q"] * _SCALE)
        and _close(t["by_v"], weights.swapaxes(2, 3) @ t["g"])
    )


_SCALE: Final = 0.125


def _heads(kind: Any, names: Any, lanes: int, numbers: Any) -> tuple[dict[str, Any], Any, Any]:
    """Tensors of two heads for each of two elements of a batch, arguments, and scratch memory."""
    rows, columns, width, block = 2 * kind.rows + 1, kind.vectors * lanes + 3, lanes + 3, kind.rows
    lengths = {n: columns if n in ("k", "v", "by_k", "by_v") else rows for n in names}
    tensors = {n: numbers(2, 2, lengths[n], width) for n in names}
    tensors["mask"] = numbers(2, 2, rows, columns)
    for n in {"total", "highest"}.intersection(names):
        tensors[n] = np.zeros((2, rows, 2), np.float32)
    words: list[int] = []
    for n in names:
        steps = tensors[n].strides
        words += address(tensors[n]), *(steps[:3] if n not in ("total", "highest") else
                                        (steps[0], steps[2], steps[1]))  # fmt: skip
    room = 4 * kind.vectors * lanes
    scale = int(np.float32(_SCALE).view(np.int32))
    given = arguments(*words, 2, rows, columns, width, scale, 0, 1, block, 2 * room, 2 * room)
    return tensors, given, np.zeros(64 * room * max(block, lanes), np.float32)


def _weights(t: dict[str, Any]) -> tuple[Any, Any]:
    """Scores of masked attention, and weights."""
    scores = (t["q"] @ t["k"].swapaxes(2, 3)).astype(np.float64) * _SCALE + t["mask"]
    weights = np.exp(scores - scores.max(3, keepdims=True))
    return scores, weights / weights.sum(3, keepdims=True)


def _close(found: Any, wanted: Any) -> bool:
    return bool(np.abs(found - wanted).max() < 1e-4 * max(np.abs(wanted).max(), 1))
