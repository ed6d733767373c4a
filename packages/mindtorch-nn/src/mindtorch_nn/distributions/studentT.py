"""Student's t distribution."""

from __future__ import annotations

import math
from typing import Any

import mindtorch_core as torch

from . import constraints
from .chi2 import Chi2
from .distribution import Distribution
from .utils import alias, broadcast_all, standard_normal

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Normal numbers over the root of chi-squared ones.

    Args:
        df: degrees of freedom.
        loc: centres.
        scale: factors.
        validate_args: whether arguments are checked.
    """

    arg_constraints = {
        "df": constraints.positive,
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support = constraints.real
    has_rsample = True
    _expanded = {"df": 0, "loc": 0, "scale": 0, "_chi2": 0}

    def __init__(
        self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean; NaN where there is none."""
        return self.loc.masked_fill(self.df <= 1, math.nan)

    mode = alias("loc", "The most likely value.")

    @property
    def variance(self) -> Any:
        """The variance; infinite or NaN where there is none."""
        found = self.scale.pow(2) * self.df / (self.df - 2)
        found = found.masked_fill((self.df <= 2) & (self.df > 1), math.inf)
        return found.masked_fill(self.df <= 1, math.nan)

    def rsample(self, sample_shape: Any = ()) -> Any:
        drawn = standard_normal(self._extended_shape(sample_shape), self.df)
        below = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * drawn * torch.rsqrt(below / self.df)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        y = (value - self.loc) / self.scale
        normalizer = (
            self.scale.log()
            + 0.5 * self.df.log()
            + 0.5 * math.log(math.pi)
            + torch.lgamma(0.5 * self.df)
            - torch.lgamma(0.5 * (self.df + 1.0))
        )
        return -0.5 * (self.df + 1.0) * torch.log1p(y**2.0 / self.df) - normalizer

    def entropy(self) -> Any:
        half, more = 0.5 * self.df, 0.5 * (self.df + 1)
        beta = torch.lgamma(half) + math.lgamma(0.5) - torch.lgamma(more)
        change = more * (torch.digamma(more) - torch.digamma(half))
        return self.scale.log() + change + 0.5 * self.df.log() + beta
