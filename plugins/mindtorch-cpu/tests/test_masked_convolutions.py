"""Convolutions of images without padding between them, which is masked: the bits are those with padding."""

import pytest

import mindtorch_core as torch
from mindtorch_core.nn import functional as F
from mindtorch_cpu.native import compiler, synchronous
from mindtorch_cpu.native.kernels import KERNELS
from mindtorch_cpu.ops import convolution, direct_convolution
from mindtorch_cpu.ops.masked_layout import Masked, masked

# Inputs, weights, and how the one are slid over the others.
SERVED = [
    ((3, 4, 14, 14), (20, 4, 3, 3), {"padding": 1}),
    ((5, 3, 7, 7), (9, 3, 5, 5), {"padding": 2}),
    ((2, 4, 9, 17), (8, 4, 5, 3), {"padding": (4, 2), "dilation": 2}),
    ((3, 4, 12, 10), (12, 4, 3, 3), {"padding": 1, "stride": 2}),
    ((2, 4, 13, 11), (12, 4, 3, 3), {"padding": 1, "stride": (2, 3)}),
    ((3, 2, 20, 21), (6, 2, 7, 7), {"padding": 3, "stride": 2}),
    ((3, 2, 15, 15), (6, 2, 3, 3), {"padding": 2, "stride": 3, "dilation": 2}),
    ((2, 2, 9, 9), (6, 2, 1, 1), {"stride": 2}),
    ((2, 6, 10, 6), (9, 2, 3, 3), {"padding": 1, "groups": 3}),
    ((4, 5, 33), (10, 5, 3), {"padding": 1}),
    ((2, 3, 5, 6, 7), (7, 3, 3, 3, 3), {"padding": 1}),
    ((300, 2, 5, 5), (3, 2, 3, 3), {"padding": 1}),  # some images at a time
    ((2, 3, 8, 8), (5, 3, 3, 3), {"padding": 4}),  # windows that see nothing
    ((2, 3, 1, 6), (5, 3, 3, 3), {"padding": (3, 2)}),
]


@pytest.fixture(autouse=True)
def of_any_size(monkeypatch):
    """Compiled kernels serve few products, too."""
    torch.zeros(1)
    if not synchronous.available():
        pytest.skip(str(compiler.ready()))
    monkeypatch.setattr(convolution, "_WORTH", 0)
    before = dict(KERNELS.failures)
    yield
    assert before == KERNELS.failures
    direct_convolution._cheapest.cache_clear()


def laid(patch, layout):
    """Images are laid so wherever they can be."""
    direct_convolution._cheapest.cache_clear()
    patch.setattr(direct_convolution, "masked", layout)
    patch.setattr(direct_convolution, "_COPYING", -(10**6))


def results(case, dtype, marks=()):
    """What a convolution and its backward pass give; some inputs are of another kind."""
    x, w, options = case
    draw = torch.Generator().manual_seed(1)
    x, w = (torch.randn(*shape, generator=draw).to(dtype) for shape in (x, w))
    for value, place in marks:
        x.view(-1)[place] = value
    bias = torch.arange(float(len(w))).to(dtype)
    x.requires_grad_(), w.requires_grad_()
    convolve = (F.conv1d, F.conv2d, F.conv3d)[x.ndim - 3]
    y = convolve(x, w, bias, **options)
    g = torch.randn(*y.shape, generator=draw).to(dtype)
    return y, *torch.autograd.grad(y, (x, w), g)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("case", SERVED, ids=str)
def test_the_bits_are_those_with_padding(monkeypatch, case, dtype):
    used = []

    def asked(*args):
        used.append(masked(*args))
        return used[-1]

    laid(monkeypatch, asked)
    found = results(case, dtype)
    assert type(used[0]) is Masked
    laid(monkeypatch, lambda *args: None)
    for a, b in zip(found, results(case, dtype), strict=True):
        assert torch.equal(a, b)


def test_what_is_infinite_or_nan_stays_in_the_windows_that_see_it(monkeypatch):
    case = ((3, 4, 14, 14), (20, 4, 3, 3), {"padding": 1})
    last, first = 196 * 4 - 1, 196 * 4  # of the first image, and of the second
    marks = [(torch.nan, last), (torch.inf, first)]
    laid(monkeypatch, masked)
    found = results(case, torch.float32, marks)[0]
    spoilt = (~found.isfinite()).any(1)
    wanted = torch.zeros_like(spoilt)
    wanted[0, 12:, 12:] = wanted[1, :2, :2] = True
    assert torch.equal(spoilt, wanted)
    clean = results(case, torch.float32)[0]
    assert torch.equal(found[2], clean[2])


@pytest.mark.parametrize(("side", "small", "stride"), [(9, 7, 1), (10, 4, 2)])
def test_lines_longer_than_those_of_outputs_are_padded(side, small, stride):
    at = geometry((side, side), 0, stride)
    assert masked(at, (3, 3), (small, small), (side, side)) is None


def geometry(large, padding, stride):
    x, w = torch.zeros(1, 1, *large), torch.zeros(1, 1, 3, 3)
    numbers = [stride] * 2, [padding] * 2, [1, 1], False, [0, 0], 1
    return convolution.convolution_geometry(x, w, None, *numbers)


def test_many_filters_of_small_images_are_masked_and_few_of_large_ones_padded():
    def layout(channels, filters, side):
        at = geometry((side, side), 1, 1)
        sizes = (8, side, side), (side, side)
        return type(
            direct_convolution._cheapest(at, (3, 3), *sizes, filters, torch.zeros(1).numpy().dtype)
        )

    assert layout(256, 256, 14) is Masked
    assert layout(3, 8, 112) is not Masked
