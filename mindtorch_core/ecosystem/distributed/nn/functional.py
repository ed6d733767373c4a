"""``torch.distributed.nn.functional``: collective operations with gradients, by the names of the others.

The loss that is differentiated is the sum of all ranks' losses.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....communication.groups import ProcessGroup, chosen
from ....communication.reductions import ReduceOp
from ....dispatch.functions import fn
from ....opdefs.torch_ops import ops
from ....tensors.tensor import Tensor

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "reduce_scatter",
]

_OPS: Any = ops._c10d_functional


def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The reduction over all ranks; sums and means have gradients."""
    found: Tensor = _OPS.all_reduce(tensor, op.name.lower(), chosen(group).group_name)
    return found


def broadcast(tensor: Tensor, src: int, group: Any = None) -> Tensor:
    """The tensor of a rank."""
    found: Tensor = _OPS.broadcast(tensor, src, chosen(group).group_name)
    return found


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """All ranks' tensors, by position."""
    own: ProcessGroup = chosen(group)
    flat = tensor.reshape(-1)
    whole: Tensor = _OPS.all_gather_into_tensor(flat, own.size(), own.group_name)
    return tuple(part.reshape(tensor.shape) for part in whole.split(max(flat.numel(), 1)))


def reduce_scatter(
    output: Tensor, input_list: Sequence[Tensor], op: ReduceOp = ReduceOp.SUM, group: Any = None
) -> Tensor:
    """The reduction of the tensors at this rank's position; ``output`` says the shape alone."""
    own: ProcessGroup = chosen(group)
    whole = fn.cat([each.reshape(-1) for each in input_list])
    found: Tensor = _OPS.reduce_scatter_tensor(whole, op.name.lower(), own.size(), own.group_name)
    return found.reshape(output.shape)


def all_to_all(
    output_tensor_list: Sequence[Tensor], input_tensor_list: Sequence[Tensor], group: Any = None
) -> tuple[Tensor, ...]:
    """What all ranks send to this one; the outputs say the shapes alone."""
    own: ProcessGroup = chosen(group)
    whole = fn.cat([each.reshape(-1) for each in input_tensor_list])
    sent = [each.numel() for each in input_tensor_list]
    received = [each.numel() for each in output_tensor_list]
    found: Tensor = _OPS.all_to_all_single(whole, received, sent, own.group_name)
    parts = zip(found.split(received), output_tensor_list, strict=True)
    return tuple(part.reshape(like.shape) for part, like in parts)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: Any = None,
) -> Tensor:
    """The parts that all ranks send to this one; ``output`` says the shape alone."""
    own: ProcessGroup = chosen(group)
    received = output_split_sizes or [output.shape[0] // own.size()] * own.size()
    sent = input_split_sizes or [input.shape[0] // own.size()] * own.size()
    found: Tensor = _OPS.all_to_all_single(input, received, sent, own.group_name)
    return found
