"""The normal distribution of vectors."""

from __future__ import annotations

import math
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor

from . import constraints
from .distribution import Distribution
from .utils import alias, lazy_property, standard_normal

__all__ = ["MultivariateNormal"]


def times(matrix: Tensor, vector: Tensor) -> Tensor:
    """Products of batches of matrices and vectors."""
    return torch.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def mahalanobis(lower: Tensor, x: Tensor) -> Tensor:
    """Squared lengths of vectors in units of the factor of a covariance matrix."""
    shape = torch.broadcast_shapes(lower.shape[:-2], x.shape[:-1])
    n = x.shape[-1]
    factors = lower.expand((*shape, n, n))
    solved = torch.linalg.solve_triangular(
        factors, x.expand((*shape, n)).unsqueeze(-1), upper=False
    )
    return solved.squeeze(-1).pow(2).sum(-1)


def half_log_det(lower: Tensor) -> Tensor:
    """Half the logarithm of the determinant of a covariance matrix, from its factor."""
    return lower.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def precision_to_scale_tril(precision: Tensor) -> Tensor:
    """The factor of a covariance matrix, from its inverse."""
    flipped = torch.linalg.cholesky(torch.flip(precision, (-2, -1)))
    inverse = torch.flip(flipped, (-2, -1)).transpose(-2, -1)
    one = torch.eye(precision.shape[-1], dtype=precision.dtype, device=precision.device)
    return torch.linalg.solve_triangular(inverse, one.expand(inverse.shape), upper=False)


# Names that libraries take from PyTorch's module.
_batch_mv, _batch_mahalanobis = times, mahalanobis
_precision_to_scale_tril = precision_to_scale_tril


def factor_of(given: dict[str, Any]) -> Tensor:
    """The factor of a covariance matrix, from the one of three matrices that was given."""
    if given["scale_tril"] is not None:
        found: Tensor = given["scale_tril"]
    elif given["covariance_matrix"] is not None:
        found = torch.linalg.cholesky(given["covariance_matrix"])
    else:
        found = precision_to_scale_tril(given["precision_matrix"])
    return found


class WithCovariance(Distribution):
    """Base of distributions with a matrix that may be given in three ways."""

    _unbroadcasted_scale_tril: Any

    def _whole(self, matrix: Tensor) -> Tensor:
        return matrix.expand((*self._batch_shape, *matrix.shape[-2:]))

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower triangular factor."""
        return self._whole(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """The matrix."""
        lower = self._unbroadcasted_scale_tril
        return self._whole(torch.matmul(lower, lower.mT))

    @lazy_property
    def precision_matrix(self) -> Any:
        """Its inverse."""
        return self._whole(torch.cholesky_inverse(self._unbroadcasted_scale_tril))


class MultivariateNormal(WithCovariance):
    """Normal vectors.

    Args:
        loc: means.
        covariance_matrix: covariances; or one of the next two.
        precision_matrix: their inverse.
        scale_tril: their lower triangular factor.
        validate_args: whether arguments are checked.

    Raises:
        ValueError: unless one of the three matrices is given, with two dimensions.
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _expanded = {"loc": 1, "covariance_matrix": 2, "precision_matrix": 2, "scale_tril": 2}
    _kept = ("_unbroadcasted_scale_tril",)

    def __init__(
        self, loc: Tensor, covariance_matrix: Any = None, precision_matrix: Any = None,
        scale_tril: Any = None, validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        given = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        found = {name: m for name, m in given.items() if m is not None}
        if len(found) != 1:
            raise ValueError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
            )
        ((name, matrix),) = found.items()
        if matrix.dim() < 2:
            raise ValueError(
                f"{name} must be at least two-dimensional, with optional leading batch dimensions"
            )
        batch_shape = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        self.loc = loc.expand((*batch_shape, -1))
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = factor_of(given)

    mean = alias("loc", "The mean.")
    mode = alias("loc", "The most likely value.")

    @property
    def variance(self) -> Any:
        squares = self._unbroadcasted_scale_tril.pow(2).sum(-1)
        return squares.expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Any:
        drawn = standard_normal(self._extended_shape(sample_shape), self.loc)
        return self.loc + times(self._unbroadcasted_scale_tril, drawn)

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        lower = self._unbroadcasted_scale_tril
        square = mahalanobis(lower, value - self.loc)
        rest = self._event_shape[0] * math.log(2 * math.pi)
        return -0.5 * (rest + square) - half_log_det(lower)

    def entropy(self) -> Any:
        n = self._event_shape[0]
        found = 0.5 * n * (1.0 + math.log(2 * math.pi))
        return (found + half_log_det(self._unbroadcasted_scale_tril)).expand(self._batch_shape)
