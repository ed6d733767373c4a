"""The distribution of correlation matrices of Lewandowski, Kurowicka and Joe (2009)."""

from __future__ import annotations

import math
from typing import Any

import mindtorch_core as torch

from . import constraints
from .beta import Beta
from .distribution import Distribution
from .utils import broadcast_all, standard_normal

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """Lower triangular factors of correlation matrices.

    Args:
        dim: size of the matrices.
        concentration: the power of the determinant; 1 for all matrices alike.
        validate_args: whether arguments are checked.

    Raises:
        ValueError: if ``dim`` is less than 2.
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky

    def __init__(
        self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None
    ) -> None:
        if dim < 2:
            raise ValueError(
                f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}."
            )
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        c = self.concentration
        steps = torch.arange(dim - 1, dtype=c.dtype, device=c.device)
        offset = torch.cat([steps.new_zeros((1,)), steps])
        marginal = c + 0.5 * (dim - 2)
        self._beta = Beta(offset + 0.5, marginal.unsqueeze(-1) - 0.5 * offset)
        super().__init__(c.size(), (dim, dim), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(LKJCholesky, _instance)
        batch_shape = torch.Size(batch_shape)
        new.dim = self.dim
        new.concentration = self.concentration.expand(batch_shape)
        new._beta = self._beta.expand((*batch_shape, self.dim))
        return self._finish(new, batch_shape, self.event_shape)

    def sample(self, sample_shape: Any = ()) -> Any:
        """Samples, row by row (the onion method)."""
        y = self._beta.sample(sample_shape).unsqueeze(-1)
        drawn = standard_normal(self._extended_shape(sample_shape), y).tril(-1)
        lengths = drawn.norm(dim=-1, keepdim=True)
        directions = torch.where(lengths > 0, drawn / lengths, torch.zeros_like(drawn))
        w = torch.sqrt(y) * directions
        rest = torch.clamp(1 - torch.sum(w**2, dim=-1), min=torch.finfo(w.dtype).tiny).sqrt()
        return w + torch.diag_embed(rest)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        n, c = self.dim, self.concentration
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        order = torch.arange(2, n + 1, device=c.device)
        order = 2 * (c - 1).unsqueeze(-1) + n - order
        density = torch.sum(order * diagonal.log(), dim=-1)
        alpha = c + 0.5 * (n - 1)
        top = torch.mvlgamma(alpha - 0.5, n - 1)
        circle = 0.5 * (n - 1) * math.log(math.pi)
        return density - (circle + top - torch.lgamma(alpha) * (n - 1))
