"""Channels made pixels, and pixels made channels (Shi et al., 2016)."""

from __future__ import annotations

from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .module import Module

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Module):
    """(*, C r r, H, W) to (*, C, H r, W r).

    Args:
        upscale_factor: ``r``.

    Raises:
        RuntimeError: if ``r * r`` does not divide the channels, for fewer than three dimensions, or a
            factor that is not positive.

    Example:
        >>> torch.nn.PixelShuffle(2)(torch.arange(4.0).reshape(1, 4, 1, 1))
        tensor([[[[0., 1.],
                  [2., 3.]]]])
    """

    _told = ("upscale_factor",)

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """(*, C r r, H, W) to (*, C, H r, W r)."""
        return F.pixel_shuffle(input, self.upscale_factor)


class PixelUnshuffle(Module):
    """(*, C, H r, W r) to (*, C r r, H, W).

    Args:
        downscale_factor: ``r``.

    Raises:
        RuntimeError: if ``r`` does not divide height and width, for fewer than three dimensions, or a
            factor that is not positive.

    Example:
        >>> torch.nn.PixelUnshuffle(2)(torch.ones(1, 1, 4, 4)).shape
        torch.Size([1, 4, 2, 2])
    """

    _told = ("downscale_factor",)

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """(*, C, H r, W r) to (*, C r r, H, W)."""
        return F.pixel_unshuffle(input, self.downscale_factor)
