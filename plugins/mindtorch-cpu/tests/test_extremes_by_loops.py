"""Running extremes, and rows combined with those of positions: compiled loops give NumPy's bits."""

import itertools

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.native.walks import Walk

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int8"]


@pytest.fixture
def alike(with_and_without):
    """Compares what a function gives with compiled loops and without."""

    def compare(function, what):
        here, there = with_and_without(function)
        assert here == there, what

    return compare


def numbers(shape, dtype):
    """Equal ones, zeros of both signs, and NaN."""
    drawn = np.asarray((np.random.default_rng(2).standard_normal(shape) * 3).round())
    x = torch.from_numpy(drawn).to(getattr(torch, dtype))
    if x.is_floating_point() and x.numel() > 20:
        flat = x.view(-1)
        flat[::4], flat[1::4], flat[14], flat[19] = -0.0, 0.0, float("nan"), float("nan")
    return x


@pytest.mark.parametrize("dtype", [*DTYPES, "bool"])
@pytest.mark.parametrize("call", [torch.cummax, torch.cummin])
def test_running_extremes(alike, call, dtype):
    for shape in ((7,), (100, 9), (3, 40, 17), (0, 3), (), (60, 80, 9), (2, 1)):
        for dim in range(-1, len(shape)):
            x = numbers(shape, dtype)
            alike(lambda x=x, dim=dim: tuple(call(x, dim)), (shape, dim))
            if x.ndim > 1:
                alike(lambda x=x, dim=dim: tuple(call(x.mT, dim)), (shape, dim, "turned"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("reduce", ["sum", "mean", "amax", "amin", "prod"])
def test_rows_of_positions(alike, reduce, dtype):
    for rows, width, size in ((300, 20, 7), (40, 3, 5), (30, 1, 4), (0, 3, 4)):
        given, own = numbers((rows, width), dtype), numbers((size, width), dtype)
        index = torch.from_numpy(np.random.default_rng(4).integers(0, size, rows))[:, None]
        for many, wide, kept in itertools.product((rows, rows // 2), (width, 1), (True, False)):
            places = index[:many].expand(many, wide)
            options = (0, places, given, reduce)

            def combined(options=options, own=own, kept=kept):
                return own.scatter_reduce(*options, include_self=kept)

            alike(combined, (rows, many, wide, kept))


def test_rows_of_positions_that_are_not_there(by_kernels):
    index = torch.tensor([[0], [3]]).expand(2, 5)
    for reduce in ("amax", "mean"):
        own = torch.ones(3, 5)
        with pytest.raises(RuntimeError, match="index 3 is out of bounds"):
            own.scatter_reduce_(0, index, torch.full((2, 5), 7.0), reduce)
        assert own.eq(1).all()


def test_loops_find_them(alike):
    x, index = numbers((50, 4), "int64"), torch.zeros(50, 1, dtype=torch.int64).expand(50, 4)
    alike(lambda: tuple(x.cummax(0)), "maxima")
    alike(lambda: x.scatter_reduce(0, index, x, "amin"), "rows")
    made = {kernel.program.name for kernel in KERNELS.kernels() if type(kernel.program) is Walk}
    assert made >= {"running_most", "rows_least"}
