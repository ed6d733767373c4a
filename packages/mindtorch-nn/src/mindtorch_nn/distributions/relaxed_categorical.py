"""Points near the corners of a simplex instead of them, with gradients (Maddison et al., 2017)."""

from __future__ import annotations

from typing import Any

import mindtorch_core as torch

from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from .transformed_distribution import TransformedDistribution
from .transforms import ExpTransform
from .utils import alias, broadcast_all, clamp_probs, uniform

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(Distribution):
    """Logarithms of relaxed one-hot vectors.

    Args:
        temperature: how far from the corners they are.
        probs: weights of the choices.
        logits: logarithms of weights instead.
        validate_args: whether arguments are checked.

    Raises:
        ValueError: unless one of both is given, with a dimension.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True
    _expanded = {"_categorical": 0}
    _kept = ("temperature",)

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(
            self._categorical.batch_shape,
            self._categorical.param_shape[-1:],
            validate_args=validate_args,
        )

    param_shape = alias("_categorical.param_shape", "Shape of the parameter.")
    logits = alias("_categorical.logits", "Logarithms of the probabilities.")
    probs = alias("_categorical.probs", "Probabilities.")

    def rsample(self, sample_shape: Any = ()) -> Any:
        u = clamp_probs(uniform(self._extended_shape(sample_shape), self.logits))
        scores = (self.logits - (-(u.log())).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        n = self._categorical._num_events
        logits, value = broadcast_all(self.logits, value)
        scale = torch.full_like(self.temperature, float(n)).lgamma()
        scale = scale + self.temperature.log() * (n - 1)
        score = logits - value.mul(self.temperature)
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(TransformedDistribution):
    """Points of a simplex near its corners.

    Args:
        temperature: how far from the corners they are.
        probs: weights of the choices.
        logits: logarithms of weights instead.
        validate_args: whether arguments are checked.

    Raises:
        ValueError: unless one of both is given, with a dimension.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True
    _expanded = {}

    def __init__(
        self, temperature: Any, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    temperature = alias("base_dist.temperature", "How far from the corners samples are.")
    logits = alias("base_dist.logits", "Logarithms of the probabilities.")
    probs = alias("base_dist.probs", "Probabilities.")
