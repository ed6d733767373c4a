"""Extremes of large tensors and where they are: by kernels, part by part, along the first dimension row by row."""

import itertools

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.native.walks import Walk
from mindtorch_cpu.ops import reduction

NAN = float("nan")


pytestmark = pytest.mark.usefixtures("either_way")


def numbers(shape, dtype, *, bad):
    draw = np.random.default_rng(0)
    found = torch.from_numpy(draw.integers(-40, 40, shape)).to(getattr(torch, dtype))
    if bad:
        found[tuple(s // 2 for s in shape)] = NAN
        found[tuple(s - 1 for s in shape)] = NAN
    return found


CASES = {
    "float32": (False, True),
    "float64": (True,),
    "bfloat16": (False, True),
    "int64": (False,),
    "int32": (False,),
    "int16": (False,),
}


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
    for dim in (0, 1):
        for values, indices in (x.max(dim), x.min(dim), x.t().max(1 - dim)):
            assert not indices.any()
            assert torch.equal(values.signbit(), x.select(dim, 0).signbit())
    assert not x.argmin(0).any()


VIEWS = {
    "turned": lambda x: x.permute(2, 0, 1),
    "inside out": lambda x: x.permute(1, 2, 0),
    "every other": lambda x: x[:, ::2],
    "from the end": lambda x: x.flip(1)[:, :, 1:],
    "one row again": lambda x: x[:1].expand(12, -1, -1),
    "channels last": lambda x: x[None].to(memory_format=torch.channels_last)[0],
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", ["float16", "float32", "int64", "uint8", "bool"])
def test_they_are_found_however_tensors_lie(dtype, view):
    draw = np.random.default_rng(1).integers(-9, 9, (12, 31, 43)).astype("f8")
    if dtype.startswith("float"):
        draw[3, ::7], draw[:, 4, 2], draw[5, 5, 5] = NAN, -np.inf, np.inf
    elif dtype in ("uint8", "bool"):
        draw = draw > 0
    x = VIEWS[view](torch.from_numpy(draw).to(getattr(torch, dtype)))
    plain = x.to(torch.float64).numpy()
    for dim in range(3):
        for name, extreme, place in (("max", np.max, np.argmax), ("min", np.min, np.argmin)):
            values, indices = getattr(x, name)(dim)
            assert np.array_equal(values.double().numpy(), extreme(plain, dim), equal_nan=True)
            assert np.array_equal(indices.numpy(), place(plain, dim))
            if dtype != "bool":
                assert torch.equal(getattr(x, f"arg{name}")(dim), indices)
            assert values.is_contiguous()
            assert indices.is_contiguous()


def test_a_kernel_finds_them():
    x = torch.randn(300, 200)
    x.max(0)
    x.min(0)
    made = {kernel.program.name for kernel in KERNELS.kernels() if type(kernel.program) is Walk}
    assert {"most_placed", "least_placed"} <= made or not KERNELS.enabled


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
