"""What ranks send each other of the parts of DTensors: ops of ``_c10d_functional``, which modes see."""

from __future__ import annotations

from typing import Any

from ...opdefs.torch_ops import ops
from ...tensors.tensor import Tensor
from ..groups import ProcessGroup

__all__ = ["gathered", "reduced", "reduced_part"]


def gathered(part: Tensor, group: ProcessGroup) -> Tensor:
    """All ranks' parts, one after the other along the first dimension."""
    op: Any = ops._c10d_functional.all_gather_into_tensor
    found: Tensor = op(part.contiguous(), group.size(), group.group_name)
    return found


def reduced(value: Tensor, reduce_op: str, group: ProcessGroup) -> Tensor:
    """What a reduction makes of all ranks' values."""
    found: Tensor = ops._c10d_functional.all_reduce(value.contiguous(), reduce_op, group.group_name)
    return found


def reduced_part(value: Tensor, reduce_op: str, group: ProcessGroup) -> Tensor:
    """This rank's piece of a reduction, which is cut along the first dimension into equal ones."""
    op: Any = ops._c10d_functional.reduce_scatter_tensor
    found: Tensor = op(value.contiguous(), reduce_op, group.size(), group.group_name)
    return found
