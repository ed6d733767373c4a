"""Short-time Fourier transforms."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn, fn_nn
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX, FLOATING
from ...values.shapes import show, wrap_dim
from ...values.user_warnings import warn_user_once


def _window(name: str, self: Tensor, window: Any, win_length: int, n_fft: int, d: Any) -> Any:
    """The window with zeros on both sides, up to the size of a transform."""
    if window is not None and window._shape != (win_length,):
        raise RuntimeError(
            f"{name}: expected a 1D window tensor of size equal to win_length={win_length}, but got "
            f"window with size {show(window._shape)}"
        )
    if window is None:
        window = fn.ones(win_length, dtype=d, device=self._device)
    left = (n_fft - win_length) // 2
    if win_length == n_fft:
        return window
    sides = (left, n_fft - win_length - left)
    before, after = (window.new_zeros((n,)) for n in sides)
    return fn.cat([before, window, after])


def _padded(t: Any, by: int, pad_mode: str) -> Any:
    return fn_nn.pad(t.unsqueeze(1), [by, by], pad_mode).squeeze(1)


def _without_window(window: Tensor | None, but: str) -> None:
    """Warn of a rectangular window that nobody has asked for."""
    if window is None:
        warn_user_once(
            f"A window was not provided. A rectangular window will be applied, and {but}. "
            f"window=torch.ones(n_fft) says that it is meant"
        )


def _returns_complex(asked: bool | None, is_complex: bool) -> bool:
    if asked is None and not is_complex:
        raise RuntimeError(
            "stft requires the return_complex parameter be given for real inputs, and will further "
            "require that return_complex=True in a future PyTorch release."
        )
    if asked is False:
        warn_user_once(
            "stft with return_complex=False is deprecated: torch.view_as_real makes the same of complex "
            "numbers"
        )
    return asked is not False


def _stft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    is_complex = self._dtype.category == COMPLEX or (
        window is not None and window._dtype.category == COMPLEX
    )
    return_complex = _returns_complex(return_complex, is_complex)
    _without_window(window, "spectra leak: torch.hann_window or torch.hamming_window do less so")
    if self._dtype.category < FLOATING or len(self._shape) not in (1, 2):
        raise RuntimeError(
            f"stft: expected a 1D or 2D tensor of floating-point or complex numbers, got a "
            f"{len(self._shape)}D tensor of {self._dtype.label}"
        )
    if center and align_to_window is not None:
        raise RuntimeError("stft align_to_window should only be set when center = false")
    x: Any = self.unsqueeze(0) if len(self._shape) == 1 else self
    if center:
        x = _padded(x, n_fft // 2, pad_mode)
    length = x._shape[1]
    if not 0 < n_fft <= length:
        raise RuntimeError(f"stft: expected 0 < n_fft <= {length}, but got n_fft={n_fft}")
    if hop <= 0:
        raise RuntimeError(f"stft: expected hop_length > 0, but got hop_length={hop}")
    if not 0 < width <= n_fft:
        raise RuntimeError(f"stft: expected 0 < win_length <= n_fft, but got win_length={width}")
    if align_to_window:
        side = (n_fft - width) // 2
        x = fn_nn.pad(x, [side, side])
        length = x._shape[1]
    shape = _window("stft", self, window, width, n_fft, x._dtype)
    count = 1 + (length - n_fft) // hop
    x = x.contiguous()
    frames = x.as_strided((x._shape[0], count, n_fft), (length, hop, 1), x.storage_offset())
    frames = frames * shape if window is not None or width < n_fft else frames
    if onesided and is_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    onesided = not is_complex if onesided is None else onesided
    made = _spectra(frames, normalized, onesided).transpose(1, 2)
    made = made.squeeze(0) if len(self._shape) == 1 else made
    return made if return_complex else fn.stack([made.real, made.imag], -1)


def _spectra(frames: Any, normalized: bool, onesided: bool) -> Any:
    mode = int(normalized)
    if frames._dtype.category == COMPLEX:
        return fn._fft_c2c(frames, [2], mode, True)
    return fn._fft_r2c(frames, [2], mode, onesided)


op(
    "stft.center(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, "
    'Tensor? window=None, bool center=True, str pad_mode="reflect", bool normalized=False, '
    "bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor",
    doc="Short-time Fourier transform: the transforms of windows of ``n_fft`` samples, ``hop_length`` "
    "apart, as (..., frequency, time).",
    decomposition=_stft,
)


def _stft_plain(
    self: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:
    return _stft(
        self, n_fft, hop_length, win_length, window, False, "reflect", normalized, onesided,
        return_complex, align_to_window,
    )  # fmt: skip


op(
    "stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
    "bool normalized=False, bool? onesided=None, bool? return_complex=None, "
    "bool? align_to_window=None) -> Tensor",
    doc="Short-time Fourier transform without padding.",
    decomposition=_stft_plain,
    namespaces=(),
)

# ---- inverse ------------------------------------------------------------------------------------


def _overlapped(frames: Any, hop: int) -> Any:
    """The sum of frames (batch, count, size) that begin ``hop`` elements apart."""
    batch, count, size = frames._shape
    start = fn.arange(count, device=frames._device).unsqueeze(1) * hop
    at = (start + fn.arange(size, device=frames._device)).reshape(-1)
    total = frames.new_zeros((batch, (count - 1) * hop + size))
    return total.index_add(1, at, frames.reshape(batch, -1))


def _check_istft(self: Tensor, n_fft: int, hop: int, width: int, onesided: bool) -> None:
    if self._dtype.category != COMPLEX:
        raise RuntimeError(
            "istft requires a complex-valued input tensor matching the output from stft with "
            "return_complex=True."
        )
    if 0 in self._shape:
        raise RuntimeError("istft: input tensor cannot be empty.")
    if len(self._shape) not in (2, 3):
        raise RuntimeError(
            f"istft: expected a tensor with 2 or 3 dimensions, but got {len(self._shape)}"
        )
    wanted = n_fft // 2 + 1 if onesided else n_fft
    if self._shape[-2] != wanted:
        raise RuntimeError(
            f"istft: expected the frequency dimension (3rd to the last) of the input tensor to match "
            f"{'n_fft / 2 + 1' if onesided else 'n_fft'} when onesided={onesided}, but got "
            f"{self._shape[-2]}"
        )
    if not 0 < hop <= width:
        raise RuntimeError(f"istft: expected 0 < hop_length <= win_length, got {hop} and {width}")
    if not 0 < width <= n_fft:
        raise RuntimeError(f"istft: expected 0 < win_length <= n_fft, got {width} and {n_fft}")


def _istft(
    self: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Any:
    hop = n_fft // 4 if hop_length is None else hop_length
    width = n_fft if win_length is None else win_length
    if onesided is None:
        if self.is_complex() and len(self._shape) < 2:
            wrap_dim(-3, len(self._shape) + 1)  # of real and imaginary parts: refused
        onesided = self._shape[-2:-1] != (n_fft,)
    _check_istft(self, n_fft, hop, width, onesided)
    _without_window(window, "only what stft has made with that one comes back as it was")
    real = self._dtype.to_real()
    if onesided and return_complex:
        raise RuntimeError("Cannot have onesided output if window or input is complex")
    if not return_complex and window is not None and window._dtype.category == COMPLEX:
        raise RuntimeError("Complex windows are incompatible with return_complex=False")
    shape = _window("istft", self, window, width, n_fft, real)
    x: Any = self.unsqueeze(0) if len(self._shape) == 2 else self
    x, mode = x.transpose(1, 2), 1 if normalized else 2
    if return_complex:
        frames = fn._fft_c2c(x, [2], mode, False)
    else:
        x = x if onesided else x.narrow(2, 0, n_fft // 2 + 1)
        frames = fn._fft_c2r(x, [2], mode, n_fft)
    total = _overlapped(frames * shape, hop)
    power = (shape * shape).expand((1, frames._shape[1], n_fft))
    envelope = _overlapped(power.to(shape._dtype), hop)
    start = n_fft // 2 if center else 0
    expected = total._shape[1]
    end = expected - (n_fft // 2 if center else 0)
    if length is not None:
        end = min(start + length, expected)
    total, envelope = (t.narrow(1, start, end - start) for t in (total, envelope))
    least = envelope.detach().abs().amin()
    if not least.is_meta and float(least.item()) <= 1e-11:
        raise RuntimeError(
            f"window overlap add min: {least.item()}: the windows leave samples out, which cannot be "
            f"recovered; use a smaller hop_length or another window"
        )
    result = total / envelope
    missing = 0 if length is None else length - (end - start)
    if missing > 0:
        result = fn.cat([result, result.new_zeros((result._shape[0], missing))], 1)
    return result.squeeze(0) if len(self._shape) == 2 else result


op(
    "istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, "
    "bool center=True, bool normalized=False, bool? onesided=None, int? length=None, "
    "bool return_complex=False) -> Tensor",
    doc="Inverse short-time Fourier transform, by least squares (Griffin and Lim, 1984).",
    decomposition=_istft,
)
