"""Gradients of convolutions of every number of groups, filters and channels, against PyTorch."""

import itertools

import pytest

import mindtorch_core as torch

pt = pytest.importorskip("torch")


@pytest.mark.parametrize("kernel", [(1,), (3,), (1, 1), (2, 3), (1, 1, 1)], ids=str)
@pytest.mark.parametrize("groups", [1, 3])
def test_gradients_of_every_number_of_filters_and_channels(kernel, groups):
    for filters, channels, stride, images in itertools.product((1, 2), (1, 2, 5), (1, 2), (1, 3)):
        found = []
        for lib in (torch, pt):

            def numbers(*shape):
                count = lib.tensor(shape).prod().item()
                return (lib.arange(float(count)).sin() * 2).reshape(shape).requires_grad_()

            x = numbers(images, groups * channels, *(k + 3 for k in kernel))
            w = numbers(groups * filters, channels, *kernel)
            bias = numbers(groups * filters)
            conv = getattr(lib.nn.functional, f"conv{len(kernel)}d")
            y = conv(x, w, bias, stride=stride, groups=groups)
            y.backward(numbers(*y.shape).detach())
            found.append([t.detach().numpy() for t in (y, x.grad, w.grad, bias.grad)])
        for mine, theirs in zip(*found, strict=True):
            assert mine == pytest.approx(theirs, rel=1e-4, abs=1e-4), (filters, channels, stride)
