"""How a tensor lies along one dimension of a mesh: `Shard`, `Replicate`, `Partial`."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ...dispatch.functions import fn
from ...tensors.tensor import Tensor
from .moving import reduced

__all__ = ["Partial", "PartialNorm", "Placement", "Replicate", "Shard", "StridedShard", "chunk_of"]


def chunk_of(size: int, pieces: int, number: int) -> tuple[int, int]:
    """Where a piece of a dimension begins and how long it is, as ``torch.chunk`` cuts: the last may be empty.

    Args:
        size: of the dimension.
        pieces: how many there are.
        number: of the piece.
    """
    step = -(-size // pieces)
    start = min(step * number, size)
    return start, min(step, size - start)


class Placement:
    """How a tensor lies along one dimension of a mesh."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Whether each rank has a piece, along that dimension if one is named."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Whether all ranks have all of it."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Whether what the ranks have must be reduced, by that operation if one is named."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)


@dataclass(frozen=True)
class Shard(Placement):
    """Each rank has a piece along a dimension, cut as ``torch.chunk`` does.

    Attributes:
        dim: of the tensor.
    """

    dim: int

    def __str__(self) -> str:
        return f"S({self.dim})"


@dataclass(frozen=True, repr=False)
class StridedShard(Placement):
    """Each rank has a piece of what a `Shard` along a later dimension of the mesh has left.

    So `fully_shard` cuts what tensor parallelism has cut before.

    Attributes:
        dim: of the tensor.
        split_factor: into how many pieces the later dimensions cut.
    """

    dim: int
    split_factor: int = field(default=1, kw_only=True)

    def __repr__(self) -> str:
        return f"_StridedShard(dim={self.dim}, sf={self.split_factor})"

    def __str__(self) -> str:
        return f"_S({self.dim}, {self.split_factor})"


@dataclass(frozen=True)
class Replicate(Placement):
    """All ranks have the whole tensor."""

    def __str__(self) -> str:
        return "R"


@dataclass(frozen=True, repr=False)
class Partial(Placement):
    """Each rank has a value of the same shape; the tensor is what a reduction makes of them.

    Attributes:
        reduce_op: ``sum``, ``avg``, ``product``, ``min`` or ``max``.
    """

    reduce_op: str = "sum"

    def reduced(self, local: Tensor, group: Any) -> Tensor:
        """The tensor, on all ranks of a group."""
        return reduced(local, self.reduce_op, group)

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"

    def __str__(self) -> str:
        return f"P({self.reduce_op})"


@dataclass(frozen=True)
class PartialNorm(Partial):
    """Each rank has the norm of its piece.

    Attributes:
        norm_type: which norm.
    """

    norm_type: float = 2.0

    def reduced(self, local: Tensor, group: Any) -> Tensor:
        """The norm of the whole, on all ranks of a group."""
        order = self.norm_type
        if order in (float("inf"), float("-inf")):
            return Partial("max" if order > 0 else "min").reduced(local, group)
        if order == 0:
            return Partial("sum").reduced(local, group)
        powers = Partial("sum").reduced(fn.pow(local, order), group)
        return fn.pow(powers, 1 / order)

    def __str__(self) -> str:
        return f"P(norm {self.norm_type})"
