"""Normal vectors whose covariances are a low-rank matrix and a diagonal."""

from __future__ import annotations

import math
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor

from . import constraints
from .distribution import Distribution
from .multivariate_normal import half_log_det, mahalanobis, times
from .utils import alias, lazy_property, standard_normal

__all__ = ["LowRankMultivariateNormal"]


def capacitance_tril(factor: Tensor, diagonal: Tensor) -> Tensor:
    """The factor of the small matrix that inverts the large one (Woodbury's identity)."""
    scaled = factor.mT / diagonal.unsqueeze(-2)
    small = torch.matmul(scaled, factor)
    one = torch.eye(factor.size(-1), dtype=factor.dtype, device=factor.device)
    return torch.linalg.cholesky(small + one)


def lowrank_log_det(diagonal: Tensor, capacitance: Tensor) -> Tensor:
    """Logarithm of the determinant of the covariance matrix."""
    return 2 * half_log_det(capacitance) + diagonal.log().sum(-1)


def lowrank_mahalanobis(factor: Tensor, diagonal: Tensor, x: Tensor, capacitance: Tensor) -> Tensor:
    """Squared lengths of vectors in units of the covariance matrix."""
    inside = times(factor.mT / diagonal.unsqueeze(-2), x)
    return (x.pow(2) / diagonal).sum(-1) - mahalanobis(capacitance, inside)


class LowRankMultivariateNormal(Distribution):
    """Normal vectors with the covariances ``cov_factor @ cov_factor.mT + diag(cov_diag)``.

    Args:
        loc: means.
        cov_factor: the low-rank factor.
        cov_diag: the diagonal.
        validate_args: whether arguments are checked.

    Raises:
        ValueError: if shapes do not fit.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    _expanded = {"loc": 1, "cov_factor": 2, "cov_diag": 1}
    _kept = ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril")

    def __init__(
        self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None
    ) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event_shape = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError(
                "cov_factor must be at least two-dimensional, with optional leading batch dimensions"
            )
        if cov_factor.shape[-2:-1] != event_shape:
            raise ValueError(
                f"cov_factor must be a batch of matrices with shape {event_shape[0]} x m"
            )
        if cov_diag.shape[-1:] != event_shape:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event_shape}")
        try:
            batch_shape = torch.broadcast_shapes(
                loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1]
            )
        except RuntimeError as error:
            raise ValueError(
                f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, cov_diag "
                f"{cov_diag.shape}"
            ) from error
        self.loc = loc.expand(batch_shape + event_shape)
        self.cov_factor = cov_factor.expand(batch_shape + cov_factor.shape[-2:])
        self.cov_diag = cov_diag.expand(batch_shape + event_shape)
        self._unbroadcasted_cov_factor = cov_factor
        self._unbroadcasted_cov_diag = cov_diag
        self._capacitance_tril = capacitance_tril(cov_factor, cov_diag)
        super().__init__(batch_shape, event_shape, validate_args=validate_args)

    def _square(self, matrix: Tensor) -> Tensor:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    mean = alias("loc", "The mean.")
    mode = alias("loc", "The most likely value.")

    @lazy_property
    def variance(self) -> Any:
        squares = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return squares.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower triangular factor of the covariances."""
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        n = self._event_shape[0]
        one = torch.eye(n, dtype=scaled.dtype, device=scaled.device)
        return self._square(root * torch.linalg.cholesky(torch.matmul(scaled, scaled.mT) + one))

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The covariances."""
        factor = self._unbroadcasted_cov_factor
        diagonal = torch.diag_embed(self._unbroadcasted_cov_diag)
        return self._square(torch.matmul(factor, factor.mT) + diagonal)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariances."""
        scaled = self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)
        inside = torch.linalg.solve_triangular(self._capacitance_tril, scaled, upper=False)
        diagonal = torch.diag_embed(self._unbroadcasted_cov_diag.reciprocal())
        return self._square(diagonal - inside.mT @ inside)

    def rsample(self, sample_shape: Any = ()) -> Any:
        shape = self._extended_shape(sample_shape)
        inside = standard_normal((*shape[:-1], self.cov_factor.shape[-1]), self.loc)
        outside = standard_normal(shape, self.loc)
        moved = self.loc + times(self._unbroadcasted_cov_factor, inside)
        return moved + self._unbroadcasted_cov_diag.sqrt() * outside

    def _log_det(self) -> Any:
        return lowrank_log_det(self._unbroadcasted_cov_diag, self._capacitance_tril)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        square = lowrank_mahalanobis(
            self._unbroadcasted_cov_factor,
            self._unbroadcasted_cov_diag,
            value - self.loc,
            self._capacitance_tril,
        )
        rest = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (rest + self._log_det() + square)

    def entropy(self) -> Any:
        found = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_det())
        return found.expand(self._batch_shape)
