"""The inverse gamma distribution."""

from __future__ import annotations

import math
from typing import Any

import mindtorch_core as torch

from . import constraints
from .gamma import Gamma
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform
from .utils import alias

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """Reciprocals of gamma numbers.

    Args:
        concentration: their shapes.
        rate: their rates.
        validate_args: whether arguments are checked.
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _expanded = {}

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        power = PowerTransform(base.rate.new_tensor(-1))
        super().__init__(base, power, validate_args=validate_args)

    concentration = alias("base_dist.concentration", "Shapes of the gamma numbers.")
    rate = alias("base_dist.rate", "Rates of the gamma numbers.")

    @property
    def mean(self) -> Any:
        """The mean; infinite where there is none."""
        found = self.rate / (self.concentration - 1)
        return torch.where(self.concentration > 1, found, math.inf)

    @property
    def mode(self) -> Any:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        """The variance; infinite where there is none."""
        less = self.concentration - 1
        found = self.rate.square() / (less.square() * (self.concentration - 2))
        return torch.where(self.concentration > 2, found, math.inf)

    def entropy(self) -> Any:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
