"""Sparse tensors made of positions and values, or of dense tensors."""

from __future__ import annotations

from typing import Any

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from ..values.dtypes import dtype, int64
from ..values.flags import check_bool
from ..values.shapes import Shape
from .creation import as_tensor
from .sparse_functions import sparse_of

__all__ = ["sparse_coo_tensor", "to_sparse"]


def _checked_shape(at: Tensor, held: Tensor, size: Any) -> Shape:
    """The shape of a tensor of values at positions.

    Raises:
        RuntimeError: if they do not fit.
    """
    most = at.amax(1).tolist() if at._shape[1] else [-1] * at._shape[0]
    least = at.amin(1).tolist() if at._shape[1] else [0] * at._shape[0]
    shape = tuple([m + 1 for m in most]) + held._shape[1:] if size is None else tuple(size)
    if len(shape) != at._shape[0] + len(held._shape) - 1:
        raise RuntimeError(
            f"number of dimensions must be sparse_dim ({at._shape[0]}) + dense_dim "
            f"({len(held._shape) - 1}), but got {len(shape)}"
        )
    for dim, (low, high) in enumerate(zip(least, most, strict=True)):
        if low < 0:
            raise RuntimeError(f"found negative index {low} for dim {dim}")
        if high >= shape[dim]:
            raise RuntimeError(
                f"size is inconsistent with indices: for dim {dim}, size is {shape[dim]} but found "
                f"index {high}"
            )
    if shape[at._shape[0] :] != held._shape[1:]:
        raise RuntimeError(
            f"values has incorrect size, expected {list(shape[at._shape[0] :])}, got {list(held._shape[1:])}"
        )
    return shape


def sparse_coo_tensor(
    indices: Any,
    values: Any = None,
    size: Any = None,
    *,
    dtype: dtype | None = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
    is_coalesced: bool | None = None,
) -> Any:
    """A sparse tensor of values at positions.

    Args:
        indices: (sparse_dim, nnz), of integers; alone it is the size of a tensor that holds nothing.
        values: (nnz, *dense sizes).
        size: the shape; by default the smallest that has all positions.
        dtype: of the elements; by default that of ``values``.
        device: where; by default where ``values`` are.
        pin_memory: refused.
        requires_grad: whether what is computed from the values is recorded.
        check_invariants: positions are checked in any case.
        is_coalesced: whether every position is known to occur once, in order.

    Raises:
        RuntimeError: if positions, values and size do not fit.
    """
    if pin_memory:
        raise RuntimeError("sparse_coo_tensor(): pin_memory=True is not served for sparse tensors")
    if values is None:
        size = indices if size is None else size
        indices = as_tensor([[] for _ in size], dtype=int64, device=device)
        values = as_tensor([], dtype=dtype, device=device)
    check_bool(requires_grad, "sparse_coo_tensor(): argument 'requires_grad'")
    held = as_tensor(values, dtype=dtype, device=device)
    at = as_tensor(indices, device=held._device).to(int64)
    if len(at._shape) != 2:
        raise RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(at._shape)}")
    if not held._shape or held._shape[0] != at._shape[1]:
        raise RuntimeError(
            f"indices and values must have same nnz, but got nnz from indices: {at._shape[1]}, nnz from "
            f"values: {held._shape[0] if held._shape else 0}"
        )
    shape = _checked_shape(at, held, size)
    if requires_grad:
        held = held.detach().requires_grad_()
    elif held.requires_grad and held.is_leaf:
        held = held.view_as(held)  # the sparse tensor is made of the leaf, and none itself
    return sparse_of(at, held, shape, bool(is_coalesced))


def to_sparse(self: Any, sparse_dim: int | None = None) -> Any:
    """The elements that are not 0, with their positions.

    Raises:
        RuntimeError: if the tensor has not that many dimensions, or none are asked for.
    """
    most = len(self._shape)
    rank = most if sparse_dim is None else sparse_dim
    if not 0 <= rank <= most or (most and not rank):
        raise RuntimeError(
            f"dense_to_sparse: sparse_dim argument must be in [{min(most, 1)},{most}] range, but "
            f"{rank} is given"
        )
    flat = self.detach().reshape((*self._shape[:rank], -1)) != 0
    indices = fn.nonzero(flat.any(-1)).t().contiguous()
    if most:
        values = fn.index(self, list(indices.unbind(0)))
    else:
        values = self.reshape(1)[: indices._shape[1]]
    return sparse_of(indices, values, self._shape, True)
