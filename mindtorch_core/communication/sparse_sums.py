"""Sums of sparse tensors: each rank gets all indices and values, and adds up those at the same place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..dispatch.functions import fn
from ..frontend.creation import tensor as tensor_of
from ..frontend.sparse_creation import sparse_coo_tensor
from ..tensors.tensor import Tensor
from ..values.dtypes import int64
from ..values.layouts import sparse_coo
from .reductions import ReduceOp

__all__ = ["all_reduce_sparse"]


Gather = Callable[[Tensor, Tensor], Any]


def all_reduce_sparse(tensor: Any, op: Any, size: int, gather: Gather) -> None:
    """Replace a sparse tensor by its sum over all ranks, coalesced.

    It waits in any case: how much there is to send is known when all ranks have said so.

    Args:
        tensor: the sparse one.
        op: the sum or the mean.
        size: the number of ranks.
        gather: writes all ranks' tensors one after the other into one, which it is given first.

    Raises:
        RuntimeError: for other reductions and layouts, or ranks with other shapes.
    """
    if op not in (ReduceOp.SUM, ReduceOp.AVG):
        raise RuntimeError(
            f"all_reduce: unsupported reduction operation {op!r}: of sparse tensors there are sums and means"
        )
    if tensor.layout is not sparse_coo:
        raise RuntimeError(f"all_reduce: unsupported layout {tensor.layout}: it takes sparse_coo")
    own = tensor.coalesce()
    at, held = own.indices().t().contiguous(), own.values()
    counts = _counts(tensor, own._nnz(), size, gather)
    indices, values = (_gathered(part, counts, gather) for part in (at, held))
    if op is ReduceOp.AVG:
        values = values / size
    total = sparse_coo_tensor(indices.t(), values, tensor.shape).coalesce()
    tensor.zero_().add_(total)._coalesced_(True)


def _counts(tensor: Any, own: int, size: int, gather: Gather) -> list[int]:
    """How many values each rank has.

    Raises:
        RuntimeError: on all ranks, if the shapes differ.
    """
    mine = [own, tensor.sparse_dim(), *tensor.shape]
    every = tensor_of([mine] * size, dtype=int64, device=tensor.device)
    gather(every, tensor_of(mine, dtype=int64, device=tensor.device))
    rows = every.tolist()
    for rank, row in enumerate(rows):
        if row[1:] != rows[0][1:]:
            raise RuntimeError(
                f"all_reduce: sparse tensors differ between ranks: on rank 0 {rows[0][1]} sparse dimensions "
                f"of {rows[0][2:]}, on rank {rank} {row[1]} of {row[2:]}"
            )
    return [int(row[0]) for row in rows]


def _gathered(part: Tensor, counts: list[int], gather: Gather) -> Tensor:
    """The rows of all ranks, one after the other."""
    most = max(counts)
    padded = part.new_zeros([most, *part.shape[1:]])
    padded[: part.shape[0]] = part
    every = part.new_empty([len(counts) * most, *part.shape[1:]])
    if every.numel():
        gather(every, padded)
    rows = [every[rank * most : rank * most + count] for rank, count in enumerate(counts)]
    return fn.cat(rows)
