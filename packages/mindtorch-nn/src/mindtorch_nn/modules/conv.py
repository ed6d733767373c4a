"""Convolutions and transposed convolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .conv_base import Sizes, _check_channels, _ConvNd
from .lazy import LazyModuleMixin
from .utils import _ntuple, declare_lazy

__all__ = [
    "Conv1d",
    "Conv2d",
    "Conv3d",
    "ConvTranspose1d",
    "ConvTranspose2d",
    "ConvTranspose3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
]


class _Forward(_ConvNd):
    """What convolutions have that are not transposed."""

    _rank: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: str | Sizes = 0,
        dilation: Sizes = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        n = _ntuple(self._rank)
        super().__init__(
            in_channels, out_channels, n(kernel_size), n(stride),
            padding if isinstance(padding, str) else n(padding),
            n(dilation), False, n(0), groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def _conv_forward(self, input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self._rank
        convolve = getattr(F, f"conv{self._rank}d")
        found: Tensor = convolve(
            input, weight, bias, self.stride, padding, self.dilation, self.groups
        )
        return found

    def forward(self, input: Tensor) -> Tensor:
        """(N, in_channels, *sizes) to (N, out_channels, *sizes); N may be absent."""
        return self._conv_forward(input, self.weight, self.bias)


class Conv1d(_Forward):
    """Convolution of sequences, as `functional.conv1d`.

    Args:
        in_channels: channels of inputs.
        out_channels: channels of outputs.
        kernel_size: length of the window.
        stride: how far the window moves.
        padding: zeros, or what ``padding_mode`` says, on both sides; ``"same"`` or ``"valid"``.
        dilation: how far the elements of the window are apart.
        groups: how many groups of channels there are, each with kernels of its own.
        bias: whether there is one.
        padding_mode: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        device: of the parameters.
        dtype: of the parameters.

    Raises:
        ValueError: if groups do not divide the channels, or a padding is not known.

    Example:
        >>> layer = torch.nn.Conv1d(3, 4, kernel_size=3, padding=1)
        >>> layer(torch.ones(2, 3, 10)).shape
        torch.Size([2, 4, 10])
    """

    _rank = 1


class Conv2d(_Forward):
    """Convolution of images, as `functional.conv2d`: (N, C, H, W) or (C, H, W).

    Args:
        in_channels: channels of inputs.
        out_channels: channels of outputs.
        kernel_size: the window: one int, or one for each dimension.
        stride: how far the window moves.
        padding: zeros, or what ``padding_mode`` says, on both sides; ``"same"`` or ``"valid"``.
        dilation: how far the elements of the window are apart.
        groups: how many groups of channels there are, each with kernels of its own.
        bias: whether there is one.
        padding_mode: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        device: of the parameters.
        dtype: of the parameters.

    Raises:
        ValueError: if groups do not divide the channels, or a padding is not known.

    Example:
        >>> layer = torch.nn.Conv2d(3, 4, kernel_size=3, padding=1)
        >>> layer(torch.ones(2, 3, 8, 8)).shape
        torch.Size([2, 4, 8, 8])
    """

    _rank = 2


class Conv3d(_Forward):
    """Convolution of volumes, as `functional.conv3d`: (N, C, D, H, W) or (C, D, H, W).

    Args:
        in_channels: channels of inputs.
        out_channels: channels of outputs.
        kernel_size: the window: one int, or one for each dimension.
        stride: how far the window moves.
        padding: zeros, or what ``padding_mode`` says, on both sides; ``"same"`` or ``"valid"``.
        dilation: how far the elements of the window are apart.
        groups: how many groups of channels there are, each with kernels of its own.
        bias: whether there is one.
        padding_mode: ``"zeros"``, ``"reflect"``, ``"replicate"`` or ``"circular"``.
        device: of the parameters.
        dtype: of the parameters.

    Raises:
        ValueError: if groups do not divide the channels, or a padding is not known.

    Example:
        >>> layer = torch.nn.Conv3d(3, 4, kernel_size=3, padding=1)
        >>> layer(torch.ones(2, 3, 4, 8, 8)).shape
        torch.Size([2, 4, 4, 8, 8])
    """

    _rank = 3


class _ConvTransposeNd(_ConvNd):
    """What transposed convolutions have."""

    _rank: int

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_size: Sizes,
        stride: Sizes = 1,
        padding: Sizes = 0,
        output_padding: Sizes = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Sizes = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        n = _ntuple(self._rank)
        super().__init__(
            in_channels, out_channels, n(kernel_size), n(stride), n(padding), n(dilation), True,
            n(output_padding), groups, bias, padding_mode, device, dtype,
        )  # fmt: skip

    def forward(self, input: Tensor, output_size: Sequence[int] | None = None) -> Tensor:
        """(N, in_channels, *sizes) to (N, out_channels, *sizes); N may be absent.

        Args:
            input: the signal.
            output_size: which of the sizes that are possible the output has.
        """
        if self.padding_mode != "zeros":
            raise ValueError(
                f"Only `zeros` padding mode is supported for ConvTranspose{self._rank}d"
            )
        convolve = getattr(F, f"conv_transpose{self._rank}d")
        extra = self.output_padding if output_size is None else self._extra(input, output_size)
        found: Tensor = convolve(
            input, self.weight, self.bias, self.stride, self.padding, extra, self.groups,
            self.dilation,
        )  # fmt: skip
        return found

    def _extra(self, input: Tensor, output_size: Sequence[int]) -> list[int]:
        """The output padding that leads to a size."""
        n = self._rank
        before = 2 if input.dim() == n + 2 else 1
        if len(output_size) == before + n:
            output_size = output_size[before:]
        if len(output_size) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or "
                f"{before + n} elements (got {len(output_size)})"
            )
        padding: Any = self.padding
        least = [
            (input.size(before + d) - 1) * self.stride[d]
            - 2 * padding[d]
            + self.dilation[d] * (self.kernel_size[d] - 1)
            + 1
            for d in range(n)
        ]
        most = [size + stride - 1 for size, stride in zip(least, self.stride, strict=True)]
        if not all(a <= size <= b for a, size, b in zip(least, output_size, most, strict=True)):
            raise ValueError(
                f"requested an output size of {output_size}, but valid sizes range from {least} to {most} "
                f"(for an input of {input.size()[2:]})"
            )
        return [size - a for size, a in zip(output_size, least, strict=True)]


class _ConvTransposeMixin(_ConvTransposeNd):
    """What old programs ask whether a convolution is: it never is."""


class ConvTranspose1d(_ConvTransposeNd):
    """Transposed convolution of sequences, as `functional.conv_transpose1d`: (N, C, L) or (C, L).

    Args:
        in_channels: channels of inputs.
        out_channels: channels of outputs.
        kernel_size: the window, one int.
        stride: how far apart inputs lie in the output.
        padding: how much of the output is cut off on both sides.
        output_padding: how much longer the output is on one side.
        groups: how many groups of channels there are, each with kernels of its own.
        bias: whether there is one.
        dilation: how far the elements of the window are apart.
        padding_mode: ``"zeros"``; there is no other.
        device: of the parameters.
        dtype: of the parameters.

    Raises:
        ValueError: if groups do not divide the channels, or for another ``padding_mode``.

    Example:
        >>> layer = torch.nn.ConvTranspose1d(3, 4, kernel_size=2, stride=2)
        >>> layer(torch.ones(2, 3, 8)).shape
        torch.Size([2, 4, 16])
    """

    _rank = 1


class ConvTranspose2d(_ConvTransposeNd):
    """Transposed convolution of images, as `functional.conv_transpose2d`.

    Args:
        in_channels: channels of inputs.
        out_channels: channels of outputs.
        kernel_size: the window: one int, or one for each dimension.
        stride: how far apart inputs lie in the output.
        padding: how much of the output is cut off on both sides.
        output_padding: how much longer the output is on one side.
        groups: how many groups of channels there are, each with kernels of its own.
        bias: whether there is one.
        dilation: how far the elements of the window are apart.
        padding_mode: ``"zeros"``; there is no other.
        device: of the parameters.
        dtype: of the parameters.

    Raises:
        ValueError: if groups do not divide the channels, or for another ``padding_mode``.

    Example:
        >>> layer = torch.nn.ConvTranspose2d(3, 4, kernel_size=2, stride=2)
        >>> layer(torch.ones(2, 3, 8, 8)).shape
        torch.Size([2, 4, 16, 16])
    """

    _rank = 2


class ConvTranspose3d(_ConvTransposeNd):
    """Transposed convolution of volumes, as `functional.conv_transpose3d`."""

    _rank = 3


# ---- lazy ---------------------------------------------------------------------------------------


class _LazyConvXdMixin(LazyModuleMixin):
    """Makes a convolution take ``in_channels`` from its first input."""

    def __init__(self, out_channels: int, kernel_size: Sizes, *args: Any, **kwargs: Any) -> None:
        super().__init__(0, out_channels, kernel_size, *args, **kwargs)

    def _declare(self, device: Any, dtype: Any, bias: bool) -> None:
        declare_lazy(self, device, dtype, weight=True, bias=bias)  # type: ignore[arg-type]

    def reset_parameters(self) -> None:
        """Draw new values, if there are shapes."""
        me: Any = self
        if not self.has_uninitialized_params() and me.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Take the number of channels from an input."""
        if not self.has_uninitialized_params():
            return
        me: Any = self
        channels = self._get_in_channels(input)
        _check_channels(channels, me.out_channels, me.groups)
        me.in_channels = channels
        with torch.no_grad():
            me.weight.materialize(me._weight_shape())
            if me.bias is not None:
                me.bias.materialize((me.out_channels,))
            self.reset_parameters()

    def _get_in_channels(self, input: Tensor) -> int:
        without = self._get_num_spatial_dims() + 1
        if input.dim() not in (without, without + 1):
            raise RuntimeError(
                f"Expected {without}D (unbatched) or {without + 1}D (batched) input to "
                f"{type(self).__name__}, but got input of size: {input.shape}"
            )
        return input.shape[-without]

    def _get_num_spatial_dims(self) -> int:
        found: int = self._rank  # type: ignore[attr-defined]
        return found


class LazyConv1d(_LazyConvXdMixin, Conv1d):
    """`Conv1d` that takes ``in_channels`` from its first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConvXdMixin, Conv2d):
    """`Conv2d` that takes ``in_channels`` from its first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConvXdMixin, Conv3d):
    """`Conv3d` that takes ``in_channels`` from its first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvXdMixin, ConvTranspose1d):
    """`ConvTranspose1d` that takes ``in_channels`` from its first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvXdMixin, ConvTranspose2d):
    """`ConvTranspose2d` that takes ``in_channels`` from its first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvXdMixin, ConvTranspose3d):
    """`ConvTranspose3d` that takes ``in_channels`` from its first input."""

    cls_to_become = ConvTranspose3d
