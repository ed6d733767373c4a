"""The frequencies of transforms, and their order."""

from __future__ import annotations

import math
from typing import Any

from ...dispatch.functions import fn
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING, get_default_dtype
from ...values.shapes import wrap_dims
from ..creation.factory import OPTIONS


def _dtype(name: str, dtype: Any) -> Any:
    if dtype is not None and dtype.category < FLOATING:
        raise RuntimeError(f"{name} requires a floating point or complex dtype, got {dtype}")
    return dtype or get_default_dtype()


def _step(n: int, d: float) -> float:
    return 1.0 / (n * d) if n * d else math.inf


def _fftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
    dtype, middle = _dtype("fftfreq", dtype), (n + 1) // 2
    made: Any = fn.cat(
        [
            fn.arange(0, middle, dtype=dtype, device=device),
            fn.arange(-(n // 2), 0, dtype=dtype, device=device),
        ]
    )
    return made * _step(n, d)


def _rfftfreq(n: int, d: float = 1.0, *, dtype: Any = None, device: Any = None) -> Any:
    made: Any = fn.arange(0, n // 2 + 1, dtype=_dtype("rfftfreq", dtype), device=device)
    return made * _step(n, d)


op(
    f"fft_fftfreq(int n, float d=1.0, {OPTIONS}) -> Tensor",
    doc="Frequencies of `torch.fft.fft` of ``n`` samples at distance ``d``, in cycles per unit of ``d``.",
    decomposition=_fftfreq,
    grad="nondiff",
    out=True,
    namespaces=("fft:fftfreq",),
)
op(
    f"fft_rfftfreq(int n, float d=1.0, {OPTIONS}) -> Tensor",
    doc="Frequencies of `torch.fft.rfft` of ``n`` samples at distance ``d``, in cycles per unit of ``d``.",
    decomposition=_rfftfreq,
    grad="nondiff",
    out=True,
    namespaces=("fft:rfftfreq",),
)


def _rotated(self: Tensor, dim: Any, back: bool) -> Any:
    rank = len(self._shape)
    dims = range(rank) if dim is None else wrap_dims(dim, rank)
    t: Any = self
    for d in dims:
        n = t._shape[d]
        at = n // 2 if back else (n + 1) // 2
        if n > 1:
            t = fn.cat([t.narrow(d, at, n - at), t.narrow(d, 0, at)], d)
    return t.clone() if t is self else t


op(
    "fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor",
    doc="Frequencies in ascending order, zero in the middle.",
    decomposition=lambda self, dim=None: _rotated(self, dim, False),
    namespaces=("fft:fftshift",),
)
op(
    "fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor",
    doc="The order of frequencies before `torch.fft.fftshift`.",
    decomposition=lambda self, dim=None: _rotated(self, dim, True),
    namespaces=("fft:ifftshift",),
)
