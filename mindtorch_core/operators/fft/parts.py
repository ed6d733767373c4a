"""The three transforms that a numerical library supplies, over any dimensions.

``normalization`` is 0 for none, 1 to divide by the square root of the number of elements that are
transformed, 2 to divide by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import COMPLEX, FLOATING, bfloat16, float16
from ...values.shapes import wrap_dim


def check_precision(self: Tensor) -> None:
    """Refuse half precision.

    Raises:
        RuntimeError: as the transforms of CPUs have none.
    """
    if self._dtype in (float16, bfloat16):
        raise RuntimeError(
            f"Unsupported dtype {self._dtype.label}: transforms need float32 or float64; convert with "
            f".float()"
        )


def _c2c_rule(self: Tensor, dim: Sequence[int], normalization: int, forward: bool) -> TensorSpec:
    if self._dtype.category != COMPLEX:
        raise RuntimeError(f"_fft_c2c expects a complex tensor, got {self._dtype.label}")
    return TensorSpec(self._shape, self._dtype)


op(
    "_fft_c2c(Tensor self, int[] dim, int normalization, bool forward) -> Tensor",
    doc="Fourier transform of complex numbers; backwards unless ``forward``.",
    rule=_c2c_rule,
    grad={
        "self": lambda g, dim, normalization, forward: fn._fft_c2c(
            g, dim, normalization, not forward
        )
    },
    host=True,
    out=True,
    namespaces=("torch",),
)


def _r2c_rule(self: Tensor, dim: Sequence[int], normalization: int, onesided: bool) -> TensorSpec:
    if self._dtype.category != FLOATING:
        raise RuntimeError(f"_fft_r2c expects a real tensor, got {self._dtype.label}")
    check_precision(self)
    shape = list(self._shape)
    if onesided:
        last = wrap_dim(dim[-1], len(shape))
        shape[last] = shape[last] // 2 + 1
    return TensorSpec(tuple(shape), self._dtype.to_complex())


def _r2c_backward(
    g: Any, self_shape: Any, dim: Sequence[int], normalization: int, onesided: bool
) -> Any:
    """The frequencies that were left out have gradient zero."""
    if onesided:
        last = wrap_dim(dim[-1], len(self_shape))
        shape = list(g._shape)
        shape[last] = self_shape[last] - shape[last]
        g = fn.cat([g, g.new_zeros(shape)], last)
    return fn._fft_c2c(g, dim, normalization, False).real


op(
    "_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor",
    doc="Fourier transform of real numbers; of the last of ``dim`` only the first half if ``onesided``, "
    "of which the rest is the mirror image.",
    rule=_r2c_rule,
    grad={"self": _r2c_backward},
    host=True,
    out=True,
    namespaces=("torch",),
)


def _c2r_rule(
    self: Tensor, dim: Sequence[int], normalization: int, last_dim_size: int
) -> TensorSpec:
    if self._dtype.category != COMPLEX:
        raise RuntimeError(f"_fft_c2r expects a complex tensor, got {self._dtype.label}")
    shape = list(self._shape)
    shape[wrap_dim(dim[-1], len(shape))] = last_dim_size
    return TensorSpec(tuple(shape), self._dtype.to_real())


def _c2r_backward(g: Any, dim: Sequence[int], normalization: int) -> Any:
    """Frequencies that stand for their mirror image too count twice."""
    made = fn._fft_r2c(g, dim, normalization, True)
    last = wrap_dim(dim[-1], len(g._shape))
    half = made._shape[last]
    twice = g._shape[last] - half
    n = fn.arange(half, device=g._device)
    factor = fn.where((n > 0) & (n <= twice), 2.0, 1.0).to(g._dtype)
    return made * factor.reshape([-1] + [1] * (len(g._shape) - last - 1))


op(
    "_fft_c2r(Tensor self, int[] dim, int normalization, int last_dim_size) -> Tensor",
    doc="Inverse of the onesided transform of real numbers, ``last_dim_size`` of them in the last of "
    "``dim``.",
    rule=_c2r_rule,
    grad={"self": _c2r_backward},
    host=True,
    out=True,
    namespaces=("torch",),
    out_needs=("cast",),
)
