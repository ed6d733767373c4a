"""Losses."""

from __future__ import annotations

import math
from typing import Any

from mindtorch_core import Tensor
from mindtorch_core.nn import LinearCrossEntropyOptions
from mindtorch_core.nn import functional as F
from mindtorch_core.utils._own_frames import warn_user

from .likelihood_losses import (
    BCELoss,
    BCEWithLogitsLoss,
    CTCLoss,
    GaussianNLLLoss,
    KLDivLoss,
    PoissonNLLLoss,
)
from .linear import Linear
from .loss_base import _Loss, _WeightedLoss
from .margin_losses import (
    CosineEmbeddingLoss,
    HingeEmbeddingLoss,
    MarginRankingLoss,
    MultiLabelMarginLoss,
    MultiLabelSoftMarginLoss,
    MultiMarginLoss,
    SoftMarginLoss,
    TripletMarginLoss,
    TripletMarginWithDistanceLoss,
)

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "LinearCrossEntropyLoss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class L1Loss(_Loss):
    """``|input - target|``.

    Args:
        size_average: of old.
        reduce: of old.
        reduction: "mean", "sum" or "none".

    Example:
        >>> torch.nn.L1Loss()(torch.zeros(2), torch.tensor([1.0, -3.0]))
        tensor(2.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape."""
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """``(input - target) ** 2``.

    Args:
        size_average: of old.
        reduce: of old.
        reduction: "mean", "sum" or "none".

    Example:
        >>> torch.nn.MSELoss()(torch.tensor([1.0, 2.0]), torch.tensor([1.0, 4.0]))
        tensor(2.)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape."""
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """Squares within ``beta``, a straight line beyond (Girshick, 2015).

    Args:
        size_average: of old.
        reduce: of old.
        reduction: "mean", "sum" or "none".
        beta: where the squares end.

    Raises:
        ValueError: for another reduction, when it is called.

    Example:
        >>> torch.nn.SmoothL1Loss(reduction="none")(torch.zeros(2), torch.tensor([1.0, -3.0]))
        tensor([0.5000, 2.5000])
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape."""
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Squares within ``delta``, a straight line of that slope beyond (Huber, 1964).

    Args:
        reduction: ``none``, ``mean`` or ``sum``.
        delta: differences up to it count ``0.5 * d * d``, the others ``delta * (d - 0.5 * delta)``.

    Example:
        >>> torch.nn.HuberLoss()(torch.tensor([0.0, 0.0]), torch.tensor([0.5, 3.0]))
        tensor(1.3125)
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        if not isinstance(delta, float | int):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape."""
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class NLLLoss(_WeightedLoss):
    """The negated log-probability of the target's class.

    Args:
        weight: of each class.
        size_average: of old.
        ignore_index: a class whose samples do not count.
        reduce: of old.
        reduction: "mean", "sum" or "none".

    Raises:
        IndexError: for a target that is no class, when it is called.

    Example:
        >>> log_probabilities = torch.tensor([[0.5, 0.5], [0.25, 0.75]]).log()
        >>> torch.nn.NLLLoss()(log_probabilities, torch.tensor([0, 1]))
        tensor(0.4904)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Log-probabilities (N, C, *) or (C,), and classes (N, *) or ()."""
        return F.nll_loss(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )


class NLLLoss2d(NLLLoss):
    """`NLLLoss` under a name of old."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warn_user(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement.",
            FutureWarning,
        )
        super().__init__(*args, **kwargs)


class CrossEntropyLoss(_WeightedLoss):
    """`NLLLoss` of the logarithm of the softmax.

    Args:
        weight: of each class.
        size_average: of old.
        ignore_index: a class whose samples do not count.
        reduce: of old.
        reduction: "mean", "sum" or "none".
        label_smoothing: how much of each target goes to all classes.

    Example:
        >>> criterion = torch.nn.CrossEntropyLoss()
        >>> criterion(torch.tensor([[0.0, 0.0], [9.0, 9.0]]), torch.tensor([0, 1]))
        tensor(0.6931)
    """

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Scores (N, C, *) or (C,), and classes (N, *) or (), or probabilities of the scores' shape."""
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class LinearCrossEntropyLoss(_WeightedLoss):
    """`CrossEntropyLoss` of a linear layer's outputs, which need not all exist at a time.

    Args:
        in_features: features of a sample.
        num_classes: classes.
        out_features: further dimensions of the layer's output, each with targets of its own.
        bias: whether the layer has one.
        device: of the layer.
        dtype: of the layer.
        reduction: "mean", "sum" or "none".
        weight: of each class.
        ignore_index: a class whose samples do not count.
        label_smoothing: how much of each target goes to all classes.
        options: how the work is divided.
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        if weight is not None and tuple(weight.shape) != (num_classes,):
            raise RuntimeError(
                f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}"
            )
        if not 0 <= label_smoothing <= 1.0:
            raise RuntimeError(
                f"expected label_smoothing to be in range [0, 1], got {label_smoothing}"
            )
        super().__init__(weight=weight, reduction=reduction)
        rows = math.prod(out_features, start=num_classes)
        self.linear = Linear(in_features, rows, bias=bias, device=device, dtype=dtype)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Samples (N, in_features) and classes (N, *out_features)."""
        shape = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape(*shape, self.linear.in_features),
            target,
            linear_bias=None if bias is None else bias.reshape(shape),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        """All settings."""
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )
