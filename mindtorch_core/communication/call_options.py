"""Options of the calls that a `ProcessGroup` makes itself: PyTorch's classes, whose attributes are set."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, Final

from .reductions import ReduceOp

__all__ = [
    "AllToAllOptions",
    "AllgatherOptions",
    "AllreduceCoalescedOptions",
    "AllreduceOptions",
    "BarrierOptions",
    "BroadcastOptions",
    "CallOptions",
    "GatherOptions",
    "ReduceOptions",
    "ReduceScatterOptions",
    "ScatterOptions",
]

_UNSET: Final = timedelta(milliseconds=-1)


class CallOptions:
    """What all of them have.

    Attributes:
        timeout: of the call; a negative one stands for the group's.
        asyncOp: taken for PyTorch's sake.
    """

    __slots__ = ("asyncOp", "timeout")

    def __init__(self) -> None:
        self.timeout = _UNSET
        self.asyncOp = True


class _Reducing(CallOptions):
    __slots__ = ("reduceOp",)

    def __init__(self) -> None:
        super().__init__()
        self.reduceOp: Any = ReduceOp.SUM


class _Rooted(CallOptions):
    __slots__ = ("rootRank",)

    def __init__(self) -> None:
        super().__init__()
        self.rootRank = 0


class AllreduceOptions(_Reducing):
    """Of `ProcessGroup.allreduce`: ``reduceOp``."""

    __slots__ = ()


class AllreduceCoalescedOptions(AllreduceOptions):
    """Of `ProcessGroup.allreduce_coalesced`: ``reduceOp``."""

    __slots__ = ()


class ReduceScatterOptions(_Reducing):
    """Of `ProcessGroup.reduce_scatter`: ``reduceOp``."""

    __slots__ = ()


class BroadcastOptions(_Rooted):
    """Of `ProcessGroup.broadcast`: ``rootRank``, a position in the group, and ``rootTensor``."""

    __slots__ = ("rootTensor",)

    def __init__(self) -> None:
        super().__init__()
        self.rootTensor = 0


class ReduceOptions(_Reducing):
    """Of `ProcessGroup.reduce`: ``reduceOp``, ``rootRank``, a position in the group, ``rootTensor``."""

    __slots__ = ("rootRank", "rootTensor")

    def __init__(self) -> None:
        super().__init__()
        self.rootRank = 0
        self.rootTensor = 0


class GatherOptions(_Rooted):
    """Of `ProcessGroup.gather`: ``rootRank``, a position in the group."""

    __slots__ = ()


class ScatterOptions(_Rooted):
    """Of `ProcessGroup.scatter`: ``rootRank``, a position in the group."""

    __slots__ = ()


class AllgatherOptions(CallOptions):
    """Of `ProcessGroup.allgather`."""

    __slots__ = ()


class AllToAllOptions(CallOptions):
    """Of `ProcessGroup.alltoall`."""

    __slots__ = ()


class BarrierOptions(CallOptions):
    """Of `ProcessGroup.barrier`: ``device_ids`` and ``device``, which are taken for PyTorch's sake."""

    __slots__ = ("device", "device_ids")

    def __init__(self) -> None:
        super().__init__()
        self.device_ids: list[int] = []
        self.device: Any = None
