"""Python objects between ranks, as pickles in tensors. Receive them only from processes you trust."""

from __future__ import annotations

import pickle
from functools import partial
from typing import Any

from ..frontend.creation import tensor
from ..frontend.foreign_arrays import frombuffer
from ..tensors.tensor import Tensor
from ..values.dtypes import int64, uint8
from .collectives import all_gather_into_tensor, broadcast, gather, position_of, scatter
from .groups import by_own_name, chosen, outside
from .listening import as_one
from .messages import recv, send

__all__ = [
    "all_gather_object",
    "broadcast_object_list",
    "gather_object",
    "pickled",
    "recv_object_list",
    "scatter_object_list",
    "send_object_list",
    "unpickled",
]

make = partial(tensor, device="cpu")  # lengths and bytes, whatever the default device is


def pickled(value: Any) -> Tensor:
    """An object's pickle, as bytes."""
    data = bytearray(pickle.dumps(value))
    return frombuffer(data, dtype=uint8)


def unpickled(data: Tensor, size: int) -> Any:
    """The object of a pickle, of which so many bytes are read; None if nothing came, from a ``fake`` rank."""
    return pickle.loads(bytes(data[:size].numpy())) if size else None


def _sizes(tensors: list[Tensor]) -> Tensor:
    return make([t.numel() for t in tensors], dtype=int64)


def _all_sizes(data: Tensor, group: Any) -> list[int]:
    """The sizes of all ranks' pickles."""
    known = make([0] * chosen(group).size(), dtype=int64)
    with as_one("all_gather"):
        all_gather_into_tensor(known, _sizes([data]), group=group)
    return [int(n) for n in known.tolist()]


def _padded(data: Tensor, size: int) -> Tensor:
    whole = data.new_zeros([size])
    whole[: data.numel()] = data
    return whole


@by_own_name
def all_gather_object(object_list: list[Any], obj: Any, group: Any = None) -> None:
    """Fill a list with all ranks' objects, by position."""
    if outside(group, "all_gather_object"):
        return
    data = pickled(obj)
    sizes = _all_sizes(data, group)
    most = max(sizes)
    whole = data.new_empty([len(sizes) * most])
    with as_one("all_gather"):
        all_gather_into_tensor(whole, _padded(data, most), group=group)
    for i, size in enumerate(sizes):
        object_list[i] = unpickled(whole[i * most :], size)
    return


@by_own_name
def gather_object(
    obj: Any,
    object_gather_list: list[Any] | None = None,
    dst: int | None = None,
    group: Any = None,
    group_dst: int | None = None,
) -> None:
    """Fill a list that one rank has with all ranks' objects.

    Raises:
        ValueError: if that rank has no list, or another one has.
    """
    if outside(group, "gather_object"):
        return
    group = chosen(group)
    if dst is None and group_dst is None:
        dst = 0
    here = position_of(group, dst, group_dst, "dst") == group.position
    if here and not object_gather_list:
        raise ValueError("Argument ``object_gather_list`` must be specified on destination rank.")
    if not here and object_gather_list:
        raise ValueError(
            "Argument ``object_gather_list`` must NOT be specified on non-destination ranks."
        )
    data = pickled(obj)
    sizes = _all_sizes(data, group)
    most = max(sizes)
    rows = [data.new_empty([most]) for _ in sizes] if here else None
    gather(_padded(data, most), rows, dst=dst, group=group, group_dst=group_dst)
    if rows is not None and object_gather_list is not None:
        for i, size in enumerate(sizes):
            object_gather_list[i] = unpickled(rows[i], size)
    return


@by_own_name
def broadcast_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
) -> None:
    """Fill all ranks' list with the objects of one's; the lists are equally long."""
    if outside(group, "broadcast_object_list"):
        return
    group = chosen(group)
    if src is None and group_src is None:
        src = 0
    root = position_of(group, src, group_src, "src")
    here = root == group.position
    data = [pickled(each) for each in object_list] if here else []
    sizes = _sizes(data) if here else make([0] * len(object_list), dtype=int64)
    broadcast(sizes, group=group, group_src=root)
    counts = [int(n) for n in sizes.tolist()]
    whole = make([0], dtype=uint8).new_empty([sum(counts)])
    if here:
        for part, each in zip(whole.split(counts), data, strict=True):
            part.copy_(each)
    broadcast(whole, group=group, group_src=root)
    if not here:
        for i, part in enumerate(whole.split(counts)):
            object_list[i] = unpickled(part, counts[i])
    return


@by_own_name
def scatter_object_list(
    scatter_object_output_list: list[Any],
    scatter_object_input_list: list[Any] | None = None,
    src: int | None = None,
    group: Any = None,
    group_src: int | None = None,
) -> None:
    """Put into the first place of each rank's list an object of one's list, by position.

    Raises:
        ValueError: if the output is no list of at least one place, or the input not one of objects for all.
    """
    if outside(group, "scatter_object_list"):
        return
    if not scatter_object_output_list:
        raise ValueError(
            "Expected argument scatter_object_output_list to be a list of size at least 1."
        )
    group = chosen(group)
    if src is None and group_src is None:
        src = 0
    root = position_of(group, src, group_src, "src")
    rows: list[Tensor] | None = None
    lengths: list[Tensor] | None = None
    most = make([0], dtype=int64)
    if root == group.position:
        given = scatter_object_input_list
        if given is None or len(given) != group.size():
            raise ValueError(
                "Expected argument scatter_object_input_list to be a list of one object for each rank"
            )
        data = [pickled(each) for each in given]
        most = make([max(t.numel() for t in data)], dtype=int64)
        rows = [_padded(t, int(most.item())) for t in data]
        lengths = [_sizes([t]) for t in data]
    broadcast(most, group=group, group_src=root)
    size = make([0], dtype=int64)
    mine = make([0], dtype=uint8).new_empty([int(most.item())])
    scatter(size, lengths, group=group, group_src=root)
    scatter(mine, rows, group=group, group_src=root)
    scatter_object_output_list[0] = unpickled(mine, int(size.item()))
    return


@by_own_name
def send_object_list(
    object_list: list[Any],
    dst: int | None = None,
    group: Any = None,
    device: Any = None,
    group_dst: int | None = None,
    use_batch: bool = False,
) -> None:
    """Send objects to a rank that receives as many."""
    if outside(group, "send_object_list"):
        return
    data = [pickled(each) for each in object_list]
    send(_sizes(data), dst, group, group_dst=group_dst)
    for each in data:
        send(each, dst, group, group_dst=group_dst)
    return


@by_own_name
def recv_object_list(
    object_list: list[Any],
    src: int | None = None,
    group: Any = None,
    device: Any = None,
    group_src: int | None = None,
    use_batch: bool = False,
) -> int:
    """Fill a list with objects that a rank sends; returns the sender's rank."""
    if outside(group, "recv_object_list"):
        return -1
    sizes = make([0] * len(object_list), dtype=int64)
    source = recv(sizes, src, group, group_src=group_src)
    for i, size in enumerate(sizes.tolist()):
        data = make([0], dtype=uint8).new_empty([int(size)])
        recv(data, source, group)
        object_list[i] = unpickled(data, int(size))
    return source
