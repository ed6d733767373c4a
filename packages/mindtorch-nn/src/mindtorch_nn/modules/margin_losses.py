"""Losses with a margin, and those of several labels."""

from __future__ import annotations

from collections.abc import Callable

from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .distance import PairwiseDistance
from .loss_base import _Loss, _WeightedLoss

__all__ = [
    "CosineEmbeddingLoss",
    "HingeEmbeddingLoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class HingeEmbeddingLoss(_Loss):
    """The input for targets 1, how far it is below the margin for targets -1.

    Args:
        margin: distances below it count where the target is -1.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``none``, ``mean`` or ``sum``.

    Example:
        >>> x, target = torch.tensor([0.2, 0.2]), torch.tensor([1, -1])
        >>> torch.nn.HingeEmbeddingLoss(reduction="none")(x, target)
        tensor([0.2000, 0.8000])
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape."""
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class SoftMarginLoss(_Loss):
    """``log(1 + exp(-target * input))``."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape, the targets 1 or -1."""
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """Hinges between each class of a sample and each class it is not of."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Scores (N, C) or (C,), and lists of classes of the same shape that end with -1."""
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """`BCEWithLogitsLoss` averaged over classes."""

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors (N, C)."""
        return F.multilabel_soft_margin_loss(
            input, target, weight=self.weight, reduction=self.reduction
        )


class MultiMarginLoss(_WeightedLoss):
    """Hinges between the class of a sample and all others."""

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError("only p == 1 and p == 2 supported")
        if weight is not None and weight.dim() != 1:
            raise ValueError(
                f"MultiMarginLoss: expected weight to be None or 1D tensor, got {weight.dim()}D instead"
            )
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Scores (N, C) or (C,), and classes (N,) or ()."""
        return F.multi_margin_loss(
            input,
            target,
            p=self.p,
            margin=self.margin,
            weight=self.weight,
            reduction=self.reduction,
        )


class _PairLoss(_Loss):
    """A loss of two inputs with a margin."""

    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class CosineEmbeddingLoss(_PairLoss):
    """``1 - cos`` for targets 1, how far the cosine is above the margin for targets -1.

    Args:
        margin: cosines below it count nothing where the target is -1.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``none``, ``mean`` or ``sum``.

    Example:
        >>> x, y = torch.tensor([[1.0, 0.0], [1.0, 0.0]]), torch.tensor([[0.0, 1.0], [1.0, 0.0]])
        >>> torch.nn.CosineEmbeddingLoss(reduction="none")(x, y, torch.tensor([1, -1]))
        tensor([1., 1.])
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Two tensors (N, D) or (D,), and targets (N,) or ()."""
        return F.cosine_embedding_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class MarginRankingLoss(_PairLoss):
    """A hinge on the difference of two inputs, whose sign the target says.

    Args:
        margin: by how much the one shall be larger.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``none``, ``mean`` or ``sum``.

    Example:
        >>> x, y = torch.tensor([3.0, 1.0]), torch.tensor([1.0, 3.0])
        >>> torch.nn.MarginRankingLoss(reduction="none")(x, y, torch.ones(2))
        tensor([0., 2.])
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        """Three tensors of one shape."""
        return F.margin_ranking_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


def _check_margin(name: str, margin: float) -> float:
    if margin <= 0:
        raise ValueError(f"{name}: expected margin to be greater than 0, got {margin} instead")
    return margin


class TripletMarginLoss(_Loss):
    """A hinge between the distances of an anchor to a positive and a negative example.

    Args:
        margin: how much farther the negative example shall be.
        p: which norm gives the distance.
        eps: added to differences.
        swap: take the distance from positive to negative if it is smaller.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``none``, ``mean`` or ``sum``.

    Raises:
        ValueError: if ``margin`` is not positive.

    Example:
        >>> anchor, near, far = torch.tensor([[0.0]]), torch.tensor([[1.0]]), torch.tensor([[1.5]])
        >>> torch.nn.TripletMarginLoss()(anchor, near, far)
        tensor(0.5000)
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = _check_margin("TripletMarginLoss", margin)
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Three tensors (N, D) or (D,)."""
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """`TripletMarginLoss` with a distance of one's own."""

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        self.margin = _check_margin("TripletMarginWithDistanceLoss", margin)
        self.distance_function = (
            PairwiseDistance() if distance_function is None else distance_function
        )
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        """Three tensors that the distance takes."""
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )
