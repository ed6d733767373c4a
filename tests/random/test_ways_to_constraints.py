"""Transforms of distributions beside PyTorch's: those that lead to each constraint, and the shapes they take."""

import pytest

import mindtorch_core as torch
from mindtorch_core.testing.comparison import assert_same_outcome, from_pytorch

pt = pytest.importorskip("torch")

CONSTRAINTS = """
    c.real | c.positive | c.nonnegative | c.greater_than(2.0) | c.greater_than_eq(-1.5) | c.less_than(-1.0)
    c.unit_interval | c.interval(-3.0, 5.0) | c.interval(0.0, 2.0) | c.half_open_interval(1.0, 2.0)
    c.simplex | c.corr_cholesky | c.lower_cholesky | c.positive_definite | c.positive_semidefinite
    c.independent(c.positive, 1) | c.independent(c.simplex, 1) | c.real_vector | c.boolean | c.one_hot
    c.cat([c.positive, c.unit_interval], -1, [1, 2]) | c.stack([c.positive, c.real, c.less_than(0.0)], -1)
"""
TRANSFORMS = """
    t.ExpTransform() | t.PowerTransform(2.0) | t.SigmoidTransform() | t.TanhTransform() | t.AbsTransform()
    t.AffineTransform(1.0, 2.0) | t.SoftmaxTransform() | t.StickBreakingTransform() | t.SoftplusTransform()
    t.LowerCholeskyTransform() | t.PositiveDefiniteTransform() | t.CorrCholeskyTransform()
    t.ReshapeTransform((3,), (1, 3)) | t.ReshapeTransform((2, 3), (6,)) | t.CumulativeDistributionTransform(n)
    t.IndependentTransform(t.ExpTransform(), 1) | t.IndependentTransform(t.SoftmaxTransform(), 1)
    t.ComposeTransform([t.SoftmaxTransform(), t.ExpTransform()]) | t.ExpTransform().inv
    t.StickBreakingTransform().inv | t.CatTransform([t.ExpTransform(), t.SigmoidTransform()], -1, [1, 2])
    t.StackTransform([t.ExpTransform()] * 3, -1) | t.AffineTransform(1.0, 2.0, event_dim=1)
"""
SHAPES = [(), (1,), (3,), (2, 3), (1, 3), (6,), (3, 3), (2, 3, 3), (0, 3)]


def rows(table):
    return [each.strip() for line in table.strip().splitlines() for each in line.split("|")]


def given(lib, text):
    d = lib.distributions
    names = {"c": d.constraints, "t": d.transforms, "n": d.Normal(0.0, 1.0)}
    return eval(text, names)


@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
@pytest.mark.parametrize("text", rows(CONSTRAINTS))
def test_ways_to_a_constraint(registry, text):
    wide = pt.arange(27.0, dtype=pt.float64).reshape(3, 3, 3).sin()

    def made(lib):
        constraint = given(lib, text)
        way = getattr(lib.distributions, registry)(constraint)
        x = wide if lib is pt else from_pytorch(wide)
        y = way(x)
        return [y, way.inv(y), constraint.check(y).all()]

    assert_same_outcome(lambda: made(torch), lambda: made(pt))


@pytest.mark.parametrize("way", ["forward_shape", "inverse_shape"])
@pytest.mark.parametrize("text", rows(TRANSFORMS))
def test_shapes(text, way):
    for shape in SHAPES:

        def made(lib, shape=shape):
            return list(getattr(given(lib, text), way)(shape))

        assert_same_outcome(lambda: made(torch), lambda: made(pt))
