"""``torch.functional``: the module where PyTorch defines some functions of ``torch``."""

from __future__ import annotations

import operator
from typing import Any, Final

_NAMES: Final = (
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes", "broadcast_tensors",
    "cartesian_prod", "cdist", "chain_matmul", "einsum", "istft", "lu", "meshgrid", "norm", "pca_lowrank",
    "split", "stft", "svd_lowrank", "tensordot", "unique", "unique_consecutive", "unravel_index",
)  # fmt: skip

# What editors import from here, as PyTorch's file imports it itself.
_IMPORTED: Final = {"F": "nn.functional", "Tensor": "Tensor"}

__all__ = list(_NAMES)


def __getattr__(name: str) -> Any:
    if name not in _NAMES and name not in _IMPORTED:
        raise AttributeError(f"module 'torch.functional' has no attribute {name!r}", name=name)
    import mindtorch_core

    return operator.attrgetter(_IMPORTED.get(name, name))(mindtorch_core)
