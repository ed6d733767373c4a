"""Functions of float64 have their digits in every range: as many as mpmath says, or as PyTorch has."""

import math
import random

import numpy as np
import pytest

import mindtorch_core as torch
from exact_values import ENOUGH, FUNCTIONS, Places, errors, mp
from exact_values import oracle as pt


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_keep_their_digits(name):
    for where, ((ours, at), (theirs, _)) in errors(name, 25).items():
        # Next to roots and poles both have what the last digit of the argument leaves them.
        allowed = max(ENOUGH, 3 * theirs) if "near" not in where else max(ENOUGH, 30 * theirs)
        assert ours <= allowed, f"{name} {where}: {ours:.3g} ulp at {at!r}, PyTorch {theirs:.3g}"


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
