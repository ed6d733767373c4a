"""Pooling of few elements: compiled loops find what NumPy does, to the last bit."""

import itertools

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.native.walks import Walk

SIZES = (5, 7, 6)

OPTIONS = [
    (kernel, step, pad, ceil)
    for kernel, step, pad, ceil in itertools.product((1, 2, 3), (1, 2, 3), (0, 1), (False, True))
    if pad <= kernel // 2
]


def planes(n, dtype="float32"):
    numbers = np.random.default_rng(0).integers(-4, 4, (2, 3, *SIZES[:n])).astype("f4")
    x = torch.from_numpy(numbers).to(getattr(torch, dtype))
    if x.is_floating_point():
        flat = x.view(6, -1)
        flat[0, ::7], flat[1], flat[2], flat[3, 2] = float("nan"), -float("inf"), -0.0, float("inf")
        flat[4, 1::2], flat[4, ::2] = 0, -0.0
    return x


@pytest.mark.parametrize("n", [1, 2, 3])
def test_maxima(with_and_without, n):
    call = getattr(F, f"max_pool{n}d")
    for (kernel, step, pad, ceil), gap in itertools.product(OPTIONS, (1, 2)):
        if gap * (kernel - 1) < min(SIZES):
            here, there = with_and_without(
                lambda: call(planes(n), kernel, step, pad, gap, ceil, return_indices=True)
            )
            assert here == there, (kernel, step, pad, gap, ceil)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_means(with_and_without, n):
    call = getattr(F, f"avg_pool{n}d")
    for (kernel, step, pad, ceil), include in itertools.product(OPTIONS, (True, False)):
        here, there = with_and_without(lambda: call(planes(n), kernel, step, pad, ceil, include))
        assert here == there, (kernel, step, pad, ceil, include)
    if n > 1:
        here, there = with_and_without(lambda: call(planes(n), 2, 1, 1, divisor_override=5))
        assert here == there


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int64", "int32", "uint8"])
def test_dtypes(with_and_without, dtype):
    here, there = with_and_without(
        lambda: F.max_pool2d(planes(2, dtype), 3, 2, 1, return_indices=True)
    )
    assert here == there
    here, there = with_and_without(lambda: F.avg_pool2d(planes(2, dtype), 3, 2, 1))
    assert here == there


def test_layouts(with_and_without):
    x = planes(2)
    for given in (x[:, :, ::2, 1:], x.to(memory_format=torch.channels_last), x[:0], x[0], x.mT):
        for call in (F.max_pool2d_with_indices, F.avg_pool2d):
            here, there = with_and_without(lambda call=call, given=given: call(given, (3, 2), 1, 1))
            assert here == there


def adaptive(kind, x, size):
    """What pooling to a shape gives, and its gradient by numbers of all sizes and signs."""
    x = x.clone(memory_format=torch.preserve_format).requires_grad_()
    found = getattr(F, f"adaptive_{kind}_pool{len(size)}d")(x, size)
    weights = torch.arange(found.numel()).to(found.dtype).sin().reshape(found.shape)
    (weights * found).sum().backward()
    return found.detach(), x.grad


@pytest.mark.parametrize("kind", ["avg", "max"])
@pytest.mark.parametrize("n", [1, 2, 3])
def test_windows_of_unlike_sizes(with_and_without, n, kind):
    for size in ((3, 4, 4), (2, 7, 5), (4, 1, 5), (1, 5, 2), (9, 8, 11)):
        here, there = with_and_without(lambda size=size[:n]: adaptive(kind, planes(n), size))
        assert here == there, size


@pytest.mark.parametrize("kind", ["avg", "max"])
@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_windows_of_unlike_sizes_in_other_dtypes(with_and_without, dtype, kind):
    x = planes(2, dtype)
    for given in (x, x.mT, x.to(memory_format=torch.channels_last), x[:0], x[0]):
        here, there = with_and_without(lambda given=given: adaptive(kind, given, (3, 4)))
        assert here == there


def test_loops_serve_them(with_and_without):
    with_and_without(lambda: (F.max_pool2d(planes(2), 2), F.avg_pool2d(planes(2), 2)))
    with_and_without(lambda: adaptive("avg", planes(2), (3, 3)))
    made = {kernel.program.name for kernel in KERNELS.kernels() if type(kernel.program) is Walk}
    assert made >= {"largest_of_windows", "means_of_windows", "means_along"}
