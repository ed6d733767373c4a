"""``torch.sparse``: functions of sparse tensors."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from .dispatch.nearest import lacking
from .frontend.sparse import SparseTensor
from .frontend.sparse_functions import addmm, log_softmax, mm, sampled_addmm, softmax, spdiags
from .frontend.sparse_invariants import check_sparse_tensor_invariants

__all__ = [
    "addmm",
    "check_sparse_tensor_invariants",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "spdiags",
    "sum",
]

__path__: list[str] = []  # a package, as in PyTorch: modules of other rooms stand below it


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """The sum of a sparse tensor's elements, or along dimensions; that is dense here.

    Raises:
        TypeError: if it is not sparse.
    """
    if not isinstance(input, SparseTensor):
        raise TypeError(f"sparse.sum(): expected a sparse tensor, got {type(input).__name__}")
    return input.sum(dim, dtype=dtype)


if not TYPE_CHECKING:  # for type checkers a misspelt name would be there too
    _lacks = lacking(sys.modules[__name__])

    def __getattr__(name: str) -> Any:
        """The classes of old, which are made when they are asked for."""
        if name.endswith("Tensor"):
            from .frontend.sparse_classes import CLASSES

            if name in CLASSES:
                return CLASSES[name]
        return _lacks(name)
