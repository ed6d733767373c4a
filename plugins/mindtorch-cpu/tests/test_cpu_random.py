"""What the CPU's random numbers are computed with: fused steps, the C library's functions, permutations."""

import math
import random
from fractions import Fraction

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.fused import fused_double, fused_single, rounded_sum
from mindtorch_cpu.libm import exact
from mindtorch_cpu.ops import shuffling
from mindtorch_cpu.twister import TwisterSource


def nearest(value, kind):
    """The number of a dtype that a fraction rounds to; of two the even one."""
    middle = kind(float(value))
    near = [np.nextafter(middle, kind(-np.inf)), middle, np.nextafter(middle, kind(np.inf))]
    whole = np.int32 if kind is np.float32 else np.int64
    return min(near, key=lambda x: (abs(Fraction(float(x)) - value), int(x.view(whole)) & 1))


HARD = [  # products and summands whose sum is next to the middle of two float32 numbers
    (1.0, 2**-24 + 2.0**-70),
    (1.0, 2**-24 - 2.0**-78),
    (1.0, 2**-24),
    (1 + 2**-23, 2**-24),
    (1 + 2**-23, 2**-24 + 2.0**-76),
    (-1.0, -(2**-24) - 2.0**-70),
    (3.0, 2.0**-90),
]


def test_sums_are_rounded_once():
    p, z = (np.array(column) for column in zip(*HARD, strict=True))
    wanted = [nearest(Fraction(a) + Fraction(b), np.float32) for a, b in HARD]
    assert rounded_sum(p, z).tolist() == wanted
    assert (p + z).astype(np.float32).tolist() != wanted  # two roundings do not do


@pytest.mark.parametrize(
    ("fused", "kind"), [(fused_single, np.float32), (fused_double, np.float64)]
)
def test_products_and_sums_are_rounded_once(fused, kind):
    draw = random.Random(3)
    x = np.array([draw.gauss(0, 1) for _ in range(3000)], kind)
    for y, z in ((1.7, 0.3), (1e-3, -5.0), (3.0, 0.0), (1.0, 0.1), (1.0, 0.0), (0.0, 2.5)):
        y, z = kind(y), kind(z)
        wanted = [
            nearest(Fraction(float(v)) * Fraction(float(y)) + Fraction(float(z)), kind) for v in x
        ]
        assert fused(x, y, z).tolist() == wanted


@pytest.mark.parametrize("name", ["log", "log1p", "exp", "tan", "sin", "cos"])
@pytest.mark.parametrize("off", [False, True])
def test_functions_have_the_bits_of_the_c_library(name, off, monkeypatch):
    a = np.modf(np.arange(1, 40_000) * 0.7548776662466927)[0]
    a = -a if name == "log1p" else a
    exact.cache_clear()
    if off:  # as NumPy's is where it computes by itself, once in 300 numbers
        ufunc = getattr(np, name)

        def nearly(x):
            made = ufunc(x)
            made[::300] = np.nextafter(made[::300], 9)
            return made

        monkeypatch.setattr(np, name, nearly)
    try:
        assert exact(name)(a).tolist() == [getattr(math, name)(x) for x in a.tolist()]
        if off and name == "log":
            assert exact(name)(np.array([1.0, 0.0])).tolist() == [0, -math.inf]
    finally:
        exact.cache_clear()


def one_by_one(n, source):
    """The permutation by PyTorch's loop."""
    order = list(range(n))
    for i, word in enumerate(source.words(n - 1).tolist() if n > 1 else []):
        j = i + word % (n - i)
        order[i], order[j] = order[j], order[i]
    return order


@pytest.mark.parametrize("n", [0, 1, 2, 3, 63, 64, 511, 512, 513, 5000])
def test_permutations_are_those_of_the_loop(either_way, n):
    for seed in range(5):
        sources = TwisterSource(), TwisterSource()
        for source in sources:
            source.manual_seed(seed)
        assert shuffling.shuffled(n, sources[0]).tolist() == one_by_one(n, sources[1])
        assert sources[0].get_state() == sources[1].get_state()


def test_huge_permutations_are_built_up(monkeypatch):
    monkeypatch.setattr(shuffling, "_HUGE", 100)  # what needs gigabytes otherwise
    source, other = TwisterSource(), TwisterSource()
    order = []
    for i, word in enumerate(other.long_words(1000).tolist()):
        place = word % (i + 1)
        order.append(order[place] if place < i else i)
        order[place] = i
    assert shuffling.shuffled(1000, source).tolist() == order
    assert source.get_state() == other.get_state()


def test_numbers_by_numpys_generator_are_the_stream():
    """Few outputs and many are drawn by different functions of NumPy."""
    few, many = TwisterSource(), TwisterSource()
    singly = [int(few.words(1)[0]) for _ in range(4000)]
    assert many.words(4000).tolist() == singly
    few.manual_seed(1)
    many.manual_seed(1)
    assert many.long_words(4000).tolist() == [int(few.long_words(1)[0]) for _ in range(4000)]
    few.manual_seed(1)
    many.manual_seed(1)
    assert many.doubles(900).tolist() == [few.double() for _ in range(900)]


def test_odd_parameters_end():
    """Rates and counts with which PyTorch overflows, or never ends."""
    inf, nan = math.inf, math.nan
    t = torch.tensor
    assert torch.poisson(t([inf, 0.0])).tolist() == [inf, 0]
    assert torch.poisson(t([1e19, 1e30]).double()).tolist() == pytest.approx([1e19, 1e30])
    for count, p in ((inf, 0.3), (nan, 0.3), (5.0, nan)):
        assert math.isnan(torch.binomial(t([count]), t([p])).item())
        assert torch.binomial(t([count] * 300), t([p] * 300)).isnan().all()
    assert torch.binomial(t([5.0, 5.0, 0.0, -3.0]), t([1.0, 0.0, 0.5, 0.5])).tolist() == [
        5,
        0,
        0,
        0,
    ]
    least = torch.finfo(torch.float32).tiny
    assert torch._standard_gamma(t([0.0, nan])).tolist() == [least, least]
