"""Resizing along one dimension: which elements each new one is made of, and with what weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

from ...dispatch.functions import fn
from ...values.dtypes import float32, int64

__all__ = ["far_weight", "gathered", "near_weight", "spread_back", "taps"]

Taps = list[tuple[Any, Any]]


# Modes that leave a dimension as it is if its size stays, whatever factor was given.
_UNSCALED: Final = frozenset({"linear", "linear-aa", "cubic-aa", "lanczos-aa"})


def _step(size: int, count: int, align_corners: bool, scale: float | None) -> float:
    """Distance of neighbouring new elements, in old ones."""
    if align_corners:
        return (size - 1) / (count - 1) if count > 1 else 0.0
    return 1 / scale if scale is not None and scale > 0 else size / count


def taps(
    mode: str, size: int, count: int, align_corners: bool, scale: float | None, like: Any
) -> Taps:
    """Pairs of positions and weights, each of ``count`` numbers; a weight None is 1.

    Args:
        mode: nearest, nearest-exact, linear, cubic, or with antialiasing linear-aa, cubic-aa and
            lanczos-aa.
        size: number of old elements.
        count: number of new ones.
        align_corners: whether the first and last elements' centres coincide, instead of the borders.
        scale: factor that the caller gave, if any; it decides rather than the sizes do.
        like: a tensor of the dtype to compute in, on the device.
    """
    if size == count and mode in _UNSCALED:
        scale = None
    step = _step(size, count, align_corners, scale)
    if mode.startswith("nearest"):
        # PyTorch computes these positions in float32, whatever the dtype.
        at = fn.arange(0, count, 1, dtype=float32, device=like._device)
        at = (at + 0.5) * step if mode == "nearest-exact" else at * step
        return [(at.floor().to(int64).clamp(max=size - 1), None)]
    at = fn.arange(0, count, 1, dtype=like._dtype, device=like._device)
    if mode.endswith("-aa"):
        return _antialiased(mode, size, step, (at + 0.5) * step)
    source = at * step if align_corners else (at + 0.5) * step - 0.5
    return _linear(source, size) if mode == "linear" else _cubic(source, size)


def _linear(source: Any, size: int) -> Taps:
    source = source.clamp(min=0)
    first = source.to(int64).clamp(max=size - 1)
    share = (source - first).clamp(0, 1)
    return [(first, 1 - share), ((first + 1).clamp(max=size - 1), share)]


def _cubic(source: Any, size: int, a: float = -0.75) -> Taps:
    """Cubic convolution (Keys, 1981)."""
    whole = source.floor()
    t = source - whole
    first = whole.to(int64)
    u = 1 - t
    weights = (far_weight(t + 1, a), near_weight(t, a), near_weight(u, a), far_weight(u + 1, a))
    return [((first + i - 1).clamp(0, size - 1), w) for i, w in enumerate(weights)]


def near_weight(x: Any, a: float) -> Any:
    """Of elements up to one away, by cubic convolution (Keys, 1981)."""
    return ((a + 2) * x - (a + 3)) * x * x + 1


def far_weight(x: Any, a: float) -> Any:
    """Of elements one to two away."""
    return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a


def _triangle(x: Any) -> Any:
    return (1 - x.abs()).clamp(min=0)


def _bump(x: Any) -> Any:
    x = x.abs()
    return fn.where(x < 1, near_weight(x, -0.5), fn.where(x < 2, far_weight(x, -0.5), 0.0))


def _sinc(x: Any) -> Any:
    x = x * math.pi
    return fn.where(x == 0, 1.0, x.sin() / x)


def _lanczos(x: Any) -> Any:
    return fn.where(x.abs() < 3, _sinc(x) * _sinc(x / 3), 0.0)


# Half the width of each filter, and its values.
_FILTERS: Final[dict[str, tuple[int, Callable[[Any], Any]]]] = {
    "linear-aa": (1, _triangle),
    "cubic-aa": (2, _bump),
    "lanczos-aa": (3, _lanczos),
}


def _antialiased(mode: str, size: int, step: float, centre: Any) -> Taps:
    """A filter as wide as the old elements that become one new one."""
    half, kernel = _FILTERS[mode]
    support = half * max(step, 1.0)
    start = (centre - support + 0.5).to(int64).clamp(min=0)
    stop = (centre + support + 0.5).to(int64).clamp(max=size)
    found = []
    total: Any = 0
    for k in range(math.ceil(support) * 2 + 1):
        at = start + k
        weight = kernel((at - centre + 0.5) * (1 / max(step, 1.0)))
        weight = fn.where(at < stop, weight, 0.0)
        total = total + weight
        found.append((at.minimum(stop - 1).clamp(min=0), weight))
    total = fn.where(total == 0, 1.0, total)
    return [(at, weight / total) for at, weight in found]


def gathered(x: Any, dim: int, chosen: Taps) -> Any:
    """The resized tensor."""
    column = (-1, *(1,) * (len(x._shape) - 1 - dim))
    out: Any = None
    for at, weight in chosen:
        part = x.index_select(dim, at)
        if weight is not None:
            part = part * weight.view(column)
        out = part if out is None else out + part
    return out


def spread_back(g: Any, dim: int, size: int, chosen: Taps) -> Any:
    """Transpose of `gathered`: the gradient of what was resized."""
    column = (-1, *(1,) * (len(g._shape) - 1 - dim))
    out: Any = g.new_zeros((*g._shape[:dim], size, *g._shape[dim + 1 :]))
    for at, weight in chosen:
        part = g if weight is None else g * weight.view(column)
        out = out.index_add(dim, at, part)
    return out
