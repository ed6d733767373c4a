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


@pytest.fixture
def both(by_kernels, monkeypatch):
    """Runs a function with compiled loops and without: pairs of bytes."""
    if not KERNELS.enabled:
        pytest.skip(KERNELS.reason)

    def run(function):
        found = []
        for mode in ("now", "off"):
            monkeypatch.setattr(KERNELS, "mode", mode)
            made = function()
            every = made if isinstance(made, tuple) else (made,)
            found.append([(t.dtype, t.shape, t.stride(), repr(t.tolist())) for t in every])
        return found

    return run


def planes(n, dtype="float32"):
    numbers = np.random.default_rng(0).integers(-4, 4, (2, 3, *SIZES[:n])).astype("f4")
    x = torch.from_numpy(numbers).to(getattr(torch, dtype))
    if x.is_floating_point():
        flat = x.view(6, -1)
        flat[0, ::7], flat[1], flat[2], flat[3, 2] = float("nan"), -float("inf"), -0.0, float("inf")
        flat[4, 1::2], flat[4, ::2] = 0, -0.0
    return x


@pytest.mark.parametrize("n", [1, 2, 3])
def test_maxima(both, n):
    call = getattr(F, f"max_pool{n}d")
    for (kernel, step, pad, ceil), gap in itertools.product(OPTIONS, (1, 2)):
        if gap * (kernel - 1) < min(SIZES):
            here, there = both(
                lambda: call(planes(n), kernel, step, pad, gap, ceil, return_indices=True)
            )
            assert here == there, (kernel, step, pad, gap, ceil)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_means(both, n):
    call = getattr(F, f"avg_pool{n}d")
    for (kernel, step, pad, ceil), include in itertools.product(OPTIONS, (True, False)):
        here, there = both(lambda: call(planes(n), kernel, step, pad, ceil, include))
        assert here == there, (kernel, step, pad, ceil, include)
    if n > 1:
        here, there = both(lambda: call(planes(n), 2, 1, 1, divisor_override=5))
        assert here == there


@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16", "int64", "int32", "uint8"])
def test_dtypes(both, dtype):
    here, there = both(lambda: F.max_pool2d(planes(2, dtype), 3, 2, 1, return_indices=True))
    assert here == there
    here, there = both(lambda: F.avg_pool2d(planes(2, dtype), 3, 2, 1))
    assert here == there


def test_layouts(both):
    x = planes(2)
    for given in (x[:, :, ::2, 1:], x.to(memory_format=torch.channels_last), x[:0], x[0], x.mT):
        for call in (F.max_pool2d_with_indices, F.avg_pool2d):
            here, there = both(lambda call=call, given=given: call(given, (3, 2), 1, 1))
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
def test_windows_of_unlike_sizes(both, n, kind):
    for size in ((3, 4, 4), (2, 7, 5), (4, 1, 5), (1, 5, 2), (9, 8, 11)):
        here, there = both(lambda size=size[:n]: adaptive(kind, planes(n), size))
        assert here == there, size


@pytest.mark.parametrize("kind", ["avg", "max"])
@pytest.mark.parametrize("dtype", ["float64", "float16", "bfloat16"])
def test_windows_of_unlike_sizes_in_other_dtypes(both, dtype, kind):
    x = planes(2, dtype)
    for given in (x, x.mT, x.to(memory_format=torch.channels_last), x[:0], x[0]):
        here, there = both(lambda given=given: adaptive(kind, given, (3, 4)))
        assert here == there


def test_loops_serve_them(both):
    both(lambda: (F.max_pool2d(planes(2), 2), F.avg_pool2d(planes(2), 2)))
    both(lambda: adaptive("avg", planes(2), (3, 3)))
    made = {kernel.program.name for kernel in KERNELS.kernels() if type(kernel.program) is Walk}
    assert made >= {"largest_of_windows", "means_of_windows", "means_along"}
