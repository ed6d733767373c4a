"""Exponential families, whose entropy follows from their normalizer."""

from __future__ import annotations

from typing import Any

import mindtorch_core as torch

from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Base of exponential families.

    A subclass gives the natural parameters, the logarithm of the normalizer as a function of them, and the
    mean of the carrier measure.
    """

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError

    def entropy(self) -> Any:
        """The entropy, from the normalizer and its gradient (a Bregman divergence)."""
        found: Any = -self._mean_carrier_measure
        natural = [p.detach().requires_grad_() for p in self._natural_params]
        normalizer = self._log_normalizer(*natural)
        gradients = torch.autograd.grad(normalizer.sum(), natural, create_graph=True)
        found = found + normalizer
        for p, g in zip(natural, gradients, strict=True):
            found = found - (p * g).reshape((*self._batch_shape, -1)).sum(-1)
        return found
