"""Dropout."""

from __future__ import annotations

from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .module import Module

__all__ = [
    "AlphaDropout",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "FeatureAlphaDropout",
]


class _DropoutNd(Module):
    """Sets values to zero in training, with a probability."""

    _told = ("p", "inplace")

    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace


class Dropout(_DropoutNd):
    """Single elements become zero, the rest is scaled (Srivastava et al., 2014).

    Args:
        p: probability of becoming zero.
        inplace: whether the input is changed.

    Raises:
        ValueError: if ``p`` is not within [0, 1].

    Example:
        >>> layer = torch.nn.Dropout(0.5)
        >>> layer(torch.ones(1000)).unique()
        tensor([0., 2.])
        >>> layer.eval()(torch.ones(2))
        tensor([1., 1.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape."""
        return F.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_DropoutNd):
    """Whole channels of sequences become zero."""

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, L) or (C, L)."""
        return F.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_DropoutNd):
    """Whole channels of images become zero (Tompson et al., 2015).

    Args:
        p: probability with which a channel becomes zero; the others are divided by ``1 - p``.
        inplace: whether the input is changed.

    Raises:
        ValueError: if ``p`` is not within [0, 1].

    Example:
        >>> torch.nn.Dropout2d(0.5)(torch.ones(8, 16, 2, 2)).unique()
        tensor([0., 2.])
    """

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, H, W)."""
        return F.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_DropoutNd):
    """Whole channels of volumes become zero."""

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, D, H, W) or (C, D, H, W)."""
        return F.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_DropoutNd):
    """Dropout that keeps mean and variance behind `SELU` (Klambauer et al., 2017).

    Args:
        p: probability with which an element is replaced.
        inplace: whether the input is changed.

    Raises:
        ValueError: if ``p`` is not within [0, 1].

    Example:
        >>> layer = torch.nn.AlphaDropout(0.5)
        >>> layer(torch.ones(1000)).unique().numel(), layer.eval()(torch.ones(2))
        (2, tensor([1., 1.]))
    """

    def forward(self, input: Tensor) -> Tensor:
        """Of any shape."""
        return F.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_DropoutNd):
    """`AlphaDropout` of whole channels."""

    def forward(self, input: Tensor) -> Tensor:
        """(N, C, *)."""
        return F.feature_alpha_dropout(input, self.p, self.training)
