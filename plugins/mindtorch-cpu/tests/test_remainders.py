"""Remainders of many float32 numbers are those of C's long division, to the last bit."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.remainders import left_over, remainder

SIZE = 50_000


pytestmark = pytest.mark.usefixtures("by_kernels")


def cases():
    random = np.random.default_rng(0)
    near = random.integers(1, 1 << 20, SIZE) * np.float32(0.1)
    near = np.nextafter(near.astype("f4"), np.resize(np.array([-np.inf, np.inf], "f4"), SIZE))
    wide = (random.normal(0, 1, SIZE) * np.exp2(random.integers(-8, 20, SIZE))).astype("f4")
    zeros = np.resize(np.array([0.0, -0.0, 3.0, -3.0, 1.5, -1.5], "f4"), SIZE)
    signs = np.resize(np.array([0.75, -0.75], "f4"), SIZE)
    some = np.where(random.random(SIZE) < 0.5, -1, 1) * np.exp2(random.integers(-6, 4, SIZE))
    yield "near multiples", near, np.float32(0.1)
    yield "of both signs", wide, signs
    yield "zeros", zeros, signs
    yield "by many", wide, some.astype("f4")
    yield "tiny", (wide * np.float32(1e-40)), np.float32(3e-41)
    yield "far", (wide * np.float32(1e6)), np.float32(0.1)
    yield "too far", (wide * np.float32(1e20)), np.float32(0.1)
    yield "by zero", wide, np.float32(0)
    yield "by infinity", wide, np.float32(np.inf)
    yield "of infinity", np.where(zeros == 0, np.float32(np.inf), wide), np.float32(2)
    yield "of nan", np.where(zeros == 0, np.float32(np.nan), wide), np.float32(2)


@pytest.mark.parametrize(("name", "a", "b"), list(cases()), ids=[name for name, *_ in cases()])
def test_bits_are_those_of_long_division(name, a, b):
    x = torch.from_numpy(a)
    y = torch.from_numpy(b) if b.ndim else float(b)
    with np.errstate(all="ignore"):
        fmod, rest = np.fmod(a, b), remainder(a, b)
    for _ in range(3):
        found = torch.fmod(x, y).numpy(), torch.remainder(x, y).numpy()
        for own, wanted in zip(found, (fmod, rest), strict=True):
            assert np.array_equal(own, wanted, equal_nan=True)
            there = ~np.isnan(wanted)
            assert np.array_equal(np.signbit(own[there]), np.signbit(wanted[there]))


@pytest.mark.parametrize("ufunc", [np.fmod, remainder], ids=["fmod", "remainder"])
def test_a_kernel_serves_what_it_can(ufunc):
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    served = {
        name: left_over(ufunc, a.dtype, a, np.asarray(b)) is not None for name, a, b in cases()
    }
    assert [name for name, by_kernel in served.items() if by_kernel] == [
        "near multiples", "of both signs", "zeros", "by many", "tiny",
    ]  # fmt: skip
