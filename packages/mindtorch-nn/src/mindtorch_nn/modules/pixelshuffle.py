"""Channels made pixels, and pixels made channels (Shi et al., 2016)."""

from __future__ import annotations

from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .module import Module
from .utils import shown

__all__ = ["PixelShuffle", "PixelUnshuffle"]


class PixelShuffle(Module):
    """(*, C r r, H, W) to (*, C, H r, W r)."""

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """(*, C r r, H, W) to (*, C, H r, W r)."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        """The factor."""
        return shown(self, "upscale_factor")


class PixelUnshuffle(Module):
    """(*, C, H r, W r) to (*, C r r, H, W)."""

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Tensor) -> Tensor:
        """(*, C, H r, W r) to (*, C r r, H, W)."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        """The factor."""
        return shown(self, "downscale_factor")
