"""Adaptive pooling whose windows are all of one size is pooling by those: values, places and gradients are PyTorch's."""

import numpy as np
import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")

# Windows of few elements, of many, one for all, and of sizes that differ.
CASES = [
    ((8, 6), (4, 3)),
    ((20, 18), (2, 2)),
    ((24, 24), (1, 1)),
    ((9, 7), (1, 7)),
    ((8, 6), (3, 4)),
]


def pooled(lib, function, data, size, in_channels_last):
    x = lib.tensor(data)
    if in_channels_last:
        x = x.contiguous(memory_format=lib.channels_last)
    x = x.detach().requires_grad_()
    options = {"return_indices": True} if "max" in function else {}
    found = getattr(lib.nn.functional, function)(x, size, **options)
    first, *rest = found if isinstance(found, tuple) else (found,)
    (first * lib.arange(first.numel()).reshape(first.shape).to(first.dtype)).sum().backward()
    return [first.detach(), *rest, x.grad]


@pytest.mark.parametrize("in_channels_last", [False, True])
@pytest.mark.parametrize(("shape", "size"), CASES)
@pytest.mark.parametrize("function", ["adaptive_avg_pool2d", "adaptive_max_pool2d"])
def test_windows_of_one_size(function, shape, size, in_channels_last):
    data = np.random.default_rng(1).integers(-4, 5, (2, 3, *shape)).astype(np.float32)
    if "max" in function:
        data[0, 0, 1:3, 1:4] = np.nan  # of several the last is the maximum
        data[0, 1] = -np.inf
    ours, theirs = (pooled(lib, function, data, size, in_channels_last) for lib in (torch, pt))
    for found, wanted in zip(ours, theirs, strict=True):
        assert found.stride() == wanted.stride()
        assert str(found.dtype).split(".")[-1] == str(wanted.dtype).split(".")[-1]
        np.testing.assert_allclose(found.numpy(), wanted.numpy(), 1e-6)
