"""Random numbers have the distributions they are called by, drawn by kernels and by compositions.

Seeds are fixed, so the outcomes are too. `test_a_wrong_distribution_is_noticed` shows that the checks
can fail.
"""

import math

import pytest
from scipy import stats

import mindtorch_core as torch

N = {"float32": 20_000, "float64": 20_000, "float16": 2000, "bfloat16": 2000, "toy": 2000}
LEAST = 1e-3  # probability of numbers as unlikely as the drawn ones

# Draw into an empty tensor; and the distribution's function in SciPy.
CONTINUOUS = {
    "uniform": (lambda t, g: t.uniform_(generator=g), stats.uniform()),
    "uniform_range": (lambda t, g: t.uniform_(-2, 4, generator=g), stats.uniform(-2, 6)),
    "normal": (lambda t, g: t.normal_(generator=g), stats.norm()),
    "normal_moved": (lambda t, g: t.normal_(3, 0.5, generator=g), stats.norm(3, 0.5)),
    "log_normal": (lambda t, g: t.log_normal_(0.5, 0.25, generator=g),
                   stats.lognorm(0.25, scale=math.exp(0.5))),
    "exponential": (lambda t, g: t.exponential_(generator=g), stats.expon()),
    "exponential_rate": (lambda t, g: t.exponential_(2.5, generator=g), stats.expon(scale=0.4)),
    "cauchy": (lambda t, g: t.cauchy_(generator=g), stats.cauchy()),
    "cauchy_moved": (lambda t, g: t.cauchy_(1, 2, generator=g), stats.cauchy(1, 2)),
}  # fmt: skip


def likely_continuous(values, distribution):
    """Kolmogorov and Smirnov's test."""
    return stats.kstest(values, distribution.cdf).pvalue > LEAST


def likely_discrete(values, probability):
    """Pearson's test, with rare values put together."""
    n = len(values)
    common = [k for k in range(200) if n * probability(k) > 5]
    seen = [values.count(k) for k in common]
    expected = [n * probability(k) for k in common]
    rest = n - sum(expected)
    if rest > 5:
        seen, expected = [*seen, n - sum(seen)], [*expected, rest]
    elif sum(seen) < n - 20:
        return False
    expected = [e * sum(seen) / sum(expected) for e in expected]
    return len(seen) < 2 or stats.chisquare(seen, expected).pvalue > LEAST


def drawn(draw, dtype="float32", device="cpu", seed=8):
    g = torch.Generator(device).manual_seed(seed)
    n = N["toy" if device != "cpu" else dtype]
    t = torch.empty(n, dtype=getattr(torch, dtype), device=device)
    return draw(t, g).double().tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name, dtype):
    draw, distribution = CONTINUOUS[name]
    assert likely_continuous(drawn(draw, dtype), distribution)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous_compositions(name, dice):
    draw, distribution = CONTINUOUS[name]
    assert likely_continuous(drawn(draw, device=dice), distribution)


SHARES = [0.0, 0.1, 0.3, 0.6]
DISCRETE = {
    "bernoulli": (lambda t, g: t.bernoulli_(0.3, generator=g), stats.bernoulli(0.3).pmf),
    "bernoulli_tensor": (lambda t, g: torch.bernoulli(t.fill_(0.3), generator=g),
                         stats.bernoulli(0.3).pmf),
    "bernoulli_p": (lambda t, g: torch.bernoulli(t.zero_(), 0.3, generator=g),
                    stats.bernoulli(0.3).pmf),
    "geometric": (lambda t, g: t.geometric_(0.3, generator=g), stats.geom(0.3).pmf),
    "random": (lambda t, g: t.random_(2, 9, generator=g), stats.randint(2, 9).pmf),
    "randint": (lambda t, g: torch.randint(7, t.shape, device=t.device, generator=g),
                stats.randint(0, 7).pmf),
    "poisson_small": (lambda t, g: torch.poisson(t.fill_(0.7), g), stats.poisson(0.7).pmf),
    "poisson_large": (lambda t, g: torch.poisson(t.fill_(40), g), stats.poisson(40).pmf),
    "binomial": (lambda t, g: torch.binomial(t.fill_(12), torch.full_like(t, 0.25), g),
                 stats.binom(12, 0.25).pmf),
    "multinomial": (lambda t, g: torch.multinomial(weights(t, t.numel(), 1), 1, generator=g),
                    lambda k: SHARES[k] if k < 4 else 0.0),
    "multinomial_again": (
        lambda t, g: torch.multinomial(weights(t, 1, 10), t.numel(), True, generator=g),
        lambda k: SHARES[k] if k < 4 else 0.0,
    ),
    "randperm_first": (
        lambda t, g: torch.stack([torch.randperm(5, device=t.device, generator=g)[0]
                                  for _ in range(t.numel() // 4)]),
        stats.randint(0, 5).pmf,
    ),
}  # fmt: skip


def weights(t, rows, scale):
    """The shares in each of some rows; their sum need not be 1."""
    made = torch.tensor([[w * scale for w in SHARES]], dtype=t.dtype).to(t.device)
    return made.expand(rows, -1).contiguous() if rows > 1 else made[0]


def counted(values):
    return [int(v) for row in values for v in (row if isinstance(row, list) else [row])]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", DISCRETE)
def test_discrete(name, dtype):
    draw, probability = DISCRETE[name]
    assert likely_discrete(counted(drawn(draw, dtype)), probability)


@pytest.mark.parametrize("name", sorted(DISCRETE.keys() - {"multinomial_again"}))
def test_discrete_compositions(name, dice, monkeypatch):
    if name in ("multinomial", "randperm_first"):
        monkeypatch.setitem(N, "toy", 400)  # a loop over Python numbers for each row
    draw, probability = DISCRETE[name]
    assert likely_discrete(counted(drawn(draw, device=dice)), probability)


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8", "bool", "float16"])
def test_bernoulli_and_geometric_in_other_dtypes(dtype):
    t = torch.empty(2000, dtype=getattr(torch, dtype))
    g = torch.Generator().manual_seed(3)
    ones = counted(t.bernoulli_(0.3, generator=g).tolist())
    assert likely_discrete(ones, stats.bernoulli(0.3).pmf)
    if dtype != "bool":
        trials = counted(t.geometric_(0.3, generator=g).tolist())
        assert likely_discrete(trials, stats.geom(0.3).pmf)


def test_a_wrong_distribution_is_noticed():
    uniform = drawn(CONTINUOUS["uniform"][0])
    assert not likely_continuous(uniform, stats.uniform(0, 1.04))
    assert not likely_continuous(uniform, stats.norm(0.5, 0.3))
    normal = drawn(CONTINUOUS["normal"][0])
    assert not likely_continuous(normal, stats.norm(0.04))
    assert not likely_continuous(normal, stats.norm(0, 1.08))
    assert not likely_continuous(drawn(CONTINUOUS["cauchy"][0]), stats.cauchy(0, 1.1))
    ones = counted(drawn(DISCRETE["bernoulli"][0]))
    assert not likely_discrete(ones, stats.bernoulli(0.32).pmf)
    trials = counted(drawn(DISCRETE["geometric"][0]))
    assert not likely_discrete(trials, stats.geom(0.32).pmf)
    assert not likely_discrete([k + 1 for k in trials], stats.geom(0.3).pmf)
    rare = counted(drawn(DISCRETE["poisson_large"][0]))
    assert not likely_discrete(rare, stats.poisson(41).pmf)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_ranges_are_half_open(dtype):
    t = torch.empty(200_000, dtype=getattr(torch, dtype))
    g = torch.Generator().manual_seed(1)
    for low, high in ((0.0, 1.0), (1.0, 3.0), (-1e-3, 1e-3)):
        t.uniform_(low, high, generator=g)
        least, most = t.double().min().item(), t.double().max().item()
        edge = torch.tensor([low, high], dtype=t.dtype).double().tolist()
        assert edge[0] <= least <= most < edge[1]
    assert torch.isfinite(t.exponential_(generator=g)).all()


def test_complex_numbers():
    t = torch.empty(20_000, dtype=torch.complex64)
    g = torch.Generator().manual_seed(2)
    t.normal_(generator=g)
    assert likely_continuous(t.real.tolist(), stats.norm(0, math.sqrt(0.5)))
    assert likely_continuous(t.imag.tolist(), stats.norm(0, math.sqrt(0.5)))
    t.uniform_(generator=g)
    assert likely_continuous(t.imag.tolist(), stats.uniform())


def test_means_and_spreads_of_their_own():
    n = 20_000
    g = torch.Generator().manual_seed(4)
    mean, std = torch.arange(2.0).unsqueeze(1), torch.full((n,), 2.0)
    made = torch.normal(mean, std, generator=g)
    for row, middle in zip(made.tolist(), (0, 1), strict=True):
        assert likely_continuous(row, stats.norm(middle, 2))
    assert likely_continuous(torch.normal(3.0, std, generator=g).tolist(), stats.norm(3, 2))
    assert likely_continuous(torch.normal(std, 0.5, generator=g).tolist(), stats.norm(2, 0.5))
    assert likely_continuous(torch.normal(1, 2, (n,), generator=g).tolist(), stats.norm(1, 2))


def test_without_replacement_nothing_is_drawn_twice():
    g = torch.Generator().manual_seed(5)
    weights = torch.rand(50, 6, generator=g)
    for row in torch.multinomial(weights, 6, generator=g).tolist():
        assert sorted(row) == list(range(6))
    firsts = torch.tensor([[0.0, 1.0, 3.0]]).expand(5000, -1)
    made = torch.multinomial(firsts, 2, generator=g).tolist()
    assert all(set(pair) == {1, 2} for pair in made)
    assert likely_discrete([pair[0] - 1 for pair in made], stats.bernoulli(0.75).pmf)
