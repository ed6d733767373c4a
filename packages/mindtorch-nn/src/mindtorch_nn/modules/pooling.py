"""Pooling."""

from __future__ import annotations

from typing import Any

from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .adaptive_pooling import (
    AdaptiveAvgPool1d,
    AdaptiveAvgPool2d,
    AdaptiveAvgPool3d,
    AdaptiveMaxPool1d,
    AdaptiveMaxPool2d,
    AdaptiveMaxPool3d,
)
from .adaptive_pooling import _AdaptiveAvgPoolNd as _AdaptiveAvgPoolNd
from .adaptive_pooling import _AdaptiveMaxPoolNd as _AdaptiveMaxPoolNd
from .module import Module
from .utils import _ntuple

__all__ = [
    "AdaptiveAvgPool1d",
    "AdaptiveAvgPool2d",
    "AdaptiveAvgPool3d",
    "AdaptiveMaxPool1d",
    "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d",
    "AvgPool1d",
    "AvgPool2d",
    "AvgPool3d",
    "FractionalMaxPool2d",
    "FractionalMaxPool3d",
    "LPPool1d",
    "LPPool2d",
    "LPPool3d",
    "MaxPool1d",
    "MaxPool2d",
    "MaxPool3d",
    "MaxUnpool1d",
    "MaxUnpool2d",
    "MaxUnpool3d",
]


class _MaxPoolNd(Module):
    _told = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        return_indices: bool = False,
        ceil_mode: bool = False,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def _pooled(self, pool: Any, input: Tensor) -> Any:
        return pool(
            input,
            self.kernel_size,
            self.stride,
            self.padding,
            self.dilation,
            ceil_mode=self.ceil_mode,
            return_indices=self.return_indices,
        )


class MaxPool1d(_MaxPoolNd):
    """The largest value of each window of sequences.

    Args:
        kernel_size: the window.
        stride: how far the window moves; its own size by default.
        padding: how much is added on both sides, half the window at most.
        dilation: how far the elements of the window are apart.
        return_indices: whether positions of the values are returned too.
        ceil_mode: whether windows may stick out at the end.

    Raises:
        RuntimeError: if the padding is more than half the window.

    Example:
        >>> torch.nn.MaxPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 0.0]]))
        tensor([[3., 2.]])
    """

    def forward(self, input: Tensor) -> Any:
        """(N, C, L) or (C, L)."""
        return self._pooled(F.max_pool1d, input)


class MaxPool2d(_MaxPoolNd):
    """The largest value of each window of images.

    Args:
        kernel_size: the window: one int, or one for each dimension.
        stride: how far the window moves; its own size by default.
        padding: how much is added on both sides, half the window at most.
        dilation: how far the elements of the window are apart.
        return_indices: whether positions of the values are returned too.
        ceil_mode: whether windows may stick out at the end.

    Raises:
        RuntimeError: if the padding is more than half the window.

    Example:
        >>> layer = torch.nn.MaxPool2d(2)
        >>> layer(torch.arange(16.0).reshape(1, 4, 4)).tolist()
        [[[5.0, 7.0], [13.0, 15.0]]]
    """

    def forward(self, input: Tensor) -> Any:
        """(N, C, H, W) or (C, H, W)."""
        return self._pooled(F.max_pool2d, input)


class MaxPool3d(_MaxPoolNd):
    """The largest value of each window of volumes."""

    def forward(self, input: Tensor) -> Any:
        """(N, C, D, H, W) or (C, D, H, W)."""
        return self._pooled(F.max_pool3d, input)


class _Windows(Module):
    """Sizes of windows, as tuples."""

    _told = ("kernel_size", "stride", "padding")
    _rank: int

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        n = _ntuple(self._rank)
        self.kernel_size = n(kernel_size)
        self.stride = n(kernel_size if stride is None else stride)
        self.padding = n(padding)


class _MaxUnpoolNd(_Windows):
    """What puts values back has in common, as PyTorch calls it."""


class MaxUnpool1d(_MaxUnpoolNd):
    """Puts what `MaxPool1d` took back to its places, zeros elsewhere."""

    _rank = 1

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """(N, C, L) or (C, L)."""
        return F.max_unpool1d(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


class MaxUnpool2d(_MaxUnpoolNd):
    """Puts what `MaxPool2d` took back to its places, zeros elsewhere."""

    _rank = 2

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """(N, C, H, W) or (C, H, W)."""
        return F.max_unpool2d(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


class MaxUnpool3d(_MaxUnpoolNd):
    """Puts what `MaxPool3d` took back to its places, zeros elsewhere."""

    _rank = 3

    def forward(self, input: Tensor, indices: Tensor, output_size: Any = None) -> Tensor:
        """(N, C, D, H, W) or (C, D, H, W)."""
        return F.max_unpool3d(
            input, indices, self.kernel_size, self.stride, self.padding, output_size
        )


class AvgPool1d(_Windows):
    """The mean of each window of sequences.

    Args:
        kernel_size: the window.
        stride: how far the window moves; its own size by default.
        padding: how much is added on both sides, half the window at most.
        ceil_mode: whether windows may stick out at the end.
        count_include_pad: whether zeros that were added count.

    Raises:
        RuntimeError: if the padding is more than half the window.

    Example:
        >>> torch.nn.AvgPool1d(2)(torch.tensor([[1.0, 3.0, 2.0, 0.0]]))
        tensor([[2., 1.]])
    """

    _rank = 1

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
    ) -> None:
        super().__init__(kernel_size, stride, padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, L) or (C, L)."""
        return F.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad,
        )  # fmt: skip


class _AvgPoolNd(Module):
    _told = ("kernel_size", "stride", "padding")

    def __init__(
        self,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        ceil_mode: bool = False,
        count_include_pad: bool = True,
        divisor_override: int | None = None,
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = kernel_size if stride is None else stride
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def _pooled(self, pool: Any, input: Tensor) -> Any:
        return pool(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode,
            self.count_include_pad, self.divisor_override,
        )  # fmt: skip


class AvgPool2d(_AvgPoolNd):
    """The mean of each window of images.

    Args:
        kernel_size: the window: one int, or one for each dimension.
        stride: how far the window moves; its own size by default.
        padding: how much is added on both sides, half the window at most.
        ceil_mode: whether windows may stick out at the end.
        count_include_pad: whether zeros that were added count.
        divisor_override: what sums are divided by instead of their number.

    Raises:
        RuntimeError: if the padding is more than half the window, or the divisor is zero.

    Example:
        >>> layer = torch.nn.AvgPool2d(2)
        >>> layer(torch.arange(16.0).reshape(1, 4, 4)).tolist()
        [[[2.5, 4.5], [10.5, 12.5]]]
    """

    def forward(self, input: Tensor) -> Any:
        """(N, C, H, W) or (C, H, W)."""
        return self._pooled(F.avg_pool2d, input)


class AvgPool3d(_AvgPoolNd):
    """The mean of each window of volumes."""

    def forward(self, input: Tensor) -> Any:
        """(N, C, D, H, W) or (C, D, H, W)."""
        return self._pooled(F.avg_pool3d, input)


class _FractionalMaxPoolNd(Module):
    _rank: int
    _random_samples: Tensor | None

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        n, name = _ntuple(self._rank), type(self).__name__
        self.kernel_size = n(kernel_size)
        if any(size <= 0 for size in self.kernel_size):
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else n(output_size)
        self.output_ratio = None if output_ratio is None else n(output_ratio)
        if output_size is None and output_ratio is None:
            raise ValueError(
                f"{name} requires specifying either an output size, or a pooling ratio"
            )
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        """(N, C, *sizes) or (C, *sizes)."""
        pool = getattr(F, f"fractional_max_pool{self._rank}d")
        return pool(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The largest value of windows of images that lie at random steps (Graham, 2014)."""

    _rank = 2


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The largest value of windows of volumes that lie at random steps (Graham, 2014)."""

    _rank = 3


class _LPPoolNd(Module):
    _told = ("norm_type", "kernel_size", "stride", "ceil_mode")

    def __init__(
        self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False
    ) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def _pooled(self, pool: Any, input: Tensor) -> Any:
        return pool(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)


class LPPool1d(_LPPoolNd):
    """The p-norm of each window of sequences."""

    def forward(self, input: Tensor) -> Any:
        """(N, C, L) or (C, L)."""
        return self._pooled(F.lp_pool1d, input)


class LPPool2d(_LPPoolNd):
    """The p-norm of each window of images."""

    def forward(self, input: Tensor) -> Any:
        """(N, C, H, W) or (C, H, W)."""
        return self._pooled(F.lp_pool2d, input)


class LPPool3d(_LPPoolNd):
    """The p-norm of each window of volumes."""

    def forward(self, input: Tensor) -> Any:
        """(N, C, D, H, W) or (C, D, H, W)."""
        return self._pooled(F.lp_pool3d, input)
