"""Softmax and its kin: functions along a dimension."""

from __future__ import annotations

from typing import Any

from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .module import Module

__all__ = [
    "LogSoftmax",
    "Softmax",
    "Softmax2d",
    "Softmin",
]


class _AlongDim(Module):
    """A function along a dimension."""

    _told = ("dim",)

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("dim", None)


class Softmin(_AlongDim):
    """`Softmax` of ``-x``."""

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape; sums along the dimension are 1."""
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax(_AlongDim):
    """``exp(x)`` divided by its sum along a dimension.

    Args:
        dim: the dimension along which results add up to 1; without it one is chosen, with a warning.

    Example:
        >>> torch.nn.Softmax(dim=1)(torch.zeros(1, 2))
        tensor([[0.5000, 0.5000]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape; sums along the dimension are 1."""
        return F.softmax(input, self.dim, _stacklevel=5)


class LogSoftmax(_AlongDim):
    """The logarithm of `Softmax`.

    Args:
        dim: the dimension along which it goes; without it one is chosen, with a warning.

    Example:
        >>> torch.nn.LogSoftmax(dim=1)(torch.zeros(1, 2))
        tensor([[-0.6931, -0.6931]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape."""
        return F.log_softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """`Softmax` over the channels of images."""

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, H, W) or (C, H, W) to the same shape."""
        if input.dim() not in (3, 4):
            raise ValueError(
                f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead"
            )
        return F.softmax(input, -3, _stacklevel=5)
