"""Functions of ``torch.fft``.

Written by `docs/make.py` from the ops' schemas. Do not edit.
"""

# mypy: disable-error-code="overload-overlap, overload-cannot-match, misc, assignment"

from builtins import bool as _bool, complex as _complex, float as _float, int as _int, str as _str
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, overload

from numpy import ndarray  # for type checkers alone: where it is not installed, it is of no type

from mindtorch_core.gradients.handles import RemovableHandle
from mindtorch_core.values.devices import device as _device
from mindtorch_core.values.dtypes import dtype as _dtype
from ..random import Generator
from ..tensors.tensor import Tensor
from . import results

__all__: list[str] = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

def fft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Fourier transform along one dimension, of ``n`` elements."""

def fft2(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] = ...,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Fourier transform over two dimensions, by default the last; ``s`` are their sizes."""

def fftfreq(
    n: _int,
    d: _float = 1.0,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Frequencies of `torch.fft.fft` of ``n`` samples at distance ``d``, in cycles per unit of
    ``d``."""

def fftn(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Fourier transform over several dimensions, by default all; ``s`` are their sizes."""

def fftshift(input: Tensor, dim: _int | Sequence[_int] | None = None) -> Tensor:
    """Frequencies in ascending order, zero in the middle."""

def hfft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Fourier transform of a Hermitian signal, given by its first half."""

def hfft2(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] = ...,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Fourier transform of a Hermitian signal, real, over two dimensions, by default the last;
    ``s`` are their sizes."""

def hfftn(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Fourier transform of a Hermitian signal, real, over several dimensions, by default all; ``s``
    are their sizes."""

def ifft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse Fourier transform along one dimension."""

def ifft2(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] = ...,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse Fourier transform over two dimensions, by default the last; ``s`` are their sizes."""

def ifftn(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse Fourier transform over several dimensions, by default all; ``s`` are their sizes."""

def ifftshift(input: Tensor, dim: _int | Sequence[_int] | None = None) -> Tensor:
    """The order of frequencies before `torch.fft.fftshift`."""

def ihfft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of `torch.fft.hfft`: the first half."""

def ihfft2(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] = ...,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of `torch.fft.hfftn`, the first half, over two dimensions, by default the last; ``s``
    are their sizes."""

def ihfftn(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of `torch.fft.hfftn`, the first half, over several dimensions, by default all; ``s``
    are their sizes."""

def irfft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of `torch.fft.rfft`: ``n`` real numbers."""

def irfft2(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] = ...,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of `torch.fft.rfftn`, real, over two dimensions, by default the last; ``s`` are their
    sizes."""

def irfftn(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Inverse of `torch.fft.rfftn`, real, over several dimensions, by default all; ``s`` are their
    sizes."""

def rfft(
    input: Tensor,
    n: _int | None = None,
    dim: _int = -1,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Fourier transform of real numbers: the non-negative frequencies."""

def rfft2(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] = ...,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Fourier transform of real numbers, of the last dimension only the first half, over two
    dimensions, by default the last; ``s`` are their sizes."""

def rfftfreq(
    n: _int,
    d: _float = 1.0,
    *,
    dtype: _dtype | None = None,
    layout: Any = None,
    device: _device | _str | _int | None = None,
    pin_memory: _bool | None = None,
    requires_grad: _bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Frequencies of `torch.fft.rfft` of ``n`` samples at distance ``d``, in cycles per unit of
    ``d``."""

def rfftn(
    input: Tensor,
    s: _int | Sequence[_int] | None = None,
    dim: _int | Sequence[_int] | None = None,
    norm: _str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Fourier transform of real numbers, of the last dimension only the first half, over several
    dimensions, by default all; ``s`` are their sizes."""
