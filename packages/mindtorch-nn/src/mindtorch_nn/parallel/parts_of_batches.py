"""Arguments cut into parts of a batch, and what a module makes of them put together again."""

from __future__ import annotations

from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.utils._own_frames import warn_user

__all__ = ["gathered", "scattered"]


def scattered(value: Any, count: int, dim: int) -> list[Any]:
    """Parts of a value: tensors in it are cut, containers hold parts, anything else is in all of them.

    Args:
        value: a tensor, a container, or an object.
        count: how many parts there are at most; a short batch gives fewer.
        dim: the dimension that is cut.
    """
    if isinstance(value, Tensor):
        return list(value.chunk(count, dim))
    if isinstance(value, dict) and value:
        pairs = zip(*(scattered(each, count, dim) for each in value.values()), strict=False)
        return [type(value)(zip(value, part, strict=True)) for part in pairs]
    if isinstance(value, tuple | list) and value:
        parts = zip(*(scattered(each, count, dim) for each in value), strict=False)
        return [_like(value, part) for part in parts]
    return [value] * count


def gathered(made: list[Any], dim: int) -> Any:
    """One value of the parts that were made of each part of a batch; numbers become a vector."""
    first = made[0]
    if isinstance(first, Tensor):
        if first.dim():
            return torch.cat(made, dim)
        warn_user(
            "Was asked to gather along dimension 0, but all input tensors were scalars; will instead "
            "unsqueeze and return a vector."
        )
        return torch.stack(made)
    if first is None:
        return None
    if isinstance(first, dict):
        kind: Any = type(first)
        return kind((key, gathered([each[key] for each in made], dim)) for key in first)
    return _like(first, [gathered(list(parts), dim) for parts in zip(*made, strict=True)])


def _like(container: Any, values: Any) -> Any:
    """A container of the same class; named tuples take their fields one by one."""
    kind = type(container)
    return kind(*values) if hasattr(container, "_fields") else kind(values)
