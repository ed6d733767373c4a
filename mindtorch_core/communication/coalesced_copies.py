"""What `DistributedDataParallel` begins with, for programs of their own: copies compared and made equal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ..dispatch.functions import fn
from ..tensors.tensor import Tensor
from .collectives import broadcast
from .groups import chosen
from .objects import all_gather_object

__all__ = ["FIRST_BYTES", "assigned_by_size", "broadcast_coalesced", "verify_across_processes"]

FIRST_BYTES: Final = (
    1 << 20
)  # of the first bucket, which is small so that the first sum starts early


def broadcast_coalesced(
    process_group: Any, tensors: Sequence[Tensor], buffer_size: int, src: int = 0
) -> None:
    """Overwrite tensors with those of the rank at a position of the group.

    Args:
        process_group: the processes.
        tensors: alike on all ranks, of any dtypes.
        buffer_size: how many bytes are sent at once, at most; a larger tensor is sent alone.
        src: the position.
    """
    limits = [buffer_size]
    for numbers in assigned_by_size(tensors, limits)[0] if tensors else []:
        parts = [tensors[n].detach() for n in numbers]
        flat = fn.cat([part.reshape(-1) for part in parts])
        broadcast(flat, group=process_group, group_src=src)
        for part, found in zip(parts, flat.split([p.numel() for p in parts]), strict=True):
            part.copy_(found.view(part.shape))


def verify_across_processes(
    process_group: Any, params: Sequence[Tensor], logger: Any = None
) -> None:
    """Refuse copies whose parameters are not those of rank 0.

    Args:
        process_group: the processes.
        params: of this process's copy.
        logger: what is told of an error, as `torch.distributed.Logger`.

    Raises:
        RuntimeError: on all ranks if the numbers of parameters differ; on the ranks that differ from rank
            0 if sizes or strides do.
    """
    group = chosen(process_group)
    every: list[Any] = [None] * group.size()
    all_gather_object(every, [(tuple(p.shape), p.stride()) for p in params], group=process_group)
    said = _difference(every, group.rank())
    if said and logger is not None:
        logger.set_error_and_log(said)
    if said:
        raise RuntimeError(said)


def _difference(every: Sequence[Any], rank: int) -> str:
    mine = every[rank]
    for other, row in enumerate(every):
        if len(row) != len(mine):
            return (
                f"DDP expects same model across all ranks, but Rank {rank} has {len(mine)} params, while "
                f"rank {other} has inconsistent {len(row)} params."
            )
    for number, (own, first) in enumerate(zip(mine, every[0], strict=True)):
        sizes = f"params[{number}] in this process with sizes {list(own[0])} appears not to match"
        if own[0] != first[0]:
            return f"[{rank}]: {sizes} sizes of the same param in process 0."
        if own[1] != first[1]:
            return f"{sizes} strides of the same param in process 0."
    return ""


def assigned_by_size(
    tensors: Sequence[Tensor],
    bucket_size: Sequence[int],
    expect_sparse_gradient: Sequence[bool] = (),
    tensor_indices: Sequence[int] = (),
    logger: Any = None,
) -> tuple[list[list[int]], list[int]]:
    """Divide tensors among buckets, each of one dtype and device, which are closed when they are full.

    Args:
        tensors: in their order.
        bucket_size: bytes of the first, second and so on bucket of a kind, the last for all further ones.
        expect_sparse_gradient: which are alone in their bucket, by number.
        tensor_indices: the tensors' numbers, if they are not their places.
        logger: what is told of an error.

    Returns:
        The numbers in each bucket, in the order of the smallest unless numbers were given; and the
        buckets' sizes, 0 for those of one tensor alone.
    """
    if not tensors:
        raise ValueError("there are no tensors to divide")
    made: list[tuple[list[int], int]] = []
    open_ones: dict[
        tuple[Any, Any], tuple[list[int], list[int]]
    ] = {}  # numbers; bytes, closed ones
    for place, each in enumerate(tensors):
        number = tensor_indices[place] if tensor_indices else place
        if expect_sparse_gradient and expect_sparse_gradient[number]:
            made.append(([number], 0))
            continue
        numbers, state = open_ones.setdefault((each.dtype, each.device), ([], [0, 0]))
        numbers.append(number)
        state[0] += each.numel() * each.element_size()
        limit = bucket_size[min(state[1], len(bucket_size) - 1)]
        if state[0] >= limit:
            made.append(([*numbers], limit))
            numbers.clear()
            state[:] = 0, state[1] + 1
    for numbers, state in open_ones.values():
        if numbers:
            made.append((numbers, bucket_size[min(state[1], len(bucket_size) - 1)]))
    if not tensor_indices:
        made.sort(key=lambda row: min(row[0]))
    return [row for row, _ in made], [limit for _, limit in made]
