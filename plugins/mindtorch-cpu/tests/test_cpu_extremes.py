"""Extremes of large tensors and where they are: found part by part, and along the first dimension row by row."""

import itertools

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.ops import reduction

NAN = float("nan")


def numbers(shape, dtype, *, bad):
    draw = np.random.default_rng(0)
    found = torch.from_numpy(draw.integers(-40, 40, shape)).to(getattr(torch, dtype))
    if bad:
        found[tuple(s // 2 for s in shape)] = NAN
        found[tuple(s - 1 for s in shape)] = NAN
    return found


CASES = {"float32": (False, True), "bfloat16": (False, True), "int64": (False,)}


@pytest.mark.parametrize("part", [1000, 1 << 40])
@pytest.mark.parametrize("shape", [(150, 300), (5, 40, 260), (3, 20_000), (40_000,)])
@pytest.mark.parametrize(("dtype", "bad"), [(d, b) for d, bads in CASES.items() for b in bads])
def test_they_are_numpys(dtype, bad, shape, part, monkeypatch):
    monkeypatch.setattr(reduction, "_PART", part)
    x = numbers(shape, dtype, bad=bad)
    plain = x.double().numpy() if x.is_floating_point() else x.numpy()
    for dim, keepdim in itertools.product(range(len(shape)), (False, True)):
        for name, extreme, place in (("max", np.max, np.argmax), ("min", np.min, np.argmin)):
            wanted = extreme(plain, dim, keepdims=keepdim), place(plain, dim, keepdims=keepdim)
            values, indices = getattr(x, name)(dim, keepdim)
            found = getattr(x, f"a{name}")(dim, keepdim), getattr(x, f"arg{name}")(dim, keepdim)
            for made, good in zip((values, indices, *found), wanted * 2, strict=True):
                assert np.array_equal(made.double().numpy(), good, equal_nan=True)
                assert made.is_contiguous()
    if len(shape) > 1:
        dims = (0, len(shape) - 1)
        assert np.array_equal(x.amax(dims).double().numpy(), plain.max(dims), equal_nan=True)


def test_of_zeros_the_first_is_the_place():
    x = torch.zeros(200, 300)
    x[::2] = -0.0
    assert not x.max(0).indices.any()
    assert not x.argmin(0).any()


def test_threads_change_nothing():
    threads, made = torch.get_num_threads(), []
    x = torch.randn(3000, 1500)
    try:
        for count in (1, 4):
            torch.set_num_threads(count)
            made.append((*x.max(0), *x.min(1), x.amax(0), x.amin(1), x.argmax(1)))
    finally:
        torch.set_num_threads(threads)
    assert all(map(torch.equal, *made))
