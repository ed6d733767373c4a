"""Tensors of random numbers for tests, with PyTorch's arguments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from ..values.devices import device
from ..values.dtypes import BOOL, COMPLEX, FLOATING, dtype, finfo, iinfo
from ..values.memory_formats import memory_format
from ..values.user_warnings import warn_user

__all__ = ["make_tensor"]

_LARGEST = (1 << 63) - 1  # that `randint` takes


def make_tensor(
    *shape: int | Sequence[int],
    dtype: dtype,
    device: device | str,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: memory_format | None = None,
) -> Tensor:
    """A tensor of numbers drawn uniformly from ``[low, high)``.

    Args:
        shape: sizes, each alone or all in one sequence.
        dtype: element type.
        device: where to make it.
        low: the least; by default -9, and 0 for unsigned integers and bool.
        high: what all are below (rounding to a floating dtype may reach it); by default 9 for floating
            and complex dtypes, 10 for integers, 2 for bool. Like ``low`` it is moved into the range
            of the dtype.
        requires_grad: record operations on it.
        noncontiguous: make it a view of every second element; not where there is at most one.
        exclude_zero: put the least positive number in the place of zeros (1 for integers).
        memory_format: how it lies in memory; not together with ``noncontiguous``.

    Raises:
        ValueError: if ``low`` is not below ``high``, one is NaN, or the two options exclude each other.
    """
    if noncontiguous and memory_format is not None:
        raise ValueError(
            "The parameters `noncontiguous` and `memory_format` are mutually exclusive, but got "
            f"noncontiguous=True and memory_format={memory_format!r}"
        )
    first, last = _bounds(dtype, low, high)
    sizes = shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape
    out: Tensor = _drawn(tuple(sizes), dtype, device, first, last)  # type: ignore[arg-type]
    if exclude_zero:
        out[out == 0] = _least(dtype)
    if noncontiguous and out.numel() > 1:
        out = out.repeat_interleave(2, -1)[..., ::2]
    elif memory_format is not None:
        out = out.clone(memory_format=memory_format)
    return out.requires_grad_(requires_grad)


def _bounds(d: dtype, low: float | None, high: float | None) -> tuple[float, float]:
    """Both limits, within what a dtype holds.

    Raises:
        ValueError: if the interval is empty, or a limit is NaN.
    """
    least: float
    most: float
    if d.category == BOOL:
        least, most, usual = 0, 2, (0, 2)
    elif d.category in (FLOATING, COMPLEX):
        least, most, usual = finfo(d).min, finfo(d).max, (-9, 9)
    else:
        least, most = iinfo(d).min, iinfo(d).max + 1
        usual = (max(least, -9), 10)
    first = usual[0] if low is None else low
    last = usual[1] if high is None else high
    if first != first or last != last:
        raise ValueError(f"`low` and `high` cannot be NaN, but got low={first} and high={last}")
    if first == last and d.category in (FLOATING, COMPLEX):
        warn_user(
            f"make_tensor() with low equal to high is deprecated for {d}: torch.full makes such tensors",
            FutureWarning,
        )
        return first, last
    if not first < last:
        raise ValueError(f"`low` must be less than `high`, but got {first} >= {last}")
    first, last = min(max(first, least), most), min(max(last, least), most)
    if d.category not in (FLOATING, COMPLEX):
        first, last = math.ceil(first), min(math.ceil(last), _LARGEST)
    if not first < last:
        raise ValueError(f"no element of dtype {d} is in [{low}, {high})")
    return first, last


def _drawn(shape: tuple[int, ...], d: dtype, on: Any, low: float, high: float) -> Any:
    if d.category == COMPLEX:
        real = d.to_real()
        parts = (_drawn(shape, real, on, low, high) for _ in range(2))
        return fn.complex(*parts)
    if low == high:
        return fn.full(shape, low, device=on, dtype=d)
    if d.category == FLOATING:
        # Not low + unit * (high - low): the width of the interval may overflow.
        unit = fn.rand(shape, device=on, dtype=d)
        return unit * high + (1 - unit) * low
    return fn.randint(low, high, shape, device=on, dtype=d)


def _least(d: dtype) -> Any:
    return finfo(d).tiny if d.category in (FLOATING, COMPLEX) else 1
