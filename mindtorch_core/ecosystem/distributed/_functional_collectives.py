"""``torch.distributed._functional_collectives``: collective operations that return new tensors.

They have waited when they return, and have gradients.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...communication.groups import ProcessGroup, default_group, group_named
from ...communication.mesh import DeviceMesh
from ...opdefs.torch_ops import ops
from ...tensors.tensor import Tensor
from ..absent import names_of

__all__ = [
    "all_gather_into_tensor_coalesced",
    "all_gather_single",
    "all_gather_single_autograd",
    "all_gather_single_coalesced",
    "all_gather_tensor",
    "all_gather_tensor_autograd",
    "all_reduce",
    "all_reduce_coalesced",
    "all_to_all_single",
    "all_to_all_single_autograd",
    "broadcast",
    "permute_tensor",
    "reduce_scatter_single",
    "reduce_scatter_single_autograd",
    "reduce_scatter_single_coalesced",
    "reduce_scatter_tensor",
    "reduce_scatter_tensor_autograd",
    "reduce_scatter_tensor_coalesced",
    "wait_tensor",
]

__getattr__ = names_of(__name__)

_OPS: Any = ops._c10d_functional


def _group(given: Any) -> ProcessGroup:
    """A group, from itself, its name, a mesh of one dimension, a mesh and a dimension, or all ranks.

    Raises:
        AssertionError: for a mesh of several dimensions alone.
        ValueError: for what names none.
    """
    if isinstance(given, ProcessGroup):
        return given
    if isinstance(given, str):
        return group_named(given)
    if isinstance(given, DeviceMesh):
        if given.ndim != 1:
            raise AssertionError(
                "Only 1D mesh is supported, pass in (DeviceMesh, int) together if mesh > 1D"
            )
        return given.get_group()
    if isinstance(given, tuple) and len(given) == 2 and isinstance(given[0], DeviceMesh):
        return given[0].get_group(given[1])
    if isinstance(given, list | tuple) and list(given) == list(default_group().ranks):
        return default_group()
    raise ValueError(
        f"a group, its name, a mesh and a dimension, or the list of all ranks is wanted, got {given!r}"
    )


def wait_tensor(tensor: Tensor) -> Tensor:
    """The tensor, which is there."""
    return tensor


def all_reduce(self: Tensor, reduceOp: str, group: Any, tag: str = "") -> Tensor:
    """The reduction over all ranks."""
    found: Tensor = _OPS.all_reduce(self, reduceOp.lower(), _group(group).group_name)
    return found


def all_reduce_coalesced(
    self: Sequence[Tensor], reduceOp: str, group: Any, tag: str = ""
) -> list[Tensor]:
    """The reductions of several tensors."""
    name = _group(group).group_name
    return list(_OPS.all_reduce_coalesced(list(self), reduceOp.lower(), name))


def broadcast(self: Tensor, src: int, group: Any, tag: str = "") -> Tensor:
    """The tensor of the rank at a position of the group."""
    found: Tensor = _OPS.broadcast(self, src, _group(group).group_name)
    return found


def all_gather_tensor(self: Tensor, gather_dim: int, group: Any, tag: str = "") -> Tensor:
    """All ranks' tensors, concatenated along a dimension."""
    own = _group(group)
    first = self.movedim(gather_dim, 0).contiguous()
    found: Tensor = _OPS.all_gather_into_tensor(first, own.size(), own.group_name)
    return found.movedim(0, gather_dim)


def all_gather_into_tensor_coalesced(
    self: Sequence[Tensor], group: Any, tag: str = ""
) -> list[Tensor]:
    """All ranks' tensors, concatenated, for each of several."""
    own = _group(group)
    parts = [each.contiguous() for each in self]
    return list(_OPS.all_gather_into_tensor_coalesced(parts, own.size(), own.group_name))


def _cut_first(tensor: Tensor, dim: int, size: int) -> Tensor:
    """A tensor whose dimension that is cut among ranks is the first one.

    Raises:
        AssertionError: if it cannot be cut evenly.
    """
    if tensor.shape[dim] % size:
        raise AssertionError(
            f"input dimension {dim} ({tensor.shape[dim]} must be a multiple of group_size {size})"
        )
    return tensor.movedim(dim, 0).contiguous()


def reduce_scatter_tensor(
    self: Tensor, reduceOp: str, scatter_dim: int, group: Any, tag: str = ""
) -> Tensor:
    """This rank's part, along a dimension, of the reduction."""
    own = _group(group)
    first = _cut_first(self, scatter_dim, own.size())
    found: Tensor = _OPS.reduce_scatter_tensor(first, reduceOp.lower(), own.size(), own.group_name)
    return found.movedim(0, scatter_dim)


def reduce_scatter_tensor_coalesced(
    inputs: Sequence[Tensor],
    reduceOp: str,
    scatter_dim: Sequence[int],
    group: Any,
    tag: str = "",
) -> list[Tensor]:
    """This rank's part of the reduction, for each of several tensors."""
    own = _group(group)
    if len(scatter_dim) != len(inputs):
        raise AssertionError(
            f"Length of scatter_dim ({len(scatter_dim)}) must equal length of inputs ({len(inputs)})"
        )
    whole = [
        _cut_first(each, dim, own.size()) for each, dim in zip(inputs, scatter_dim, strict=True)
    ]
    found = _OPS.reduce_scatter_tensor_coalesced(
        whole, reduceOp.lower(), own.size(), own.group_name
    )
    return [each.movedim(0, dim) for each, dim in zip(found, scatter_dim, strict=True)]


def all_to_all_single(
    self: Tensor,
    output_split_sizes: list[int] | None,
    input_split_sizes: list[int] | None,
    group: Any,
    tag: str = "",
) -> Tensor:
    """What all ranks send to this one; rows to each and from each, equal ones for None."""
    own = _group(group)
    if (output_split_sizes is None or input_split_sizes is None) and self.shape[0] % own.size():
        raise AssertionError(
            f"input dimension 0 ({self.shape[0]} must be a multiple of group_size {own.size()})"
        )
    equal = [self.shape[0] // own.size()] * own.size()
    found: Tensor = _OPS.all_to_all_single(
        self, output_split_sizes or equal, input_split_sizes or equal, own.group_name
    )
    return found


def permute_tensor(self: Tensor, src_dst: Sequence[int], group: Any, tag: str = "") -> Tensor:
    """What another rank has: position m sends to position ``src_dst[m]``."""
    own = _group(group)
    sent, received = [0] * own.size(), [0] * own.size()
    for src, dst in enumerate(src_dst):
        if src == own.position:
            sent[dst] = self.numel()
        if dst == own.position:
            received[src] = self.numel()
    flat = all_to_all_single(self.contiguous().view(-1), received, sent, own)
    return flat.reshape(self.shape) if flat.numel() == self.numel() else flat


# One function by several names: all of them have gradients.
all_gather_single = all_gather_single_autograd = all_gather_tensor_autograd = all_gather_tensor
all_gather_single_coalesced = all_gather_into_tensor_coalesced
all_to_all_single_autograd = all_to_all_single
reduce_scatter_single = reduce_scatter_single_autograd = reduce_scatter_tensor
reduce_scatter_single_coalesced = reduce_scatter_tensor_coalesced
reduce_scatter_tensor_autograd = reduce_scatter_tensor
