"""Parts of sparse tensors, and sparse tensors put together, along the dimensions that have positions."""

from __future__ import annotations

from typing import Any

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from ..values.shapes import wrap_dim
from .sparse import SparseTensor, refusal, sparse_of

__all__ = ["cat", "index_select", "select", "stack", "unsqueeze"]


def cat(tensors: Any, dim: int = 0) -> Any:
    """Sparse tensors one after the other along a sparse dimension."""
    first = tensors[0]
    dim = wrap_dim(dim, len(first._shape))
    if dim >= first.sparse_dim() or any(type(t) is not SparseTensor for t in tensors):
        raise NotImplementedError(refusal("cat() with dense tensors or along dense dimensions"))
    indices, start = [], 0
    for each in tensors:
        shift = each._positions.new_zeros((each.sparse_dim(), 1))
        shift[dim] = start
        indices.append(each._positions + shift)
        start += each._shape[dim]
    shape = (*first._shape[:dim], start, *first._shape[dim + 1 :])
    values = fn.cat([each._elements for each in tensors])
    return sparse_of(fn.cat(indices, 1), values, shape)


def unsqueeze(x: Any, dim: int) -> Any:
    """The same with a dimension of size 1 more."""
    dim = wrap_dim(dim, len(x._shape) + 1)
    if dim > x.sparse_dim():
        raise NotImplementedError(refusal("unsqueeze() among dense dimensions"))
    zero = x._positions.new_zeros((1, x._positions._shape[1]))
    indices = fn.cat([x._positions[:dim], zero, x._positions[dim:]])
    return sparse_of(indices, x._elements, (*x._shape[:dim], 1, *x._shape[dim:]), x._sorted)


def stack(tensors: Any, dim: int = 0) -> Any:
    """Sparse tensors of one shape along a new dimension."""
    return cat([unsqueeze(each, dim) for each in tensors], dim)


def select(x: Any, dim: int, index: int) -> Any:
    """What stands at a place of a sparse dimension; dense where there are no others."""
    dim = wrap_dim(dim, len(x._shape))
    if dim >= x.sparse_dim():
        raise NotImplementedError(refusal("select() from dense dimensions"))
    size = x._shape[dim]
    if not -size <= index < size:
        raise IndexError(
            f"select(): index {index} out of range for tensor of size {list(x._shape)} at dimension {dim}"
        )
    (kept,) = (x._positions[dim] == index % size).nonzero().unbind(1)
    rest = [i for i in range(x.sparse_dim()) if i != dim]
    if not rest:
        return x._elements[kept].sum(0)
    shape = (*x._shape[:dim], *x._shape[dim + 1 :])
    return sparse_of(x._positions[rest][:, kept], x._elements[kept], shape, x._sorted)


def index_select(x: Any, dim: int, index: Tensor) -> Any:
    """What stands at places of a sparse dimension, in their order.

    Raises:
        IndexError: if one is out of range.
    """
    dim = wrap_dim(dim, len(x._shape))
    if dim >= x.sparse_dim():
        raise NotImplementedError(refusal("index_select() from dense dimensions"))
    size = x._shape[dim]
    for i in index.tolist():
        if not -size <= i < size:
            raise IndexError(
                f"index_select(): index contains {i} that is out of range for tensor of size "
                f"{list(x._shape)} at dimension {dim}"
            )
    at, kept = (index.remainder(max(size, 1))[:, None] == x._positions[dim]).nonzero().unbind(1)
    positions = x._positions[:, kept]
    positions[dim] = at
    shape = (*x._shape[:dim], index.numel(), *x._shape[dim + 1 :])
    return sparse_of(positions, x._elements[kept], shape)
