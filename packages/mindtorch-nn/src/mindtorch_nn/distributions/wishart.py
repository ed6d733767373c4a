"""The Wishart distribution."""

from __future__ import annotations

import math
from numbers import Number
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.utils._own_frames import warn_user

from . import constraints
from .chi2 import Chi2
from .exp_family import ExponentialFamily
from .multivariate_normal import WithCovariance, factor_of, half_log_det

__all__ = ["Wishart"]


def _mvdigamma(x: Tensor, p: int) -> Tensor:
    """The derivative of the logarithm of the multivariate gamma function."""
    if not x.gt((p - 1) / 2).all():
        raise AssertionError("Wrong domain for multivariate digamma function.")
    steps = torch.arange(p, dtype=x.dtype, device=x.device) / 2
    return torch.digamma(x.unsqueeze(-1) - steps).sum(-1)


class Wishart(WithCovariance, ExponentialFamily):
    """Matrices of inner products of normal vectors.

    Args:
        df: degrees of freedom, more than the matrices' size less 1.
        covariance_matrix: covariances of the vectors; or one of the next two.
        precision_matrix: their inverse.
        scale_tril: their lower triangular factor.
        validate_args: whether arguments are checked.

    Raises:
        AssertionError: unless one of the three matrices is given.
        ValueError: if it has less than two dimensions, or ``df`` is too small.
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _expanded = {"df": 0, "covariance_matrix": 2, "precision_matrix": 2, "scale_tril": 2}
    _kept = ("_unbroadcasted_scale_tril",)

    @property
    def arg_constraints(self) -> Any:
        """What the parameters satisfy."""
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self.event_shape[-1] - 1),
        }

    def __init__(
        self, df: Any, covariance_matrix: Any = None, precision_matrix: Any = None,
        scale_tril: Any = None, validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        given = {
            "covariance_matrix": covariance_matrix,
            "precision_matrix": precision_matrix,
            "scale_tril": scale_tril,
        }
        found = {name: m for name, m in given.items() if m is not None}
        if len(found) != 1:
            raise AssertionError(
                "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."
            )
        ((name, matrix),) = found.items()
        if matrix.dim() < 2:
            raise ValueError(
                "scale_tril must be at least two-dimensional, with optional leading batch dimensions"
            )
        if isinstance(df, Number):
            batch_shape = torch.Size(matrix.shape[:-2])
            self.df = torch.tensor(df, dtype=matrix.dtype, device=matrix.device)
        else:
            batch_shape = torch.broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch_shape)
        n = matrix.shape[-1]
        if self.df.le(n - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
        setattr(self, name, matrix.expand((*batch_shape, -1, -1)))
        if self.df.lt(n).any():
            warn_user(
                "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < "
                "ndim.",
            )
        super().__init__(batch_shape, matrix.shape[-2:], validate_args=validate_args)
        self._unbroadcasted_scale_tril = factor_of(given)

    @property
    def mean(self) -> Any:
        return self._df() * self.covariance_matrix

    def _df(self) -> Any:
        return self.df.expand(self._batch_shape).reshape((*self._batch_shape, 1, 1))

    @property
    def mode(self) -> Any:
        """The most likely value; NaN where there is none."""
        factor = self._df() - self.event_shape[-1] - 1
        return factor.masked_fill(factor <= 0, math.nan) * self.covariance_matrix

    @property
    def variance(self) -> Any:
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        outer = diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2)
        return self._df() * (v.pow(2) + outer)

    def _bartlett(self, sample_shape: Any) -> Any:
        """Samples from chi-squared and normal numbers (Bartlett's decomposition)."""
        n = self._event_shape[-1]
        lower = self._unbroadcasted_scale_tril
        steps = torch.arange(n, dtype=lower.dtype, device=lower.device)
        chi2 = Chi2(self.df.expand(self._batch_shape).unsqueeze(-1) - steps, validate_args=False)
        diagonal = chi2.rsample(sample_shape).sqrt().clamp(min=torch.finfo(lower.dtype).eps)
        shape = (*sample_shape, *self._batch_shape, n, n)
        noise = torch.randn(shape, dtype=lower.dtype, device=lower.device).tril(-1)
        chol = lower @ (noise + diagonal.diag_embed(dim1=-2, dim2=-1))
        return chol @ chol.transpose(-2, -1)

    def rsample(self, sample_shape: Any = (), max_try_correction: int | None = None) -> Any:
        """Samples with gradients to the parameters.

        Args:
            sample_shape: of the batches of samples.
            max_try_correction: how often singular samples are drawn again; 10 times by default.
        """
        sample_shape = torch.Size(sample_shape)
        sample = self._bartlett(sample_shape)
        for _ in range(10 if max_try_correction is None else max_try_correction):
            singular = ~self.support.check(sample)
            if not singular.any():
                break
            warn_user("Singular sample detected.")
            again = self._bartlett(sample_shape)
            sample = torch.where(singular[..., None, None], again, sample)
        return sample

    def log_prob(self, value: Any) -> Any:
        self._validate_sample(value)
        nu, n = self.df, self._event_shape[-1]
        lower = self._unbroadcasted_scale_tril
        shape = torch.broadcast_shapes(value.shape[:-2], lower.shape[:-2])
        solved = torch.cholesky_solve(value.expand((*shape, n, n)), lower.expand((*shape, n, n)))
        trace = solved.diagonal(dim1=-2, dim2=-1).sum(dim=-1)
        return (
            -nu * (n * math.log(2) / 2 + half_log_det(lower))
            - torch.mvlgamma(nu / 2, p=n)
            + (nu - n - 1) / 2 * torch.linalg.slogdet(value)[1]
            - trace / 2
        )

    def entropy(self) -> Any:
        nu, n = self.df, self._event_shape[-1]
        return (
            (n + 1) * (n * math.log(2) / 2 + half_log_det(self._unbroadcasted_scale_tril))
            + torch.mvlgamma(nu / 2, p=n)
            - (nu - n - 1) / 2 * _mvdigamma(nu / 2, p=n)
            + nu * n / 2
        )

    @property
    def _natural_params(self) -> tuple[Any, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        n = self._event_shape[-1]
        degrees = y + (n + 1) / 2
        log_det = -torch.linalg.slogdet(-2 * x)[1] + math.log(2) * n
        return degrees * log_det + torch.mvlgamma(degrees, p=n)
