"""Rows of a sparse matrix: the row of each element, or where each row ends."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import INTEGER, int32, int64

__all__: list[str] = []


def _whole(name: str, t: Tensor) -> None:
    if t._dtype.category != INTEGER:
        raise NotImplementedError(f"\"{name}\" not implemented for '{t._dtype.label}'")


def _ends_rule(self: Tensor, size: int, *, out_int32: bool = False) -> TensorSpec:
    if len(self._shape) > 1:
        raise RuntimeError(
            f"Input is supposed to be a vector, but got {len(self._shape)} dimensional tensor."
        )
    _whole("convert_indices_from_coo_to_csr", self)
    return TensorSpec((size + 1,), int32 if out_int32 else int64)


def _ends(self: Tensor, size: int, *, out_int32: bool = False) -> Any:
    spec = _ends_rule(self, size, out_int32=out_int32)
    first = fn.arange(size + 1, dtype=self._dtype, device=self._device)
    return fn.searchsorted(self.reshape(-1), first).to(spec.dtype)


op(
    "_convert_indices_from_coo_to_csr(Tensor self, int size, *, bool out_int32=False) -> Tensor",
    doc="""Where each of ``size`` rows ends, behind a 0, from the rows of elements in order.""",
    namespaces=("torch",),
    out=True,
    rule=_ends_rule,
    decomposition=_ends,
)


def _rows_rule(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False, transpose: bool = False
) -> TensorSpec:
    _whole("convert_indices_from_csr_to_coo", crow_indices)
    batch = len(col_indices._shape) - 1
    shape = (2 + batch, col_indices.numel())
    return TensorSpec(shape, int32 if out_int32 else int64)


def _rows(
    crow_indices: Tensor, col_indices: Tensor, *, out_int32: bool = False, transpose: bool = False
) -> Any:
    spec = _rows_rule(crow_indices, col_indices, out_int32=out_int32, transpose=transpose)
    batch, count = col_indices._shape[:-1], col_indices._shape[-1]
    at = fn.arange(count, dtype=crow_indices._dtype, device=crow_indices._device)
    ends = crow_indices[..., 1:].contiguous()
    rows = fn.searchsorted(ends, at.expand((*batch, count)).contiguous(), right=True)
    both = (col_indices, rows) if transpose else (rows, col_indices)
    places = [
        fn.arange(n, device=crow_indices._device)
        .reshape((n, *[1] * (len(batch) - i)))
        .expand(col_indices._shape)
        for i, n in enumerate(batch)
    ]
    return fn.stack([t.to(spec.dtype).reshape(-1) for t in (*places, *both)])


op(
    "_convert_indices_from_csr_to_coo(Tensor crow_indices, Tensor col_indices, *, "
    "bool out_int32=False, bool transpose=False) -> Tensor",
    doc="""Positions of elements, a column each, from where rows end and the elements' columns.

    Batches of matrices have their places in front. With ``transpose`` columns stand before rows.""",
    namespaces=("torch",),
    out=True,
    rule=_rows_rule,
    decomposition=_rows,
)
