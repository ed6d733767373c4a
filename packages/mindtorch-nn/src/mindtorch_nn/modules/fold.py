"""Images from blocks that slide over them, and the other way round."""

from __future__ import annotations

from typing import Any

from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .module import Module

__all__ = ["Fold", "Unfold"]


class Fold(Module):
    """Sums blocks up to images.

    Args:
        output_size: height and width of the images.
        kernel_size: the window: one int, or height and width.
        dilation: how far the elements of the window are apart.
        padding: zeros on both sides, which are cut off.
        stride: how far the window moves.

    Example:
        >>> torch.nn.Fold((4, 4), 2)(torch.ones(1, 12, 9)).shape
        torch.Size([1, 3, 4, 4])
    """

    _told = ("output_size", "kernel_size", "dilation", "padding", "stride")

    def __init__(
        self,
        output_size: Any,
        kernel_size: Any,
        dilation: Any = 1,
        padding: Any = 0,
        stride: Any = 1,
    ) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """(N, C * block, blocks) to (N, C, *output_size)."""
        return F.fold(
            input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride
        )


class Unfold(Module):
    """Takes the blocks out of images.

    Args:
        kernel_size: the window: one int, or height and width.
        dilation: how far the elements of the window are apart.
        padding: zeros on both sides.
        stride: how far the window moves.

    Example:
        >>> torch.nn.Unfold(2)(torch.ones(1, 3, 4, 4)).shape
        torch.Size([1, 12, 9])
    """

    _told = ("kernel_size", "dilation", "padding", "stride")

    def __init__(
        self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
    ) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, H, W) to (N, C * block, blocks)."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)
