"""Sparse matrices in compressed rows, columns and blocks, made of indices or of other tensors."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from ..values.dtypes import dtype, int64
from ..values.layouts import layout, sparse_bsc, sparse_bsr, sparse_csc, sparse_csr
from ..values.user_warnings import warn_user_once
from .creation import as_tensor
from .sparse import SparseTensor, sparse_of
from .sparse_compressed import Compressed
from .sparse_creation import sparse_coo_tensor

__all__ = [
    "sparse_bsc_tensor",
    "sparse_bsr_tensor",
    "sparse_compressed_tensor",
    "sparse_csc_tensor",
    "sparse_csr_tensor",
    "to_layout",
]


def _elements_of(at: Tensor, how: Compressed) -> Tensor:
    """The positions of the elements of blocks at positions, block after block, row after row."""
    rows, columns = how.block
    if rows == columns == 1:
        return at
    many = at._shape[1]
    inside = fn.arange(rows, device=at._device), fn.arange(columns, device=at._device)
    row = (at[0] * rows).reshape(-1, 1, 1) + inside[0].reshape(1, -1, 1)
    column = (at[1] * columns).reshape(-1, 1, 1) + inside[1].reshape(1, 1, -1)
    whole = many, rows, columns
    return fn.stack([row.expand(whole).reshape(-1), column.expand(whole).reshape(-1)])


def _in_order(at: Tensor, how: Compressed) -> Tensor:
    """Positions that are in order of rows, in the order of a layout."""
    if not how.axis:
        return at
    return at[:, fn.argsort(at[1], stable=True)]


def _of_dense(x: Tensor, how: Compressed) -> Any:
    """The blocks, or dense elements, of a dense matrix that are not all 0."""
    rows, columns = how.block
    if not how.blocked:
        held = x.detach() != 0
        held = held.flatten(2).any(2) if len(held._shape) > 2 else held
        at = _in_order(fn.nonzero(held).t().contiguous(), how)
        return sparse_of(at, fn.index(x, [at[0], at[1]]), x._shape, False, how)
    blocks = x.reshape(x._shape[0] // rows, rows, x._shape[1] // columns, columns)
    blocks = blocks.permute(0, 2, 1, 3)
    held = (blocks.detach() != 0).any(-1).any(-1)
    at = _in_order(fn.nonzero(held).t().contiguous(), how)
    values = fn.index(blocks, [at[0], at[1]]).reshape(-1)
    return sparse_of(_elements_of(at, how), values, x._shape, False, how)


def _of_sparse(x: Any, how: Compressed) -> Any:
    """What a sparse matrix holds, in blocks where one of their elements is."""
    found = x._summed()
    at, values = found._positions, found._elements
    rows, columns = how.block
    if not how.blocked:
        order = fn.argsort(at[1], stable=True) if how.axis else slice(None)
        return sparse_of(at[:, order], values[order], x._shape, False, how)
    wide = x._shape[1] // columns
    of = [fn.div(p, size, rounding_mode="floor") for p, size in zip(at, how.block, strict=True)]
    numbers, block = fn.unique(of[0] * wide + of[1], sorted=True, return_inverse=True)
    each = rows * columns
    place = block * each + (at[0] - of[0] * rows) * columns + (at[1] - of[1] * columns)
    held = values.new_zeros(numbers._shape[0] * each).index_add(0, place, values)
    held = held.reshape(-1, rows, columns)
    of_blocks = fn.stack([fn.div(numbers, wide, rounding_mode="floor"), numbers % wide])
    if how.axis:
        order = fn.argsort(of_blocks[1], stable=True)
        of_blocks, held = of_blocks[:, order], held[order]
    return sparse_of(_elements_of(of_blocks, how), held.reshape(-1), x._shape, False, how)


def to_layout(x: Any, wanted: layout, blocksize: Any = None, dense_dim: int | None = None) -> Any:
    """A matrix in a compressed layout: of a dense one the elements, or blocks, that are not 0.

    Raises:
        NotImplementedError: for batches of matrices, and blocks of elements that are dense themselves.
        RuntimeError: if the size of the blocks, or the number of dense dimensions, does not fit.
    """
    name = "to_" + wanted.name
    blocked = wanted in (sparse_bsr, sparse_bsc)
    if isinstance(x, SparseTensor):
        if dense_dim is not None and dense_dim != x.dense_dim():
            raise RuntimeError(f"{name}: a sparse tensor keeps its dense_dim, {x.dense_dim()}")
        dense_dim = x.dense_dim()
    elif not 0 <= (dense_dim or 0) <= max(len(x._shape) - 2, 0):
        raise RuntimeError(
            f"{name}: dense_dim argument must be in [0,{len(x._shape) - 2}] range, but {dense_dim} is given"
        )
    if len(x._shape) != 2 + (dense_dim or 0) or (blocked and dense_dim):
        raise NotImplementedError(
            f"{name}(): only matrices, and for rows and columns dense elements, are served here, got "
            f"{len(x._shape)} dimensions and dense_dim={dense_dim}: use to_sparse()"
        )
    if not blocked and blocksize is not None:
        raise RuntimeError(f"{name}: conversion to {wanted} needs no blocksize, got {blocksize}")
    if blocked and (blocksize is None or len(blocksize) != 2 or min(blocksize) < 1):
        raise RuntimeError(f"{name}: blocksize must be two positive numbers, got {blocksize}")
    how = Compressed(wanted, tuple(blocksize) if blocked else (1, 1))
    if any(n % size for n, size in zip(x._shape[:2], how.block, strict=True)):
        raise RuntimeError(
            f"{name}: tensor sparse size {tuple(x._shape)} must be divisible by blocksize {how.block}"
        )
    if isinstance(x, SparseTensor) and x._how == how:
        return x
    _warn_of_beta(wanted)
    return _of_sparse(x, how) if isinstance(x, SparseTensor) else _of_dense(x, how)


def _warn_of_beta(how: layout) -> None:
    text = f"Sparse {how.name[-3:].upper()} tensor support is in beta state."
    warn_user_once(text, "compressed layouts")


def _spread(ends: Tensor, count: int, name: str) -> Tensor:
    """The row, or column, of each element, from where they begin.

    Raises:
        RuntimeError: if the ends do not fit the number of elements.
    """
    if len(ends._shape) != 1 or not ends._shape[0]:
        raise RuntimeError(
            f"{name} must have one dimension and an element, but got: {list(ends._shape)}"
        )
    all_ends = ends.tolist()
    if all_ends[0] != 0:
        raise RuntimeError(f"{name}[0] must be 0, but it is {all_ends[0]}")
    if all_ends[-1] != count:
        raise RuntimeError(f"{name}[-1] must be nnz, {count}, but it is {all_ends[-1]}")
    if any(a > b for a, b in pairwise(all_ends)):
        raise RuntimeError(f"{name} must not fall, but they are {all_ends}")
    return fn.repeat_interleave(
        fn.arange(len(all_ends) - 1, device=ends._device), fn.diff(ends), output_size=count
    )


def sparse_compressed_tensor(
    compressed_indices: Any,
    plain_indices: Any,
    values: Any,
    size: Any = None,
    *,
    dtype: dtype | None = None,
    layout: layout | None = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    check_invariants: bool | None = None,
) -> Any:
    """A sparse matrix in compressed rows or columns.

    Args:
        compressed_indices: where each row, or column, begins in the others, and at the end their length.
        plain_indices: the column, or row, of each element; within a row they need not be in order.
        values: the elements, (nnz, ...), or the blocks, (nnz, rows, columns).
        size: (rows, columns, ...), the dimensions of the elements last; by default the smallest that has all
            positions.
        dtype: of the elements; by default that of ``values``.
        layout: ``torch.sparse_csr``, ``sparse_csc``, ``sparse_bsr`` or ``sparse_bsc``.
        device: where; by default where ``values`` are.
        pin_memory: refused.
        requires_grad: whether what is computed from the values is recorded.
        check_invariants: positions are checked in any case, unlike in PyTorch.

    Raises:
        RuntimeError: if positions, values and size do not fit.
        NotImplementedError: for batches of matrices, and blocks of elements that are dense themselves.
    """
    if layout not in (sparse_csr, sparse_csc, sparse_bsr, sparse_bsc):
        raise RuntimeError(
            "expected sparse compressed layout (torch.sparse_csr, sparse_csc, sparse_bsr or sparse_bsc), "
            f"got {layout}"
        )
    held = as_tensor(values, dtype=dtype, device=device)
    blocked = layout in (sparse_bsr, sparse_bsc)
    of_each = held._shape[3 if blocked else 1 :]
    batched = len(getattr(compressed_indices, "shape", (0,))) != 1
    if batched or (blocked and len(held._shape) != 3) or not held._shape:
        raise NotImplementedError(
            f"{layout.name}_tensor(): only matrices, and for rows and columns dense elements, are served "
            "here: use a list of them, or torch.sparse_coo_tensor"
        )
    if size is not None and tuple(size)[2:] != tuple(of_each):
        raise RuntimeError(
            f"{layout.name}_tensor(): elements of shape {[*of_each]} need a size of two numbers and these, "
            f"got {[*size]}"
        )
    _warn_of_beta(layout)
    how = Compressed(layout, held._shape[1:] if blocked else (1, 1))  # type: ignore[arg-type]
    outer_name, inner_name = how.names
    ends = as_tensor(compressed_indices, device=held._device).to(int64)
    outer = _spread(ends, held._shape[0], outer_name)
    inner = as_tensor(plain_indices, device=held._device).to(int64)
    if inner._shape != held._shape[:1]:
        raise RuntimeError(
            f"{inner_name} and values must have the same length, but got {list(inner._shape)} and "
            f"{list(held._shape)}"
        )
    many = ends._shape[0] - 1
    if size is None:
        least = many, int(inner.max()) + 1 if held._shape[0] else 0
        whole = zip(least[:: -1 if how.axis else 1], how.block, strict=True)
        size = [*(n * b for n, b in whole), *of_each]
    elif many * how.block[how.axis] != size[how.axis]:
        what = "columns" if how.axis else "rows"
        raise RuntimeError(
            f"{outer_name} must have {size[how.axis] // how.block[how.axis] + 1} elements for "
            f"{size[how.axis]} {what}, but got {many + 1}"
        )
    at = _elements_of(fn.stack([inner, outer] if how.axis else [outer, inner]), how)
    made = sparse_coo_tensor(
        at, held.reshape(-1, *of_each), size, pin_memory=pin_memory, requires_grad=requires_grad
    )
    made._how = how
    return made


def sparse_csr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Any = None, **options: Any
) -> Any:
    """A sparse matrix in compressed rows; see `sparse_compressed_tensor`."""
    return sparse_compressed_tensor(
        crow_indices, col_indices, values, size, layout=sparse_csr, **options
    )


def sparse_csc_tensor(
    ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, **options: Any
) -> Any:
    """A sparse matrix in compressed columns; see `sparse_compressed_tensor`."""
    return sparse_compressed_tensor(
        ccol_indices, row_indices, values, size, layout=sparse_csc, **options
    )


def sparse_bsr_tensor(
    crow_indices: Any, col_indices: Any, values: Any, size: Any = None, **options: Any
) -> Any:
    """A sparse matrix of blocks in compressed rows; see `sparse_compressed_tensor`."""
    return sparse_compressed_tensor(
        crow_indices, col_indices, values, size, layout=sparse_bsr, **options
    )


def sparse_bsc_tensor(
    ccol_indices: Any, row_indices: Any, values: Any, size: Any = None, **options: Any
) -> Any:
    """A sparse matrix of blocks in compressed columns; see `sparse_compressed_tensor`."""
    return sparse_compressed_tensor(
        ccol_indices, row_indices, values, size, layout=sparse_bsc, **options
    )
