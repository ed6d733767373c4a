"""Numbers near 0 and 1 instead of them, with gradients (Maddison et al., 2017)."""

from __future__ import annotations

from typing import Any

from . import constraints
from .distribution import OfProbabilities
from .transformed_distribution import TransformedDistribution
from .transforms import SigmoidTransform
from .utils import alias, broadcast_all, clamp_probs, uniform

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(OfProbabilities):
    """Logarithms of the odds of relaxed Bernoulli numbers.

    Args:
        temperature: how far from 0 and 1 they are.
        probs: probabilities of 1.
        logits: logarithms of the odds instead.
        validate_args: whether arguments are checked.

    Raises:
        ValueError: unless one of both is given.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    _expanded = {"probs": 0, "logits": 0}
    _kept = ("_has_probs", "temperature")

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self.temperature = temperature
        (given,) = self._take(probs, logits)
        super().__init__(given.size(), validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(uniform(shape, probs))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        off = logits - value.mul(self.temperature)
        return self.temperature.log() + off - 2 * off.exp().log1p()


class RelaxedBernoulli(TransformedDistribution):
    """Numbers between 0 and 1, near the ends.

    Args:
        temperature: how far from 0 and 1 they are.
        probs: probabilities of 1.
        logits: logarithms of the odds instead.
        validate_args: whether arguments are checked.

    Raises:
        ValueError: unless one of both is given.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _expanded = {}

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    temperature = alias("base_dist.temperature", "How far from 0 and 1 samples are.")
    logits = alias("base_dist.logits", "Logarithms of the odds.")
    probs = alias("base_dist.probs", "Probabilities of 1.")
