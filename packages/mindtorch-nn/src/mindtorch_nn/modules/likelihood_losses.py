"""Losses that compare distributions: likelihoods of normal and Poisson ones, of two classes, of sequences."""

from __future__ import annotations

from typing import Any

from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .loss_base import _Loss, _WeightedLoss

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "GaussianNLLLoss",
    "KLDivLoss",
    "PoissonNLLLoss",
]


class PoissonNLLLoss(_Loss):
    """The negated log-likelihood of Poisson distributions.

    Args:
        log_input: whether inputs are logarithms of rates.
        full: add Stirling's approximation of ``log(target!)`` for targets above 1.
        size_average: deprecated.
        eps: added to rates before their logarithm is taken.
        reduce: deprecated.
        reduction: ``none``, ``mean`` or ``sum``.

    Example:
        >>> torch.nn.PoissonNLLLoss()(torch.tensor([0.0]), torch.tensor([2.0]))
        tensor(1.)
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        """Rates, or their logarithms, and counts."""
        return F.poisson_nll_loss(
            log_input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


class GaussianNLLLoss(_Loss):
    """The negated log-likelihood of normal distributions.

    Args:
        full: add the constant ``log(2 pi) / 2``.
        eps: variances below it count as it.
        reduction: ``none``, ``mean`` or ``sum``.

    Example:
        >>> x, target = torch.zeros(2), torch.tensor([0.0, 2.0])
        >>> torch.nn.GaussianNLLLoss(reduction="none")(x, target, torch.ones(2))
        tensor([0., 2.])
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor) -> Tensor:
        """Means, values and variances."""
        return F.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )


class KLDivLoss(_Loss):
    """How far a distribution is from another one (Kullback and Leibler, 1951); inputs are log-probabilities.

    Args:
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``none``, ``mean`` (over elements), ``sum`` or ``batchmean``, the divergence's definition:
            the sum divided by the size of the first dimension.
        log_target: whether targets are logarithms too.

    Example:
        >>> p, q = torch.tensor([[0.5, 0.5]]), torch.tensor([[0.25, 0.75]])
        >>> torch.nn.KLDivLoss(reduction="batchmean")(q.log(), p)
        tensor(0.1438)
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Log-probabilities, and probabilities or their logarithms."""
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class BCELoss(_WeightedLoss):
    """Cross entropy of two classes, from probabilities.

    Args:
        weight: of each element; it broadcasts.
        size_average: deprecated.
        reduce: deprecated.
        reduction: ``none``, ``mean`` or ``sum``.

    Raises:
        ValueError: in the call, if input and target differ in size.
        RuntimeError: in the call, if an input is no probability.

    Example:
        >>> torch.nn.BCELoss()(torch.tensor([0.5, 0.9]), torch.tensor([1.0, 1.0]))
        tensor(0.3993)
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Two tensors of one shape, between 0 and 1."""
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_WeightedLoss):
    """Cross entropy of two classes, from scores.

    Args:
        weight: of each element.
        size_average: of old.
        reduce: of old.
        reduction: "mean", "sum" or "none".
        pos_weight: of the positive class.

    Example:
        >>> criterion = torch.nn.BCEWithLogitsLoss()
        >>> criterion(torch.zeros(2), torch.tensor([0.0, 1.0]))
        tensor(0.6931)
    """

    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """Scores, and targets of the same shape between 0 and 1."""
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class CTCLoss(_Loss):
    """Sequences against shorter ones of unknown alignment (Graves et al., 2006).

    Args:
        blank: the class that stands for no label.
        reduction: ``none``; ``sum``; or ``mean``, of the losses divided by the labels' number.
        zero_infinity: count sequences too short for their labels as 0, without gradient.

    Example:
        >>> logs = torch.full((4, 1, 3), 1 / 3).log()
        >>> torch.nn.CTCLoss()(logs, torch.tensor([[1, 2]]), [4], [2])
        tensor(0.8432)
    """

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(
        self, log_probs: Tensor, targets: Tensor, input_lengths: Any, target_lengths: Any
    ) -> Tensor:
        """Log-probabilities (T, N, C), targets (N, S), and the lengths of both (N,)."""
        return F.ctc_loss(
            log_probs,
            targets,
            input_lengths,
            target_lengths,
            self.blank,
            self.reduction,
            self.zero_infinity,
        )
