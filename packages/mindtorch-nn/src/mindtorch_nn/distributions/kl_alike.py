"""Divergences between distributions of one kind."""

from __future__ import annotations

import math
from typing import Any

import mindtorch_core as torch
from mindtorch_core import Tensor
from mindtorch_core.nn import functional as F

from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .categorical import Categorical
from .cauchy import Cauchy
from .continuous_bernoulli import ContinuousBernoulli
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily
from .exponential import Exponential
from .gamma import Gamma
from .geometric import Geometric
from .gumbel import Gumbel
from .half_normal import HalfNormal
from .independent import Independent
from .kl_registry import kl_divergence, register_kl
from .laplace import Laplace
from .lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
    lowrank_log_det,
    lowrank_mahalanobis,
)
from .multivariate_normal import MultivariateNormal, half_log_det, mahalanobis
from .normal import Normal
from .one_hot_categorical import OneHotCategorical
from .pareto import Pareto
from .poisson import Poisson
from .transformed_distribution import TransformedDistribution
from .uniform import Uniform
from .utils import euler_constant, sum_rightmost

__all__: list[str] = []


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p: Any, q: Any) -> Any:
    one = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    one = one.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0)
    zero = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    return one + zero.masked_fill(q.probs == 1, math.inf).masked_fill(p.probs == 1, 0)


@register_kl(Beta, Beta)
def _beta(p: Any, q: Any) -> Any:
    a, b, c, d = p.concentration1, p.concentration0, q.concentration1, q.concentration0
    normalizers = c.lgamma() + d.lgamma() + (a + b).lgamma()
    normalizers = normalizers - a.lgamma() - b.lgamma() - (c + d).lgamma()
    change = (a - c) * a.digamma() + (b - d) * b.digamma()
    return normalizers + change + (c + d - a - b) * (a + b).digamma()


@register_kl(Binomial, Binomial)
def _binomial(p: Any, q: Any) -> Any:
    if (p.total_count < q.total_count).any():
        raise NotImplementedError(
            "KL between Binomials where q.total_count > p.total_count is not implemented"
        )
    each = p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p()
    return (p.total_count * each).masked_fill(p.total_count > q.total_count, math.inf)


@register_kl(Categorical, Categorical)
def _categorical(p: Any, q: Any) -> Any:
    each = p.probs * (p.logits - q.logits)
    return each.masked_fill(q.probs == 0, math.inf).masked_fill(p.probs == 0, 0).sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p: Any, q: Any) -> Any:
    return _categorical(p._categorical, q._categorical)


@register_kl(ContinuousBernoulli, ContinuousBernoulli)
def _continuous_bernoulli(p: Any, q: Any) -> Any:
    own = p._cont_bern_log_norm() + torch.log1p(-p.probs)
    other = q._cont_bern_log_norm() + torch.log1p(-q.probs)
    return p.mean * (p.logits - q.logits) + own - other


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    total = a.sum(-1)
    normalizers = total.lgamma() - b.sum(-1).lgamma() - (a.lgamma() - b.lgamma()).sum(-1)
    return normalizers + ((a - b) * (a.digamma() - total.digamma().unsqueeze(-1))).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p: Any, q: Any) -> Any:
    ratio = q.rate / p.rate
    return ratio - ratio.log() - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _family(p: Any, q: Any) -> Any:
    """A Bregman divergence of the normalizer."""
    if type(p) is not type(q):
        raise NotImplementedError(
            "The cross KL-divergence between different exponential families cannot be computed using "
            "Bregman divergences"
        )
    ours = [each.detach().requires_grad_() for each in p._natural_params]
    normalizer = p._log_normalizer(*ours)
    gradients = torch.autograd.grad(normalizer.sum(), ours, create_graph=True)
    found = q._log_normalizer(*q._natural_params) - normalizer
    for own, other, g in zip(ours, q._natural_params, gradients, strict=True):
        found = found - sum_rightmost((other - own) * g, len(q.event_shape))
    return found


@register_kl(Gamma, Gamma)
def _gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration, q.concentration
    normalizers = b * (p.rate / q.rate).log() + torch.lgamma(b) - torch.lgamma(a)
    return normalizers + (a - b) * torch.digamma(a) + (q.rate - p.rate) * (a / p.rate)


@register_kl(Gumbel, Gumbel)
def _gumbel(p: Any, q: Any) -> Any:
    ratio, theirs, ours = p.scale / q.scale, q.loc / q.scale, p.loc / q.scale
    change = torch.exp(theirs + (1 + ratio).lgamma() - ours)
    return -ratio.log() - theirs + ours + ratio * euler_constant + change - (1 + euler_constant)


@register_kl(Geometric, Geometric)
def _geometric(p: Any, q: Any) -> Any:
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(Normal, Normal)
def _normal(p: Any, q: Any) -> Any:
    ratio = (p.scale / q.scale).pow(2)
    return 0.5 * (ratio + ((p.loc - q.loc) / q.scale).pow(2) - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p: Any, q: Any) -> Any:
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p: Any, q: Any) -> Any:
    ratio, off = p.scale / q.scale, (p.loc - q.loc).abs()
    return -ratio.log() + off / q.scale + ratio * torch.exp(-off / p.scale) - 1


@register_kl(Pareto, Pareto)
def _pareto(p: Any, q: Any) -> Any:
    ratio = q.alpha / p.alpha
    found = q.alpha * (p.scale / q.scale).log() - ratio.log() + ratio - 1
    return found.masked_fill(p.support.lower_bound < q.support.lower_bound, math.inf)


@register_kl(Poisson, Poisson)
def _poisson(p: Any, q: Any) -> Any:
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Cauchy, Cauchy)
def _cauchy(p: Any, q: Any) -> Any:
    """Of Chyzak and Nielsen (2019)."""
    top = (p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)
    return top.log() - (4 * p.scale * q.scale).log()


@register_kl(Uniform, Uniform)
def _uniform(p: Any, q: Any) -> Any:
    found = ((q.high - q.low) / (p.high - p.low)).log()
    return found.masked_fill((q.low > p.low) | (q.high < p.high), math.inf)


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p: Any, q: Any) -> Any:
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p: Any, q: Any) -> Any:
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    found = kl_divergence(p.base_dist, q.base_dist)
    return sum_rightmost(found, p.reinterpreted_batch_ndims)


# ---- normal vectors -----------------------------------------------------------------------------


def _trace(matrix: Tensor) -> Tensor:
    """Trace of a matrix times its transpose."""
    return matrix.pow(2).sum((-2, -1))


def _same_events(p: Any, q: Any) -> None:
    if p.event_shape != q.event_shape:
        raise ValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed"
        )


def _solved(lower: Tensor, matrix: Tensor) -> Tensor:
    """The solution of triangular systems, for batches that broadcast."""
    batch = torch.broadcast_shapes(lower.shape[:-2], matrix.shape[:-2])
    return torch.linalg.solve_triangular(
        lower.expand(batch + lower.shape[-2:]),
        matrix.expand(batch + matrix.shape[-2:]),
        upper=False,
    )


@register_kl(MultivariateNormal, MultivariateNormal)
def _vectors(p: Any, q: Any) -> Any:
    _same_events(p, q)
    ours, theirs = p._unbroadcasted_scale_tril, q._unbroadcasted_scale_tril
    spread = _trace(_solved(theirs, ours)) + mahalanobis(theirs, q.loc - p.loc)
    return half_log_det(theirs) - half_log_det(ours) + 0.5 * (spread - p.event_shape[0])


def _lowrank_terms(p: Any, q: Any) -> tuple[Any, Any, Any]:
    """For a low-rank ``q``: its determinant and distance, and what takes its factor out of a trace."""
    factor, diagonal = q._unbroadcasted_cov_factor, q._unbroadcasted_cov_diag
    log_det = lowrank_log_det(diagonal, q._capacitance_tril)
    distance = lowrank_mahalanobis(factor, diagonal, q.loc - p.loc, q._capacitance_tril)
    inside = _solved(q._capacitance_tril, factor.mT / diagonal.unsqueeze(-2))
    return log_det, distance, inside


@register_kl(LowRankMultivariateNormal, LowRankMultivariateNormal)
def _lowrank(p: Any, q: Any) -> Any:
    _same_events(p, q)
    log_det, distance, inside = _lowrank_terms(p, q)
    ours, theirs = p._unbroadcasted_cov_diag, q._unbroadcasted_cov_diag
    factor = p._unbroadcasted_cov_factor
    spread = (ours / theirs).sum(-1) + _trace(factor * theirs.rsqrt().unsqueeze(-1))
    spread = spread - _trace(inside * ours.sqrt().unsqueeze(-2)) - _trace(inside.matmul(factor))
    own = lowrank_log_det(ours, p._capacitance_tril)
    return 0.5 * (log_det - own + spread + distance - p.event_shape[0])


@register_kl(MultivariateNormal, LowRankMultivariateNormal)
def _vectors_lowrank(p: Any, q: Any) -> Any:
    _same_events(p, q)
    log_det, distance, inside = _lowrank_terms(p, q)
    lower = p._unbroadcasted_scale_tril
    scaled = lower * q._unbroadcasted_cov_diag.rsqrt().unsqueeze(-1)
    spread = _trace(scaled) - _trace(inside.matmul(lower))
    return 0.5 * (log_det - 2 * half_log_det(lower) + spread + distance - p.event_shape[0])


@register_kl(LowRankMultivariateNormal, MultivariateNormal)
def _lowrank_vectors(p: Any, q: Any) -> Any:
    _same_events(p, q)
    lower = q._unbroadcasted_scale_tril
    own = lowrank_log_det(p._unbroadcasted_cov_diag, p._capacitance_tril)
    spread = _trace(_solved(lower, p._unbroadcasted_cov_factor)) + _trace(
        _solved(lower, torch.diag_embed(p._unbroadcasted_cov_diag.sqrt()))
    )
    distance = mahalanobis(lower, q.loc - p.loc)
    return 0.5 * (2 * half_log_det(lower) - own + spread + distance - p.event_shape[0])
