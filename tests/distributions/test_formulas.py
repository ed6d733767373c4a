"""Densities, moments, entropies, gradients, divergences and errors of distributions agree with PyTorch's."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

pytest.importorskip("torch")

import torch as pt
from distribution_examples import EXAMPLES, Make, build, ours, pairs

import mindtorch_core as torch

CASES = [
    pytest.param(m, id=f"{name}-{i}") for name, ms in EXAMPLES.items() for i, m in enumerate(ms)
]
# PyTorch takes a logarithm of what is negative there, and gives NaN; polynomials of few digits.
ROUGH = {
    ("Kumaraswamy", "mode"): None,
    ("Multinomial", "perplexity"): 1e-6,
    ("VonMises", "log_prob"): 1e-6,
    ("VonMises", "variance"): 1e-6,
}


def _close(mine: Any, theirs: Any, tolerance: float = 1e-8) -> None:
    if theirs.dtype is pt.float32:
        tolerance = max(tolerance, 2e-6)
    mine, theirs = np.asarray(mine.tolist()), np.asarray(theirs.tolist())
    assert mine.shape == theirs.shape
    np.testing.assert_allclose(mine, theirs, rtol=tolerance, atol=tolerance)


def _either(run: Any) -> Any:
    """A result, or the type of the error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return run()
    except Exception as error:  # noqa: BLE001 (compared)
        return type(error)


@pytest.mark.parametrize("make", CASES)
@pytest.mark.parametrize("name", ["mean", "mode", "variance", "stddev", "entropy", "perplexity"])
def test_what_a_distribution_tells(make: Make, name: str) -> None:
    (mine, _), (theirs, _) = build(torch, make), build(pt, make)

    def ask(d: Any) -> Any:
        found = getattr(d, name)
        return found() if callable(found) else found

    tolerance = ROUGH.get((make.kind, name), 1e-8)
    if tolerance is None:
        return
    a, b = _either(lambda: ask(mine)), _either(lambda: ask(theirs))
    if isinstance(b, type):
        assert a is b
    else:
        _close(a, b, tolerance)


@pytest.mark.parametrize("make", CASES)
def test_density_and_its_gradients(make: Make) -> None:
    (mine, ins), (theirs, outs) = build(torch, make, grad=True), build(pt, make, grad=True)
    pt.manual_seed(3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = theirs.sample((4,))
    tolerance = ROUGH.get((make.kind, "log_prob"), 1e-8)
    a, b = mine.log_prob(ours(value)), theirs.log_prob(value)
    _close(a, b, tolerance)
    if not b.requires_grad:
        return
    a.sum().backward()
    b.sum().backward()
    for x, y in zip(ins, outs, strict=True):
        assert (x.grad is None) == (y.grad is None)
        if y.grad is not None:
            # What lies above the diagonal of a triangular factor has no say.
            lower = make.kind == "Wishart" and y.dim() == 2
            grads = (x.grad.tril(), y.grad.tril()) if lower else (x.grad, y.grad)
            _close(*grads, max(tolerance or 0, 1e-6))


@pytest.mark.parametrize("make", CASES)
def test_distribution_function_and_its_inverse(make: Make) -> None:
    (mine, _), (theirs, _) = build(torch, make), build(pt, make)
    pt.manual_seed(5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        value = theirs.sample((3,))
    for name, given in (("cdf", value), ("icdf", pt.rand_like(value.double()) * 0.8 + 0.1)):
        b = _either(lambda n=name, g=given: getattr(theirs, n)(g))
        a = _either(lambda n=name, g=given: getattr(mine, n)(ours(g)))
        if isinstance(b, type):
            assert a is b, (name, a)
        else:
            _close(a, b, 1e-7)


@pytest.mark.parametrize("make", CASES)
def test_shapes_representation_and_expansion(make: Make) -> None:
    (mine, _), (theirs, _) = build(torch, make), build(pt, make)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for a, b in (
            (mine, theirs),
            (mine.expand((2, *mine.batch_shape)), theirs.expand((2, *theirs.batch_shape))),
        ):
            assert tuple(a.batch_shape) == tuple(b.batch_shape)
            assert tuple(a.event_shape) == tuple(b.event_shape)
            assert tuple(a.sample((3,)).shape) == tuple(b.sample((3,)).shape)
            assert str(a.sample().dtype) == str(b.sample().dtype).replace("torch.", "torch.")
            assert bool(a.has_rsample) == bool(b.has_rsample)
            assert a.has_enumerate_support == b.has_enumerate_support
    assert repr(mine) == repr(theirs)
    assert repr(mine.support) == repr(theirs.support)
    if theirs.has_enumerate_support:
        _close(mine.enumerate_support(), theirs.enumerate_support())


@pytest.mark.parametrize("make", CASES)
def test_natural_parameters_and_what_normalizes(make: Make) -> None:
    (mine, _), (theirs, _) = build(torch, make), build(pt, make)
    if not isinstance(theirs, pt.distributions.ExponentialFamily):
        assert not isinstance(mine, torch.distributions.ExponentialFamily)
        return

    def told(d: Any) -> Any:
        return [*d._natural_params, d._log_normalizer(*d._natural_params)]

    found, wanted = _either(lambda: told(mine)), _either(lambda: told(theirs))
    if isinstance(wanted, type):
        assert found is wanted
        return
    for a, b in zip(found, wanted, strict=True):
        _close(a, b)


@pytest.mark.parametrize(("p", "q"), pairs())
def test_divergence(p: str, q: str) -> None:
    for one in EXAMPLES[p]:
        for other in EXAMPLES[q]:
            (a, _), (c, _) = build(torch, one), build(torch, other)
            (b, _), (d, _) = build(pt, one), build(pt, other)
            theirs = _either(lambda b=b, d=d: pt.distributions.kl_divergence(b, d))
            mine = _either(lambda a=a, c=c: torch.distributions.kl_divergence(a, c))
            if isinstance(theirs, type):
                assert isinstance(mine, type), (one.kind, other.kind)
            else:
                _close(mine, theirs, 1e-6)


BAD = [
    Make("Normal", 0.0, -1.0),
    Make("Bernoulli", 1.5),
    Make("Bernoulli"),
    Make("Bernoulli", 0.5, 0.5),
    Make("Categorical", np.array(0.3)),
    Make("Categorical", np.array([-0.1, 1.1])),
    Make("Uniform", 1.0, 0.0),
    Make("Gamma", -1.0, 1.0),
    Make("Geometric", 0.0),
    Make("LKJCholesky", 1),
    Make("MultivariateNormal", np.array([0.0, 1.0])),
    Make("MultivariateNormal", np.array([0.0, 1.0]), np.array([[1.0, 2.0], [2.0, 1.0]])),
    Make("Dirichlet", np.array(1.0)),
    Make("Multinomial", np.array([2.0, 3.0]), np.array([0.5, 0.5])),
    Make("Independent", Make("Normal", 0.0, 1.0), 1),
    Make("Wishart", 0.5, np.eye(2)),
]


@pytest.mark.parametrize("make", BAD, ids=lambda m: m.kind)
def test_wrong_parameters_are_refused(make: Make) -> None:
    with pytest.raises(Exception) as theirs:  # noqa: PT011 (its type is what is compared)
        build(pt, make)
    with pytest.raises(theirs.type):
        build(torch, make)


def test_values_out_of_the_support_are_refused() -> None:
    for make, value in (
        (Make("Exponential", 1.0), -1.0),
        (Make("Bernoulli", 0.5), 0.5),
        (Make("Poisson", 1.0), 1.5),
        (Make("Beta", 1.0, 1.0), 2.0),
    ):
        for lib in (pt, torch):
            with pytest.raises(ValueError, match="within the support"):
                build(lib, make)[0].log_prob(lib.tensor(value))
        with pytest.raises(ValueError, match="must be a Tensor"):
            build(torch, make)[0].log_prob(value)
        unchecked = getattr(torch.distributions, make.kind)(*make.args, validate_args=False)
        unchecked.log_prob(torch.tensor(value))


@pytest.mark.parametrize("make", CASES)
def test_wrong_values_are_refused_in_the_same_words(make: Make) -> None:
    """Out of the support, or of another shape: a mixture's and the like by its own check, not its parts'."""
    told: dict[Any, list[Any]] = {}
    for lib in (pt, torch):
        d, _ = build(lib, make)
        shape = (*d.batch_shape, *d.event_shape)
        wrong = [
            lib.full(shape, value, dtype=lib.float64)
            for value in (np.nan, -7.5, 7.5, -np.inf, np.inf)
        ]
        wrong += [lib.ones(2, *shape[:-1], 7), lib.ones(()), lib.ones(7, *shape[1:]), 0.5]
        told[lib] = [
            _words(lambda d=d, name=name, value=value: getattr(d, name)(value))
            for value in wrong
            for name in ("log_prob", "cdf")
        ]
    for mine, theirs in zip(told[torch], told[pt], strict=True):
        assert mine == theirs


def _words(run: Any) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run()
    except Exception as error:  # noqa: BLE001 (compared)
        return type(error), str(error)
    return None


@pytest.mark.parametrize("lims", [(0.499, 0.501), (0.5, 0.5), (0.5, 0.6), (0.4, 0.5), (0.3, 0.7)])
def test_where_a_continuous_bernoulli_takes_its_series(lims: tuple[float, float]) -> None:
    """Just at the limits, and at a half, where the formulas have no value."""
    near = [p + step for p in (*lims, 0.5) for step in (-1e-9, 0, 1e-9)]
    mine, theirs = (
        lib.distributions.ContinuousBernoulli(lib.tensor(near, dtype=lib.float64), lims=lims)
        for lib in (torch, pt)
    )
    for at in (0.0, 0.3, 0.5, 1.0):
        for name in ("log_prob", "cdf", "icdf"):
            a, b = (
                getattr(d, name)(lib.tensor(at, dtype=lib.float64))
                for d, lib in ((mine, torch), (theirs, pt))
            )
            _close_where_finite(a, b)
    for name in ("mean", "variance"):
        _close_where_finite(getattr(mine, name), getattr(theirs, name))


def _close_where_finite(a: Any, b: Any) -> None:
    """Whether a formula without a value is infinite or NaN hangs on PyTorch's vectors."""
    assert a.isfinite().tolist() == b.isfinite().tolist()
    _close(a[a.isfinite()], b[b.isfinite()], 1e-6)


EDGES = [
    -np.inf,
    -1.0,
    -0.0,
    0.0,
    5e-324,
    0.5,
    1.0 - 2**-20,
    1.0,
    1.0 + 2**-20,
    2.0,
    5.0,
    np.inf,
    np.nan,
]


@pytest.mark.parametrize("make", CASES)
def test_values_at_the_edges_of_the_support(make: Make) -> None:
    """Of distributions of numbers: whether a value is of the support, and the density where it is."""
    (mine, _), (theirs, _) = build(torch, make), build(pt, make)
    if theirs.event_shape:
        return
    for value in EDGES:
        inside = [
            _either(
                lambda d=d, lib=lib, v=value: d.support.check(
                    lib.tensor(v, dtype=lib.float64)
                ).tolist()
            )
            for d, lib in ((mine, torch), (theirs, pt))
        ]
        assert inside[0] == inside[1], value
        for name in ("log_prob", "cdf"):
            a, b = (
                _either(
                    lambda d=d, lib=lib, v=value, n=name: getattr(d, n)(
                        lib.tensor(v, dtype=lib.float64)
                    )
                )
                for d, lib in ((mine, torch), (theirs, pt))
            )
            assert isinstance(a, type) == isinstance(b, type), (name, value, a, b)
            if not isinstance(b, type):
                _close(a, b, 1e-7)
