"""Binomial numbers of few and of many trials: distribution, moments, edges, against SciPy."""

import math

import numpy as np
import pytest
from scipy import stats

import mindtorch_core as torch

N = 20_000
LEAST = 1e-3  # probability of numbers as unlikely as the drawn ones
CASES = [
    (1, 0.3), (9, 0.5), (40, 0.02), (100, 0.1), (100, 0.9), (1000, 0.5), (1000, 1e-4), (10_000, 0.37),
    (10**6, 0.999), (10**6, 2e-6), (10**9, 0.25), (2**40, 0.5), (2**40, 1e-11),
]  # fmt: skip


def drawn(trials, p, dtype="float64", n=N):
    g = torch.Generator().manual_seed(11)
    count = torch.full((n,), float(trials), dtype=getattr(torch, dtype))
    return np.array(torch.binomial(count, torch.full_like(count, p), g).double().tolist())


def likely(values, trials, p):
    """Kolmogorov and Smirnov's test, with each number moved to a random place of its step."""
    law = stats.binom(trials, p)
    places = np.random.default_rng(2).random(len(values))
    above = law.cdf(values - 1)
    return stats.kstest(above + places * (law.cdf(values) - above), "uniform").pvalue > LEAST


@pytest.mark.parametrize(("trials", "p"), CASES)
def test_distribution(trials, p):
    values = drawn(trials, p)
    assert (values == np.floor(values)).all()
    assert values.min() >= 0
    assert values.max() <= trials
    assert likely(values, trials, p)
    mean, variance, kurtosis = stats.binom.stats(trials, p, moments="mvk")
    assert abs(values.mean() - mean) < 4 * math.sqrt(variance / N)
    spread = variance * math.sqrt((kurtosis + 2) / N)
    assert abs(values.var() - variance) < 4 * spread


@pytest.mark.parametrize(("trials", "p"), [(100, 0.1), (10**6, 0.5)])
def test_single_precision(trials, p):
    assert likely(drawn(trials, p, "float32"), trials, p)


def test_the_check_notices_another_law():
    values = drawn(10**6, 0.5)
    assert not likely(values, 10**6, 0.5004)
    assert not likely(np.round((values - 5e5) * 1.05 + 5e5), 10**6, 0.5)


@pytest.mark.parametrize("trials", [7, 10**6])
def test_certain_outcomes_and_fractions(trials):
    assert (drawn(trials, 0.0, n=50) == 0).all()
    assert (drawn(trials, 1.0, n=50) == trials).all()
    assert drawn(trials + 0.9, 1.0, n=50).max() == trials + 0.9  # as PyTorch has it
    assert (drawn(0, 0.5, n=50) == 0).all()


def test_each_place_has_a_law_of_its_own():
    count = torch.tensor([[3.0], [10**6]], dtype=torch.float64).expand(2, 3)
    prob = torch.tensor([0.0, 0.5, 1.0], dtype=torch.float64).expand(2, 3)
    made = torch.stack([torch.binomial(count, prob) for _ in range(200)])
    assert made[:, :, 0].abs().max().item() == 0
    assert (made[:, 0, 2] == 3).all().item()
    assert (made[:, 1, 2] == 10**6).all().item()
    assert made[:, 1, 1].mean().item() == pytest.approx(5e5, abs=4 * 500 / math.sqrt(200))


def test_gradients_are_zero():
    count = torch.full((3,), 1e6, requires_grad=True)
    prob = torch.full((3,), 0.5, requires_grad=True)
    torch.binomial(count, prob).sum().backward()
    assert count.grad.tolist() == prob.grad.tolist() == [0, 0, 0]


@pytest.mark.parametrize(("trials", "p"), [(20, 0.5), (40, 0.25), (40, 0.75), (19, 0.5), (21, 0.5)])
def test_pytorchs_numbers_where_the_way_of_drawing_changes(trials, p):
    """From a mean of 10 on, numbers are drawn by rejection."""

    def numbers(lib, n):
        count = lib.full((n,), float(trials), dtype=lib.float64)
        g = lib.Generator().manual_seed(4)
        return lib.binomial(count, lib.full_like(count, p), generator=g).tolist()

    pt = pytest.importorskip("torch")
    assert [numbers(torch, n) for n in (50, 300)] == [numbers(pt, n) for n in (50, 300)]
