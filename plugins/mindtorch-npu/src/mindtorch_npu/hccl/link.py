"""HCCL's communicators: each with a stream of its own, on which its operations run in their order."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Sequence
from typing import Final

from mindtorch_core.communication import Call, Steps, Store

from ..acl import ACLError, acl, check, recent_message
from ..contexts import CONTEXTS, quietly
from ..devices import device_at
from ..events import LentEvent
from . import library
from .library import ROOT_INFO, hccl
from .news import until

__all__ = ["Launch", "Link"]

Launch = Callable[[int, int], int]  # with handles of a communicator and a stream; gives HCCL's code

_FIRST_STREAM: Final = 1000  # numbers of streams that users do not get
_SLICE: Final = 2  # milliseconds for which a stream is waited for before others have their turn
_NOT_YET: Final = 507046  # RT_STREAM_SYNC_TIMEOUT
_BEHIND: Final = "its NPU still does what was queued before"
_LINKS: Final[list[Link]] = []
_FREE: Final[dict[int, list[int]]] = {}  # numbers of streams that were used, by device
_STREAMS: Final[dict[int, int]] = {}  # how many there are, by device


class Link:
    """A communicator of HCCL's.

    Args:
        index: this process's device.
        rank: this process's, among those that it connects.
        size: how many these are.
        store: through which they find each other; keys are the link's own.
    """

    def __init__(self, index: int, rank: int, size: int, store: Store) -> None:
        self.index = index
        self.rank, self.size = rank, size
        self._store = store
        self._comm = 0
        self._stream = -1
        self._joining: _Joining | None = None
        self._busy = False

    # ---- connecting ------------------------------------------------------------------------------

    def connected(self, call: Call) -> Steps:
        """Steps that connect the processes, if that has not been done."""
        if self._comm:
            return
        CONTEXTS.activate(self.index)
        if self.rank == 0:
            info = ctypes.create_string_buffer(ROOT_INFO)
            library.check(hccl.HcclGetRootInfo(info), "HcclGetRootInfo")
            self._store.set("root", info.raw)
        yield from until(call, lambda: self._store.check(["root"]))
        if self._joining is None:
            self._joining = _Joining(self, self._store.get("root"))
        while self._joining.is_alive():
            yield False
            call.check()
        if self._joining.error is not None:
            raise self._joining.error
        self._comm = self._joining.comm
        self._joining = None
        free = _FREE.setdefault(self.index, [])
        if not free:
            free.append(_FIRST_STREAM + _STREAMS.get(self.index, 0))
            _STREAMS[self.index] = _STREAMS.get(self.index, 0) + 1
        self._stream = free.pop()
        _LINKS.append(self)

    # ---- operations ------------------------------------------------------------------------------

    def run(
        self, call: Call, name: str, launch: Launch, before: Sequence[LentEvent], used: object
    ) -> Steps:
        """Steps that queue an operation and wait for its end.

        One that is not waited for any longer is ended, if CANN can, and its stream given up: nobody who
        waits for the device may wait for it.

        Args:
            call: who calls what.
            name: of HCCL's function.
            launch: calls it.
            before: events of other streams that it follows.
            used: whose memory it reads and writes.

        Raises:
            HCCLError: if it cannot be queued, or HCCL says that something is wrong.
            ACLError: if it fails on its stream.
        """
        device = device_at(self.index)
        stream = device.stream(self._stream)
        for event in before:
            check(acl.aclrtStreamWaitEvent(stream, event.handle), "aclrtStreamWaitEvent")
        self._busy = True
        try:
            library.check(launch(self._comm, stream), name)
            while True:
                CONTEXTS.activate(self.index)
                code = acl.aclrtSynchronizeStreamWithTimeout(stream, _SLICE)
                if code != _NOT_YET:
                    break
                recent_message()
                call.behind = "" if all(map(device.event_done, before)) else _BEHIND
                yield True
                call.check()
        except BaseException:
            device.give_up(self._stream, (before, used))
            raise
        self._busy = False
        if code:
            error = ACLError(name, code, recent_message())
            self.check(f"{error}\n  {name}")
            raise error
        self.check()

    def check(self, name: str = "a rank of the communicator") -> None:
        """Raise if HCCL says that something is wrong.

        Args:
            name: what has failed then.

        Raises:
            HCCLError: with its code.
        """
        if self._comm:
            found = ctypes.c_int32()
            code = hccl.HcclGetCommAsyncError(self._comm, ctypes.byref(found))
            library.check(code, "HcclGetCommAsyncError")
            library.check(found.value, name)

    def close(self) -> None:
        """Let go of it, unless an operation is under way: that ends with the process."""
        comm, self._comm = self._comm, 0
        if not comm:
            return
        _LINKS.remove(self)
        if not self._busy and CONTEXTS.alive:
            quietly(CONTEXTS.activate, self.index)
            hccl.HcclCommDestroy(comm)
            _FREE[self.index].append(self._stream)


class _Joining(threading.Thread):
    """Waits for the other processes, which HCCL's function does as long as it takes.

    Attributes:
        comm: the communicator's handle.
        error: why there is none.
    """

    def __init__(self, link: Link, info: bytes) -> None:
        super().__init__(name="mindtorch-hccl-join", daemon=True)
        self.comm = 0
        self.error: Exception | None = None
        self._link = link
        self._info = info
        self.start()

    def run(self) -> None:
        """Join."""
        comm = ctypes.c_void_p()
        at = ctypes.byref(comm)
        link = self._link
        try:
            CONTEXTS.activate(link.index)
            code = hccl.HcclCommInitRootInfo(link.size, self._info, link.rank, at)
            library.check(code, "HcclCommInitRootInfo")
            self.comm = comm.value or 0
        except (RuntimeError, OSError) as error:
            self.error = error


def _close() -> None:
    for link in _LINKS[:]:  # `close` takes it out
        quietly(link.close)


CONTEXTS.closing.insert(0, _close)  # before their streams
