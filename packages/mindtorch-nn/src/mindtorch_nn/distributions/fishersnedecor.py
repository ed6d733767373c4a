"""The F distribution."""

from __future__ import annotations

import math
from typing import Any

import mindtorch_core as torch

from . import constraints
from .distribution import Distribution
from .gamma import Gamma
from .utils import broadcast_all

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """Quotients of chi-squared numbers over their degrees of freedom.

    Args:
        df1: of the numerator.
        df2: of the denominator.
        validate_args: whether arguments are checked.
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _expanded = {"df1": 0, "df2": 0, "_gamma1": 0, "_gamma2": 0}

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean; NaN where there is none."""
        df2 = self.df2.masked_fill(self.df2 <= 2, math.nan)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Any:
        """The most likely value; NaN where there is none."""
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self) -> Any:
        """The variance; NaN where there is none."""
        df2 = self.df2.masked_fill(self.df2 <= 4, math.nan)
        top = 2 * df2.pow(2) * (self.df1 + df2 - 2)
        return top / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Any = ()) -> Any:
        top = self._gamma1.rsample(sample_shape).view(self._extended_shape(sample_shape))
        below = self._gamma2.rsample(sample_shape).view(self._extended_shape(sample_shape))
        tiny = torch.finfo(below.dtype).tiny
        found = top / below.clamp(min=tiny)
        return found.clamp(min=tiny)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        half1, half2 = self.df1 * 0.5, self.df2 * 0.5
        ratio = self.df1 / self.df2
        normalizer = (half1 + half2).lgamma() - half1.lgamma() - half2.lgamma()
        shape = half1 * ratio.log() + (half1 - 1) * torch.log(value)
        return normalizer + shape - (half1 + half2) * torch.log1p(ratio * value)
