"""Messages from one rank to another: PyTorch's functions, arguments and errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from ..tensors.tensor import Tensor
from .calls import Call
from .collectives import position_of, whole_number
from .engine import Then, Ticket
from .groups import ProcessGroup, chosen, outside
from .lending import check_tensor, lend, unrecorded
from .work import Work

__all__ = ["P2POp", "batch_isend_irecv", "irecv", "isend", "recv", "send"]


def _peer(group: ProcessGroup, rank: int | None, own: int | None, name: str) -> int:
    """The position of the other rank.

    Raises:
        ValueError: if it is this one.
    """
    found = position_of(group, rank, own, name)
    if found == group.position:
        way = "destination" if name == "dst" else "source"
        raise ValueError(
            f"Invalid {way} rank: {way} rank should not be the same as the rank of the current process."
        )
    return found


def _check_tag(tag: Any) -> None:
    """Refuse what no engine can tell messages apart by.

    Raises:
        TypeError: if it is no whole number.
        RuntimeError: if it is negative, as PyTorch does.
    """
    whole_number(tag, "tag")
    if tag < 0:
        raise RuntimeError(f"Tag must be nonnegative, got {tag}")


def _call(
    op: str, group: ProcessGroup, tensor: Tensor, waits: bool, partners: tuple[int, ...], tag: int
) -> Call:
    return group.call(
        op,
        message=True,
        waits=waits,
        dtype=tensor._dtype.name,
        shape=tensor._shape,
        partners=partners,
        tag=tag,
    )


@unrecorded
def _send(op: str, tensor: Tensor, dst: Any, group: Any, tag: int, own: Any, waits: bool) -> Work:
    group = chosen(group)
    _check_tag(tag)
    peer = _peer(group, dst, own, "dst")
    engine, communicator = group.communicator_for(tensor.device.type)
    lent = lend(tensor, engine)
    to = (group.ranks[peer],)
    call = _call(op, group, tensor, waits, to, tag)
    return Work(communicator.send(call, lent.memory, peer, tag), [tensor])


@unrecorded
def _recv(op: str, tensor: Tensor, src: Any, group: Any, tag: int, own: Any, waits: bool) -> Work:
    group = chosen(group)
    _check_tag(tag)
    anybody = src is None and own is None
    peer = None if anybody else _peer(group, src, own, "src")
    engine, communicator = group.communicator_for(tensor.device.type)
    lent = lend(tensor, engine)
    ranks = group.ranks
    here = group.position
    of = (*ranks[:here], *ranks[here + 1 :]) if peer is None else (ranks[peer],)
    call = _call(op, group, tensor, waits, of, tag)
    ticket: Ticket = Then([communicator.recv(call, lent.memory, peer, tag)], lent.returned)
    return Work(ticket, [tensor], lambda position: ranks[position])


def isend(
    tensor: Tensor,
    dst: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> Work | None:
    """Begin to send a tensor, which must not be changed until the work is done."""
    check_tensor(tensor, "tensor")
    if outside(group, "isend"):
        return None
    return _send("isend", tensor, dst, group, tag, group_dst, waits=False)


def irecv(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_src: int | None = None,
) -> Work | None:
    """Begin to receive a tensor, from any rank if none is named."""
    check_tensor(tensor, "tensor")
    if outside(group, "irecv"):
        return None
    return _recv("irecv", tensor, src, group, tag, group_src, waits=False)


def send(
    tensor: Tensor,
    dst: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> None:
    """Send a tensor; returns when the other rank has received it or may do without this one."""
    check_tensor(tensor, "tensor")
    if outside(group, "send"):
        return
    _send("send", tensor, dst, group, tag, group_dst, waits=True).wait()
    return


def recv(
    tensor: Tensor,
    src: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_src: int | None = None,
) -> int:
    """Receive a tensor, from any rank if none is named; returns the sender's rank."""
    check_tensor(tensor, "tensor")
    if outside(group, "recv"):
        return -1
    work = _recv("recv", tensor, src, group, tag, group_src, waits=True)
    work.wait()
    return work.source_rank()


class P2POp:
    """A message of `batch_isend_irecv`.

    Args:
        op: `isend` or `irecv`.
        tensor: what is sent, or where to.
        peer: the other rank, in the default group.
        group: the ranks.
        tag: tells messages apart.
        group_peer: the other rank's position, in place of ``peer``.

    Raises:
        ValueError: for another op, or without a peer.
    """

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Tensor,
        peer: int | None = None,
        group: Any = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in _OPS:
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type ``torch.distributed.isend`` or "
                "``torch.distributed.irecv``."
            )
        check_tensor(tensor, "tensor")
        self.op = op
        self.tensor = tensor
        self.group = chosen(group)
        self.group_peer = position_of(self.group, peer, group_peer, "peer")
        self.peer = self.group.ranks[self.group_peer]
        self.tag = tag

    def __repr__(self) -> str:
        return f"P2POp({self.op.__name__}, {list(self.tensor.shape)}, peer={self.peer}, tag={self.tag})"


_OPS: Final = (isend, irecv)


def batch_isend_irecv(p2p_op_list: Sequence[P2POp]) -> list[Work]:
    """Begin several messages.

    Raises:
        ValueError: for an empty list, or messages of different groups.
    """
    if not p2p_op_list or not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise ValueError(
            "Invalid ``p2p_op_list``. Each op is expected to be of type ``torch.distributed.P2POp``."
        )
    if any(each.group is not p2p_op_list[0].group for each in p2p_op_list):
        raise ValueError("All ops need to use the same group.")
    works = [
        each.op(each.tensor, group=each.group, tag=each.tag, **{_WHO[each.op]: each.group_peer})
        for each in p2p_op_list
    ]
    return [work for work in works if work is not None]


_WHO: Final = {isend: "group_dst", irecv: "group_src"}
