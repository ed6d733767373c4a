"""The Weibull distribution."""

from __future__ import annotations

from typing import Any

import mindtorch_core as torch

from . import constraints
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """Powers of exponential numbers.

    Args:
        scale: factors.
        concentration: reciprocals of the powers.
        validate_args: whether arguments are checked.
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    _expanded = {"scale": 0, "concentration": 0}

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        base = Exponential(torch.ones_like(self.scale), validate_args=validate_args)
        super().__init__(base, self._steps(), validate_args=validate_args)

    def _steps(self) -> list[Any]:
        return [
            PowerTransform(exponent=self.concentration_reciprocal),
            AffineTransform(loc=0, scale=self.scale),
        ]

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new.concentration_reciprocal = new.concentration.reciprocal()
        new.transforms = new._steps()
        return new

    @property
    def mean(self) -> Any:
        return self.scale * torch.exp(torch.lgamma(1 + self.concentration_reciprocal))

    @property
    def mode(self) -> Any:
        power = self.concentration.reciprocal()
        return self.scale * ((self.concentration - 1) / self.concentration) ** power

    @property
    def variance(self) -> Any:
        once = torch.lgamma(1 + self.concentration_reciprocal)
        twice = torch.lgamma(1 + 2 * self.concentration_reciprocal)
        return self.scale.pow(2) * (torch.exp(twice) - torch.exp(2 * once))

    def entropy(self) -> Any:
        rest = 1 - self.concentration_reciprocal
        return euler_constant * rest + torch.log(self.scale * self.concentration_reciprocal) + 1
