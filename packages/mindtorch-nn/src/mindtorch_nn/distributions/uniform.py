"""The uniform distribution."""

from __future__ import annotations

from typing import Any

import mindtorch_core as torch

from . import constraints
from .distribution import Distribution
from .utils import broadcast_all, uniform

__all__ = ["Uniform"]


class Uniform(Distribution):
    """Uniform numbers from ``[low, high)``.

    Args:
        low: lower ends.
        high: upper ends.
        validate_args: whether arguments are checked.

    Raises:
        ValueError: if a lower end is not below its upper one.
    """

    has_rsample = True
    _expanded = {"low": 0, "high": 0}

    @property
    def arg_constraints(self) -> Any:
        """What the parameters satisfy."""
        return {
            "low": constraints.less_than(self.high),
            "high": constraints.greater_than(self.low),
        }

    def __init__(self, low: Any, high: Any, validate_args: bool | None = None) -> None:
        self.low, self.high = broadcast_all(low, high)
        super().__init__(self.low.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.interval(self.low, self.high)

    @property
    def mean(self) -> Any:
        return (self.high + self.low) / 2

    @property
    def mode(self) -> Any:
        """There is none: NaN."""
        return torch.nan * self.high

    @property
    def stddev(self) -> Any:
        return (self.high - self.low) / 12**0.5

    @property
    def variance(self) -> Any:
        return (self.high - self.low).pow(2) / 12

    def rsample(self, sample_shape: Any = ()) -> Any:
        drawn = uniform(self._extended_shape(sample_shape), self.low)
        return self.low + drawn * (self.high - self.low)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        inside = self.low.le(value).type_as(self.low) * self.high.gt(value).type_as(self.low)
        return torch.log(inside) - torch.log(self.high - self.low)

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return ((value - self.low) / (self.high - self.low)).clamp(min=0, max=1)

    def icdf(self, value: Any) -> Any:
        return value * (self.high - self.low) + self.low

    def entropy(self) -> Any:
        return torch.log(self.high - self.low)
