"""Padding."""

from __future__ import annotations

from typing import Any

from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .module import Module
from .utils import _ntuple, shown

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _Pad(Module):
    """Pads the last dimensions; one number for all sides, or two for each, the last dimension first."""

    _rank: int
    _mode: str

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _ntuple(2 * self._rank)(padding)

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, *sizes) or (C, *sizes)."""
        return F.pad(input, self.padding, self._mode)

    def extra_repr(self) -> str:
        """Padding of all sides."""
        return f"{self.padding}"


class _CircularPadNd(_Pad):
    _mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, *sizes) or (C, *sizes)."""
        n = self._rank
        if input.dim() not in (n + 1, n + 2):
            raise ValueError(f"expected {n + 1}D or {n + 2}D input (got {input.dim()}D input)")
        return super().forward(input)


class CircularPad1d(_CircularPadNd):
    """Pads sequences with their other end."""

    _rank = 1


class CircularPad2d(_CircularPadNd):
    """Pads images with their other sides."""

    _rank = 2


class CircularPad3d(_CircularPadNd):
    """Pads volumes with their other sides."""

    _rank = 3


class _ConstantPadNd(_Pad):
    _mode = "constant"

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """(*, *sizes)."""
        return F.pad(input, self.padding, self._mode, self.value)

    def extra_repr(self) -> str:
        """Padding of all sides, and the value."""
        return shown(self, "padding", "value")


class ConstantPad1d(_ConstantPadNd):
    """Pads sequences with a value."""

    _rank = 1


class ConstantPad2d(_ConstantPadNd):
    """Pads images with a value.

    Args:
        padding: one int, or (left, right, top, bottom).
        value: what the padding is filled with.

    Example:
        >>> torch.nn.ConstantPad2d((1, 0, 0, 1), 9.0)(torch.ones(1, 1, 2))
        tensor([[[9., 1., 1.],
                 [9., 9., 9.]]])
    """

    _rank = 2


class ConstantPad3d(_ConstantPadNd):
    """Pads volumes with a value."""

    _rank = 3


class _Zeros(_ConstantPadNd):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    extra_repr = _Pad.extra_repr


class ZeroPad1d(_Zeros, ConstantPad1d):
    """Pads sequences with zeros."""


class ZeroPad2d(_Zeros, ConstantPad2d):
    """Pads images with zeros.

    Args:
        padding: one int, or (left, right, top, bottom).

    Example:
        >>> torch.nn.ZeroPad2d((1, 0, 0, 1))(torch.ones(1, 1, 2))
        tensor([[[0., 1., 1.],
                 [0., 0., 0.]]])
    """


class ZeroPad3d(_Zeros, ConstantPad3d):
    """Pads volumes with zeros."""


class _ReflectionPadNd(_Pad):
    _mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """Pads sequences with their reflection at the ends."""

    _rank = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Pads images with their reflection at the sides.

    Args:
        padding: one int, or (left, right, top, bottom); smaller than the size.

    Example:
        >>> torch.nn.ReflectionPad2d((2, 0, 0, 0))(torch.tensor([[[1.0, 2.0, 3.0]]]))
        tensor([[[3., 2., 1., 2., 3.]]])
    """

    _rank = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Pads volumes with their reflection at the sides."""

    _rank = 3


class _ReplicationPadNd(_Pad):
    _mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """Pads sequences with their last elements."""

    _rank = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Pads images with the pixels at their sides.

    Args:
        padding: one int, or (left, right, top, bottom).

    Example:
        >>> torch.nn.ReplicationPad2d((2, 0, 0, 0))(torch.tensor([[[1.0, 2.0, 3.0]]]))
        tensor([[[1., 1., 1., 2., 3.]]])
    """

    _rank = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Pads volumes with the elements at their sides."""

    _rank = 3
