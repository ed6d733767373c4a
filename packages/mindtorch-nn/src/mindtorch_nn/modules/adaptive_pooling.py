"""Pooling to as many windows as are wanted."""

from __future__ import annotations

from typing import Any

from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .module import Module

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
]


class _AdaptiveMaxPoolNd(Module):
    _told = ("output_size",)

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """The largest value of as many windows of sequences as are wanted."""

    def forward(self, input: Tensor) -> Any:
        """(N, C, L) or (C, L)."""
        return F.adaptive_max_pool1d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """The largest value of as many windows of images as are wanted.

    Args:
        output_size: one int, or height and width; None keeps a size.
        return_indices: whether positions of the values are returned too.

    Example:
        >>> layer = torch.nn.AdaptiveMaxPool2d((1, None))
        >>> layer(torch.arange(4.0).reshape(1, 2, 2))
        tensor([[[2., 3.]]])
    """

    def forward(self, input: Tensor) -> Any:
        """(N, C, H, W) or (C, H, W)."""
        return F.adaptive_max_pool2d(input, self.output_size, self.return_indices)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """The largest value of as many windows of volumes as are wanted."""

    def forward(self, input: Tensor) -> Any:
        """(N, C, D, H, W) or (C, D, H, W)."""
        return F.adaptive_max_pool3d(input, self.output_size, self.return_indices)


class _AdaptiveAvgPoolNd(Module):
    _told = ("output_size",)

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """The mean of as many windows of sequences as are wanted.

    Args:
        output_size: how many windows.

    Example:
        >>> torch.nn.AdaptiveAvgPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 0.0]]))
        tensor([[2., 1.]])
    """

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, L) or (C, L)."""
        return F.adaptive_avg_pool1d(input, self.output_size)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """The mean of as many windows of images as are wanted.

    Args:
        output_size: how many windows: one int, or one for each dimension; None keeps a dimension.

    Example:
        >>> layer = torch.nn.AdaptiveAvgPool2d(1)
        >>> layer(torch.arange(16.0).reshape(1, 4, 4)).tolist()
        [[[7.5]]]
    """

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, H, W) or (C, H, W)."""
        return F.adaptive_avg_pool2d(input, self.output_size)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """The mean of as many windows of volumes as are wanted."""

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, D, H, W) or (C, D, H, W)."""
        return F.adaptive_avg_pool3d(input, self.output_size)
