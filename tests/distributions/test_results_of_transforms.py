"""What transforms and constraints give and refuse beside PyTorch: a program a line."""

import math

import pytest
from refused_words import words_are

from mindtorch_core import distributions, eye, tensor, zeros
from same_results import names_of, results_are


def family(lib):
    """A family whose entropy and divergence follow from its normalizer alone: exponential numbers."""
    D = lib.distributions

    class Waiting(D.ExponentialFamily):
        arg_constraints = property(lambda _: {"rate": D.constraints.positive})
        _mean_carrier_measure = 0

        def __init__(self, *rate):
            self.rate = lib.tensor(rate)
            super().__init__(self.rate.size())

        @property
        def _natural_params(self):
            return (-self.rate,)

        def _log_normalizer(self, x):
            return -lib.log(-x)

    return Waiting


def derived(lib):
    """A family that derives of another: no divergence knows the pair."""
    return type("Other", (family(lib),), {})


def mine(lib):
    """A transform of somebody else: one with arguments, one without."""
    T = lib.distributions.transforms

    class Scaled(T.Transform):
        domain = codomain = lib.distributions.constraints.real

        def __init__(self, by, cache_size=0):
            super().__init__(cache_size)
            self.by = by

    return Scaled


def plain_transform(lib):
    T = lib.distributions.transforms
    real = lib.distributions.constraints.real
    return type("Plain", (T.Transform,), {"domain": real, "codomain": real, "_call": abs})


def counted(lib):
    """How often a transform and its inverse were asked: with and without a cache."""

    def count(cache_size):
        asked = []
        T = lib.distributions.transforms

        class Twice(T.Transform):
            domain = codomain = lib.distributions.constraints.real
            bijective = True

            def _call(self, x):
                asked.append("there")
                return x * 2

            def _inverse(self, y):
                asked.append("back")
                return y / 2

        t = Twice(cache_size=cache_size)
        x = lib.ones(2)
        y = t(x)
        again = t(x) is y, t.inv(y) is x, t(x) is y
        other = y + 1
        return (*again, t.inv(other), t.inv(other) is t.inv(other), t(lib.ones(2)), asked)

    return count


names = names_of(
    "distributions",
    "distributions.constraints",
    "distributions.transforms",
    "distributions.utils",
    Waiting=family,
    Other=derived,
    Scaled=mine,
    Plain=plain_transform,
    counted=counted,
    some=lambda lib: (
        lambda *shape: lib.arange(1.0, 1 + lib.Size(shape).numel()).reshape(shape) / 10
    ),
    t=lambda lib: lib.tensor,
)

test_transforms_of_elements = results_are(
    """
    counted(0)
    counted(1)
    transforms.ExpTransform().with_cache()._cache_size
    transforms.ExpTransform().inv.with_cache()._cache_size
    transforms.ExpTransform().inv.with_cache().inv._cache_size
    transforms.AffineTransform(1.0, 2.0, 1).with_cache().event_dim
    Plain().with_cache()._cache_size
    Plain().with_cache(0)._cache_size
    ! Scaled(2).with_cache()
    ! transforms.Transform(2)
    ! transforms.CorrCholeskyTransform().event_dim
    ! Scaled(2).sign
    ! Scaled(2)(some(2))
    ! Scaled(2).inv(some(2))
    ! Scaled(2).log_abs_det_jacobian(some(2), some(2))
    repr(transforms.ExpTransform())
    repr(transforms.ExpTransform().inv)
    repr(transforms.ComposeTransform([transforms.ExpTransform(), transforms.TanhTransform()]))
    repr(transforms.IndependentTransform(transforms.ExpTransform(), 2))
    transforms.ExpTransform().inv == transforms.ExpTransform().inv
    transforms.ExpTransform().inv == transforms.TanhTransform().inv
    transforms.ExpTransform().inv == transforms.ExpTransform()
    transforms.ExpTransform() == transforms.ExpTransform()
    transforms.ExpTransform() == transforms.TanhTransform()
    transforms.ExpTransform().inv.bijective
    transforms.AbsTransform().inv.bijective
    transforms.AffineTransform(0.0, -3).inv.sign
    transforms.AffineTransform(0.0, 0).sign
    transforms.AffineTransform(0.0, t([-2.0, 3.0])).sign
    transforms.ExpTransform().inv.log_abs_det_jacobian(some(3), some(3).log())
    transforms.ExpTransform().inv.domain
    transforms.ExpTransform().inv.codomain
    transforms.PowerTransform(t(2.0)) == transforms.PowerTransform(2.0)
    transforms.PowerTransform(t([2.0, 3.0])) == transforms.PowerTransform(t([2.0, 4.0]))
    transforms.PowerTransform(2.0) == transforms.ExpTransform()
    transforms.PowerTransform(-2.0).sign
    transforms.PowerTransform(t([2.0, 3.0])).forward_shape((4, 1))
    transforms.PowerTransform(t([2.0, 3.0])).inverse_shape((2,))
    transforms.PowerTransform(t(-3.0)).log_abs_det_jacobian(some(2), some(2) ** -3)
    transforms.AffineTransform(t([1.0, 2.0]), 2) == transforms.AffineTransform(t([1.0, 2.0]), 2)
    transforms.AffineTransform(t([1.0, 2.0]), 2) == transforms.AffineTransform(t([1.0, 3.0]), 2)
    transforms.AffineTransform(1, 2) == transforms.AffineTransform(1.0, t(2.0))
    transforms.AffineTransform(1, 2) == transforms.AffineTransform(1.0, 3)
    transforms.AffineTransform(0.0, 2.0, 1).log_abs_det_jacobian(some(3, 2), some(3, 2))
    transforms.AffineTransform(0.0, -2.0).log_abs_det_jacobian(some(3, 2), some(3, 2))
    transforms.AffineTransform(0.0, t([2.0, -4.0]), 1).log_abs_det_jacobian(some(3, 2), some(3, 2))
    transforms.AffineTransform(0.0, some(3, 2), 2).log_abs_det_jacobian(some(3, 2), some(3, 2))
    transforms.AffineTransform(0.0, t([2.0, -4.0]), 1).domain
    transforms.CumulativeDistributionTransform(distributions.Normal(0.0, 1.0)).domain
    transforms.CumulativeDistributionTransform(distributions.Normal(0.0, 1.0))(some(3))
    transforms.CumulativeDistributionTransform(distributions.Normal(0.0, 1.0)).inv(some(3))
    transforms.CumulativeDistributionTransform(distributions.Exponential(2.0)).domain
    """,
    names,
)

test_transforms_of_transforms = results_are(
    """
    transforms.ComposeTransform([]).log_abs_det_jacobian(some(2, 2), some(2, 2))
    transforms.ComposeTransform([])(some(2))
    transforms.ComposeTransform([]).domain
    transforms.ComposeTransform([]).codomain
    transforms.ComposeTransform([transforms.ExpTransform(), transforms.AbsTransform()]).bijective
    transforms.ComposeTransform([transforms.ExpTransform(), transforms.TanhTransform()]).bijective
    transforms.ComposeTransform([transforms.AffineTransform(0.0, -1)] * 2).sign
    transforms.ComposeTransform([transforms.AffineTransform(0.0, -1), transforms.ExpTransform()]).sign
    transforms.ComposeTransform([transforms.ExpTransform()]) == transforms.ComposeTransform([transforms.ExpTransform()])
    transforms.ComposeTransform([transforms.ExpTransform()]) == transforms.ExpTransform()
    transforms.ComposeTransform([transforms.ExpTransform(), transforms.StickBreakingTransform()]).domain
    transforms.ComposeTransform([transforms.StickBreakingTransform(), transforms.ExpTransform()]).codomain
    transforms.ComposeTransform([transforms.ExpTransform(), transforms.StickBreakingTransform()]).forward_shape((2, 3))
    transforms.ComposeTransform([transforms.ExpTransform(), transforms.StickBreakingTransform()]).inverse_shape((2, 3))
    transforms.IndependentTransform(transforms.ExpTransform(), 1).log_abs_det_jacobian(some(2, 3), some(2, 3))
    transforms.IndependentTransform(transforms.ExpTransform(), 1).bijective
    transforms.IndependentTransform(transforms.AbsTransform(), 1).bijective
    transforms.IndependentTransform(transforms.AffineTransform(0.0, -2), 1).sign
    transforms.IndependentTransform(transforms.ExpTransform(), 1).domain
    transforms.IndependentTransform(transforms.ExpTransform(), 2).codomain
    transforms.IndependentTransform(transforms.PowerTransform(some(2)), 1).forward_shape((3, 1))
    ! transforms.IndependentTransform(transforms.ExpTransform(), 2)(some(2))
    ! transforms.IndependentTransform(transforms.ExpTransform(), 2).inv(some(2))
    transforms.ReshapeTransform((2, 3), (6,))(some(4, 2, 3))
    transforms.ReshapeTransform((2, 3), (6,)).inv(some(4, 6))
    transforms.ReshapeTransform((2, 3), (3, 2)).inv(some(3, 2))
    transforms.ReshapeTransform((2, 3), (6,)).log_abs_det_jacobian(some(4, 2, 3), some(4, 6))
    transforms.ReshapeTransform((2, 3), (6,)).domain
    transforms.ReshapeTransform((2, 3), (6,)).codomain
    transforms.ReshapeTransform((2, 3), (6,)).domain.check(some(4, 2, 3))
    transforms.ReshapeTransform((2, 3), (6,)).forward_shape((4, 2, 3))
    transforms.ReshapeTransform((2, 3), (6,)).inverse_shape((4, 6))
    ! transforms.ReshapeTransform((2, 3), (6,)).forward_shape((3,))
    ! transforms.ReshapeTransform((2, 3), (6,)).forward_shape((3, 2))
    ! transforms.ReshapeTransform((2, 3), (5,))
    """,
    names,
)

test_transforms_of_vectors = results_are(
    """
    transforms.CorrCholeskyTransform().log_abs_det_jacobian(some(3), transforms.CorrCholeskyTransform()(some(3)))
    transforms.CorrCholeskyTransform().log_abs_det_jacobian(some(2, 6), transforms.CorrCholeskyTransform()(some(2, 6)))
    transforms.CorrCholeskyTransform().inv(transforms.CorrCholeskyTransform()(some(2, 6)))
    transforms.CorrCholeskyTransform().forward_shape((2, 6))
    transforms.CorrCholeskyTransform().inverse_shape((2, 4, 4))
    ! transforms.CorrCholeskyTransform().forward_shape((2, 4))
    ! transforms.CorrCholeskyTransform().inverse_shape((4, 3))
    ! transforms.CorrCholeskyTransform().inverse_shape((4,))
    ! transforms.StickBreakingTransform().forward_shape(())
    ! transforms.SoftmaxTransform().inverse_shape(())
    transforms.StickBreakingTransform().log_abs_det_jacobian(some(2, 3), transforms.StickBreakingTransform()(some(2, 3)))
    transforms.PositiveDefiniteTransform().inv(transforms.PositiveDefiniteTransform()(some(2, 2)))
    transforms.StackTransform([transforms.ExpTransform(), transforms.TanhTransform()]).bijective
    transforms.StackTransform([transforms.ExpTransform(), transforms.AbsTransform()]).bijective
    transforms.StackTransform([transforms.ExpTransform(), transforms.TanhTransform()], 1)(some(3, 2))
    transforms.StackTransform([transforms.ExpTransform(), transforms.TanhTransform()], 1).inv(some(3, 2))
    transforms.StackTransform([transforms.ExpTransform(), transforms.TanhTransform()], 1).log_abs_det_jacobian(some(3, 2), some(3, 2))
    transforms.StackTransform([transforms.ExpTransform(), transforms.TanhTransform()], 1).domain.check(some(3, 2))
    transforms.StackTransform([transforms.ExpTransform(), transforms.TanhTransform()], 1).codomain.check(some(3, 2) - 2)
    ! transforms.StackTransform([transforms.ExpTransform()], 2)(some(3, 1))
    ! transforms.CatTransform([transforms.ExpTransform()], 1)(some(3))
    ! transforms.CatTransform([transforms.ExpTransform()], 0, [2])(some(3))
    transforms.CatTransform([transforms.ExpTransform(), transforms.TanhTransform()], 0, [1, 2])(some(3))
    transforms.CatTransform([transforms.ExpTransform(), transforms.TanhTransform()], -1, [1, 2])(some(2, 3))
    transforms.CatTransform([transforms.ExpTransform(), transforms.TanhTransform()], 0, [1, 2]).inv(some(3))
    transforms.CatTransform([transforms.ExpTransform(), transforms.TanhTransform()], 0, [1, 2]).log_abs_det_jacobian(some(3), some(3))
    transforms.CatTransform([transforms.SoftmaxTransform().inv, transforms.AffineTransform(0.0, 3.0, 1)], -1, [1, 2]).event_dim
    transforms.CatTransform([transforms.AffineTransform(0.0, 2.0, 1), transforms.AffineTransform(0.0, 3.0, 1)], -1, [2, 2]).log_abs_det_jacobian(some(3, 4), some(3, 4))
    transforms.CatTransform([transforms.AffineTransform(0.0, 2.0, 1), transforms.AffineTransform(0.0, 3.0, 1)], 0, [1, 2]).log_abs_det_jacobian(some(3, 4), some(3, 4))
    transforms.CatTransform([transforms.ExpTransform(), transforms.TanhTransform()], 0, [1, 2]).domain.check(some(3))
    transforms.CatTransform([transforms.ExpTransform(), transforms.TanhTransform()], 0, [1, 2]).codomain.check(some(3) - 2)
    ! transforms.CatTransform([3])
    ! transforms.CatTransform([transforms.ExpTransform()], 0, [1, 2])
    """,
    names,
)

test_constraints = results_are(
    """
    constraints.dependent(is_discrete=True, event_dim=2).event_dim
    constraints.dependent(is_discrete=True, event_dim=2).is_discrete
    constraints.dependent(event_dim=0)(is_discrete=True).event_dim
    constraints.dependent(event_dim=0)(is_discrete=True).is_discrete
    constraints.dependent(event_dim=0)(event_dim=3).event_dim
    ! constraints.dependent.event_dim
    ! constraints.dependent.is_discrete
    ! constraints.dependent.check(some(2))
    ! constraints.independent(3, 1)
    constraints.independent(constraints.boolean, 1).is_discrete
    constraints.independent(constraints.real, 1).is_discrete
    constraints.independent(constraints.simplex, 1).event_dim
    ! constraints.independent(constraints.real, 2).check(some(2))
    constraints.independent(constraints.positive, 1).check(t([[1.0, 2.0], [1.0, -2.0]]))
    constraints.MixtureSameFamilyConstraint(constraints.boolean).is_discrete
    constraints.MixtureSameFamilyConstraint(constraints.simplex).event_dim
    ! constraints.MixtureSameFamilyConstraint(3)
    ! constraints.stack([constraints.real], 1).check(some(1))
    ! constraints.cat([constraints.real], 1).check(some(1))
    ! constraints.cat([3])
    ! constraints.cat([constraints.real], 0, [1, 2])
    constraints.stack([constraints.boolean, constraints.real]).is_discrete
    constraints.stack([constraints.simplex, constraints.real]).event_dim
    distributions.transform_to(constraints.cat([constraints.positive, constraints.real], -1, [1, 2]))(some(3) - 1)
    distributions.biject_to(constraints.stack([constraints.positive, constraints.real], -1))(some(2) - 1)
    ! distributions.biject_to.register(3, None)(3)
    ! distributions.biject_to.register(int, abs)
    ! distributions.biject_to(constraints.dependent)
    distributions.constraint_registry.ConstraintRegistry().register(constraints.real)(abs)(-3)
    distributions.constraint_registry.ConstraintRegistry().register(type(constraints.real), abs)(-3)
    """,
    names,
)

test_distributions = results_are(
    """
    Waiting(0.5, 3.0).entropy()
    distributions.kl_divergence(Waiting(0.5, 3.0), Waiting(2.0, 3.0))
    distributions.kl_divergence(distributions.Exponential(t([0.5])), distributions.Exponential(2.0))
    ! distributions.ExponentialFamily(validate_args=False).entropy()
    ! distributions.ExponentialFamily(validate_args=False)._natural_params
    ! distributions.ExponentialFamily(validate_args=False)._log_normalizer()
    ! distributions.ContinuousBernoulli(t([0.5, 1.5]), validate_args=True)
    distributions.ContinuousBernoulli(t([0.5, 1.5])).probs
    ! distributions.ContinuousBernoulli(t([0.5, 1.5]), validate_args=False)
    distributions.Bernoulli(t([0.5, 0.25]))._new((2,)).shape
    distributions.Independent(distributions.Bernoulli(some(2)), 0).enumerate_support()
    ! distributions.Independent(distributions.Bernoulli(some(2)), 1).enumerate_support()
    distributions.kl_divergence(distributions.LogNormal(some(2), 1.0), distributions.LogNormal(0.5, 2.0))
    ! distributions.kl_divergence(distributions.TransformedDistribution(distributions.Normal(0.0, 1.0), []), distributions.LogNormal(0.5, 2.0))
    ! distributions.kl_divergence(distributions.Independent(distributions.Normal(some(2, 2), 1.0), 1), distributions.Independent(distributions.Normal(some(2, 2), 1.0), 2))
    distributions.kl_divergence(distributions.Independent(distributions.Normal(some(2, 2), 1.0), 1), distributions.Independent(distributions.Normal(0 * some(2, 2), 1.0), 1))
    distributions.LogisticNormal(0.0, 1.0).batch_shape
    distributions.LogisticNormal(0.0, 1.0).event_shape
    distributions.LowRankMultivariateNormal(some(2), some(2, 1), some(2)).expand((3,)).covariance_matrix
    distributions.LowRankMultivariateNormal(some(2), some(2, 1), some(2)).expand((3,)).precision_matrix
    distributions.LowRankMultivariateNormal(some(2), some(2, 1), some(2)).scale_tril
    distributions.LowRankMultivariateNormal(some(3, 2), some(2, 1), some(2)).scale_tril
    distributions.LowRankMultivariateNormal(some(2), some(2, 1), some(2)).variance
    distributions.MultivariateNormal(some(3, 2), torch.eye(2)).scale_tril
    distributions.MultivariateNormal(some(3, 2), precision_matrix=torch.eye(2) * 4).scale_tril
    distributions.OneHotCategorical(some(4)).mode
    distributions.OneHotCategorical(some(2, 4)).mode
    distributions.OneHotCategorical(some(2, 4)).variance
    distributions.TransformedDistribution(distributions.Normal(0.0, 1.0), []).support
    distributions.TransformedDistribution(distributions.Normal(some(2), 1.0), transforms.ExpTransform()).support
    distributions.TransformedDistribution(distributions.Normal(some(2, 1), 1.0), transforms.AffineTransform(some(3), 1.0)).base_dist.batch_shape
    distributions.TransformedDistribution(distributions.MultivariateNormal(some(2), torch.eye(2)), transforms.AffineTransform(some(3, 2), 1.0, 1)).base_dist.batch_shape
    distributions.TransformedDistribution(distributions.Normal(some(2, 1), 1.0), transforms.AffineTransform(some(3), 1.0)).log_prob(some(2, 3))
    utils.tril_matrix_to_vec(some(3, 3), -1)
    ! utils.tril_matrix_to_vec(some(3, 3), 3)
    ! utils.tril_matrix_to_vec(some(3, 3), -4)
    utils.vec_to_tril_matrix(some(6))
    utils.vec_to_tril_matrix(some(2, 3), -1)
    utils._standard_normal((2, 3), torch.float64, "cpu").dtype
    utils._standard_normal((2, 3), torch.float64, "cpu").shape
    ! distributions.Wishart(t(0.3), torch.eye(2), validate_args=False).entropy()
    """,
    names,
)

test_our_own_words = words_are(
    "",
    {
        "transforms.StackTransform([transforms.ExpTransform()], 0)(some(3, 1))": "x.size(0) = 3 must equal length 1",
        "constraints.independent(constraints.real, -1)": "reinterpreted_batch_ndims must be an int >= 0, got -1",
        "constraints.independent(constraints.real, 1.0)": "reinterpreted_batch_ndims must be an int >= 0, got 1.0",
        "distributions.kl_divergence(Waiting(0.5), Other(2.0))": "The cross KL-divergence between different exponential families cannot be computed using Bregman divergences",
        "distributions.kl_divergence(distributions.MultivariateNormal(some(2), torch.eye(2)), distributions.MultivariateNormal(some(3), torch.eye(3)))": "KL-divergence between two Multivariate Normals with different event shapes cannot be computed",
        "distributions.kl_divergence(distributions.LowRankMultivariateNormal(some(2), some(2, 1), some(2)), distributions.MultivariateNormal(some(3), torch.eye(3)))": "KL-divergence between two Multivariate Normals with different event shapes cannot be computed",
        "distributions.Normal('a', 1.0)": "Input arguments must all be instances of Number or torch.Tensor.",
        "utils.broadcast_all([1.0])": "Input arguments must all be instances of Number or torch.Tensor.",
    },
    names,
)


def test_where_a_likeliest_value_is():
    """By the formula: PyTorch takes the parameters the other way round, and finds none."""
    found = distributions.Kumaraswamy(tensor([2.0, 0.5, 3.0]), tensor([3.0, 3.0, 0.5])).mode
    assert found.tolist() == pytest.approx([math.sqrt(1 / 5), math.nan, math.nan], nan_ok=True)


def test_factors_of_values_of_several_dimensions():
    """A factor counts for every element that it meets; with PyTorch once."""
    t = distributions.AffineTransform(0.0, tensor([2.0, -4.0]), event_dim=2)
    x = tensor([[1.0, 2.0]] * 3)
    assert t.log_abs_det_jacobian(x, t(x)).item() == pytest.approx(3 * math.log(8))


def test_a_triangle_has_a_number_of_elements():
    with pytest.raises(ValueError, match="size of last dimension is 4 which cannot be expressed"):
        distributions.utils.vec_to_tril_matrix(tensor([1.0, 2.0, 3.0, 4.0]))


def test_singular_samples_are_drawn_again(monkeypatch):
    """With a warning, and those alone."""
    made = distributions.Wishart(tensor(3.0), eye(2))
    whole = eye(2) * 2
    draws = iter(
        [tensor([[[0.0, 0.0], [0.0, 0.0]], [[2.0, 0.0], [0.0, 2.0]]]), whole.expand(2, 2, 2) * 3]
    )
    monkeypatch.setattr(made, "_bartlett", lambda shape: next(draws))
    with pytest.warns(UserWarning, match="Singular sample detected"):
        found = made.rsample((2,))
    assert found.tolist() == [(whole * 3).tolist(), whole.tolist()]
    draws = iter([zeros(1, 2, 2), zeros(1, 2, 2), whole[None]])
    with pytest.warns(UserWarning, match="Singular sample detected"):
        assert not made.rsample((1,), max_try_correction=1).any()
