"""Divergences between distributions of different kinds.

Most are ``-entropy(p) - E_p[log q]``. They are infinite where samples of ``p`` lie outside of ``q``.
"""

from __future__ import annotations

import math
from typing import Any

import mindtorch_core as torch

from .bernoulli import Bernoulli
from .beta import Beta
from .binomial import Binomial
from .continuous_bernoulli import ContinuousBernoulli
from .exponential import Exponential
from .gamma import Gamma
from .gumbel import Gumbel
from .kl_registry import register_kl
from .laplace import Laplace
from .normal import Normal
from .pareto import Pareto
from .poisson import Poisson
from .uniform import Uniform
from .utils import euler_constant

__all__: list[str] = []


# ---- pairs whose supports do not fit ------------------------------------------------------------

_REAL_LINE = (Beta, ContinuousBernoulli, Exponential, Gamma, Pareto, Uniform)
_NEVER: tuple[tuple[type, tuple[type, ...], str], ...] = (
    (Beta, (Pareto,), "concentration1"),
    (ContinuousBernoulli, (Pareto,), "probs"),
    (Exponential, (Beta, ContinuousBernoulli, Pareto, Uniform), "rate"),
    (Gamma, (Beta, ContinuousBernoulli, Pareto, Uniform), "concentration"),
    (Gumbel, _REAL_LINE, "loc"),
    (Laplace, _REAL_LINE, "loc"),
    (Normal, _REAL_LINE, "loc"),
    (Pareto, (Beta, ContinuousBernoulli, Uniform), "scale"),
    (Poisson, (Bernoulli, Binomial), "rate"),
)


def _infinite(parameter: str) -> Any:
    return lambda p, q: torch.full_like(getattr(p, parameter), math.inf)


for _kind, _others, _parameter in _NEVER:
    for _other in _others:
        register_kl(_kind, _other)(_infinite(_parameter))


# ---- expectations of log q ----------------------------------------------------------------------


def _normal_term(q: Any, mean: Any, variance: Any) -> Any:
    """``-E[log q]`` for a normal ``q``."""
    square = variance + mean.pow(2) - 2 * q.loc * mean + q.loc.pow(2)
    return 0.5 * torch.log(2 * math.pi * q.scale.pow(2)) + square / (2 * q.scale.pow(2))


def _exponential_term(q: Any, mean: Any) -> Any:
    return q.rate * mean - q.rate.log()


def _gamma_term(q: Any, mean: Any, log_mean: Any) -> Any:
    """``-E[log q]`` for a gamma ``q``, with the mean of logarithms."""
    normalizer = q.concentration.lgamma() - q.concentration * q.rate.log()
    return normalizer + (1 - q.concentration) * log_mean + q.rate * mean


def _continuous_bernoulli_term(q: Any, mean: Any) -> Any:
    return -mean * q.logits - torch.log1p(-q.probs) - q._cont_bern_log_norm()


def _outside(found: Any, p: Any, q: Any) -> Any:
    """Infinite where ``p`` reaches out of the range of a uniform ``q``."""
    low, high = p.support.lower_bound, p.support.upper_bound
    return found.masked_fill((q.low > low) | (q.high < high), math.inf)


@register_kl(Bernoulli, Poisson)
def _bernoulli_poisson(p: Any, q: Any) -> Any:
    return -p.entropy() - (p.probs * q.rate.log() - q.rate)


@register_kl(Beta, ContinuousBernoulli)
@register_kl(Uniform, ContinuousBernoulli)
def _to_continuous_bernoulli(p: Any, q: Any) -> Any:
    found = _continuous_bernoulli_term(q, p.mean) - p.entropy()
    if isinstance(p, Uniform):
        found = found.masked_fill((p.high > 1.0) | (p.low < 0.0), math.inf)
    return found


@register_kl(Beta, Exponential)
@register_kl(ContinuousBernoulli, Exponential)
@register_kl(Gamma, Exponential)
def _to_exponential(p: Any, q: Any) -> Any:
    return _exponential_term(q, p.mean) - p.entropy()


@register_kl(Beta, Normal)
@register_kl(ContinuousBernoulli, Normal)
@register_kl(Exponential, Normal)
@register_kl(Gamma, Normal)
@register_kl(Gumbel, Normal)
@register_kl(Laplace, Normal)
@register_kl(Uniform, Normal)
def _to_normal(p: Any, q: Any) -> Any:
    return _normal_term(q, p.mean, p.variance) - p.entropy()


@register_kl(Beta, Uniform)
@register_kl(ContinuousBernoulli, Uniform)
def _to_uniform(p: Any, q: Any) -> Any:
    return _outside((q.high - q.low).log() - p.entropy(), p, q)


@register_kl(Beta, Gamma)
def _beta_gamma(p: Any, q: Any) -> Any:
    a, b = p.concentration1, p.concentration0
    return _gamma_term(q, p.mean, a.digamma() - (a + b).digamma()) - p.entropy()


@register_kl(Exponential, Gamma)
def _exponential_gamma(p: Any, q: Any) -> Any:
    return _gamma_term(q, p.mean, -p.rate.log() - euler_constant) - p.entropy()


def _gumbel_term(q: Any, mean: Any, moment: Any) -> Any:
    """``-E[log q]`` for a Gumbel ``q``, with the mean of ``exp(-x / scale)``."""
    return q.scale.log() + (mean - q.loc) / q.scale + torch.exp(q.loc / q.scale) * moment


@register_kl(Exponential, Gumbel)
def _exponential_gumbel(p: Any, q: Any) -> Any:
    product = p.rate * q.scale
    return _gumbel_term(q, p.mean, product / (product + 1)) - p.entropy()


@register_kl(Gamma, Gumbel)
def _gamma_gumbel(p: Any, q: Any) -> Any:
    moment = (1 + (p.rate * q.scale).reciprocal()).pow(-p.concentration)
    return _gumbel_term(q, p.mean, moment) - p.entropy()


@register_kl(Normal, Gumbel)
def _normal_gumbel(p: Any, q: Any) -> Any:
    moment = torch.exp(-p.loc / q.scale + 0.5 * (p.scale / q.scale).pow(2))
    return _gumbel_term(q, p.mean, moment) - p.entropy()


@register_kl(Uniform, Gumbel)
def _uniform_gumbel(p: Any, q: Any) -> Any:
    ends = torch.exp(-p.low / q.scale) - torch.exp(-p.high / q.scale)
    return _gumbel_term(q, p.mean, q.scale / (p.high - p.low) * ends) - p.entropy()


@register_kl(Normal, Laplace)
def _normal_laplace(p: Any, q: Any) -> Any:
    off = p.loc - q.loc
    z = off / p.scale
    distance = math.sqrt(2 / math.pi) * p.scale * torch.exp(-0.5 * z.pow(2))
    distance = distance + off * torch.erf(math.sqrt(0.5) * z)
    return torch.log(2 * q.scale) + distance / q.scale - p.entropy()


@register_kl(Pareto, Exponential)
def _pareto_exponential(p: Any, q: Any) -> Any:
    return (_exponential_term(q, p.mean) - p.entropy()).masked_fill(p.alpha <= 1, math.inf)


@register_kl(Pareto, Gamma)
def _pareto_gamma(p: Any, q: Any) -> Any:
    found = _gamma_term(q, p.mean, p.scale.log() + p.alpha.reciprocal()) - p.entropy()
    return found.masked_fill(p.alpha <= 1, math.inf)


@register_kl(Pareto, Normal)
def _pareto_normal(p: Any, q: Any) -> Any:
    found = _normal_term(q, p.mean, p.variance) - p.entropy()
    return found.masked_fill(p.alpha <= 2, math.inf)


def _mean_log(low: Any, high: Any) -> Any:
    """The mean of the logarithm of uniform numbers."""
    return (torch.xlogy(high, high) - torch.xlogy(low, low)) / (high - low) - 1


@register_kl(Uniform, Beta)
def _uniform_beta(p: Any, q: Any) -> Any:
    a, b = q.concentration1, q.concentration0
    density = (a - 1) * _mean_log(p.low, p.high) + (b - 1) * _mean_log(1 - p.high, 1 - p.low)
    normalizer = a.lgamma() + b.lgamma() - (a + b).lgamma()
    found = normalizer - density - p.entropy()
    return found.masked_fill((p.high > 1.0) | (p.low < 0.0), math.inf)


@register_kl(Uniform, Exponential)
def _uniform_exponential(p: Any, q: Any) -> Any:
    return (_exponential_term(q, p.mean) - p.entropy()).masked_fill(p.low < 0.0, math.inf)


@register_kl(Uniform, Gamma)
def _uniform_gamma(p: Any, q: Any) -> Any:
    found = _gamma_term(q, p.mean, _mean_log(p.low, p.high)) - p.entropy()
    return found.masked_fill(p.low < 0.0, math.inf)


@register_kl(Uniform, Pareto)
def _uniform_pareto(p: Any, q: Any) -> Any:
    density = q.alpha.log() + q.alpha * q.scale.log()
    density = density - (q.alpha + 1) * _mean_log(p.low, p.high)
    return (-density - p.entropy()).masked_fill(p.low < q.scale, math.inf)
