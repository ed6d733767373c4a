"""Products of matrices of 8-bit floats, each with scales of its own."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOAT8, dtype, float32

__all__: list[str] = []


def _rule(
    self: Tensor,
    mat2: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype: dtype | None = None,
    use_fast_accum: bool = False,
) -> TensorSpec:
    for position, t in (("1", self), ("2", mat2)):
        if len(t._shape) != 2:
            raise RuntimeError(f"mat{position} must be a matrix")
    (rows, inner), (along, columns) = self._shape, mat2._shape
    if inner != along:
        raise RuntimeError(
            f"mat_a and mat_b shapes cannot be multiplied ({rows}x{inner} and {along}x{columns})"
        )
    _check_scales(self, mat2, scale_a, scale_b)
    if bias is not None and bias.numel() != columns:
        raise RuntimeError(f"Bias must be size {columns} but got {bias.numel()}")
    return TensorSpec((rows, columns), out_dtype or self._dtype)


def _check_scales(self: Tensor, mat2: Tensor, scale_a: Tensor, scale_b: Tensor) -> None:
    wanted = (self._shape[0], 1), (1, mat2._shape[1])
    single = scale_a.numel() == scale_b.numel() == 1
    floats = all(t._dtype.name in FLOAT8 for t in (self, mat2))
    if (
        not floats
        or any(t._dtype is not float32 for t in (scale_a, scale_b))
        or not (single or (scale_a._shape, scale_b._shape) == wanted)
    ):
        raise ValueError(
            "Invalid scaling configuration.\n"
            "- For TensorWise scaling, a and b should be float8, scales should be float and singletons.\n"
            "- For RowWise scaling, a and b should be float8, scales should be float, scale_a should be "
            f"{wanted[0]} and scale_b should be {wanted[1]}.\n"
            f"Got a.dtype()={self._dtype.label}, scale_a.dtype()={scale_a._dtype.label}, "
            f"scale_a.size()={list(scale_a._shape)}, b.dtype()={mat2._dtype.label}, "
            f"scale_b.dtype()={scale_b._dtype.label}, scale_b.size()={list(scale_b._shape)}"
        )


def _decomposition(
    self: Tensor,
    mat2: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype: dtype | None = None,
    use_fast_accum: bool = False,
) -> Any:
    spec = _rule(self, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum)
    if scale_a.numel() == scale_b.numel() == 1:
        scale_a, scale_b = scale_a.reshape(()), scale_b.reshape(())
    found = fn.mm(self.to(float32) * scale_a, mat2.to(float32) * scale_b)
    if bias is not None:
        found = found + bias.to(float32)
    return found.to(spec.dtype)


op(
    "_scaled_mm(Tensor self, Tensor mat2, Tensor scale_a, Tensor scale_b, Tensor? bias=None, "
    "Tensor? scale_result=None, ScalarType? out_dtype=None, bool use_fast_accum=False) -> Tensor",
    doc="""Product of two matrices of 8-bit floats times their scales, plus a bias.

    The scales are float32: one number each, or one per row of ``self``, (M, 1), and one per column of
    ``mat2``, (1, N). It is computed in float32 and rounded once, to ``out_dtype`` or the dtype of
    ``self``. ``scale_result`` and ``use_fast_accum`` have no effect, as on PyTorch's CPU.""",
    namespaces=("torch",),
    rule=_rule,
    decomposition=_decomposition,
    tags=frozenset({"needs_exact_strides"}),
)
