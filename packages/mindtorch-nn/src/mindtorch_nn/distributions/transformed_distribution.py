"""Distributions of what transforms make of samples."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import mindtorch_core as torch

from . import constraints
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """What transforms, one after the other, make of the samples of a distribution.

    Args:
        base_distribution: the distribution.
        transforms: a transform or a list of them.
        validate_args: whether arguments are checked.

    Raises:
        ValueError: if ``transforms`` are none, or take values of more dimensions than there are.
    """

    arg_constraints: Any = {}
    base_dist: Any
    _expanded: ClassVar[Mapping[str, int]] = {}

    def __init__(
        self,
        base_distribution: Any,
        transforms: Transform | list[Any],
        validate_args: bool | None = None,
    ) -> None:
        steps = [transforms] if isinstance(transforms, Transform) else transforms
        if not isinstance(steps, list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        if not all(isinstance(t, Transform) for t in steps):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        self.transforms = steps
        shape = base_distribution.batch_shape + base_distribution.event_shape
        own = len(base_distribution.event_shape)
        whole = ComposeTransform(steps)
        takes, gives = whole.domain.event_dim, whole.codomain.event_dim
        if len(shape) < takes:
            raise ValueError(
                f"base_distribution needs to have shape with size at least {takes}, but got {shape}."
            )
        made = torch.Size(whole.forward_shape(shape))
        needed = torch.Size(whole.inverse_shape(made))
        if shape != needed:
            base_distribution = base_distribution.expand(needed[: len(needed) - own])
        if takes > own:
            base_distribution = Independent(base_distribution, takes - own)
        self.base_dist = base_distribution
        cut = len(made) - max(gives, own + gives - takes)
        super().__init__(made[:cut], made[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        batch_shape = torch.Size(batch_shape)
        new = self._expanded_copy(batch_shape, _instance)
        shape = torch.Size((*batch_shape, *self.event_shape))
        for t in reversed(self.transforms):
            shape = t.inverse_shape(shape)
        own = len(self.base_dist.event_shape)
        new.base_dist = self.base_dist.expand(shape[: len(shape) - own])
        new.transforms = self.transforms
        return self._finish(new, batch_shape, self.event_shape)

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        found = self.transforms[-1].codomain
        more = len(self.event_shape) - found.event_dim
        return constraints.independent(found, more) if more > 0 else found

    @property
    def has_rsample(self) -> bool:
        return bool(self.base_dist.has_rsample)

    def _forward(self, x: Any) -> Any:
        for t in self.transforms:
            x = t(x)
        return x

    def sample(self, sample_shape: Any = ()) -> Any:
        with torch.no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._forward(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        event_dim = len(self.event_shape)
        found: Any = 0.0
        y = value
        for t in reversed(self.transforms):
            x = t.inv(y)
            event_dim += t.domain.event_dim - t.codomain.event_dim
            slope = t.log_abs_det_jacobian(x, y)
            found = found - sum_rightmost(slope, event_dim - t.domain.event_dim)
            y = x
        rest = event_dim - len(self.base_dist.event_shape)
        return found + sum_rightmost(self.base_dist.log_prob(y), rest)

    def _monotonize_cdf(self, value: Any) -> Any:
        """A probability as if all transforms were rising."""
        sign: Any = 1
        for t in self.transforms:
            sign = sign * t.sign
        if isinstance(sign, int) and sign == 1:
            return value
        return sign * (value - 0.5) + 0.5

    def cdf(self, value: Any) -> Any:
        for t in reversed(self.transforms):
            value = t.inv(value)
        self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        return self._forward(self.base_dist.icdf(self._monotonize_cdf(value)))
