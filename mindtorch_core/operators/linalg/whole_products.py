"""Products of matrices of 8-bit whole numbers, with sums of 32 bits."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import float64, int8, int32, uint8

__all__: list[str] = []


def _rule(self: Tensor, mat2: Tensor) -> TensorSpec:
    for name, t in (("self", self), ("mat2", mat2)):
        if len(t._shape) != 2:
            raise RuntimeError(
                f"int_mm: Expected {name} to be of dimension 2 but got {len(t._shape)}"
            )
        if t._dtype is not int8 and (t is mat2 or t._dtype is not uint8):
            wanted = "int8" if t is mat2 else "int8 or uint8"
            raise RuntimeError(
                f"int_mm: Expected {name} dtype to be {wanted} but got {t._dtype.label}"
            )
    (rows, inner), (along, columns) = self._shape, mat2._shape
    if inner != along:
        raise RuntimeError(
            f"int_mm: self.size(1) needs to match mat2.size(0) but got {inner} and {along}"
        )
    return TensorSpec((rows, columns), int32)


def _decomposition(self: Tensor, mat2: Tensor) -> Any:
    _rule(self, mat2)
    # In float64 sums of products of bytes are exact, and there is a quick kernel; what passes 32 bits wraps.
    return fn.mm(self.to(float64), mat2.to(float64)).long().to(int32)


op(
    "_int_mm(Tensor self, Tensor mat2) -> Tensor",
    doc="""Product of two matrices of int8, or of uint8 and int8, in int32.""",
    namespaces=("torch",),
    out=True,
    rule=_rule,
    decomposition=_decomposition,
)
