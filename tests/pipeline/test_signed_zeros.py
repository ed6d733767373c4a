"""Blocks whose numbers are equal and not the same: zeros have signs, also in arguments that are no operands."""

import math

import numpy as np
import pytest

import mindtorch_core as torch

CALLS = {
    "pad": lambda x, value: torch.nn.functional.pad(x, (1, 1), value=value),
    "nan_to_num": lambda x, value: torch.nan_to_num(x / 0 * 0, nan=value),
    "full_like": lambda x, value: torch.full_like(x, value),
}
WAYS = ("new blocks", "a replayed block", "compiled")
ORDERS = (
    [0.0, -0.0],
    [-0.0, 0.0],
    [0.0, 0.0, 0.0, -0.0, -0.0, 0.0],
    [1.0, 1.0, 1.0, -0.0, 0.0, 1.0],
)


def signs(t):
    return [math.copysign(1, v) for v in t.tolist()]


def replayed(call, x, value):
    with torch.pipeline():
        return call(x, value)


def runner(way, call):
    """A function that makes the call in a block, in one that is known, or compiled."""
    if way == "compiled":
        return torch.compile(call)
    if way == "a replayed block":
        return lambda x, value: replayed(call, x, value)

    def new(x, value):
        around = {"torch": torch, "call": call, "x": x, "value": value}
        exec("with torch.pipeline(): found = call(x, value)", around)
        return around["found"]

    return new


@pytest.mark.parametrize("kind", [float, np.float64], ids=["Python", "NumPy"])
@pytest.mark.parametrize("order", ORDERS, ids=str)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("call", CALLS)
def test_zeros_of_either_sign(call, way, order, kind):
    x = torch.ones(2)
    run = runner(way, CALLS[call])
    for value in order:
        wanted = signs(CALLS[call](x, kind(value)))
        assert wanted[0] == math.copysign(1, value)
        assert signs(run(x, kind(value))) == wanted


def test_what_is_no_number_is_equal_to_itself():
    x = torch.ones(2)
    for _ in range(4):
        with torch.pipeline() as pipe:
            found = CALLS["pad"](x, float("nan"))
        assert [math.isnan(v) for v in found.tolist()] == [True, False, False, True]
    assert pipe.stats()["replayed"] > 0
