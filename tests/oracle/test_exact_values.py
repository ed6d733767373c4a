"""Functions of float64 have their digits in every range: as many as mpmath says, or as PyTorch has."""

import math
import operator
import random

import numpy as np
import pytest

import mindtorch_core as torch
from exact_values import ENOUGH, FUNCTIONS, Places, distance, errors, mp
from exact_values import oracle as pt


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_keep_their_digits(name):
    for where, ((ours, at), (theirs, _)) in errors(name, 25).items():
        # Next to roots and poles both have what the last digit of the argument leaves them.
        allowed = max(ENOUGH, 3 * theirs) if "near" not in where else max(ENOUGH, 30 * theirs)
        assert ours <= allowed, f"{name} {where}: {ours:.3g} ulp at {at!r}, PyTorch {theirs:.3g}"


def two(low, high, other_low, other_high):
    """Pairs of numbers, as many of each order of magnitude."""
    return lambda p: (p.spread(low, high), p.spread(other_low, other_high))


def close_to_each_other(p):
    first = p.spread(1, 1e4)
    return first, [a + a**0.5 * z for a, z in zip(first, p.even(-0.9, 2), strict=True)]


# Functions of two numbers: the exact one, and what gives both in each range.
OF_TWO = {
    "special.gammainc": (
        lambda a, x: mp.gammainc(a, 0, x, regularized=True),
        {"small": two(1e-3, 1, 1e-3, 1), "middle": two(0.5, 20, 0.5, 20), "close": close_to_each_other},
    ),
    "special.gammaincc": (
        lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True),
        {"small": two(1e-3, 1, 1e-3, 1), "middle": two(0.5, 20, 0.5, 20), "close": close_to_each_other},
    ),
    "special.zeta": (
        lambda s, q: mp.zeta(s, q),
        {"middle": two(1.01, 20, 1e-2, 100), "far": two(1.1, 10, 100, 1e8), "steep": two(20, 100, 0.1, 10)},
    ),
    "special.xlogy": (lambda x, y: x * mp.log(y), {"any": two(1e-5, 1e5, 1e-300, 1e300)}),
    "special.xlog1py": (lambda x, y: x * mp.log1p(y), {"any": two(1e-5, 1e5, 1e-18, 1e3)}),
    "hypot": (lambda x, y: mp.sqrt(x * x + y * y), {"any": two(1e-300, 1e300, 1e-300, 1e300)}),
    "pow": (lambda x, y: x**y, {"any": two(1e-10, 1e10, 1e-3, 20)}),
    "logaddexp": (lambda x, y: mp.log(mp.exp(x) + mp.exp(y)), {"any": two(1e-3, 500, 1e-3, 500)}),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_TWO)
def test_functions_of_two_numbers_keep_their_digits(name):
    reference, ranges = OF_TWO[name]
    for where, drawn in ranges.items():
        pairs = list(zip(*drawn(Places(f"{name} {where}", 12)), strict=True))
        with mp.workdps(100):
            wanted = [mp.re(reference(*map(mp.mpf, pair))) for pair in pairs]
        off = []
        for lib in (torch, pt):
            call = operator.attrgetter(name)(lib)
            made = call(*(lib.tensor(x, dtype=lib.float64) for x in zip(*pairs, strict=True)))
            off.append(max(map(distance, made.tolist(), wanted)))
        assert off[0] <= max(ENOUGH, 3 * off[1]), f"{name} {where}: {off[0]:.3g} ulp"


@pytest.mark.parametrize("order", [1, 2, 3, 10])
def test_polygamma_keeps_its_digits(order):
    places = Places(f"polygamma {order}", 12)
    numbers = [*places.spread(1e-8, 1e6), *(-x for x in places.even(0.05, 5))]
    with mp.workdps(60):
        wanted = [mp.polygamma(order, mp.mpf(x)) for x in numbers]
    ours, theirs = (
        max(
            map(
                distance,
                lib.polygamma(order, lib.tensor(numbers, dtype=lib.float64)).tolist(),
                wanted,
            )
        )
        for lib in (torch, pt)
    )
    assert ours <= max(ENOUGH, 3 * theirs), ours


@pytest.mark.parametrize("name", ["erf", "erfc", "nn.functional.gelu"])
@pytest.mark.parametrize("count", [1000, 60_000])
def test_few_and_many_numbers_of_float32(name, count):
    call = torch
    for part in name.split("."):
        call = getattr(call, part)
    x = torch.linspace(-13, 14, count)
    made, exact = call(x).double().numpy(), call(x.double()).numpy()
    assert (np.abs(made - exact) <= ENOUGH * np.spacing(np.abs(exact).astype(np.float32))).all()
    ends = torch.tensor([0.0, -0.0, math.inf, -math.inf, math.nan, 3e38, -3e38, 1e-40]).repeat(
        count // 8
    )
    few = call(ends[:8])
    assert torch.equal(call(ends)[:8].nan_to_num(7), few.nan_to_num(7))
    assert torch.equal(call(ends[:3].repeat(count))[:3], few[:3])


def slope(lib, name, numbers, order):
    """Derivatives of a function of float64, by backward; None where there is no gradient."""
    call = lib
    for part in name.split("."):
        call = getattr(call, part)
    x = lib.tensor(numbers, dtype=lib.float64, requires_grad=True)
    try:
        y = call(x)
        for _ in range(order):
            (y,) = lib.autograd.grad(y.sum(), x, create_graph=True)
    except (RuntimeError, NotImplementedError):
        return None
    return y.tolist()


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_are_derivatives(name):
    reference, ranges = FUNCTIONS[name]
    drawn = ranges(Places(name, 6))
    places = [x for where in drawn.values() for x in where if 1e-3 < abs(x) < 10]
    numbers = [float(x) for x in random.Random(name).sample(places, min(len(places), 12))]
    for order in (1, 2):
        ours, theirs = (slope(lib, name, numbers, order) for lib in (torch, pt))
        assert (ours is None) <= (theirs is None)
        if ours is None or theirs is None:
            continue
        for x, a, b in zip(numbers, ours, theirs, strict=True):
            with mp.workdps(40):
                exact = mp.diff(reference, mp.mpf(x), order)
            allowed = max(float(abs(exact)), 1.0) * 1e-11 + 3 * abs(b - exact)
            assert abs(a - exact) <= allowed, (
                f"{name} at {x}, order {order}: {a}, not {exact}, PyTorch {b}"
            )
