"""``torch.distributed.nn.functional``: collective operations with gradients, by the names of the others.

The loss that is differentiated is the sum of all ranks' losses. Backward calls the opposite operation, so
all ranks make the same calls in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ....autograd.function import Function
from ....communication import collectives, exchanges
from ....communication.groups import ProcessGroup, chosen
from ....communication.membership import get_rank
from ....communication.reductions import ReduceOp
from ....dispatch.functions import fn
from ....tensors.tensor import Tensor
from ....values.user_warnings import warn_user

__all__ = [
    "all_gather",
    "all_reduce",
    "all_to_all",
    "all_to_all_single",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "scatter",
]


def _deprecated(name: str, other: str | None = None) -> None:
    warn_user(
        f"torch.distributed.nn.functional.{name} is deprecated, use "
        f"torch.distributed._functional_collectives.{other or name} instead.",
        FutureWarning,
    )


def broadcast(tensor: Tensor, src: int, group: Any = None) -> Tensor:
    """The tensor of a rank."""
    _deprecated("broadcast")
    found: Tensor = _Broadcast.apply(src, chosen(group), tensor)
    return found


def gather(tensor: Tensor, dst: int = 0, group: Any = None) -> tuple[Tensor, ...]:
    """All ranks' tensors, by position, on one rank; zeros on the others."""
    found: tuple[Tensor, ...] = _Gather.apply(dst, chosen(group), tensor)
    return found


def scatter(tensors: Sequence[Tensor], src: int = 0, group: Any = None) -> Tensor:
    """The tensor at this rank's position of those that one rank has; the others' say the shape alone."""
    found: Tensor = _Scatter.apply(src, chosen(group), *tensors)
    return found


def reduce(tensor: Tensor, dst: int, op: ReduceOp = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The reduction over all ranks on one rank; the others have what they gave or part of a sum."""
    found: Tensor = _Reduce.apply(dst, op, chosen(group), tensor)
    return found


def reduce_scatter(
    output: Tensor, input_list: Sequence[Tensor], op: ReduceOp = ReduceOp.SUM, group: Any = None
) -> Tensor:
    """The reduction of the tensors at this rank's position, which ``output`` has too, without gradient."""
    _deprecated("reduce_scatter", "reduce_scatter_single")
    found: Tensor = _ReduceScatter.apply(op, chosen(group), output, *input_list)
    return found


def all_gather(tensor: Tensor, group: Any = None) -> tuple[Tensor, ...]:
    """All ranks' tensors, by position."""
    _deprecated("all_gather", "all_gather_single")
    found: tuple[Tensor, ...] = _AllGather.apply(chosen(group), tensor)
    return found


def _all_gather_base(output_tensor: Tensor, input_tensor: Tensor, group: Any = None) -> Tensor:
    """All ranks' tensors, one after the other in ``output_tensor``."""
    found: Tensor = _AllGatherBase.apply(output_tensor, input_tensor, chosen(group))
    return found


def all_to_all(
    output_tensor_list: Sequence[Tensor], input_tensor_list: Sequence[Tensor], group: Any = None
) -> tuple[Tensor, ...]:
    """What all ranks send to this one: the outputs, which are written and have gradients then."""
    found: tuple[Tensor, ...] = _AllToAll.apply(
        chosen(group), output_tensor_list, *input_tensor_list
    )
    return found


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: Any = None,
) -> Tensor:
    """The parts that all ranks send to this one, which ``output`` has too, without gradient."""
    _deprecated("all_to_all_single")
    found: Tensor = _AllToAllSingle.apply(
        chosen(group), output, output_split_sizes, input_split_sizes, input
    )
    return found


def all_reduce(tensor: Tensor, op: ReduceOp = ReduceOp.SUM, group: Any = None) -> Tensor:
    """The reduction over all ranks; gradients are reduced in the same way."""
    _deprecated("all_reduce")
    found: Tensor = _AllReduce.apply(op, chosen(group), tensor)
    return found


class _Broadcast(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: ProcessGroup, tensor: Tensor) -> Tensor:
        ctx.src, ctx.group = src, group
        result = tensor.clone()
        collectives.broadcast(result, src, group)
        return result

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """The sum of all ranks' gradients, for the rank that sent."""
        found = _Reduce.apply(ctx.src, ReduceOp.SUM, ctx.group, grads[0])
        return None, None, found if get_rank() == ctx.src else found.zero_()


class _Reduce(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, op: ReduceOp, group: ProcessGroup, tensor: Tensor) -> Tensor:
        ctx.dst, ctx.group = dst, group
        result = tensor.clone()
        collectives.reduce(result, dst, op, group)
        return result

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """The gradient of the rank that has the result."""
        return None, None, None, _Broadcast.apply(ctx.dst, ctx.group, grads[0])


class _Gather(Function):
    @staticmethod
    def forward(ctx: Any, dst: int, group: ProcessGroup, tensor: Tensor) -> tuple[Tensor, ...]:
        ctx.dst, ctx.group = dst, group
        results = [fn.zeros_like(tensor) for _ in range(group.size())]
        collectives.gather(tensor, results if get_rank() == dst else None, dst, group)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """Each rank's gradient, from the rank that has the result."""
        return None, None, _Scatter.apply(ctx.dst, ctx.group, *grads)


class _Scatter(Function):
    @staticmethod
    def forward(ctx: Any, src: int, group: ProcessGroup, *tensors: Tensor) -> Tensor:
        ctx.src, ctx.group = src, group
        if not all(each.size() == tensors[0].size() for each in tensors):
            raise AssertionError
        result = fn.zeros_like(tensors[0])
        collectives.scatter(result, [*tensors] if get_rank() == src else None, src, group)
        return result

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """All ranks' gradients, for the rank that sent."""
        return None, None, *_Gather.apply(ctx.src, ctx.group, grads[0])


class _ReduceScatter(Function):
    @staticmethod
    def forward(
        ctx: Any, op: ReduceOp, group: ProcessGroup, output: Tensor, *tensors: Tensor
    ) -> Tensor:
        ctx.group = group
        collectives.reduce_scatter(output, [*tensors], op, group)
        return output

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """All ranks' gradients."""
        return None, None, None, *_AllGather.apply(ctx.group, grads[0])


class _AllGather(Function):
    @staticmethod
    def forward(ctx: Any, group: ProcessGroup, tensor: Tensor) -> tuple[Tensor, ...]:
        ctx.group = group
        results = [fn.empty_like(tensor).contiguous() for _ in range(group.size())]
        collectives.all_gather(results, tensor, group)
        return tuple(results)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """The sum of what all ranks have as the gradient of this one's."""
        memory = fn.empty_like(grads[0]).contiguous()
        return None, _ReduceScatter.apply(ReduceOp.SUM, ctx.group, memory, *grads)


class _AllGatherBase(Function):
    @staticmethod
    def forward(ctx: Any, output: Tensor, tensor: Tensor, group: ProcessGroup) -> Tensor:
        ctx.group, ctx.shape = group, tensor.shape
        collectives.all_gather_into_tensor(output, tensor, group)
        return output

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """The sum of what all ranks have as the gradient of this one's."""
        parts = grads[0].reshape([ctx.group.size(), *ctx.shape]).unbind()
        memory = fn.empty_like(parts[0]).contiguous()
        return None, _ReduceScatter.apply(ReduceOp.SUM, ctx.group, memory, *parts), None


class _AllToAll(Function):
    @staticmethod
    def forward(
        ctx: Any, group: ProcessGroup, outputs: Sequence[Tensor], *tensors: Tensor
    ) -> tuple[Tensor, ...]:
        ctx.group, ctx.shapes = group, [each.shape for each in tensors]
        exchanges.all_to_all([*outputs], [*tensors], group)
        return tuple(outputs)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """Each rank's gradient of what it was sent."""
        memory = [grads[0].new_empty(shape) for shape in ctx.shapes]
        return None, None, *_AllToAll.apply(ctx.group, memory, *grads)


class _AllToAllSingle(Function):
    @staticmethod
    def forward(
        ctx: Any,
        group: ProcessGroup,
        output: Tensor,
        received: list[int] | None,
        sent: list[int] | None,
        tensor: Tensor,
    ) -> Tensor:
        ctx.group, ctx.shape, ctx.received, ctx.sent = group, tensor.shape, received, sent
        exchanges.all_to_all_single(output, tensor, received, sent, group)
        return output

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """Each rank's gradient of what it was sent."""
        memory = grads[0].new_empty(ctx.shape)
        found = _AllToAllSingle.apply(ctx.group, memory, ctx.sent, ctx.received, grads[0])
        return None, None, None, None, found


class _AllReduce(Function):
    @staticmethod
    def forward(ctx: Any, op: ReduceOp, group: ProcessGroup, tensor: Tensor) -> Tensor:
        ctx.op, ctx.group = op, group
        result = tensor.clone().contiguous()
        collectives.all_reduce(result, op, group)
        return result

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> tuple[Any, ...]:
        """The gradients, reduced in the same way."""
        return None, None, _AllReduce.apply(ctx.op, ctx.group, grads[0])
