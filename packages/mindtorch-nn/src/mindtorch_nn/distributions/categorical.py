"""The categorical distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import mindtorch_core as torch

from . import constraints
from .distribution import OfProbabilities

__all__ = ["Categorical"]


class Categorical(OfProbabilities):
    """Numbers of choices.

    Args:
        probs: their weights, along the last dimension.
        logits: logarithms of weights instead.
        validate_args: whether arguments are checked.

    Raises:
        ValueError: unless one of both is given, with a dimension.
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    is_binary: ClassVar[bool] = False
    _expanded = {"probs": 1, "logits": 1}
    _kept = ("_has_probs", "_num_events")

    def __init__(
        self, probs: Any = None, logits: Any = None, validate_args: bool | None = None
    ) -> None:
        given = self._one_of(probs, logits)
        self._has_probs = probs is not None
        if given.dim() < 1:
            name = "probs" if self._has_probs else "logits"
            raise ValueError(f"`{name}` parameter must be at least one-dimensional.")
        if self._has_probs:
            self.probs = given / given.sum(-1, keepdim=True)
        else:
            self.logits = given - given.logsumexp(dim=-1, keepdim=True)
        self._num_events = given.size()[-1]
        super().__init__(given.size()[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    def _no_number(self) -> Any:
        return torch.full(
            self._extended_shape(), math.nan, dtype=self.probs.dtype, device=self.probs.device
        )

    @property
    def mean(self) -> Any:
        """There is none: NaN."""
        return self._no_number()

    @property
    def mode(self) -> Any:
        """The most likely choice."""
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Any:
        """There is none: NaN."""
        return self._no_number()

    def sample(self, sample_shape: Any = ()) -> Any:
        sample_shape = torch.Size(sample_shape)
        rows = self.probs.reshape(-1, self._num_events)
        with torch.no_grad():
            drawn = torch.multinomial(rows, sample_shape.numel(), True).T
        return drawn.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        value = value.long().unsqueeze(-1)
        value, logits = torch.broadcast_tensors(value, self.logits)
        return logits.gather(-1, value[..., :1]).squeeze(-1)

    def entropy(self) -> Any:
        logits = torch.clamp(self.logits, min=torch.finfo(self.logits.dtype).min)
        return -(logits * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        """All choices, along a first dimension."""
        values = torch.arange(self._num_events, dtype=torch.long, device=self._param.device)
        values = values.view((-1,) + (1,) * len(self._batch_shape))
        return values.expand((-1, *self._batch_shape)) if expand else values
