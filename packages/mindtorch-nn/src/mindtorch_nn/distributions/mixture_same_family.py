"""Mixtures of distributions of one family."""

from __future__ import annotations

from typing import Any

import mindtorch_core as torch

from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from .utils import alias

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """One of several distributions, chosen at random.

    Args:
        mixture_distribution: of the choice.
        component_distribution: the distributions, along the last batch dimension.
        validate_args: whether arguments are checked.

    Raises:
        ValueError: if they are none, or shapes do not fit.
    """

    arg_constraints: Any = {}
    has_rsample = False

    def __init__(
        self, mixture_distribution: Any, component_distribution: Any,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(
                " The Mixture distribution needs to be an  instance of torch.distributions.Categorical"
            )
        if not isinstance(component_distribution, Distribution):
            raise ValueError(
                "The Component distribution needs to be an instance of torch.distributions.Distribution"
            )
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        ours = mixture_distribution.batch_shape
        theirs = component_distribution.batch_shape[:-1]
        for one, other in zip(reversed(ours), reversed(theirs), strict=False):
            if one not in (1, other) and other != 1:
                raise ValueError(
                    f"`mixture_distribution.batch_shape` ({ours}) is not compatible with "
                    f"`component_distribution.batch_shape`({theirs})"
                )
        count = mixture_distribution.logits.shape[-1]
        if count != component_distribution.batch_shape[-1]:
            raise ValueError(
                f"`mixture_distribution component` ({count}) does not equal "
                f"`component_distribution.batch_shape[-1]` ({component_distribution.batch_shape[-1]})"
            )
        self._num_component = count
        event_shape = component_distribution.event_shape
        self._event_ndims = len(event_shape)
        super().__init__(theirs, event_shape, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        batch_shape = torch.Size(batch_shape)
        new._component_distribution = self._component_distribution.expand(
            (*batch_shape, self._num_component)
        )
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        new._num_component = self._num_component
        new._event_ndims = self._event_ndims
        return self._finish(new, batch_shape, self.event_shape)

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    mixture_distribution = alias("_mixture_distribution", "The distribution of the choice.")
    component_distribution = alias("_component_distribution", "The distributions to choose from.")

    def _weights(self) -> Any:
        """Probabilities of the components, with the dimensions of an event."""
        probs = self._mixture_distribution.probs
        ours, batch = len(self._mixture_distribution.batch_shape), len(self.batch_shape)
        missing = 0 if ours == 1 else batch - ours
        inner = (1,) * self._event_ndims
        return probs.reshape((*probs.shape[:-1], *(1,) * missing, probs.shape[-1], *inner))

    @property
    def mean(self) -> Any:
        means = self._weights() * self._component_distribution.mean
        return means.sum(-1 - self._event_ndims)

    @property
    def variance(self) -> Any:
        """The variance: within the components, and between them."""
        weights, dim = self._weights(), -1 - self._event_ndims
        within = (weights * self._component_distribution.variance).sum(dim)
        off = self._component_distribution.mean - self._pad(self.mean)
        return within + (weights * off.pow(2.0)).sum(dim)

    def cdf(self, x: Any) -> Any:
        found = self._component_distribution.cdf(self._pad(x))
        return (found * self._mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Any) -> Any:
        self._validate_sample(x)
        found = self._component_distribution.log_prob(self._pad(x))
        weights = torch.log_softmax(self._mixture_distribution.logits, dim=-1)
        return torch.logsumexp(found + weights, dim=-1)

    def sample(self, sample_shape: Any = ()) -> Any:
        with torch.no_grad():
            dim = len(sample_shape) + len(self.batch_shape)
            chosen = self._mixture_distribution.sample(sample_shape)
            drawn = self._component_distribution.sample(sample_shape)
            index = chosen.reshape((*chosen.shape, *(1,) * (self._event_ndims + 1)))
            shape = list(drawn.shape)
            shape[dim] = 1
            return drawn.gather(dim, index.expand(shape)).squeeze(dim)

    def _pad(self, x: Any) -> Any:
        return x.unsqueeze(-1 - self._event_ndims)

    def __repr__(self) -> str:
        return (
            f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
        )
