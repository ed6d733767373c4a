"""What containers call that take the dimension of samples away, and put it back, for `torch.vmap`."""

from __future__ import annotations

from typing import Any

from ..tensors.tensor import Tensor

__all__ = ["add_batch_dim", "maybe_remove_batch_dim", "remove_batch_dim"]


def add_batch_dim(tensor: Tensor, in_dim: int, level: int) -> Any:
    """A tensor of one sample that stands for all along a dimension."""
    from ..func.batched import batched

    return batched(tensor, in_dim, level)


def remove_batch_dim(tensor: Any, level: int, batch_size: int, out_dim: int) -> Any:
    """All samples of a tensor, along a dimension."""
    return maybe_remove_batch_dim("", tensor, level, batch_size, out_dim)


def maybe_remove_batch_dim(
    name: str, tensor: Any, level: int, batch_size: int, out_dim: int | None
) -> Any:
    """All samples of a result, along a dimension; the result itself where that is None.

    Args:
        name: of the function that gave it, for errors.
        tensor: the result.
        level: of the call of `torch.vmap`.
        batch_size: how many samples there are.
        out_dim: where they are to lie.

    Raises:
        ValueError: if ``out_dim`` is None for what differs from sample to sample.
    """
    from ..func.batched import LEVELS
    from ..func.vmap import taken_out

    return taken_out(tensor, out_dim, LEVELS.stack[level - 1], name)
