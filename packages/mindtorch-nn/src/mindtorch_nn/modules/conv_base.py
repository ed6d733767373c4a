"""What convolutions have in common."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from mindtorch_core import Tensor

from .. import init
from .module import Module
from .utils import _reverse_repeat_tuple, declare, shown, unusual

Sizes = int | Sequence[int]

_PADDINGS = ("same", "valid")
_MODES = ("zeros", "reflect", "replicate", "circular")


class _ConvNd(Module):
    """What all convolutions have."""

    weight: Tensor
    bias: Tensor | None

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: tuple[int, ...],
        stride: tuple[int, ...],
        padding: str | tuple[int, ...],
        dilation: tuple[int, ...],
        transposed: bool,
        output_padding: tuple[int, ...],
        groups: int,
        bias: bool,
        padding_mode: str,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        _check_channels(in_channels, out_channels, groups)
        if isinstance(padding, str):
            if padding not in _PADDINGS:
                raise ValueError(
                    f"Invalid padding string {padding!r}, should be one of {_PADDINGS}"
                )
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in _MODES:
            raise ValueError(
                f"padding_mode must be one of {_MODES}, but got padding_mode='{padding_mode}'"
            )
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        self._reversed_padding_repeated_twice = _both_sides(padding, dilation, kernel_size)
        self._declare(device, dtype, bias)
        self.reset_parameters()

    def _weight_shape(self) -> tuple[int, ...]:
        pair = (self.out_channels, self.in_channels)
        first, second = reversed(pair) if self.transposed else pair
        return first, second // self.groups, *self.kernel_size

    def _declare(self, device: Any, dtype: Any, bias: bool) -> None:
        """Make the parameters."""
        shape = (self.out_channels,) if bias else None
        declare(self, device, dtype, weight=self._weight_shape(), bias=shape)

    def reset_parameters(self) -> None:
        """Draw new values, uniform within one by the root of the number of an output's inputs."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            if fan_in != 0:
                bound = 1 / math.sqrt(fan_in)
                init.uniform_(self.bias, -bound, bound)

    def extra_repr(self) -> str:
        """Channels and sizes, and what is not as by default."""
        zeros, ones = [(value,) * len(self.kernel_size) for value in (0, 1)]
        return (
            f"{self.in_channels}, {self.out_channels}, {shown(self, 'kernel_size', 'stride')}"
            + unusual(self, padding=zeros, dilation=ones, output_padding=zeros, groups=1)
            + ", bias=False" * (self.bias is None)
            + unusual(self, padding_mode="zeros")
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")


def _check_channels(in_channels: int, out_channels: int, groups: int) -> None:
    if groups <= 0:
        raise ValueError("groups must be a positive integer")
    for name, count in (("in_channels", in_channels), ("out_channels", out_channels)):
        if count % groups != 0:
            raise ValueError(f"{name} must be divisible by groups")


def _both_sides(padding: Any, dilation: Sequence[int], kernel_size: Sequence[int]) -> Any:
    """Padding as `functional.pad` takes it: of the last dimension first, left and right."""
    if not isinstance(padding, str):
        return _reverse_repeat_tuple(padding, 2)
    found: list[int] = []
    for d, k in zip(reversed(dilation), reversed(kernel_size), strict=True):
        total = d * (k - 1) if padding == "same" else 0
        found += [total // 2, total - total // 2]
    return found
