"""Sparse matrices in compressed rows, in the small form that programs use.

Such a matrix holds what one in coordinates holds, row after row, and computes as that does; what stands at
the same positions stays compressed.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from ..values.dtypes import dtype, int64
from .creation import as_tensor
from .sparse import SparseTensor
from .sparse_creation import sparse_coo_tensor, to_sparse

__all__ = ["sparse_csr_tensor", "to_sparse_csr"]


def _compressed(x: SparseTensor) -> Any:
    """A matrix of coordinates that are in order, in compressed rows."""
    x._by_rows = True
    return x


def to_sparse_csr(self: Any, dense_dim: int | None = None) -> Any:
    """A matrix in compressed rows: of a dense one the elements that are not 0.

    Raises:
        NotImplementedError: if it is no matrix, or its elements are to be dense themselves.
    """
    if len(self._shape) != 2 or dense_dim:
        raise NotImplementedError(
            f"to_sparse_csr(): only matrices of numbers are served here, got {len(self._shape)} dimensions "
            f"and dense_dim={dense_dim}: use to_sparse()"
        )
    if not isinstance(self, SparseTensor):
        return _compressed(to_sparse(self))
    if self._by_rows:
        return self
    found = self.coalesce()
    return _compressed(found._with(found._elements, sorted=True))


def _rows(crow: Tensor, count: int) -> Tensor:
    """The row of each element.

    Raises:
        RuntimeError: if the ends of the rows do not fit the number of elements.
    """
    if len(crow._shape) != 1 or not crow._shape[0]:
        raise RuntimeError(
            f"crow_indices must have one dimension and an element, but got: {list(crow._shape)}"
        )
    ends = crow.tolist()
    if ends[0] != 0:
        raise RuntimeError(f"crow_indices[0] must be 0, but it is {ends[0]}")
    if ends[-1] != count:
        raise RuntimeError(f"crow_indices[-1] must be nnz, {count}, but it is {ends[-1]}")
    if any(a > b for a, b in pairwise(ends)):
        raise RuntimeError(f"crow_indices must not fall, but they are {ends}")
    rows: Tensor = fn.repeat_interleave(
        fn.arange(len(ends) - 1, device=crow._device), fn.diff(crow), output_size=count
    )
    return rows


def sparse_csr_tensor(
    crow_indices: Any,
    col_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: dtype | None = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Any:
    """A sparse matrix in compressed rows.

    Args:
        crow_indices: where each row begins in ``col_indices`` and ``values``, and at the end their length.
        col_indices: the column of each element; within a row they need not be in order.
        values: the elements.
        size: (rows, columns); by default the smallest that has all positions.
        dtype: of the elements; by default that of ``values``.
        device: where; by default where ``values`` are.
        pin_memory: refused.
        requires_grad: whether what is computed from the values is recorded.
        check_invariants: positions are checked in any case, unlike in PyTorch.

    Raises:
        RuntimeError: if positions, values and size do not fit.
        NotImplementedError: for batches of matrices, and elements that are dense themselves.
    """
    held = as_tensor(values, dtype=dtype, device=device)
    if len(held._shape) != 1 or (size is not None and len(size) != 2):
        raise NotImplementedError(
            "sparse_csr_tensor(): only matrices of numbers are served here: use a list of them, or "
            "torch.sparse_coo_tensor"
        )
    crow = as_tensor(crow_indices, device=held._device).to(int64)
    rows = _rows(crow, held._shape[0])
    columns = as_tensor(col_indices, device=held._device).to(int64)
    if columns._shape != held._shape:
        raise RuntimeError(
            f"col_indices and values must have the same length, but got {list(columns._shape)} and "
            f"{list(held._shape)}"
        )
    if size is None:
        size = crow._shape[0] - 1, int(columns.max()) + 1 if held._shape[0] else 0
    elif crow._shape[0] != size[0] + 1:
        raise RuntimeError(
            f"crow_indices must have {size[0] + 1} elements for {size[0]} rows, but got {crow._shape[0]}"
        )
    made = sparse_coo_tensor(
        fn.stack([rows, columns]), held, size, pin_memory=pin_memory, requires_grad=requires_grad,
        is_coalesced=True,
    )  # fmt: skip
    return _compressed(made)
