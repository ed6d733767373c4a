"""The continuous Bernoulli distribution (Loaiza-Ganem and Cunningham, 2019)."""

from __future__ import annotations

import math
from typing import Any

import mindtorch_core as torch
from mindtorch_core.nn import functional as F

from . import constraints
from .distribution import OfProbabilities
from .exp_family import ExponentialFamily
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs, uniform

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(OfProbabilities, ExponentialFamily):
    """Numbers between 0 and 1 whose density is ``p**x * (1 - p)**(1 - x)`` up to a factor.

    Near ``p = 0.5`` all formulas are 0/0 and replaced by their Taylor series.

    Args:
        probs: the parameter ``p``.
        logits: logarithms of its odds instead.
        lims: between which values series are used.
        validate_args: whether arguments are checked.

    Raises:
        ValueError: unless one of both is given.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    _expanded = {"probs": 0, "logits": 0}
    _kept = ("_has_probs", "_lims")

    def __init__(
        self, probs: Any = None, logits: Any = None, lims: tuple[float, float] = (0.499, 0.501),
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        (given,) = broadcast_all(self._one_of(probs, logits))
        self._has_probs = probs is not None
        if self._has_probs:
            if validate_args is not None and not self.arg_constraints["probs"].check(given).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(given)
        else:
            self.logits = given
        self._lims = lims
        super().__init__(given.size(), validate_args=validate_args)

    @lazy_property
    def probs(self) -> Any:
        """The parameter, neither 0 nor 1."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _away(self) -> Any:
        """Where the formulas hold."""
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Any:
        """The parameter, or one where the formulas hold."""
        return torch.where(self._away(), self.probs, torch.full_like(self.probs, self._lims[0]))

    def _cont_bern_log_norm(self) -> Any:
        """Logarithm of the density's factor."""
        p = self._cut_probs()
        below = torch.where(p <= 0.5, p, torch.zeros_like(p))
        above = torch.where(p >= 0.5, p, torch.ones_like(p))
        top = torch.log(torch.abs(torch.log1p(-p) - torch.log(p)))
        gap = torch.where(p <= 0.5, torch.log1p(-2.0 * below), torch.log(2.0 * above - 1.0))
        x = torch.pow(self.probs - 0.5, 2)
        series = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return torch.where(self._away(), top - gap, series)

    @property
    def mean(self) -> Any:
        p = self._cut_probs()
        found = p / (2.0 * p - 1.0) + 1.0 / (torch.log1p(-p) - torch.log(p))
        x = self.probs - 0.5
        series = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * torch.pow(x, 2)) * x
        return torch.where(self._away(), found, series)

    @property
    def variance(self) -> Any:
        p = self._cut_probs()
        odds = torch.log1p(-p) - torch.log(p)
        found = p * (p - 1.0) / torch.pow(1.0 - 2.0 * p, 2) + 1.0 / torch.pow(odds, 2)
        x = torch.pow(self.probs - 0.5, 2)
        series = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        return torch.where(self._away(), found, series)

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self.icdf(uniform(self._extended_shape(sample_shape), self.probs))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        cross = F.binary_cross_entropy_with_logits(logits, value, reduction="none")
        return self._cont_bern_log_norm() - cross

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        p = self._cut_probs()
        top = torch.pow(p, value) * torch.pow(1.0 - p, 1.0 - value) + p - 1.0
        found = torch.where(self._away(), top / (2.0 * p - 1.0), value)
        inside = torch.where(value >= 1.0, torch.ones_like(found), found)
        return torch.where(value <= 0.0, torch.zeros_like(found), inside)

    def icdf(self, value: Any) -> Any:
        p = self._cut_probs()
        rest = torch.log1p(-p)
        top = torch.log1p(-p + value * (2.0 * p - 1.0)) - rest
        return torch.where(self._away(), top / (torch.log(p) - rest), value)

    def entropy(self) -> Any:
        rest = torch.log1p(-self.probs)
        return self.mean * (rest - torch.log(self.probs)) - self._cont_bern_log_norm() - rest

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:
        away = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = torch.where(away, x, torch.full_like(x, self._lims[0] - 0.5))
        found = torch.log(torch.abs(torch.special.expm1(cut))) - torch.log(torch.abs(cut))
        series = 0.5 * x + torch.pow(x, 2) / 24.0 - torch.pow(x, 4) / 2880.0
        return torch.where(away, found, series)
