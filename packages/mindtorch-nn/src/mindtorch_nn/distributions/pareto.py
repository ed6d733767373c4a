"""The Pareto distribution."""

from __future__ import annotations

from typing import Any

from . import constraints
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform
from .utils import alias, broadcast_all

__all__ = ["Pareto"]


class Pareto(TransformedDistribution):
    """Numbers above a scale whose tail is a power.

    Args:
        scale: smallest values.
        alpha: the powers.
        validate_args: whether arguments are checked.
    """

    arg_constraints = {"alpha": constraints.positive, "scale": constraints.positive}
    _expanded = {"scale": 0, "alpha": 0}

    def __init__(self, scale: Any, alpha: Any, validate_args: bool | None = None) -> None:
        self.scale, self.alpha = broadcast_all(scale, alpha)
        base = Exponential(self.alpha, validate_args=validate_args)
        steps = [ExpTransform(), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, steps, validate_args=validate_args)

    @property
    def mean(self) -> Any:
        """The mean; infinite where there is none."""
        a = self.alpha.clamp(min=1)
        return a * self.scale / (a - 1)

    mode = alias("scale", "The most likely value.")

    @property
    def variance(self) -> Any:
        """The variance; infinite where there is none."""
        a = self.alpha.clamp(min=2)
        return self.scale.pow(2) * a / ((a - 1).pow(2) * (a - 2))

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        return constraints.greater_than_eq(self.scale)

    def entropy(self) -> Any:
        return (self.scale / self.alpha).log() + (1 + self.alpha.reciprocal())
