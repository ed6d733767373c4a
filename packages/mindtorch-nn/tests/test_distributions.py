"""Samples of distributions have the moments that are said, and the gradients that differences show."""

from __future__ import annotations

import math
from typing import Any

import pytest

import mindtorch_core as torch
from mindtorch_core import distributions as d
from mindtorch_core.distributions import constraints, transforms

A, B = torch.tensor([0.7, 1.6, 3.4]), torch.tensor([2.3, 0.8, 1.9])
P, L = torch.tensor([0.2, 0.5, 0.9]), torch.tensor([-0.7, 0.4, 1.0])
S = torch.tensor([[0.1, 0.6, 0.3], [0.2, 0.2, 0.6]])
COV = torch.tensor([[2.0, 0.3], [0.3, 1.5]])

SAMPLED = {
    "Bernoulli": lambda: d.Bernoulli(P),
    "Beta": lambda: d.Beta(A, B),
    "Binomial": lambda: d.Binomial(5, P),
    "Chi2": lambda: d.Chi2(A),
    "ContinuousBernoulli": lambda: d.ContinuousBernoulli(P),
    "Dirichlet": lambda: d.Dirichlet(A),
    "Exponential": lambda: d.Exponential(A),
    "Gamma": lambda: d.Gamma(A, B),
    "GeneralizedPareto": lambda: d.GeneralizedPareto(L, A, torch.tensor([-0.3, 0.0, 0.1])),
    "Geometric": lambda: d.Geometric(P),
    "Gumbel": lambda: d.Gumbel(L, A),
    "HalfNormal": lambda: d.HalfNormal(A),
    "Independent": lambda: d.Independent(d.Normal(L, A), 1),
    "InverseGamma": lambda: d.InverseGamma(A + 6, B),
    "Kumaraswamy": lambda: d.Kumaraswamy(A, B),
    "Laplace": lambda: d.Laplace(L, A),
    "LogNormal": lambda: d.LogNormal(L, A / 8),
    "LowRankMultivariateNormal": lambda: d.LowRankMultivariateNormal(L, S.T, A),
    "MixtureSameFamily": lambda: d.MixtureSameFamily(d.Categorical(P), d.Normal(L, A)),
    "Multinomial": lambda: d.Multinomial(4, S),
    "MultivariateNormal": lambda: d.MultivariateNormal(torch.ones(2), COV),
    "NegativeBinomial": lambda: d.NegativeBinomial(3, P / 2),
    "Normal": lambda: d.Normal(L, A),
    "OneHotCategorical": lambda: d.OneHotCategorical(S),
    "Poisson": lambda: d.Poisson(A),
    "StudentT": lambda: d.StudentT(A + 8, L, B),
    "Uniform": lambda: d.Uniform(L, L + A),
    "Weibull": lambda: d.Weibull(A, B + 1),
    "Wishart": lambda: d.Wishart(torch.tensor(5.0), COV),
}
COUNT = 40_000


@pytest.mark.parametrize("name", SAMPLED)
def test_moments_of_samples(name: str) -> None:
    torch.manual_seed(11)
    made = SAMPLED[name]()
    drawn = made.sample((COUNT,))
    assert bool(made.support.check(drawn).all())
    spread = made.stddev
    error = (drawn.mean(0) - made.mean).abs() / spread.clamp(min=1e-6)
    assert error.max().item() < 6 / math.sqrt(COUNT), error
    ratio = drawn.var(0) / made.variance
    assert (ratio - 1).abs().max().item() < 0.12, ratio


def test_samples_without_moments() -> None:
    torch.manual_seed(3)
    for made in (d.Cauchy(L, A), d.HalfCauchy(A), d.Pareto(A, B), d.FisherSnedecor(A + 1, B + 3)):
        drawn = made.sample((COUNT,))
        if type(made) is d.FisherSnedecor:
            assert bool((drawn > 0).all())
            continue
        share = (made.cdf(drawn) < 0.3).float().mean(0)
        assert (share - 0.3).abs().max().item() < 0.02


def test_angles() -> None:
    torch.manual_seed(3)
    made = d.VonMises(torch.tensor([0.5, -2.0]), torch.tensor([4.0, 0.7]))
    drawn = made.sample((COUNT,))
    assert bool((drawn.abs() <= math.pi).all())
    direction = torch.atan2(drawn.sin().mean(0), drawn.cos().mean(0))
    assert direction.tolist() == pytest.approx([0.5, -2.0], abs=0.05)
    shortness = 1 - torch.hypot(drawn.sin().mean(0), drawn.cos().mean(0))
    assert shortness.tolist() == pytest.approx(made.variance.tolist(), abs=0.02)


def test_correlations() -> None:
    torch.manual_seed(3)
    factor = d.LKJCholesky(3, 2.0).sample((5000,))
    matrices = factor @ factor.mT
    assert bool(constraints.corr_cholesky.check(factor).float().mean() > 0.99)
    assert matrices.mean(0).tolist()[0][1] == pytest.approx(0, abs=0.03)
    assert matrices.diagonal(dim1=-2, dim2=-1).flatten().tolist()[:6] == pytest.approx([1.0] * 6)


PATHWISE = {
    "Gamma": (lambda a: d.Gamma(a, 1.0), [0.4, 2.5, 30.0], lambda a: torch.ones(3)),
    "Dirichlet": (lambda a: d.Dirichlet(a), [0.6, 2.0, 1.5], None),
    "Normal": (lambda a: d.Normal(a, 1.0), [0.4, 2.5, 3.0], lambda a: torch.ones(3)),
    "StudentT": (lambda a: d.StudentT(5.0, a, 1.0), [0.4, 2.5, 3.0], lambda a: torch.ones(3)),
}


@pytest.mark.parametrize("name", PATHWISE)
def test_gradients_of_means(name: str) -> None:
    torch.manual_seed(2)
    make, values, _ = PATHWISE[name]
    a = torch.tensor(values, requires_grad=True)
    weights = torch.tensor([1.0, 2.0, -1.0])
    (make(a).rsample((COUNT,)) * weights).mean(0).sum().backward()
    b = torch.tensor(values, requires_grad=True)
    (make(b).mean * weights).sum().backward()
    assert a.grad is not None
    assert b.grad is not None
    assert a.grad.tolist() == pytest.approx(b.grad.tolist(), abs=0.05)


def test_quantiles_do_not_move() -> None:
    """Along the implicit gradient, the distribution function stays as it is."""
    a = torch.tensor([0.3, 1.0, 4.0, 60.0], dtype=torch.float64)
    x = torch.tensor([0.05, 2.0, 3.0, 66.0], dtype=torch.float64)
    slope = torch._standard_gamma_grad(a, x)
    h = 1e-5
    above, below = torch.igamma(a + h, x + slope * h), torch.igamma(a - h, x - slope * h)
    torch.testing.assert_close(above, below, rtol=0, atol=1e-9)


BIJECTIONS: list[Any] = [
    transforms.ExpTransform(),
    transforms.SigmoidTransform(),
    transforms.TanhTransform(),
    transforms.SoftplusTransform(),
    transforms.AffineTransform(1.0, -2.0),
    transforms.ComposeTransform([transforms.AffineTransform(0.5, 0.3), transforms.ExpTransform()]),
    transforms.CumulativeDistributionTransform(d.Normal(0.0, 1.0)),
]


@pytest.mark.parametrize("transform", BIJECTIONS, ids=lambda t: type(t).__name__)
def test_transforms_of_numbers(transform: Any) -> None:
    x = torch.tensor([-1.2, -0.3, 0.4, 1.5], dtype=torch.float64, requires_grad=True)
    y = transform(x)
    torch.testing.assert_close(transform.inv(y), x)
    (slope,) = torch.autograd.grad(y.sum(), x)
    torch.testing.assert_close(transform.log_abs_det_jacobian(x, y), slope.abs().log())
    assert transform.inv.inv is transform
    assert bool(transform.codomain.check(y).all())
    assert transform == transform.with_cache(0)


def test_transforms_of_vectors() -> None:
    x = torch.tensor([[0.3, -0.5, 1.2]], dtype=torch.float64)
    for transform in (transforms.StickBreakingTransform(), transforms.CorrCholeskyTransform()):
        y = transform(x)
        assert bool(transform.codomain.check(y).all())
        torch.testing.assert_close(transform.inv(y), x)
        assert y.shape == transform.forward_shape(x.shape)
        assert x.shape == transform.inverse_shape(y.shape)
    m = torch.tensor([[0.3, -0.5], [0.2, 0.1]], dtype=torch.float64)
    spd = transforms.PositiveDefiniteTransform()(m)
    assert bool(constraints.positive_definite.check(spd))
    torch.testing.assert_close(transforms.PositiveDefiniteTransform().inv(spd), m.tril())
    cat = transforms.CatTransform(
        [transforms.ExpTransform(), transforms.TanhTransform()], -1, [1, 2]
    )
    y = cat(x)
    torch.testing.assert_close(cat.inv(y), x)
    assert cat.log_abs_det_jacobian(x, y).shape == x.shape


@pytest.mark.parametrize("registry", [d.biject_to, d.transform_to])
def test_transforms_to_constraints(registry: Any) -> None:
    x = torch.tensor([0.3, -0.5, 1.2], dtype=torch.float64)
    for constraint in (
        constraints.real,
        constraints.positive,
        constraints.greater_than(2.0),
        constraints.less_than(-1.0),
        constraints.unit_interval,
        constraints.interval(-3.0, 5.0),
        constraints.simplex,
        constraints.corr_cholesky,
        constraints.independent(constraints.positive, 1),
    ):
        assert bool(constraint.check(registry(constraint)(x)).all()), constraint
    with pytest.raises(NotImplementedError, match="Cannot transform"):
        registry(constraints.one_hot)


def test_divergences_by_samples() -> None:
    torch.manual_seed(1)
    for p, q in (
        (d.Gamma(A, B), d.Gamma(B, A)),
        (d.Normal(L, A), d.Laplace(L + 0.5, B)),
        (d.Cauchy(L, A), d.Cauchy(L + 1, B)),
        (d.Uniform(L * 0 + 1.0, A + 1.5), d.Pareto(A * 0 + 0.5, B)),
    ):
        x = p.sample((COUNT,))
        estimate = (p.log_prob(x) - q.log_prob(x)).mean(0)
        torch.testing.assert_close(estimate, d.kl_divergence(p, q), rtol=0.05, atol=0.05)
    with pytest.raises(NotImplementedError, match="No KL"):
        d.kl_divergence(d.VonMises(L, A), d.Normal(L, A))
