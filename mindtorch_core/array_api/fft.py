"""The extension ``fft`` of the array API standard."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..dispatch.functions import fn_fft
from ..tensors.tensor import Tensor
from ..values.dtypes import dtype

__all__ = [
    "fft",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfftn",
    "rfft",
    "rfftfreq",
    "rfftn",
]

Device = Any


def _shown(function: Callable[..., Tensor], name: str, doc: str) -> Callable[..., Tensor]:
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    return function


def _along_one(name: str, doc: str) -> Callable[..., Tensor]:
    """A transform along one dimension."""

    def function(
        x: Tensor, /, *, n: int | None = None, axis: int = -1, norm: str = "backward"
    ) -> Tensor:
        result: Tensor = getattr(fn_fft, name)(x, n=n, dim=axis, norm=norm)
        return result

    return _shown(
        function, name, f"{doc}, along a dimension that is cut or padded to ``n`` elements."
    )


def _along_several(name: str, doc: str) -> Callable[..., Tensor]:
    """A transform along several dimensions."""

    def function(
        x: Tensor,
        /,
        *,
        s: Sequence[int] | None = None,
        axes: Sequence[int] | None = None,
        norm: str = "backward",
    ) -> Tensor:
        result: Tensor = getattr(fn_fft, name)(x, s=s, dim=axes, norm=norm)
        return result

    return _shown(function, name, f"{doc}, along dimensions that are cut or padded to sizes ``s``.")


fft = _along_one("fft", "Fourier transform")
hfft = _along_one("hfft", "Fourier transform of half of a Hermitian signal, which is real")
ifft = _along_one("ifft", "Inverse Fourier transform")
ihfft = _along_one("ihfft", "Half of the inverse Fourier transform of a real signal")
irfft = _along_one("irfft", "Inverse of `rfft`")
rfft = _along_one("rfft", "Half of the Fourier transform of a real signal")

fftn = _along_several("fftn", "Fourier transform")
ifftn = _along_several("ifftn", "Inverse Fourier transform")
irfftn = _along_several("irfftn", "Inverse of `rfftn`")
rfftn = _along_several("rfftn", "Half of the Fourier transform of a real signal")


def fftfreq(
    n: int, /, *, d: float = 1.0, dtype: dtype | None = None, device: Device = None
) -> Tensor:
    """Frequencies of the elements of `fft`, for ``n`` samples at distances ``d``."""
    return fn_fft.fftfreq(n, d, dtype=dtype, device=device)


def rfftfreq(
    n: int, /, *, d: float = 1.0, dtype: dtype | None = None, device: Device = None
) -> Tensor:
    """Frequencies of the elements of `rfft`, for ``n`` samples at distances ``d``."""
    return fn_fft.rfftfreq(n, d, dtype=dtype, device=device)


def fftshift(x: Tensor, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """The frequency zero moved to the middle, along dimensions; along all by default."""
    return fn_fft.fftshift(x, axes)


def ifftshift(x: Tensor, /, *, axes: int | Sequence[int] | None = None) -> Tensor:
    """What `fftshift` did, undone."""
    return fn_fft.ifftshift(x, axes)
