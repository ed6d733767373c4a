"""Pooling of few elements by compiled loops, window by window: of NumPy's it takes a dozen calls and more."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from mindtorch_core.backend import Averaging, Shape, divisors

from ..compiled import walk
from ..workers import in_parts

__all__ = ["largest_in_parts", "largest_of_few", "means_of_few"]

# Elements of all windows up to which it pays: NumPy compares in more passes than it adds up in.
_FEW_COMPARED: Final = 1 << 16
_FEW_ADDED: Final = 1 << 13
_PLACE: Final = np.dtype(np.int64)


def largest_of_few(
    a: Any, kernel: Shape, steps: Shape, pads: Shape, gaps: Shape, count: Shape
) -> tuple[Any, Any] | None:
    """The maxima of windows and where they are in their planes; None where NumPy has to find them.

    Args:
        a: the planes, whose dimensions are the last ones.
        kernel: elements of a window, by dimension.
        steps: from one window to the next.
        pads: elements of the padding.
        gaps: from one element of a window to the next.
        count: how many windows there are.
    """
    n = len(count)
    shape = (*a.shape[: a.ndim - n], *count)
    elements = math.prod(shape) * math.prod(kernel)
    loop = walk("largest_of_windows", a.dtype, elements, 1) if elements < _FEW_COMPARED else None
    if loop is None:
        return None
    table = _table_of_places(a.shape[a.ndim - n :], kernel, steps, pads, gaps, count)
    out, places = np.empty(shape, a.dtype), np.empty(shape, _PLACE)
    loop(out, places, np.ascontiguousarray(a), table, math.prod(shape[: a.ndim - n]))
    return out, places


def largest_in_parts(a: Any, parts: Sequence[Any], sizes: Shape) -> tuple[Any, Any] | None:
    """The same of windows that differ in size, however many there are.

    Args:
        a: the planes, whose dimensions are the last ones.
        parts: by dimension for each window where it begins, how many elements it has, and a number.
        sizes: of a plane.
    """
    loop = walk("largest_of_windows", a.dtype, a.size, 1) if a.size else None
    if loop is None:
        return None
    count = tuple(len(own) for own in parts)
    table = _table(count, sizes, (1,) * len(count), (1,), np.concatenate(parts))
    planes = np.ascontiguousarray(a).reshape(-1, math.prod(sizes))
    out, places = (np.empty((len(planes), *count), d) for d in (a.dtype, _PLACE))

    def work(low: int, high: int) -> None:
        loop(out[low:high], places[low:high], planes[low:high], table, high - low)

    in_parts(work, len(planes), max(1, _FEW_ADDED // planes.shape[1]))
    shape = (*a.shape[: a.ndim - len(count)], *count)
    return out.reshape(shape), places.reshape(shape)


def means_of_few(a: Any, at: Averaging) -> Any:
    """The means of windows; None where NumPy has to compute them.

    Args:
        a: the planes, whose dimensions are the last ones.
        at: the options.
    """
    n = len(at.count)
    shape = (*a.shape[: a.ndim - n], *at.count)
    elements = math.prod(shape) * math.prod(at.kernel)
    loop = walk("means_of_windows", a.dtype, elements, 1) if elements < _FEW_ADDED else None
    if loop is None:
        return None
    by: Any = divisors(at)
    divided = tuple(map(tuple, by)) if by.__class__ is list else by
    table = _table_of_sums(at.sizes, at.kernel, at.stride, at.padding, at.count, divided)
    out = np.empty(shape, a.dtype)
    loop(out, np.ascontiguousarray(a), table, math.prod(shape[: a.ndim - n]))
    return out


@functools.lru_cache(256)
def _table_of_places(
    sizes: Shape, kernel: Shape, steps: Shape, pads: Shape, gaps: Shape, count: Shape
) -> Any:
    """What a loop has to know of windows, see `native.windows`."""
    rows = []
    for size, k, step, pad, gap, windows in zip(
        sizes, kernel, steps, pads, gaps, count, strict=True
    ):
        for start in range(-pad, windows * step - pad, step):
            # In a window that sees only the lowest number that one is the maximum, not the padding.
            first = start if start >= 0 else min(start % gap, size - 1)
            rows.append((first, max(min(start + gap * (k - 1) + 1, size) - first, 0), 1))
    return _table(count, sizes, gaps, kernel, rows)


@functools.lru_cache(256)
def _table_of_sums(
    sizes: Shape, kernel: Shape, steps: Shape, pads: Shape, count: Shape, by: Any
) -> Any:
    rows = []
    for i, (size, k, step, pad, windows) in enumerate(
        zip(sizes, kernel, steps, pads, count, strict=True)
    ):
        divided = [by if i == 0 else 1] * windows if isinstance(by, int) else by[i]
        for w, factor in enumerate(divided):
            start = w * step - pad
            first = max(start, 0)
            rows.append((first, max(min(start + k, size) - first, 0), factor))
    return _table(count, sizes, (1,) * len(count), kernel, rows)


def _table(count: Shape, sizes: Shape, gaps: Shape, kernel: Shape, rows: Any) -> Any:
    missing = (1,) * (3 - len(count))
    head = [*missing, *count, *missing, *sizes, *missing, *gaps, math.prod(kernel)]
    return np.array([*head, *[0, 1, 1] * len(missing), *np.ravel(rows)], np.int64)
