"""The transforms of ``torch.fft``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ...dispatch.functions import fn
from ...opdefs.define import op
from ...opdefs.formulas import conj
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX
from ...values.promotion import to_floating
from ...values.shapes import wrap_dim
from .parts import check_precision

_MODES: Final = {"backward": 0, "ortho": 1, "forward": 2}


def normalization(norm: str | None, forward: bool) -> int:
    """The number of a normalization mode.

    Raises:
        RuntimeError: if there is no such mode.
    """
    mode = _MODES.get(norm or "backward")
    if mode is None:
        raise RuntimeError(
            f'Invalid normalization mode: "{norm}"; expected one of "backward", "ortho", "forward"'
        )
    return mode if forward or mode == 1 else 2 - mode


def _floating(self: Any) -> Any:
    check_precision(self)
    return self.to(to_floating(self._dtype))


def _complex(self: Any) -> Any:
    self = _floating(self)
    return self if self._dtype.category == COMPLEX else self.to(self._dtype.to_complex())


def _real(name: str, self: Any) -> Any:
    if self._dtype.category == COMPLEX:
        raise RuntimeError(f"{name} expects a real input tensor, but got {self._dtype.label}")
    return _floating(self)


def _check_points(n: int) -> None:
    if n < 1:
        raise RuntimeError(f"Invalid number of data points ({n}) specified")


def resized(t: Any, dims: Sequence[int], sizes: Sequence[int | None]) -> Any:
    """A tensor cut off, or filled up with zeros, to sizes in some dimensions.

    Raises:
        RuntimeError: if a size is less than 1.
    """
    for d, size in zip(dims, sizes, strict=True):
        have = t._shape[d]
        n = have if size is None or size == -1 else size
        _check_points(n)
        if n < have:
            t = t.narrow(d, 0, n)
        elif n > have:
            shape = list(t._shape)
            shape[d] = n - have
            t = fn.cat([t, t.new_zeros(shape)], d)
    return t


def _line(t: Any, dim: int, n: int | None) -> Any:
    """A tensor with ``n`` elements along one dimension; unlike among several, -1 means no default."""
    if n is not None:
        _check_points(n)
    return resized(t, [dim], [n])


def _one_dim(self: Tensor, dim: int) -> int:
    if not self._shape:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, len(self._shape))


def _transformed(x: Any, dims: Sequence[int], norm: str | None, forward: bool) -> Any:
    mode = normalization(norm, forward)
    if not dims:
        return x if x._dtype.category == COMPLEX else x.to(x._dtype.to_complex())
    if x._dtype.category == COMPLEX:
        return fn._fft_c2c(x, dims, mode, forward)
    made = fn._fft_r2c(x, dims, mode, False)
    return made if forward else conj(made)


# ---- one dimension ------------------------------------------------------------------------------


def _fft(forward: bool) -> Callable[..., Any]:
    def transform(self: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
        at = _one_dim(self, dim)
        return _transformed(_line(_floating(self), at, n), [at], norm, forward)

    return transform


def _to_complex_half(name: str, forward: bool) -> Callable[..., Any]:
    """Rfft and ihfft."""

    def transform(self: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
        x = _real(name, self)
        at = _one_dim(self, dim)
        made = fn._fft_r2c(_line(x, at, n), [at], normalization(norm, forward), True)
        return made if forward else conj(made)

    return transform


def _to_real(forward: bool) -> Callable[..., Any]:
    """Hfft and irfft."""

    def transform(self: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
        x = _complex(self)
        at = _one_dim(self, dim)
        size = 2 * (x._shape[at] - 1) if n is None else n
        _check_points(size)
        x = resized(x, [at], [size // 2 + 1])
        x = conj(x) if forward else x
        return fn._fft_c2r(x, [at], normalization(norm, forward), size)

    return transform


_LINE = "(Tensor self, int? n=None, int dim=-1, str? norm=None) -> Tensor"
for _name, _doc, _made in (
    ("fft", "Fourier transform along one dimension, of ``n`` elements.", _fft(True)),
    ("ifft", "Inverse Fourier transform along one dimension.", _fft(False)),
    (
        "rfft",
        "Fourier transform of real numbers: the non-negative frequencies.",
        _to_complex_half("rfft", True),
    ),
    ("irfft", "Inverse of `torch.fft.rfft`: ``n`` real numbers.", _to_real(False)),
    ("hfft", "Fourier transform of a Hermitian signal, given by its first half.", _to_real(True)),
    ("ihfft", "Inverse of `torch.fft.hfft`: the first half.", _to_complex_half("ihfft", False)),
):
    op(
        f"fft_{_name}{_LINE}",
        doc=_doc,
        decomposition=_made,
        out=True,
        out_needs=("real",) if _name in ("irfft", "hfft") else (),
        namespaces=(f"fft:{_name}",),
    )

# ---- several dimensions -------------------------------------------------------------------------


def _dims_and_sizes(self: Tensor, s: Any, dim: Any) -> tuple[list[int], list[int | None]]:
    """Which dimensions are transformed, and how many elements of each.

    Raises:
        RuntimeError: if a dimension comes twice, or the lists do not fit.
    """
    rank = len(self._shape)
    s = [s] if isinstance(s, int) else s
    if dim is not None:
        given = [dim] if isinstance(dim, int) else list(dim)
        dims = [wrap_dim(d, rank) for d in given]
        if len(set(dims)) != len(dims):
            raise RuntimeError("FFT dims must be unique")
        if s is not None and len(s) != len(dims):
            raise RuntimeError(
                f"When given, dim and shape arguments must have the same length, got {len(dims)} and "
                f"{len(s)}"
            )
    elif s is not None:
        if len(s) > rank:
            raise RuntimeError(
                f"Got shape with {len(s)} values but input tensor only has {rank} dimensions."
            )
        dims = list(range(rank - len(s), rank))
    else:
        dims = list(range(rank))
    return dims, [None] * len(dims) if s is None else list(s)


def _fftn(forward: bool) -> Callable[..., Any]:
    def transform(self: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
        dims, sizes = _dims_and_sizes(self, s, dim)
        x = _complex(self)
        return _transformed(resized(x, dims, sizes), dims, norm, forward)

    return transform


def _at_least_one(name: str, dims: Sequence[int]) -> None:
    if not dims:
        raise RuntimeError(f"{name} must transform at least one axis")


def _rfftn(self: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    x = _real("rfftn", self)
    dims, sizes = _dims_and_sizes(self, s, dim)
    _at_least_one("rfftn", dims)
    return fn._fft_r2c(resized(x, dims, sizes), dims, normalization(norm, True), True)


def _ihfftn(self: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
    x = _real("ihfftn", self)
    dims, sizes = _dims_and_sizes(self, s, dim)
    _at_least_one("ihfftn", dims)
    x, mode = resized(x, dims, sizes), normalization(norm, False)
    half = conj(fn._fft_r2c(x, dims[-1:], mode, True))
    return fn._fft_c2c(half, dims[:-1], mode, False) if len(dims) > 1 else half


def _real_n(name: str, forward: bool) -> Callable[..., Any]:
    """Hfftn and irfftn."""

    def transform(self: Any, s: Any = None, dim: Any = None, norm: str | None = None) -> Any:
        dims, sizes = _dims_and_sizes(self, s, dim)
        _at_least_one(name, dims)
        x, mode = _complex(self), normalization(norm, forward)
        last = sizes[-1]
        size = 2 * (x._shape[dims[-1]] - 1) if last is None or last == -1 else last
        if size < 1:
            raise RuntimeError(f"Invalid number of data points ({size}) specified")
        x = resized(x, dims, [*sizes[:-1], size // 2 + 1])
        if not forward:
            return fn._fft_c2r(x, dims, mode, size)
        x = fn._fft_c2c(x, dims[:-1], mode, True) if len(dims) > 1 else x
        return fn._fft_c2r(conj(x), dims[-1:], mode, size)

    return transform


_N = {
    "fft": (_fftn(True), "Fourier transform"),
    "ifft": (_fftn(False), "Inverse Fourier transform"),
    "rfft": (
        _rfftn,
        "Fourier transform of real numbers, of the last dimension only the first half,",
    ),
    "irfft": (_real_n("irfftn", False), "Inverse of `torch.fft.rfftn`, real,"),
    "hfft": (_real_n("hfftn", True), "Fourier transform of a Hermitian signal, real,"),
    "ihfft": (_ihfftn, "Inverse of `torch.fft.hfftn`, the first half,"),
}
for _name, (_made, _doc) in _N.items():
    op(
        f"fft_{_name}n(Tensor self, int[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor",
        doc=f"{_doc} over several dimensions, by default all; ``s`` are their sizes.",
        decomposition=_made,
        out=True,
        out_needs=("real",) if _name in ("irfft", "hfft") else (),
        namespaces=(f"fft:{_name}n",),
    )
    op(
        f"fft_{_name}2(Tensor self, int[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor",
        doc=f"{_doc} over two dimensions, by default the last; ``s`` are their sizes.",
        decomposition=_made,
        out=True,
        out_needs=("real",) if _name in ("irfft", "hfft") else (),
        namespaces=(f"fft:{_name}2",),
    )
