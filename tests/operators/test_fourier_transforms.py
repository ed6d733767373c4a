"""Fourier transforms and windows: inverses, sums, precision, wrong arguments."""

import math

import pytest

import mindtorch_core as torch

fft = torch.fft
DOUBLE, COMPLEX = torch.float64, torch.complex128


def randn(*shape, dtype=DOUBLE):
    torch.manual_seed(sum(shape))
    return torch.randn(*shape, dtype=dtype)


def close(a, b):
    assert a.shape == b.shape
    assert bool(torch.allclose(a, b, rtol=1e-9, atol=1e-10)), (a, b)


def test_the_transform_is_the_sum_it_is_said_to_be():
    x = randn(5, dtype=COMPLEX)
    n = torch.arange(5, dtype=DOUBLE)
    angle = n.unsqueeze(1) * n * (-2 * math.pi / 5)
    close(fft.fft(x), torch.complex(angle.cos(), angle.sin()) @ x)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("n", [6, 7])
def test_inverses(n, norm):
    x = randn(3, n, 2).transpose(0, 2)[:, ::1]
    close(fft.irfft(fft.rfft(x, dim=1, norm=norm), n, 1, norm), x)
    close(fft.hfft(fft.ihfft(x, dim=1, norm=norm), n, 1, norm), x)
    close(fft.ifftn(fft.fftn(x, norm=norm), norm=norm).real, x)
    close(fft.irfftn(fft.rfftn(x, norm=norm), x.shape, norm=norm), x)
    close(fft.hfftn(fft.ihfftn(x, norm=norm), x.shape, norm=norm), x)
    close(fft.ifftshift(fft.fftshift(x)), x)


def test_precision_is_kept_and_halves_are_refused():
    assert fft.rfft(torch.ones(4)).dtype is torch.complex64
    assert fft.irfft(torch.ones(4, dtype=torch.complex64)).dtype is torch.float32
    assert fft.fft(torch.ones(4, dtype=torch.int64)).dtype is torch.complex64
    with pytest.raises(RuntimeError, match="Unsupported dtype Half"):
        fft.fft(torch.ones(4, dtype=torch.float16))


def test_wrong_arguments():
    x = torch.ones(3, 4)
    with pytest.raises(RuntimeError, match="Invalid number of data points"):
        fft.fft(x, 0)
    with pytest.raises(RuntimeError, match="dims must be unique"):
        fft.fftn(x, dim=(0, -2))
    with pytest.raises(RuntimeError, match="Invalid normalization mode"):
        fft.fft(x, norm="none")
    with pytest.raises(IndexError, match="Dimension out of range"):
        fft.fft(x, dim=2)
    with pytest.raises(RuntimeError, match="expects a real input"):
        fft.rfft(x.to(torch.complex64))


@pytest.mark.parametrize(
    "fn",
    [
        fft.rfft,
        lambda x: fft.irfft(fft.rfft(x) * 2, 7),
        lambda x: fft.hfftn(fft.rfft(x)),
        lambda x: fft.fft2(x, (2, 5)),
    ],
)
def test_gradients_agree_with_finite_differences(fn):
    assert torch.autograd.gradcheck(fn, (randn(3, 6).requires_grad_(),))


@pytest.mark.parametrize("length", [64, 61])
def test_spectrograms_can_be_inverted(length):
    x, window = randn(2, length), torch.hann_window(16, dtype=DOUBLE)
    made = torch.stft(x, 16, 4, window=window, return_complex=True)
    assert made.shape == (2, 9, 1 + length // 4)
    close(torch.istft(made, 16, 4, window=window, length=length), x)
    with pytest.raises(RuntimeError, match="return_complex parameter be given"):
        torch.stft(x, 16)
    with pytest.raises(RuntimeError, match="window overlap add min"):
        torch.istft(made, 16, 16, window=window, center=False)


def test_windows_of_few_samples():
    windows = torch.signal.windows
    for make in (windows.hann, windows.kaiser, windows.gaussian, torch.hamming_window):
        assert make(0).shape == (0,)
        assert make(1).tolist() == [1]
    assert windows.bartlett(5).tolist() == [0, 0.5, 1, 0.5, 0]
    assert windows.bartlett(4, sym=False).tolist() == [0, 0.5, 1, 0.5]
    assert windows.hann(3, requires_grad=True).requires_grad
    close(torch.hann_window(6, False, dtype=DOUBLE), windows.hann(6, dtype=DOUBLE))
    with pytest.raises(ValueError, match="non-negative"):
        windows.cosine(-1)
    with pytest.raises(ValueError, match="float32 or float64"):
        windows.hann(3, dtype=torch.int64)
