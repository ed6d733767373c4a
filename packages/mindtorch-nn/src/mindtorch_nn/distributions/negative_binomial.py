"""The negative binomial distribution."""

from __future__ import annotations

from typing import Any

import mindtorch_core as torch
from mindtorch_core.nn import functional as F

from . import constraints
from .distribution import OfProbabilities
from .gamma import Gamma
from .utils import lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(OfProbabilities):
    """Numbers of successes before a number of failures.

    Args:
        total_count: numbers of failures, not only whole ones.
        probs: probabilities of a success, in [0, 1).
        logits: logarithms of the odds instead.
        validate_args: whether arguments are checked.

    Raises:
        ValueError: unless one of both is given.
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    _expanded = {"total_count": 0, "probs": 0, "logits": 0}
    _kept = ("_has_probs",)

    def __init__(
        self, total_count: Any, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        given, count = self._take(probs, logits, total_count)
        self.total_count = count.type_as(given)
        super().__init__(given.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        return self.mean / torch.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Any:
        """The distribution of the rates of Poisson numbers that these are."""
        return Gamma(self.total_count, torch.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Any:
        with torch.no_grad():
            return torch.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        n = self.total_count
        weights = n * F.logsigmoid(-self.logits) + value * F.logsigmoid(self.logits)
        orders = torch.lgamma(n + value) - torch.lgamma(1.0 + value) - torch.lgamma(n)
        return weights + orders.masked_fill(n + value == 0.0, 0.0)
