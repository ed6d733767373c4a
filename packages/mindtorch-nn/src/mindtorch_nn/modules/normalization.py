"""Normalisations that keep no statistics."""

from __future__ import annotations

from numbers import Integral
from typing import Any

from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .. import init
from .module import Module
from .utils import declare, shown

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


class LocalResponseNorm(Module):
    """Divides each channel by the size of its neighbours (Krizhevsky et al., 2012)."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, *) to the same shape."""
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """All settings."""
        return f"{self.size}, {shown(self, 'alpha', 'beta', 'k')}"


class CrossMapLRN2d(LocalResponseNorm):
    """`LocalResponseNorm` of images, as Torch7 had it: with an odd window."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, H, W) to the same shape."""
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        before = (self.size - 1) // 2
        squares = F.pad((input * input).unsqueeze(1), (0, 0, 0, 0, before, before))
        # Its window has an odd number of channels, whatever the size is; sums are divided by the size.
        sums = F.avg_pool3d(squares, (2 * before + 1, 1, 1), stride=1).squeeze(1) * (2 * before + 1)
        return input * (sums * (self.alpha / self.size) + self.k) ** -self.beta


class _Affine(Module):
    """Weight and bias, where there are any."""

    weight: Tensor | None
    bias: Tensor | None

    def reset_parameters(self) -> None:
        """Take them back to 1 and 0."""
        if self.weight is not None:
            init.ones_(self.weight)
        if self._parameters.get("bias") is not None and self.bias is not None:
            init.zeros_(self.bias)


def _shape(normalized_shape: Any) -> tuple[int, ...]:
    if isinstance(normalized_shape, Integral):
        return (int(normalized_shape),)
    return tuple(normalized_shape)


class LayerNorm(_Affine):
    """Normalises over the last dimensions (Ba et al., 2016).

    Args:
        normalized_shape: the sizes of these dimensions, or of the last one.
        eps: added to variances.
        elementwise_affine: whether there are weights, and by ``bias`` biases.
        bias: whether there are biases.
        device: of the parameters.
        dtype: of the parameters.

    Example:
        >>> layer = torch.nn.LayerNorm(2)
        >>> layer(torch.tensor([[1.0, 3.0]])).round()
        tensor([[-1.,  1.]], grad_fn=<RoundBackward0>)
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        shape = self.normalized_shape if elementwise_affine else None
        declare(self, device, dtype, weight=shape, bias=shape if bias else None)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """(*, *normalized_shape) to the same shape."""
        return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """All settings."""
        rest = shown(self, "eps", "elementwise_affine")
        return f"{self.normalized_shape}, {rest}, bias={self.bias is not None}"


class GroupNorm(_Affine):
    """Normalises over groups of channels (Wu and He, 2018).

    Args:
        num_groups: into how many groups the channels are divided.
        num_channels: channels.
        eps: added to the variance.
        affine: whether there are a weight and a bias.
        device: of the parameters.
        dtype: of the parameters.
        bias: whether there is a bias where there is a weight.

    Raises:
        ValueError: if groups do not divide the channels.

    Example:
        >>> layer = torch.nn.GroupNorm(2, 4)
        >>> layer(torch.ones(1, 4, 3)).sum()
        tensor(0., grad_fn=<SumBackward0>)
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(
                f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})"
            )
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        shape = (num_channels,) if affine else None
        declare(self, device, dtype, weight=shape, bias=shape if bias else None)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, *) to the same shape."""
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """All settings."""
        rest = shown(self, "eps", "affine")
        return f"{self.num_groups}, {self.num_channels}, {rest}, bias={self.bias is not None}"


class RMSNorm(_Affine):
    """Divides by the root of the mean square over the last dimensions (Zhang and Sennrich, 2019).

    Args:
        normalized_shape: sizes of the last dimensions, over which it goes.
        eps: added to the mean square; the smallest step of the dtype by default.
        elementwise_affine: whether there is a weight.
        device: of the parameters.
        dtype: of the parameters.

    Raises:
        RuntimeError: if the input does not end in ``normalized_shape``.

    Example:
        >>> layer = torch.nn.RMSNorm(2, elementwise_affine=False)
        >>> layer(torch.tensor([3.0, 3.0]))
        tensor([1., 1.])
    """

    def __init__(
        self,
        normalized_shape: Any,
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _shape(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        declare(self, device, dtype, weight=self.normalized_shape if elementwise_affine else None)
        self.reset_parameters()

    def forward(self, x: Tensor) -> Tensor:
        """(*, *normalized_shape) to the same shape."""
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """All settings."""
        return f"{self.normalized_shape}, {shown(self, 'eps', 'elementwise_affine')}"
