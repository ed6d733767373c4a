"""The generalized Pareto distribution."""

from __future__ import annotations

import math
from typing import Any

import mindtorch_core as torch

from . import constraints
from .distribution import Distribution
from .utils import alias, broadcast_all, uniform

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """What lies above a threshold, with a tail that is a power, exponential or finite.

    Args:
        loc: thresholds.
        scale: factors.
        concentration: reciprocals of the tails' powers; 0 for exponential ones.
        validate_args: whether arguments are checked.
    """

    arg_constraints = {
        "loc": constraints.real,
        "scale": constraints.positive,
        "concentration": constraints.real,
    }
    has_rsample = True
    _expanded = {"loc": 0, "scale": 0, "concentration": 0}

    def __init__(
        self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None
    ) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def _power(self) -> tuple[Any, Any]:
        """Where tails are exponential, and concentrations that can be divided by."""
        plain = torch.isclose(self.concentration, torch.zeros_like(self.concentration))
        safe = torch.where(plain, torch.ones_like(self.concentration), self.concentration)
        return plain, safe

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.icdf(uniform(self._extended_shape(sample_shape), self.loc))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        plain, safe = self._power()
        y = 1 / safe + torch.ones_like(z)
        tail = torch.where(y == 0, y, y * torch.log1p(safe * z))
        return -self.scale.log() - torch.where(plain, z, tail)

    def log_survival_function(self, value: Any) -> Any:
        """Logarithm of the probability of what is above a value."""
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        plain, safe = self._power()
        return torch.where(plain, -z, -torch.log1p(safe * z) / safe)

    def log_cdf(self, value: Any) -> Any:
        """Logarithm of the probability of what is not above a value."""
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value: Any) -> Any:
        return torch.exp(self.log_cdf(value))

    def icdf(self, value: Any) -> Any:
        plain, safe = self._power()
        rest = torch.log1p(-value)
        tail = self.loc + self.scale / safe * torch.expm1(-safe * rest)
        return torch.where(plain, self.loc - self.scale * rest, tail)

    @property
    def mean(self) -> Any:
        """The mean; NaN where there is none."""
        exists = self.concentration < 1
        safe = torch.where(exists, self.concentration, 0.5)
        return torch.where(exists, self.loc + self.scale / (1 - safe), math.nan)

    @property
    def variance(self) -> Any:
        """The variance; NaN where there is none."""
        exists = self.concentration < 0.5
        safe = torch.where(exists, self.concentration, 0.25)
        found = self.scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe))
        return torch.where(exists, found, math.nan)

    def entropy(self) -> Any:
        return torch.broadcast_to(torch.log(self.scale) + self.concentration + 1, self._batch_shape)

    mode = alias("loc", "The most likely value.")

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        end = self.loc - self.scale / self.concentration
        return constraints.interval(self.loc, torch.where(self.concentration < 0, end, math.inf))
