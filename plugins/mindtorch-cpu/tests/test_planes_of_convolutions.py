"""Convolutions of each channel by itself: windows that reach beyond the borders, with steps and holes."""

import itertools

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_cpu.ops import convolution
from mindtorch_cpu.ops import plane_convolution as planes

HOLES = [(1, 1), (1, 2), (2, 1)]


def whole(*shape):
    """Small integers, so that sums are exact."""
    count = int(np.prod(shape))
    return (np.arange(count) * 7 % 11 - 5).astype(np.float32).reshape(shape)


def expected(x, w, g, stride, padding, dilation):
    """The result and gradients, tap by tap."""
    pads = ((0, 0), (0, 0), *((p, p) for p in padding))
    wide, y = np.pad(x, pads), np.zeros_like(g)
    of_x, of_w = np.zeros_like(wide), np.zeros_like(w)
    for at in itertools.product(*map(range, w.shape[2:])):
        steps = [
            slice(a * d, a * d + (n - 1) * s + 1, s)
            for a, d, n, s in zip(at, dilation, g.shape[2:], stride, strict=True)
        ]
        seen = (slice(None), slice(None), *steps)
        tap = w[:, 0, at[0], at[1]][:, None, None]
        y += wide[seen] * tap
        of_x[seen] += g * tap
        of_w[:, 0, at[0], at[1]] = (wide[seen] * g).sum((0, 2, 3))
    inside = [slice(p, p + n) for p, n in zip(padding, x.shape[2:], strict=True)]
    return y, of_x[:, :, inside[0], inside[1]], of_w


@pytest.mark.parametrize("around", ["none", "half", "all"])
@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (1, 3)], ids=str)
@pytest.mark.parametrize("kernel", [(3, 3), (1, 5), (5, 2)], ids=str)
def test_results_and_gradients(by_kernels, monkeypatch, kernel, stride, around):
    monkeypatch.setattr(convolution, "_WORTH", 0)  # kernels compute small ones too
    for dilation in HOLES:
        reach = [(k - 1) * d for k, d in zip(kernel, dilation, strict=True)]
        padding = [{"none": 0, "half": r // 2, "all": r}[around] for r in reach]
        x = torch.from_numpy(whole(2, 4, 15, 17)).requires_grad_()
        w = torch.from_numpy(whole(4, 1, *kernel)).requires_grad_()
        y = torch.nn.functional.conv2d(x, w, None, stride, padding, dilation, groups=4)
        g = whole(*y.shape)
        (y * torch.from_numpy(g)).sum().backward()
        found = (y.detach(), x.grad, w.grad)
        wanted = expected(x.detach().numpy(), w.detach().numpy(), g, stride, padding, dilation)
        for ours, reference in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(ours.numpy(), reference)


@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (1, 3)], ids=str)
@pytest.mark.parametrize("kernel", [(3, 3), (1, 5), (5, 2)], ids=str)
def test_nothing_outside_of_the_scratch_memory_is_read(kernel, stride):
    wide = 32
    for dilation, pad in itertools.product(HOLES, (0, 1, 8)):
        large = (15, 17)
        reach = [(k - 1) * d for k, d in zip(kernel, dilation, strict=True)]
        small = [
            (n + 2 * pad - r - 1) // s + 1 for n, r, s in zip(large, reach, stride, strict=True)
        ]
        g = planes._Geometry(stride, (pad, pad), dilation, kernel, tuple(small), large)
        for lay, lines, step in (
            (planes._slid, small[0], stride[0]),
            (planes._set_apart, large[0], 1),
        ):
            scratch, shifts = lay(g, 1, wide, 15 * 17)
            assert shifts.min() >= 0
            last = (lines - 1) * step * scratch.line + shifts.max() + wide
            assert last <= scratch.elements
