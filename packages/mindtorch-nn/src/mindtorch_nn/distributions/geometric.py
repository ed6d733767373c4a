"""The geometric distribution."""

from __future__ import annotations

from typing import Any

import mindtorch_core as torch
from mindtorch_core.nn import functional as F

from . import constraints
from .distribution import OfProbabilities
from .utils import broadcast_all, uniform

__all__ = ["Geometric"]


class Geometric(OfProbabilities):
    """Numbers of failures before the first success.

    Args:
        probs: probabilities of a success, in (0, 1].
        logits: logarithms of the odds instead.
        validate_args: whether arguments are checked.

    Raises:
        ValueError: unless one of both is given, or for a probability of 0.
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer
    _expanded = {"probs": 0, "logits": 0}
    _kept = ("_has_probs",)

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        (given,) = self._take(probs, logits)
        super().__init__(given.size(), validate_args=validate_args)
        if self._validate_args and probs is not None:
            value = self.probs
            if not (value > 0).all():
                raise ValueError(
                    f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)}) of "
                    f"distribution {self!r} to be positive but found invalid values:\n"
                    f"{value[~(value > 0)]}"
                )

    @property
    def mean(self) -> Any:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Any:
        return torch.zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            u = uniform(shape, self.probs).clamp(min=torch.finfo(self.probs.dtype).tiny)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        probs = probs.masked_fill((probs == 1) & (value == 0), 0)
        return value * (-probs).log1p() + self.probs.log()

    def entropy(self) -> Any:
        cross = F.binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")
        return cross / self.probs
