"""Collective operations by HCCL, checked before anything goes to a device."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Sequence
from typing import Final

from mindtorch_core import Tensor, no_grad
from mindtorch_core.communication import (
    Call,
    Communicator,
    DistributedError,
    Lane,
    PrefixStore,
    Progress,
    Steps,
    Store,
    Task,
    Then,
    Ticket,
)

from ..acl import ACLError
from ..collecting import send_collected
from ..contexts import CONTEXTS
from ..devices import device_at
from ..events import LentEvent
from ..streams import PLAIN
from .carrying import fold, native, wider
from .library import DTYPES, REDUCTIONS, HCCLError, hccl
from .link import Launch, Link
from .messages import Messages
from .news import Agreement, blamed, harmless, heeding

__all__ = ["HCCLCommunicator"]

_BYTES: Final = "uint8"  # what HCCL has no type for is moved as


class HCCLCommunicator(Communicator):
    """What ranks agree on, and a communicator of HCCL's, which is connected when it is first needed.

    Args:
        rank: this process's.
        size: how many there are.
        store: whose only user this is.
        progress: who moves its calls on.
        index: this process's NPU, unless the first tensor is on another one that was chosen.
    """

    def __init__(self, rank: int, size: int, store: Store, progress: Progress, index: int) -> None:
        self.rank, self.size = rank, size
        self._store = store
        self._progress = progress
        self._index = index
        self._chosen = False
        self._lane = Lane()
        self._agreement = Agreement(rank, size, PrefixStore("agreed", store))
        self._link: Link | None = None
        self._messages = Messages(rank, PrefixStore("messages", store))
        self._parts: dict[str, int] = {}  # how often a group of that name was made
        self._broken: BaseException | None = None

    # ---- what every call goes through --------------------------------------------------------------

    def _queue(self, call: Call, steps: Steps, lane: Lane, task: Task | None = None) -> Task:
        task = task or Task(self._progress)
        task.steps = self._guarded(call, steps)
        self._progress.queue(task, lane, now=call.waits)
        return task

    def _guarded(self, call: Call, steps: Steps) -> Steps:
        """Steps that refuse to begin after a failure, and leave a note of one."""
        if self._broken is not None:
            culprit = self._broken.rank if isinstance(self._broken, DistributedError) else None
            raise call.error(f"the group failed before: {self._broken}", culprit)
        start = time.perf_counter()
        try:
            try:
                if self._link is not None:
                    self._link.check()
                yield from heeding(call, steps, self._store)
            except (ACLError, HCCLError) as error:
                yield from blamed(call, error, self._store)
        except BaseException as error:
            if not getattr(error, "harmless", False):
                self._broken = error
            raise
        finally:
            call.ended("hccl", start)

    def _collective(
        self, call: Call, name: str, launch: Launch, tensors: Sequence[Tensor], count: int
    ) -> Task:
        """Queue a collective operation.

        Args:
            call: who calls what.
            name: of HCCL's function.
            launch: calls it.
            tensors: whose memory is used until it is done.
            count: of elements; where there are none, comparing the calls is all.
        """
        before = self._before()

        def steps() -> Steps:
            yield from self._agreement.agree(call)
            if count:
                yield from self._launched(call, name, launch, before, tensors)

        return self._queue(call, steps(), self._lane)

    def _launched(
        self, call: Call, name: str, launch: Launch, before: Sequence[LentEvent], used: object
    ) -> Steps:
        if self._link is None:
            self._link = Link(self._index, self.rank, self.size, PrefixStore("link", self._store))
        yield from self._link.connected(call)
        yield from self._link.run(call, name, launch, before, used)

    def _before(self) -> list[LentEvent]:
        """What this thread has queued on its current stream until now."""
        send_collected()
        device = device_at(self._index)
        event = device.events.take(PLAIN)
        device.record(event, CONTEXTS.local.numbers.get(self._index, 0))
        return [event]

    # ---- where memory is ---------------------------------------------------------------------------

    def _settle(self, tensor: Tensor) -> None:
        """Take the first tensor's NPU, if it is not the one that tensors are on by default."""
        if not self._chosen:
            self._chosen = True
            self._index = tensor.device.index or self._index

    def _here(self, tensor: Tensor, *, read: bool = True) -> Tensor:
        """The tensor, or one like it on this communicator's NPU."""
        self._settle(tensor)
        if tensor.device.index == self._index:
            return tensor
        on = f"npu:{self._index}"
        return tensor.to(on) if read else tensor.new_empty(tensor.shape, device=on)

    @staticmethod
    def _back(ticket: Ticket, user: Tensor, here: Tensor) -> Ticket:
        """The ticket after which the user's tensor holds what the other one does."""
        if user is here:
            return ticket

        def copy() -> None:
            with no_grad():
                user.copy_(here.reshape(user.shape))

        return Then([ticket], copy)

    # ---- reductions --------------------------------------------------------------------------------

    def all_reduce(self, call: Call, tensor: Tensor, reduction: str) -> Ticket:
        t = self._here(tensor)
        kind, count = _dtype(t), t.numel()
        if native(kind, reduction):
            at, code, op = t.data_ptr(), DTYPES[kind], REDUCTIONS[reduction]
            task = self._collective(
                call,
                "HcclAllReduce",
                lambda comm, stream: hccl.HcclAllReduce(at, at, count, code, op, comm, stream),
                [t],
                count,
            )
            return self._back(task, tensor, t)
        wide = wider(kind, reduction)
        if wide is not None:
            whole = t.to(wide)
            return self._back(self.all_reduce(call, whole, reduction), tensor, whole)
        rows = t.new_empty([self.size, count])
        ticket = self.all_gather(call, rows, t)
        return Then([ticket], lambda: _put(tensor, rows, reduction))

    def reduce(self, call: Call, tensor: Tensor, root: int, reduction: str) -> Ticket:
        t = self._here(tensor)
        kind, count = _dtype(t), t.numel()
        if not native(kind, reduction):
            return super().reduce(call, tensor, root, reduction)
        at, code, op = t.data_ptr(), DTYPES[kind], REDUCTIONS[reduction]
        into = t if self.rank == root else t.new_empty([count])  # the others' keep their values
        to = into.data_ptr()
        task = self._collective(
            call,
            "HcclReduce",
            lambda comm, stream: hccl.HcclReduce(at, to, count, code, op, root, comm, stream),
            [t, into],
            count,
        )
        return self._back(task, tensor, t) if self.rank == root else task

    def reduce_scatter(self, call: Call, output: Tensor, tensor: Tensor, reduction: str) -> Ticket:
        whole, out = self._here(tensor), self._here(output, read=False)
        kind, count = _dtype(whole), out.numel()
        if native(kind, reduction):
            at, to = whole.data_ptr(), out.data_ptr()
            code, op = DTYPES[kind], REDUCTIONS[reduction]
            task = self._collective(
                call,
                "HcclReduceScatter",
                lambda comm, stream: hccl.HcclReduceScatter(at, to, count, code, op, comm, stream),
                [whole, out],
                count,
            )
            return self._back(task, output, out)
        rows = whole.new_empty([self.size, count])
        sizes = [count] * self.size
        ticket = self.all_to_all(call, rows.reshape(-1), whole.reshape(-1), sizes, sizes)
        return Then([ticket], lambda: _put(output, rows, reduction))

    # ---- copies ------------------------------------------------------------------------------------

    def broadcast(self, call: Call, tensor: Tensor, root: int) -> Ticket:
        t = self._here(tensor)
        at, (code, count) = t.data_ptr(), _moved(t)
        task = self._collective(
            call,
            "HcclBroadcast",
            lambda comm, stream: hccl.HcclBroadcast(at, count, code, root, comm, stream),
            [t],
            count,
        )
        return self._back(task, tensor, t)

    def all_gather(self, call: Call, output: Tensor, tensor: Tensor) -> Ticket:
        t, out = self._here(tensor), self._here(output, read=False)
        at, to, (code, count) = t.data_ptr(), out.data_ptr(), _moved(t)
        task = self._collective(
            call,
            "HcclAllGather",
            lambda comm, stream: hccl.HcclAllGather(at, to, count, code, comm, stream),
            [t, out],
            count,
        )
        return self._back(task, output, out)

    def scatter(self, call: Call, output: Tensor, tensor: Tensor | None, root: int) -> Ticket:
        out = self._here(output, read=False)
        whole = None if tensor is None else self._here(tensor)
        at, to = 0 if whole is None else whole.data_ptr(), out.data_ptr()
        code, count = _moved(out)
        used = [out] if whole is None else [out, whole]
        task = self._collective(
            call,
            "HcclScatter",
            lambda comm, stream: hccl.HcclScatter(at, to, count, code, root, comm, stream),
            used,
            count,
        )
        return self._back(task, output, out)

    def barrier(self, call: Call, device: str) -> Ticket:
        """See `Communicator.barrier`: this thread's stream has done what was queued, on all ranks."""
        return self._collective(call, "HcclBarrier", hccl.HcclBarrier, [], 1)

    def all_to_all(
        self,
        call: Call,
        output: Tensor,
        tensor: Tensor,
        output_sizes: Sequence[int],
        input_sizes: Sequence[int],
    ) -> Ticket:
        """See `Communicator.all_to_all`. The ranks compare their sizes, too."""
        t, out = self._here(tensor), self._here(output, read=False)
        code, _ = _moved(t)
        each = t.element_size() if code == DTYPES[_BYTES] else 1
        send, recv = _Parts(t, input_sizes, each), _Parts(out, output_sizes, each)
        before = self._before()

        def launch(comm: int, stream: int) -> int:
            result: int = hccl.HcclAlltoAllV(
                send.at, send.counts, send.places, code, recv.at, recv.counts, recv.places, code,
                comm, stream,
            )  # fmt: skip
            return result

        def steps() -> Steps:
            yield from self._agreement.agree(call)
            mine = b"".join(n.to_bytes(8, "little") for n in (*input_sizes, *output_sizes))
            known = yield from self._agreement.exchange(call, mine)
            rows = _sizes(known, self.size)
            if (error := call.unlike_parts(rows)) is not None:
                reports = yield from self._agreement.reports(call)
                raise harmless(call.unlike_parts(rows, reports) or error)
            if any(any(row) for row in known):
                used = (t, out, send, recv)
                yield from self._launched(call, "HcclAlltoAllV", launch, before, used)

        return self._back(self._queue(call, steps(), self._lane), output, out)

    # ---- messages ----------------------------------------------------------------------------------

    def send(self, call: Call, tensor: Tensor, peer: int, tag: int) -> Ticket:
        t = self._here(tensor)
        steps = self._messages.send(call, t, peer, tag, self._index, self._before())
        return self._queue(call, steps, Lane())

    def recv(self, call: Call, tensor: Tensor, peer: int | None, tag: int) -> Task:
        t = self._here(tensor)
        task = Task(self._progress)
        before = self._before()

        def steps() -> Steps:
            yield from self._messages.recv(call, t, peer, tag, self._index, before, task)
            if t is not tensor:
                with no_grad():
                    tensor.copy_(t)

        return self._queue(call, steps(), Lane(), task)

    # ---- groups ------------------------------------------------------------------------------------

    def split(self, call: Call, ranks: Sequence[int]) -> HCCLCommunicator | None:
        whole = len(call.ranks) == self.size

        def steps() -> Steps:
            if whole:  # else the members have met already
                yield from self._agreement.agree(call)
                # Once more: who comes late finds what others have said before they gave up, but not this.
                yield from self._agreement.agree(call)
            else:
                yield from ()

        self._queue(call, steps(), self._lane).wait()
        if self.rank not in ranks:
            return None
        # The members' alone: they have counted alike.
        name = f"{call.number}" if whole else call.group
        count = self._parts[name] = self._parts.get(name, 0) + 1
        own = PrefixStore(f"part/{name}/{'_'.join(map(str, ranks))}/{count}", self._store)
        return HCCLCommunicator(
            ranks.index(self.rank), len(ranks), own, self._progress, self._index
        )

    def abort(self) -> None:
        """Let go of the group; HCCL keeps what it may still write."""
        if self._broken is None:
            self._broken = RuntimeError("the group was destroyed")
        self._messages.close()
        if self._link is not None:
            self._link.close()


class _Parts:
    """A tensor as HCCL is told of parts that lie one after the other: three arrays."""

    def __init__(self, tensor: Tensor, sizes: Sequence[int], each: int) -> None:
        counts = [n * each for n in sizes]
        row = ctypes.c_uint64 * len(counts)
        self.at = tensor.data_ptr()
        self.counts = row(*counts)
        self.places = row(*(sum(counts[:i]) for i in range(len(counts))))


def _dtype(tensor: Tensor) -> str:
    return str(tensor.dtype).removeprefix("torch.")


def _moved(tensor: Tensor) -> tuple[int, int]:
    """HCCL's type and number of elements, for what is only moved."""
    kind = _dtype(tensor)
    if kind == "bfloat16":
        kind = "uint16"  # as chips that lack the type move it, too
    if kind in DTYPES:
        return DTYPES[kind], tensor.numel()
    return DTYPES[_BYTES], tensor.numel() * tensor.element_size()


def _put(tensor: Tensor, rows: Tensor, reduction: str) -> None:
    """Reduce the rows into a tensor."""
    with no_grad():
        tensor.copy_(fold(rows, reduction).reshape(tensor.shape))


def _sizes(known: Sequence[bytes], size: int) -> list[list[int]]:
    """Of each rank the sizes of what it sends, and of what it expects."""
    return [
        [int.from_bytes(row[at : at + 8], "little") for at in range(0, 16 * size, 8)]
        for row in known
    ]
