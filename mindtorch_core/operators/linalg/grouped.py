"""Products of groups of rows or columns, each with a matrix of its own."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op, public
from ...tensors.tensor import Tensor
from ...values.dtypes import FLOATING, dtype
from .products import c_name

__all__ = ["grouped_mm"]


def _rule(
    self: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: dtype | None = None,
) -> TensorSpec:
    for name, t in (("mat_a", self), ("mat_b", mat2)):
        if len(t._shape) not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d")
        if (
            t._dtype.category != FLOATING
        ):  # float64 too, unlike in PyTorch: gradients are judged by it
            raise RuntimeError(
                f"Expected {name} to be a floating-point matrix, got {t._dtype.label}"
            )
    if self._dtype is not mat2._dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {c_name(self)} != {c_name(mat2)}"
        )
    if self._shape[-1] != mat2._shape[-2]:
        raise RuntimeError(
            f"contraction dimension of mat_a and mat_b must match, got {self._shape[-1]} and "
            f"{mat2._shape[-2]}"
        )
    if bias is not None:
        raise RuntimeError("Bias not supported yet: add it to the result")
    if out_dtype is not None and out_dtype is not self._dtype:
        raise RuntimeError(
            f"Grouped gemm output dtype must match `mat_a` dtype, got {out_dtype} and {self._dtype}"
        )
    return TensorSpec(_shape(self, mat2, offs), self._dtype)


def _shape(self: Tensor, mat2: Tensor, offs: Tensor | None) -> tuple[int, ...]:
    ranks = len(self._shape), len(mat2._shape)
    rows, columns = self._shape[-2], mat2._shape[-1]
    if (ranks == (3, 3)) != (offs is None):
        raise RuntimeError(
            "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d"
        )
    if offs is None:
        if self._shape[0] != mat2._shape[0]:
            raise RuntimeError("batched dimension has to match")
        return self._shape[0], rows, columns
    if len(offs._shape) != 1:
        raise RuntimeError("offs has to be 1D")
    if offs._dtype.name != "int32":
        raise RuntimeError(f"Offsets have to be int32, not {offs._dtype}")
    if ranks == (2, 2):
        return offs._shape[0], rows, columns
    groups = (mat2 if ranks == (2, 3) else self)._shape[0]
    if groups != offs._shape[0]:
        raise RuntimeError(
            f"matrix batch sizes have to match: there are {groups} matrices and {offs._shape[0]} offsets"
        )
    return rows, columns


def _ranges(offs: Tensor, length: int) -> list[tuple[int, int]]:
    """Beginning and length of each group.

    Raises:
        RuntimeError: if the ends fall, or are beyond the dimension.
    """
    ends: list[int] = offs.tolist()
    starts = [0, *ends[:-1]]
    if any(b < a for a, b in zip(starts, ends, strict=True)) or (ends and ends[-1] > length):
        raise RuntimeError(
            f"offs must hold the ends of the groups, which do not fall and are at most {length}, got "
            f"{ends}"
        )
    return [(a, b - a) for a, b in zip(starts, ends, strict=True)]


def _decomposition(
    self: Tensor, mat2: Tensor, offs: Any = None, bias: Any = None, out_dtype: Any = None
) -> Any:
    shape = _rule(self, mat2, offs, bias, out_dtype).shape
    if offs is None:
        return self.bmm(mat2)
    ranks = len(self._shape), len(mat2._shape)
    if ranks == (2, 2):
        parts = [self.narrow(1, *r).mm(mat2.narrow(0, *r)) for r in _ranges(offs, self._shape[1])]
        return fn.stack(parts) if parts else self.new_zeros(shape)
    dim = 0 if ranks == (2, 3) else 1
    jagged = self if dim == 0 else mat2
    parts = [
        jagged.narrow(dim, *r).mm(mat2[i]) if dim == 0 else self[i].mm(jagged.narrow(dim, *r))
        for i, r in enumerate(_ranges(offs, jagged._shape[dim]))
    ]
    rest = list(shape)
    rest[dim] -= sum(part._shape[dim] for part in parts)
    return fn.cat([*parts, self.new_zeros(rest)], dim)  # what belongs to no group


def _transposed(t: Any) -> Any:
    return t.transpose(-2, -1)


op(
    "_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, "
    "ScalarType? out_dtype=None) -> Tensor",
    doc="Matrix products of groups of rows or columns, which end at ``offs``; see `grouped_mm`.",
    namespaces=("torch",),
    rule=_rule,
    decomposition=_decomposition,
    grad={
        "self": lambda g, mat2, offs: fn._grouped_mm(g, _transposed(mat2), offs),
        "mat2": lambda g, self, offs: fn._grouped_mm(_transposed(self), g, offs),
    },
)


@public("nn")
def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: dtype | None = None,
) -> Any:
    """Matrix products of groups, such as of the tokens of each expert with its weights.

    A matrix with three dimensions holds one matrix per group. One with two is divided: its rows on the
    left of three-dimensional ones, its columns on their right, and where both have two the dimension
    that is summed over.

    Args:
        mat_a: floating point, (M, K) or (groups, M, K).
        mat_b: of the same dtype, (K, N) or (groups, K, N).
        offs: int32, the end of each group in what is divided; None if nothing is. What lies behind the
            last one belongs to no group: its results are 0.
        bias: must be None.
        out_dtype: must be None or the dtype of ``mat_a``.

    Returns:
        (M, N), or (groups, M, N) where both or none are divided.

    Raises:
        RuntimeError: for other shapes or dtypes, and for ends that fall or lie beyond the dimension.
    """
    return fn._grouped_mm(mat_a, mat_b, offs, bias, out_dtype)
