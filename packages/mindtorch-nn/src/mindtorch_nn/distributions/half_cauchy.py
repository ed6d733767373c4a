"""The half-Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any

import mindtorch_core as torch

from . import constraints
from .cauchy import Cauchy
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform

__all__ = ["HalfCauchy"]


class HalfCauchy(TransformedDistribution):
    """Absolute values of Cauchy numbers.

    Args:
        scale: their scales.
        validate_args: whether arguments are checked.
    """

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        base = Cauchy(0, scale, validate_args=False)
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution for another batch shape."""
        new = self._get_checked_instance(HalfCauchy, _instance)
        return super().expand(batch_shape, _instance=new)

    @property
    def scale(self) -> Any:
        """Scales of the Cauchy numbers."""
        return self.base_dist.scale

    @property
    def mean(self) -> Any:
        """Infinite."""
        return torch.full(
            self._extended_shape(), math.inf, dtype=self.scale.dtype, device=self.scale.device
        )

    @property
    def mode(self) -> Any:
        """The most likely value."""
        return torch.zeros_like(self.scale)

    @property
    def variance(self) -> Any:
        """Infinite."""
        return self.base_dist.variance

    def log_prob(self, value: Any) -> Any:
        """Logarithm of the density."""
        self._validate_sample(value)
        value = torch.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device)
        found = self.base_dist.log_prob(value) + math.log(2)
        return torch.where(value >= 0, found, -math.inf)

    def cdf(self, value: Any) -> Any:
        """Probability of what is not above a value."""
        self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Any) -> Any:
        """The value below which a share lies."""
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Any:
        """The entropy."""
        return self.base_dist.entropy() - math.log(2)
