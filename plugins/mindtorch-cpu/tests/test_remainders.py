"""Remainders and rounded quotients of many numbers are those of long division, to the last bit."""

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
        wanted = np.fmod(a, b), remainder(a, b), np.floor_divide(a, b)
    for _ in range(3):
        found = torch.fmod(x, y), torch.remainder(x, y), torch.floor_divide(x, y)
        for own, expected in zip(found, wanted, strict=True):
            same(own, expected)


def same(found, wanted):
    """Whether a tensor holds these numbers, with these signs of zeros."""
    own, wanted = (np.asarray(a).astype("f8") for a in (found.double(), wanted))
    assert np.array_equal(own, wanted, equal_nan=True)
    there = ~np.isnan(wanted)
    assert np.array_equal(np.signbit(own[there]), np.signbit(wanted[there]))


@pytest.mark.parametrize("by", [2.0, -0.1, 3e-5, 0.0, float("inf"), "one each", "a row", "turned"])
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_is_rounded_once(dtype, by):
    bits = np.arange(1 << 16, dtype="u2").reshape(256, 256)
    finite = torch.from_numpy(bits.view("i2")).view(dtype)
    x = torch.where(finite.isfinite() & (finite.abs() < 1e4), finite, 1)
    y = {"one each": x.flip(1) + 0.1, "a row": x[100], "turned": (x.flip(0) + 0.1).t()}.get(by, by)
    a, b = (
        x.numpy(),
        y.numpy() if isinstance(y, torch.Tensor) else np.asarray(y).astype(x.numpy().dtype),
    )
    with np.errstate(all="ignore"):
        wanted = np.fmod(a, b), remainder(a, b), np.floor_divide(a, b)
    for op, expected in zip((torch.fmod, torch.remainder, torch.floor_divide), wanted, strict=True):
        same(op(x, y), expected)
        assert op(x, y).dtype is dtype
        written = x.clone()
        getattr(written, f"{op.__name__}_")(y)
        same(written, expected)


def test_divisors_may_be_rows_and_lie_otherwise():
    random = np.random.default_rng(1)
    a, b = (
        random.normal(0, 9, (300, 200)).astype("f4"),
        random.normal(0, 1, (300, 200)).astype("f4"),
    )
    for y in (b[:1], b[:, :1], b[0], np.asfortranarray(b), b[::-1]):
        for x in (a, np.asfortranarray(a), a[:, ::-1]):
            given, by = torch.from_numpy(x.copy("K")), torch.from_numpy(y.copy("K"))
            same(torch.remainder(given, by), remainder(x, y))
            same(torch.floor_divide(given, by), np.floor_divide(x, y))
            assert left_over(np.floor_divide, x.dtype, x, y) is not None or not KERNELS.enabled
    same(torch.fmod(torch.from_numpy(b[0]), torch.from_numpy(a)), np.fmod(b[0], a))


@pytest.mark.parametrize("ufunc", [np.fmod, remainder, np.floor_divide], ids=lambda f: f.__name__)
def test_a_kernel_serves_what_it_can(ufunc):
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)
    served = {
        name: left_over(ufunc, a.dtype, a, np.asarray(b)) is not None for name, a, b in cases()
    }
    assert [name for name, by_kernel in served.items() if by_kernel] == [
        "near multiples", "of both signs", "zeros", "by many", "tiny",
    ]  # fmt: skip
