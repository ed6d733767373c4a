"""Dual tensors inside ``vmap``: what holds the samples moves, along what holds their tangents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..gradients.duals import OF_MANY
from ..tensors.tensor import Tensor
from .batched import LEVELS, batched, level_of, plain

__all__ = ["install"]


def _held(call: Callable[..., Any], *tensors: Tensor) -> Any:
    """A function of what holds tensors at all levels; its results hold samples again."""
    number = max(map(level_of, tensors))
    if not number:
        return call(*tensors)
    level = next(each for each in LEVELS.stack if each.number == number)
    found = _held(call, *[plain(t, number, level.size) for t in tensors])
    if isinstance(found, Tensor):
        return batched(found, 0, number)
    return tuple(None if t is None else batched(t, 0, number) for t in found)


def install() -> None:
    """Have `mindtorch_core.autograd.forward_ad` ask here."""
    OF_MANY[:] = [_held]
