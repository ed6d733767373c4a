"""The Bernoulli distribution."""

from __future__ import annotations

import math
from typing import Any

import mindtorch_core as torch
from mindtorch_core.nn import functional as F

from . import constraints
from .distribution import OfProbabilities
from .exp_family import ExponentialFamily
from .utils import alias, broadcast_all

__all__ = ["Bernoulli"]


class Bernoulli(OfProbabilities, ExponentialFamily):
    """Ones and zeros.

    Args:
        probs: probabilities of 1.
        logits: logarithms of the odds instead.
        validate_args: whether arguments are checked.

    Raises:
        ValueError: unless one of both is given.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0
    _expanded = {"probs": 0, "logits": 0}
    _kept = ("_has_probs",)

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        (given,) = self._take(probs, logits)
        super().__init__(given.size(), validate_args=validate_args)

    mean = alias("probs", "The mean.")

    @property
    def mode(self) -> Any:
        """The most likely value; NaN where both are as likely."""
        found = (self.probs >= 0.5).to(self.probs.dtype)
        return found.masked_fill(self.probs == 0.5, math.nan)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -F.binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        return F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        """0 and 1, along a first dimension."""
        values = torch.arange(2, dtype=self._param.dtype, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return (torch.logit(self.probs),)

    def _log_normalizer(self, x: Any) -> Any:
        return torch.log1p(torch.exp(x))
