"""The multinomial distribution."""

from __future__ import annotations

from typing import Any

import mindtorch_core as torch

from . import constraints
from .binomial import Binomial
from .categorical import Categorical
from .distribution import Distribution
from .utils import alias, broadcast_all

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    """How often each choice is made.

    Args:
        total_count: number of choices, an int.
        probs: weights, along the last dimension.
        logits: logarithms of weights instead.
        validate_args: whether arguments are checked.

    Raises:
        NotImplementedError: if ``total_count`` is no int.
        ValueError: unless one of both is given, with a dimension.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    total_count: int
    _expanded = {"_categorical": 0}
    _kept = ("total_count", "_binomial")

    def __init__(
        self, total_count: int = 1, probs: Any = None, logits: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        self._binomial = Binomial(total_count=total_count, probs=self.probs)
        super().__init__(
            self._categorical.batch_shape,
            self._categorical.param_shape[-1:],
            validate_args=validate_args,
        )

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    logits = alias("_categorical.logits", "Logarithms of the probabilities.")
    probs = alias("_categorical.probs", "Probabilities.")
    param_shape = alias("_categorical.param_shape", "Shape of the parameter.")

    @property
    def mean(self) -> Any:
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Any:
        sample_shape = torch.Size(sample_shape)
        drawn = self._categorical.sample((self.total_count, *sample_shape))
        drawn = drawn.permute(*range(1, drawn.dim()), 0)
        counts = drawn.new_zeros(self._extended_shape(sample_shape))
        counts.scatter_add_(-1, drawn, torch.ones_like(drawn))
        return counts.type_as(self.probs)

    def entropy(self) -> Any:
        n = torch.tensor(self.total_count, dtype=self.probs.dtype, device=self.probs.device)
        binomial = self._binomial
        support = binomial.enumerate_support(expand=False)[1:]
        weights = torch.exp(binomial.log_prob(support))
        orders = (weights * torch.lgamma(support + 1)).sum([0, -1])
        return n * self._categorical.entropy() - torch.lgamma(n + 1) + orders

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.clone(memory_format=torch.contiguous_format)
        orders = torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1)
        logits = logits.masked_fill((value == 0) & (logits == -torch.inf), 0)
        return orders + (logits * value).sum(-1)
