"""Names of torch.linalg for ops that have another name elsewhere."""

from __future__ import annotations

from ...dispatch.functions import fn
from ...opdefs.define import op

op(
    "linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)",
    doc="View of the diagonals of matrices as the last dimension.",
    decomposition=lambda A, *, offset=0, dim1=-2, dim2=-1: fn.diagonal(A, offset, dim1, dim2),
    namespaces=("linalg:diagonal",),
)
op(
    "linalg_matmul(Tensor self, Tensor other) -> Tensor",
    doc="Matrix product, see `torch.matmul`.",
    decomposition=lambda self, other: fn.matmul(self, other),
    out=True,
    namespaces=("linalg:matmul",),
)
