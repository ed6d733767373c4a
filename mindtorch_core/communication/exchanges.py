"""What every rank sends to every other one, and barriers: PyTorch's functions, arguments and errors."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

from ..tensors.tensor import Tensor
from .collectives import Setting, begun
from .engine import Ticket
from .errors import UnfitError
from .groups import chosen, outside
from .lending import check_tensor, check_tensors, joined, unrecorded
from .work import Work

__all__ = ["all_to_all", "all_to_all_single", "barrier"]


@unrecorded
def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: list[int] | None = None,
    input_split_sizes: list[int] | None = None,
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Send a part of a tensor to each rank, and receive one from each.

    Args:
        output: what is received, by position.
        input: what is sent, by position.
        output_split_sizes: rows of each part; None for equal ones.
        input_split_sizes: rows of each part; None for equal ones.
        group: the ranks.
        async_op: whether to return at once.

    Raises:
        RuntimeError: if the sizes do not add up to the rows.
    """
    check_tensor(output, "output")
    check_tensor(input, "input")
    if outside(group, "all_to_all_single"):
        return None
    size = chosen(group).size()
    sizes = [
        _elements(t, given, size)
        for t, given in ((output, output_split_sizes), (input, input_split_sizes))
    ]
    rest = tuple(input.shape[1:])
    if output.dtype != input.dtype:
        raise UnfitError(
            f"Invalid usage of tensors with different dtypesFound {output.dtype} and  {input.dtype}"
        )
    s = Setting("all_to_all_single", group, input, async_op, shape=rest)
    return begun(*_exchanged(s, output, input, *sizes), [output], async_op)


def _exchanged(
    s: Setting, output: Tensor, tensor: Tensor, received: list[int], sent: list[int]
) -> tuple[Ticket, Callable[[], None]]:
    out, lent = s.lend(output), s.lend(tensor)
    ticket = s.comm.all_to_all(
        s.call, out.memory.reshape(-1), lent.memory.reshape(-1), received, sent
    )
    return ticket, out.returned


def _elements(tensor: Tensor, rows: list[int] | None, size: int) -> list[int]:
    """The numbers of elements of the parts."""
    first = tensor.shape[0] if tensor.ndim else 1
    each = tensor.numel() // first if first else 0
    if tensor.is_complex():
        each *= 2
    if not rows:
        if first % size:
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        return [first // size * each] * size
    if len(rows) != size:
        raise RuntimeError("Number of tensor splits not equal to group size")
    if any(n < 0 for n in rows):
        raise RuntimeError(f"Split sizes must not be negative, got {rows}")
    if sum(rows) != first:
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    return [n * each for n in rows]


@unrecorded
def all_to_all(
    output_tensor_list: list[Tensor],
    input_tensor_list: list[Tensor],
    group: Any = None,
    async_op: bool = False,
) -> Work | None:
    """Send a tensor of a list to each rank, and receive one from each.

    Raises:
        ValueError: if a list has not one tensor for each rank, or the dtypes differ.
    """
    check_tensors(output_tensor_list, "output_tensor_list")
    check_tensors(input_tensor_list, "input_tensor_list")
    if outside(group, "all_to_all"):
        return None
    size = chosen(group).size()
    for name, given in (("output", output_tensor_list), ("input", input_tensor_list)):
        if len(given) != size:
            raise UnfitError(f"{name}_tensor_list must have {size} tensors, one for each rank")
    first = input_tensor_list[0].dtype
    for each in (*output_tensor_list, *input_tensor_list):
        if each.dtype != first:
            raise UnfitError(
                f"Invalid usage of tensors with different dtypesFound {first} and  {each.dtype}"
            )
    whole = joined(input_tensor_list)
    s = Setting("all_to_all", group, whole, async_op, shape=())
    twice = 2 if whole.is_complex() else 1
    sent = [twice * t.numel() for t in input_tensor_list]
    received = [twice * t.numel() for t in output_tensor_list]
    result = whole.new_empty([sum(received) // twice])

    ticket, returned = _exchanged(s, result, whole, received, sent)

    def end() -> None:
        returned()
        parts = result.split([n // twice for n in received])
        for each, part in zip(output_tensor_list, parts, strict=True):
            each.detach().copy_(part.reshape(each.shape))

    return begun(ticket, end, output_tensor_list, async_op)


def barrier(
    group: Any = None,
    async_op: bool = False,
    device_ids: Any = None,
    timeout: timedelta | None = None,
) -> Work | None:
    """Wait until all ranks have called it.

    Args:
        group: the ranks.
        async_op: whether to return at once.
        device_ids: taken for PyTorch's sake.
        timeout: if it is not the group's.

    Raises:
        DistributedError: naming who has not come in time.
    """
    if outside(group, "barrier"):
        return None
    group = chosen(group)
    device = next(iter(group.communicators))
    call = group.call("barrier", timeout=timeout, waits=not async_op)
    ticket = group.communicator_for(device)[1].barrier(call, device)
    return begun(ticket, None, [], async_op)
