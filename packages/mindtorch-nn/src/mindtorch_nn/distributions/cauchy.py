"""The Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any

import mindtorch_core as torch

from . import constraints
from .distribution import Distribution
from .utils import alias, broadcast_all

__all__ = ["Cauchy"]


class Cauchy(Distribution):
    """Quotients of normal numbers; they have no mean.

    Args:
        loc: medians.
        scale: half the distances between the quartiles.
        validate_args: whether arguments are checked.
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _expanded = {"loc": 0, "scale": 0}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def _constant(self, value: float) -> Any:
        return torch.full(
            self._extended_shape(), value, dtype=self.loc.dtype, device=self.loc.device
        )

    @property
    def mean(self) -> Any:
        """There is none: NaN."""
        return self._constant(math.nan)

    mode = alias("loc", "The most likely value.")

    @property
    def variance(self) -> Any:
        """Infinite."""
        return self._constant(math.inf)

    def rsample(self, sample_shape: Any = ()) -> Any:
        drawn = self.loc.new_empty(self._extended_shape(sample_shape)).cauchy_()
        return self.loc + drawn * self.scale

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        z = (value - self.loc) / self.scale
        return -math.log(math.pi) - self.scale.log() - (z**2).log1p()

    def cdf(self, value: Any) -> Any:
        self._validate_sample(value)
        return torch.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        return torch.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()
