"""The binomial distribution."""

from __future__ import annotations

from typing import Any

import mindtorch_core as torch

from . import constraints
from .distribution import OfProbabilities

__all__ = ["Binomial"]


def _positive_part(x: Any) -> Any:
    """``max(x, 0)`` with the gradient one half at 0."""
    return (x.clamp(min=0) + x - x.clamp(max=0)) / 2


class Binomial(OfProbabilities):
    """Numbers of successes.

    Args:
        total_count: numbers of trials.
        probs: probabilities of a success.
        logits: logarithms of the odds instead.
        validate_args: whether arguments are checked.

    Raises:
        ValueError: unless one of both is given.
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    _expanded = {"total_count": 0, "probs": 0, "logits": 0}
    _kept = ("_has_probs",)

    def __init__(
        self, total_count: Any = 1, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        given, count = self._take(probs, logits, total_count)
        self.total_count = count.type_as(given)
        super().__init__(given.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        return torch.minimum(((self.total_count + 1) * self.probs).floor(), self.total_count)

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        n = self.total_count
        orders = torch.lgamma(n + 1) - torch.lgamma(value + 1) - torch.lgamma(n - value + 1)
        sure = _positive_part(self.logits) + torch.log1p(torch.exp(-torch.abs(self.logits)))
        return value * self.logits + orders - n * sure

    def entropy(self) -> Any:
        """The entropy; for one number of trials only."""
        self._count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(log_prob) * log_prob).sum(0)

    def _count(self, name: str) -> int:
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{name}`.")
        return count

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values, along a first dimension; for one number of trials only."""
        count = self._count("enumerate_support")
        values = torch.arange(1 + count, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
