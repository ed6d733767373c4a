"""Where a function is odd or the identity near zero, a zero keeps its sign, in any number and in pipelines."""

import math

import pytest

import mindtorch_core as torch

KEEPING = {
    "elu": torch.nn.functional.elu,
    "elu, half": lambda x: torch.nn.functional.elu(x, 0.5),
    "selu": torch.selu,
    "celu": lambda x: torch.celu(x, 1.5),
    "erfinv": torch.erfinv,
}
SIZES = [1, 3, 29, 1000, 40_000]


def both_ways(f, x):
    with torch.pipeline():
        deferred = f(x * 1)
    return f(x), deferred


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("f", KEEPING.values(), ids=KEEPING)
def test_zeros_keep_their_sign(f, n, dtype):
    for zero in (0.0, -0.0):
        for found in both_ways(f, torch.full((n,), zero, dtype=getattr(torch, dtype))):
            assert not found.any()
            assert (torch.signbit(found) == (math.copysign(1, zero) < 0)).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", SIZES)
def test_the_power_of_minus_half_is_one_through_a_root(n, dtype):
    x = torch.tensor([-0.0, 0.0, -math.inf, 4.0], dtype=getattr(torch, dtype)).repeat(n)
    for f in (lambda x: x.pow(-0.5), lambda x: x.clone().pow_(-0.5)):
        for found in both_ways(f, x):
            assert found[:2].tolist() == [-math.inf, math.inf]
            assert math.isnan(found[2])
            assert found[-1] == 0.5
