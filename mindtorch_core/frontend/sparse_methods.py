"""Methods between dense and sparse tensors; the class of the latter is made when one is wanted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

from ..tensors.attached import attach
from ..tensors.tensor import Tensor
from ..values.dtypes import dtype
from ..values.layouts import (
    sparse_bsc,
    sparse_bsr,
    sparse_coo,
    sparse_csc,
    sparse_csr,
    strided,
)

__all__ = [
    "sparse_mask",
    "to_dense",
    "to_sparse",
    "to_sparse_bsc",
    "to_sparse_bsr",
    "to_sparse_coo",
    "to_sparse_csc",
    "to_sparse_csr",
]


def to_sparse(
    self: Any,
    sparse_dim: int | None = None,
    *,
    layout: Any = None,
    blocksize: Any = None,
    dense_dim: int | None = None,
) -> Any:
    """The elements that are not 0, with their positions, as a sparse tensor.

    Args:
        self: the tensor.
        sparse_dim: how many dimensions positions have; by default all.
        layout: ``torch.sparse_coo``, or of a matrix a compressed one.
        blocksize: the size of blocks, for layouts of blocks.
        dense_dim: how many dimensions the elements of a tensor in compressed rows or columns have.

    Raises:
        NotImplementedError: for batches of matrices, in a compressed layout.
    """
    from . import sparse_compressing, sparse_creation

    if layout not in (None, sparse_coo):
        return sparse_compressing.to_layout(self, layout, blocksize, dense_dim)
    if self.layout is not strided:
        return self.to_sparse_coo()
    return sparse_creation.to_sparse(self, sparse_dim)


def to_sparse_csr(self: Tensor, dense_dim: int | None = None) -> Any:
    """The elements of a matrix that are not 0, in compressed rows."""
    return to_sparse(self, layout=sparse_csr, dense_dim=dense_dim)


def to_sparse_csc(self: Tensor, dense_dim: int | None = None) -> Any:
    """The elements of a matrix that are not 0, in compressed columns."""
    return to_sparse(self, layout=sparse_csc, dense_dim=dense_dim)


def to_sparse_bsr(self: Tensor, blocksize: Any, dense_dim: int | None = None) -> Any:
    """The blocks of a matrix that are not all 0, in compressed rows."""
    return to_sparse(self, layout=sparse_bsr, blocksize=blocksize, dense_dim=dense_dim)


def to_sparse_bsc(self: Tensor, blocksize: Any, dense_dim: int | None = None) -> Any:
    """The blocks of a matrix that are not all 0, in compressed columns."""
    return to_sparse(self, layout=sparse_bsc, blocksize=blocksize, dense_dim=dense_dim)


def to_sparse_coo(self: Tensor) -> Any:
    """The elements that are not 0, with their positions, as a sparse tensor."""
    return to_sparse(self)


def to_dense(
    self: Tensor, dtype: dtype | None = None, *, masked_grad: bool | None = None
) -> Tensor:
    """The tensor itself, which is dense, or in another dtype."""
    return self if dtype is None else self.to(dtype)


def sparse_mask(self: Tensor, mask: Any) -> Any:
    """The elements at the positions of a sparse tensor, as a sparse tensor.

    Raises:
        TypeError: if ``mask`` is not sparse.
    """
    from . import sparse

    if not isinstance(mask, sparse.SparseTensor):
        raise TypeError("sparse_mask(): expected mask to be sparse, got a dense tensor")
    return (mask if mask._how else mask.coalesce()).masking(self)


def smm(self: Tensor, mat: Tensor) -> Any:
    """The product of a sparse matrix and a dense one, sparse: see `torch.smm`."""
    from . import sparse_functions

    return sparse_functions.smm(self, mat)


def sspaddmm(self: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """A product of a sparse matrix and a dense one added to a sparse one: see `torch.sspaddmm`."""
    from . import sparse_functions

    return sparse_functions.sspaddmm(self, mat1, mat2, beta=beta, alpha=alpha)


def dense_dim(self: Tensor) -> int:
    """Number of dimensions whose elements are all stored: all of a dense tensor's."""
    return len(self._shape)


def sparse_dim(self: Tensor) -> int:
    """Number of dimensions that positions have: 0 for a dense tensor."""
    return 0


def _refused(name: str, wanted: str) -> Callable[[Tensor], NoReturn]:
    """A method that dense tensors have and refuse."""

    def refuse(self: Tensor) -> NoReturn:
        raise RuntimeError(f"{name} expected sparse {wanted} layout but got Strided")

    refuse.__name__, refuse.__doc__ = name, f"Raise RuntimeError: {name} is for sparse tensors."
    return refuse


_COORDINATES: Final = "coordinate tensor"
_ROWS: Final = "row compressed tensor"
_COLUMNS: Final = "column compressed tensor"

attach(
    __name__,
    {
        "dense_dim": dense_dim,
        "sparse_dim": sparse_dim,
        "smm": smm,
        "sparse_mask": sparse_mask,
        "sspaddmm": sspaddmm,
        "to_dense": to_dense,
        "to_sparse": to_sparse,
        "to_sparse_coo": to_sparse_coo,
        "to_sparse_bsc": to_sparse_bsc,
        "to_sparse_bsr": to_sparse_bsr,
        "to_sparse_csc": to_sparse_csc,
        "to_sparse_csr": to_sparse_csr,
        "values": _refused("values", "tensor"),
        **{name: _refused(name, _COORDINATES) for name in ("coalesce", "indices", "is_coalesced")},
        **{name: _refused(name, _ROWS) for name in ("col_indices", "crow_indices")},
        **{name: _refused(name, _COLUMNS) for name in ("ccol_indices", "row_indices")},
    },
)
