"""Collective operations on tensors: PyTorch's functions, arguments and errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

from ..gradients.grad_mode import no_grad
from ..tensors.tensor import Tensor
from ..values.layouts import strided
from .engine import Finished, Then, Ticket
from .errors import UnfitError, UnfitTypeError
from .groups import ProcessGroup, chosen, outside
from .lending import (
    Lent,
    as_complex,
    check_op,
    check_tensor,
    check_tensors,
    divided,
    joined,
    lend,
    lend_to_reduce,
    unrecorded,
)
from .listening import LISTENERS
from .reductions import Premultiplied, ReduceOp
from .work import Work

__all__ = [
    "all_gather",
    "all_gather_into_tensor",
    "all_gather_single",
    "all_reduce",
    "broadcast",
    "gather",
    "reduce",
    "reduce_scatter",
    "reduce_scatter_single",
    "reduce_scatter_tensor",
    "scatter",
]

Op = ReduceOp | Premultiplied
_AVG: Final = ReduceOp.AVG


def position_of(group: ProcessGroup, rank: int | None, own: int | None, name: str) -> int:
    """A position in a group, from a rank in the default group or from itself.

    Raises:
        ValueError: if neither or both are given, or the rank is none of the group's.
        TypeError: if it is no whole number.
    """
    if rank is None and own is None:
        raise ValueError(f"Must specify {name} or group_{name}")
    if rank is not None and own is not None:
        raise ValueError(f"Can't specify both group_{name} and global_{name}")
    whole_number(rank if own is None else own, name)
    if own is not None:
        if not 0 <= own < group.size():
            raise UnfitError(f"group_{name} {own} is not a rank of {group}")
        return own
    if rank not in group.ranks:
        raise UnfitError(f"Global rank {rank} is not part of group {group}")
    return group.ranks.index(rank)


def whole_number(given: Any, name: str) -> None:
    """Refuse what cannot number a rank or tell messages apart.

    Raises:
        TypeError: naming the argument.
    """
    if not hasattr(given, "__index__"):
        raise TypeError(f"{name} must be a whole number, got {given!r}")


def begun(
    ticket: Ticket, end: Callable[[], None] | None, outputs: Sequence[Tensor], async_op: bool
) -> Work | None:
    """A call that is under way as `Work`, or None once it is done.

    Args:
        ticket: the communicator's.
        end: what is to be done when that is through, or None.
        outputs: what the call writes.
        async_op: whether not to wait for it.
    """
    if async_op:
        return Work(ticket if end is None else Then([ticket], end), outputs)
    ticket.wait()
    if end is not None:
        end()
    return None


class Setting:
    """A group, its engine for a tensor's device, and the call that is made."""

    def __init__(
        self,
        op: str,
        group: Any,
        tensor: Tensor,
        async_op: bool,
        *,
        shape: tuple[int, ...] | None = None,
        reduction: str = "",
        root: int = -1,
    ) -> None:
        own = self.group = chosen(group)
        self.engine, self.comm = own.communicator_for(tensor._device.type)
        self.call = own.call(
            op,
            waits=not async_op,
            dtype=tensor._dtype.name,
            shape=tensor._shape if shape is None else shape,
            reduction=reduction,
            root=root,
        )
        self.size = len(own.ranks)
        for each in LISTENERS:
            each(op)

    def lend(self, tensor: Tensor) -> Lent:
        """See `lend`."""
        return lend(tensor, self.engine)


@unrecorded
def all_reduce(
    tensor: Tensor, op: Op = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce a tensor over all ranks, in place, so that all have the result.

    Of a sparse tensor it is the sum or the mean, and waited for in any case.
    """
    check_tensor(tensor, "tensor", sparse=True)
    if outside(group, "all_reduce"):
        return None
    if tensor.layout is not strided:
        from .sparse_sums import all_reduce_sparse

        size = chosen(group).size()
        all_reduce_sparse(tensor, op, size, partial(all_gather_into_tensor, group=group))
        return Work(Finished(), [tensor]) if async_op else None
    check_op(op, tensor, "all_reduce")
    s = Setting("all_reduce", group, tensor, async_op, reduction=op.op.word)
    lent, how = lend_to_reduce(tensor, s.engine, op)
    ticket = s.comm.all_reduce(s.call, lent.memory, how)
    return begun(ticket, _reduced(lent, op, s.size), [tensor], async_op)


def _reduced(lent: Lent, op: Op, size: int) -> Callable[[], None]:
    """What makes the result of a reduction in place."""
    if lent.back is None and op.op is not _AVG:
        return lent.returned

    def end() -> None:
        with no_grad():
            if op.op is _AVG:
                divided(lent.memory, size)
            lent.returned()

    return end


@unrecorded
def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: Op = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Reduce a tensor over all ranks into the tensor of one."""
    check_tensor(tensor, "tensor")
    if outside(group, "reduce"):
        return None
    check_op(op, tensor, "reduce")
    root = position_of(chosen(group), dst, group_dst, "dst")
    s = Setting("reduce", group, tensor, async_op, reduction=op.op.word, root=root)
    here = s.group.position == root
    # Where the result does not go the tensor keeps its values.
    source = tensor if here or not isinstance(op, Premultiplied) else tensor.detach().clone()
    lent, how = lend_to_reduce(source, s.engine, op)
    ticket = s.comm.reduce(s.call, lent.memory, root, how)
    return begun(ticket, _reduced(lent, op, s.size) if here else None, [tensor], async_op)


@unrecorded
def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Overwrite all ranks' tensor with that of one."""
    check_tensor(tensor, "tensor")
    if outside(group, "broadcast"):
        return None
    root = position_of(chosen(group), src, group_src, "src")
    s = Setting("broadcast", group, tensor, async_op, root=root)
    lent = s.lend(tensor)
    ticket = s.comm.broadcast(s.call, lent.memory, root)
    return begun(ticket, lent.returned, [tensor], async_op)


@unrecorded
def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Write each rank's tensor into a list, by position."""
    check_tensors(tensor_list, "tensor_list")
    check_tensor(tensor, "tensor")
    if outside(group, "all_gather"):
        return None
    _check_list(tensor_list, tensor, chosen(group).size(), "tensor_list")
    s = Setting("all_gather", group, tensor, async_op)
    lent = s.lend(tensor)
    whole = lent.memory.new_empty([s.size, *lent.memory.shape])
    ticket = s.comm.all_gather(s.call, whole, lent.memory)
    return begun(ticket, lambda: _spread(whole, tensor_list), tensor_list, async_op)


def _check_list(tensors: Sequence[Tensor], tensor: Tensor, size: int, name: str) -> None:
    """Refuse a list that has not one tensor like ``tensor`` for each rank.

    Raises:
        ValueError: saying which.
    """
    if len(tensors) != size:
        raise UnfitError(f"{name} must have {size} tensors, one for each rank, got {len(tensors)}")
    for each in tensors:
        if each.dtype != tensor.dtype:
            raise UnfitError(
                f"Invalid usage of tensors with different dtypesFound {each.dtype} and  {tensor.dtype}"
            )
        if each.numel() != tensor.numel():
            raise UnfitError(
                f"{name} has a tensor of shape {list(each.shape)} for one of shape {list(tensor.shape)}"
            )


def _spread(whole: Tensor, tensors: Sequence[Tensor]) -> None:
    """Copy rows of a tensor into a list."""
    with no_grad():
        for i, each in enumerate(tensors):
            row = as_complex(whole[i]) if each.is_complex() else whole[i]
            each.detach().copy_(row.reshape(each.shape))


@unrecorded
def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: Any = None, async_op: bool = False
) -> Work | None:
    """Write all ranks' tensors one after the other, or stacked, into one.

    Raises:
        ValueError: if the output has another number of elements or another dtype.
    """
    check_tensor(input_tensor, "input_tensor")
    check_tensor(output_tensor, "output_tensor")
    if outside(group, "all_gather_into_tensor"):
        return None
    _check_whole(output_tensor, input_tensor, chosen(group).size(), "output", "input")
    s = Setting("all_gather_into_tensor", group, input_tensor, async_op)
    out, lent = s.lend(output_tensor), s.lend(input_tensor)
    ticket = s.comm.all_gather(s.call, out.memory, lent.memory)
    return begun(ticket, out.returned, [output_tensor], async_op)


def _check_whole(whole: Tensor, part: Tensor, size: int, first: str, second: str) -> None:
    if whole.dtype != part.dtype:
        raise UnfitTypeError(
            f"{first} tensor must have the same type as {second} tensor: {whole.dtype}, {part.dtype}"
        )
    if whole.numel() != part.numel() * size:
        raise UnfitError(
            f"{first} tensor size must be equal to world_size times {second} tensor size: "
            f"{whole.numel()} elements, and {size} times {part.numel()}"
        )


@unrecorded
def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Write each rank's tensor into a list that one rank has."""
    check_tensor(tensor, "tensor")
    if outside(group, "gather"):
        return None
    root = position_of(
        chosen(group), 0 if dst is None and group_dst is None else dst, group_dst, "dst"
    )
    here = chosen(group).position == root
    if here:
        if not gather_list:
            raise ValueError("Argument ``gather_list`` must be specified on destination rank.")
        check_tensors(gather_list, "gather_list")
        _check_list(gather_list, tensor, chosen(group).size(), "gather_list")
    elif gather_list:
        raise ValueError("Argument ``gather_list`` must NOT be specified on non-destination ranks.")
    s = Setting("gather", group, tensor, async_op, root=root)
    lent = s.lend(tensor)
    whole = lent.memory.new_empty([s.size, *lent.memory.shape]) if here else None
    ticket = s.comm.gather(s.call, whole, lent.memory, root)
    outputs = gather_list or []

    def end() -> None:
        if whole is not None:
            _spread(whole, outputs)

    return begun(ticket, end, outputs, async_op)


@unrecorded
def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Write into each rank's tensor one of a list that one rank has."""
    check_tensor(tensor, "tensor")
    if outside(group, "scatter"):
        return None
    root = position_of(
        chosen(group), 0 if src is None and group_src is None else src, group_src, "src"
    )
    here = chosen(group).position == root
    if here:
        if not scatter_list:
            raise ValueError("Argument ``scatter_list`` must be specified on source rank.")
        check_tensors(scatter_list, "scatter_list")
        _check_list(scatter_list, tensor, chosen(group).size(), "scatter_list")
    elif scatter_list:
        raise ValueError("Argument ``scatter_list`` must NOT be specified on non-source ranks.")
    s = Setting("scatter", group, tensor, async_op, root=root)
    lent = s.lend(tensor)
    whole = s.lend(joined(scatter_list)).memory if here and scatter_list else None
    ticket = s.comm.scatter(s.call, lent.memory, whole, root)
    return begun(ticket, lent.returned, [tensor], async_op)


@unrecorded
def reduce_scatter_tensor(
    output: Tensor, input: Tensor, op: Op = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Work | None:
    """Reduce a tensor over all ranks; each gets the part at its position.

    Raises:
        ValueError: if the input has another number of elements than all outputs together.
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    if outside(group, "reduce_scatter_tensor"):
        return None
    check_op(op, input, "reduce_scatter_tensor")
    _check_whole(input, output, chosen(group).size(), "input", "output")
    s = Setting("reduce_scatter_tensor", group, input, async_op, reduction=op.op.word)
    return begun(*_reduce_scattered(s, output, input.detach(), op), [output], async_op)


def _reduce_scattered(
    s: Setting, output: Tensor, whole: Tensor, op: Op
) -> tuple[Ticket, Callable[[], None]]:
    if isinstance(op, Premultiplied):
        whole = whole.clone()
    lent, how = lend_to_reduce(whole, s.engine, op)
    part = lent.memory.new_empty([lent.memory.numel() // s.size])
    ticket = s.comm.reduce_scatter(s.call, part, lent.memory, how)

    def end() -> None:
        with no_grad():
            if op.op is _AVG:
                divided(part, s.size)
            result = part
            if output.is_complex():
                result = as_complex(part.reshape([-1, 2]))
            elif part.dtype != output.dtype:
                result = part.to(output.dtype)
            output.detach().copy_(result.reshape(output.shape))

    return ticket, end


@unrecorded
def reduce_scatter(
    output: Tensor,
    input_list: list[Tensor],
    op: Op = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce a list of tensors over all ranks; each gets the one at its position."""
    check_tensor(output, "output")
    check_tensors(input_list, "input_list")
    if outside(group, "reduce_scatter"):
        return None
    check_op(op, output, "reduce_scatter")
    _check_list(input_list, output, chosen(group).size(), "input_list")
    s = Setting("reduce_scatter", group, output, async_op, reduction=op.op.word)
    return begun(*_reduce_scattered(s, output, joined(input_list), op), [output], async_op)


# PyTorch's names of late.
all_gather_single = all_gather_into_tensor
reduce_scatter_single = reduce_scatter_tensor
