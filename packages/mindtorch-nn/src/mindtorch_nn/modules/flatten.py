"""Dimensions made one, and one made several."""

from __future__ import annotations

from typing import Any

from mindtorch_core import Tensor

from .module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Makes a range of dimensions one, by default all but the first.

    Args:
        start_dim: the first dimension of the range.
        end_dim: the last one.

    Raises:
        IndexError: if there is no such dimension.

    Example:
        >>> torch.nn.Flatten()(torch.ones(2, 3, 4)).shape
        torch.Size([2, 12])
    """

    _told = ("start_dim", "end_dim")

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Tensor) -> Tensor:
        """(*, a, ..., b, *) to (*, a * ... * b, *)."""
        return input.flatten(self.start_dim, self.end_dim)


class Unflatten(Module):
    """Makes a dimension several, of given sizes.

    Args:
        dim: the dimension.
        unflattened_size: the sizes, of which one may be -1.

    Raises:
        RuntimeError: if the sizes do not fit.
        TypeError: if they are no ints.

    Example:
        >>> torch.nn.Unflatten(1, (2, 3))(torch.ones(4, 6)).shape
        torch.Size([4, 2, 3])
    """

    _told = ("dim", "unflattened_size")

    def __init__(self, dim: int | str, unflattened_size: Any) -> None:
        super().__init__()
        if not isinstance(dim, int):
            raise TypeError(
                "Unflatten expects an int for dim: there are no named dimensions, got "
                f"{type(dim).__name__}"
            )
        if not isinstance(unflattened_size, tuple | list):
            raise TypeError(
                f"unflattened_size must be a tuple of ints, but found type {type(unflattened_size).__name__}"
            )
        for i, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise TypeError(
                    f"unflattened_size must be tuple of ints, but found element of type "
                    f"{type(size).__name__} at pos {i}"
                )
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Tensor) -> Tensor:
        """(*, a * ... * b, *) to (*, a, ..., b, *)."""
        return input.unflatten(self.dim, self.unflattened_size)
