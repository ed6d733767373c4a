"""The categorical distribution with vectors of one 1."""

from __future__ import annotations

from typing import Any

import mindtorch_core as torch
from mindtorch_core.nn import functional as F

from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from .utils import alias

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(Distribution):
    """Vectors with a 1 for the choice and zeros.

    Args:
        probs: weights of the choices, along the last dimension.
        logits: logarithms of weights instead.
        validate_args: whether arguments are checked.

    Raises:
        ValueError: unless one of both is given, with a dimension.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True
    _expanded = {"_categorical": 0}

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(
            self._categorical.batch_shape,
            self._categorical.param_shape[-1:],
            validate_args=validate_args,
        )

    probs = alias("_categorical.probs", "Probabilities.")
    logits = alias("_categorical.logits", "Their logarithms.")
    mean = alias("_categorical.probs", "The mean.")

    @property
    def mode(self) -> Any:
        index = self._categorical.probs.argmax(dim=-1, keepdim=True)
        return torch.zeros_like(self.probs).scatter_(-1, index, 1)

    @property
    def variance(self) -> Any:
        return self._categorical.probs * (1 - self._categorical.probs)

    param_shape = alias("_categorical.param_shape", "Shape of the parameter.")

    def sample(self, sample_shape: Any = ()) -> Any:
        drawn = self._categorical.sample(sample_shape)
        return F.one_hot(drawn, self._categorical._num_events).to(self.probs.dtype)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Any:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values, along a first dimension."""
        n = self.event_shape[0]
        values = torch.eye(n, dtype=self.probs.dtype, device=self.probs.device)
        values = values.view((n,) + (1,) * len(self.batch_shape) + (n,))
        return values.expand((n, *self.batch_shape, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """The same with gradients that pass as if samples were the probabilities (Bengio et al., 2013)."""

    has_rsample = True

    def rsample(self, sample_shape: Any = ()) -> Any:
        """Samples whose gradients are the probabilities'."""
        probs = self._categorical.probs
        return self.sample(sample_shape) + (probs - probs.detach())
