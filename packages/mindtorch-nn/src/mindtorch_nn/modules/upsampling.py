"""Images made larger."""

from __future__ import annotations

from typing import Any

from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """Resamples to a size, or by a factor, as `functional.interpolate`.

    Args:
        size: the spatial shape wanted, or
        scale_factor: the factors to it.
        mode: ``nearest``, ``linear``, ``bilinear``, ``bicubic`` or ``trilinear``.
        align_corners: whether the outermost elements keep their places.
        recompute_scale_factor: use the factors between the sizes, not those given.

    Example:
        >>> torch.nn.Upsample(scale_factor=2)(torch.tensor([[[[1.0, 2.0]]]]))
        tensor([[[[1., 1., 2., 2.],
                  [1., 1., 2., 2.]]]])
    """

    def __init__(
        self,
        size: Any = None,
        scale_factor: Any = None,
        mode: str = "nearest",
        align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        self.scale_factor: Any = float(scale_factor) if _is_one(scale_factor) else None
        if isinstance(scale_factor, tuple):
            self.scale_factor = tuple(map(float, scale_factor))
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("recompute_scale_factor", True)

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, *) to (N, C, *)."""
        return F.interpolate(
            input,
            self.size,
            self.scale_factor,
            self.mode,
            self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor,
        )

    def extra_repr(self) -> str:
        """The factor or the size, and the mode."""
        name = "size" if self.scale_factor is None else "scale_factor"
        return f"{name}={getattr(self, name)!r}, mode={self.mode!r}"


def _is_one(scale_factor: Any) -> bool:
    return bool(scale_factor) and not isinstance(scale_factor, tuple)


class UpsamplingNearest2d(Upsample):
    """`Upsample` of images to the nearest pixels."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample` of images by bilinear interpolation between aligned corners."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
