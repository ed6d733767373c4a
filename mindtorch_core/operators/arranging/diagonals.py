"""Diagonals and triangles of matrices."""

from __future__ import annotations

from typing import Any

from ...dispatch.functions import fn
from ...dispatch.opdef import TensorSpec
from ...opdefs.define import op
from ...tensors.tensor import Tensor
from ...values.dtypes import dtype, int32, int64
from ...values.shapes import show, wrap_dim
from ..creation.factory import OPTIONS

__all__: list[str] = []

# ---- diagonals ----------------------------------------------------------------------------------


def _embed_rule(self: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> TensorSpec:
    if not self._shape:
        raise IndexError("diag_embed: the diagonal needs a dimension, but the tensor has none")
    rank = len(self._shape) + 1
    a, b = wrap_dim(dim1, rank), wrap_dim(dim2, rank)
    if a == b:
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    size = self._shape[-1] + abs(offset)
    rest = iter(self._shape[:-1])
    return TensorSpec(tuple(size if i in (a, b) else next(rest) for i in range(rank)), self._dtype)


def _diag_embed(self: Tensor, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    made = self.new_zeros(_embed_rule(self, offset, dim1, dim2).shape)
    made.diagonal(offset, dim1, dim2).copy_(self)
    return made


op(
    "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
    doc="Zeros with the last dimension of ``input`` as a diagonal of two dimensions.",
    rule=_embed_rule,
    grad={"self": lambda g, offset, dim1, dim2: g.diagonal(offset, dim1, dim2)},
    decomposition=_diag_embed,
)


def _diag(self: Tensor, diagonal: int = 0) -> Any:
    rank = len(self._shape)
    if rank == 1:
        return fn.diag_embed(self, diagonal)
    if rank == 2:
        return self.diagonal(diagonal).clone()
    raise RuntimeError(f"diag(): Supports 1D or 2D tensors. Got {rank}D")


op(
    "diag(Tensor self, int diagonal=0) -> Tensor",
    doc="The matrix with a vector as its diagonal, or the diagonal of a matrix.",
    decomposition=_diag,
    out=True,
)
op(
    "diagflat(Tensor self, int offset=0) -> Tensor",
    doc="The matrix with all elements of ``input`` as its diagonal.",
    decomposition=lambda self, offset=0: self.reshape(-1).diag(offset),
)


def _fill_diagonal(self: Any, fill_value: Any, wrap: bool = False) -> Any:
    shape = self._shape
    if len(shape) < 2:
        raise RuntimeError(f"dimensions must larger than 1, but the tensor has {len(shape)}")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError(
            f"all dimensions of input must be of equal length, but its shape is {show(shape)}"
        )
    strides, at = self.stride(), self.storage_offset()
    step, size = sum(strides), min(shape)
    self.as_strided((size,), (step,), at).fill_(fill_value)
    period = shape[1] + 1  # a tall matrix has one row free below each square
    if wrap and len(shape) == 2 and size:
        for start in range(period, shape[0], period):
            length = min(shape[1], shape[0] - start)
            self.as_strided((length,), (step,), at + start * strides[0]).fill_(fill_value)
    return self


op(
    "fill_diagonal_(Tensor(a!) self, Scalar fill_value, bool wrap=False) -> Tensor(a!)",
    doc="Write a number into the diagonal, where all positions are equal; ``wrap`` starts it again in "
    "a tall matrix, below a row that is left out.",
    decomposition=_fill_diagonal,
    fills=True,
    namespaces=("Tensor",),
)

# ---- triangles ----------------------------------------------------------------------------------


def _triangle(name: str, part: str) -> None:
    """Define ``tril`` or ``triu``, and what gives the positions."""

    def rule(self: Tensor, diagonal: int = 0) -> TensorSpec:
        if len(self._shape) < 2:
            raise RuntimeError(f"{name}: input tensor must have at least 2 dimensions")
        return TensorSpec(self._shape, self._dtype)

    def kept(rows: int, columns: int, diagonal: int, device: Any) -> Any:
        row = fn.arange(rows, device=device).unsqueeze(1) + diagonal
        column = fn.arange(columns, device=device)
        return column <= row if name == "tril" else column >= row

    def composed(self: Tensor, diagonal: int = 0) -> Any:
        rows, columns = rule(self, diagonal).shape[-2:]
        made = fn.where(kept(rows, columns, diagonal, self._device), self, self.new_zeros(()))
        return made.contiguous()

    def cleared(self: Tensor, diagonal: int = 0) -> Any:
        rows, columns = rule(self, diagonal).shape[-2:]
        return self.masked_fill_(~kept(rows, columns, diagonal, self._device), 0)

    op(
        f"{name}(Tensor self, int diagonal=0) -> Tensor",
        doc=f"Matrices with zeros but in the {part} triangle, up to and including a diagonal.",
        rule=rule,
        grad={"self": lambda g, diagonal: getattr(g, name)(diagonal)},
        decomposition=composed,
        inplace=True,
        inplace_decomposition=cleared,
        puts=True,
        out=True,
    )

    def positions_rule(
        row: int, col: int, offset: int = 0, *, dtype: dtype | None = None, device: Any = None
    ) -> TensorSpec:
        for which, n in (("row", row), ("col", col)):
            if n < 0:
                raise RuntimeError(f"{which} must be non-negative, got {n}")
        d = dtype or int64
        if d not in (int32, int64):
            raise NotImplementedError(f"\"{name}_indices\" not implemented for '{d.label}'")
        below = sum(min(max(i + offset + (name == "tril"), 0), col) for i in range(row))
        return TensorSpec((2, below if name == "tril" else row * col - below), d)

    def positions(
        row: int, col: int, offset: int = 0, *, dtype: dtype | None = None, device: Any = None
    ) -> Any:
        spec = positions_rule(row, col, offset, dtype=dtype)
        return kept(row, col, offset, device).nonzero().t().contiguous().to(spec.dtype)

    op(
        f"{name}_indices(int row, int col, int offset=0, {OPTIONS}) -> Tensor",
        doc=f"Rows and columns of the {part} triangle's elements in a matrix of ``row`` by ``col``, "
        "int64 by default.",
        rule=positions_rule,
        grad="nondiff",
        decomposition=positions,
        namespaces=("torch",),
    )


_triangle("tril", "lower")
_triangle("triu", "upper")
