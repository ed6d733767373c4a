"""Collective operations by MPI, checked before data moves."""

from __future__ import annotations

import ctypes
import zlib
from collections import deque
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, Final

from mpi4py import MPI

from mindtorch_core import Tensor
from mindtorch_core.communication import (
    FINGERPRINT,
    REPORT,
    Call,
    Communicator,
    DistributedError,
    Lane,
    Progress,
    Steps,
    Task,
)

from .memory import KEPT, OPS, PIECE, TYPES, Spare, as_bytes
from .messages import Messages

__all__ = ["MPICommunicator"]


# To ask MPI this often costs about as much as to look once for what has happened to other ranks.
_QUESTIONS: Final = range(8)


class MPICommunicator(Communicator):
    """A communicator of MPI's, and the process's thread.

    Args:
        comm: whose only user this is.
        progress: who calls MPI.
    """

    def __init__(self, comm: MPI.Intracomm, progress: Progress) -> None:
        self.comm = comm
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self._progress = progress
        self._lane = Lane()
        self._messages = Messages(comm)
        self._broken: BaseException | None = None

    # ---- what every call goes through --------------------------------------------------------------

    def _queue(self, steps: Steps, lane: Lane, call: Call) -> Task:
        task = Task(self._progress)
        task.steps = self._guarded(steps, call)
        self._progress.queue(task, lane, now=call.waits)
        return task

    def _guarded(self, steps: Steps, call: Call) -> Steps:
        """Steps that refuse to begin after a failure, and leave a note of one."""
        if self._broken is not None:
            raise call.error(f"the group failed before: {self._broken}", _culprit(self._broken))
        start = perf_counter()
        try:
            yield from steps
        except DistributedError as error:
            if not getattr(error, "harmless", False):
                self._broken = error
            raise
        except MPI.Exception as error:
            failed = call.error(f"MPI failed: {error}", None)
            self._broken = failed
            raise failed from error
        except BaseException as error:
            self._broken = error
            raise
        finally:
            call.ended("mpi", start)

    def _collective(
        self,
        call: Call,
        begin: Callable[[], MPI.Request],
        *kept: Tensor | None,
        gives: bool = False,
    ) -> Task:
        """Queue a collective call.

        Args:
            call: who calls what.
            begin: starts it.
            *kept: whose memory is used until it is done.
            gives: whether it may be done here before the others take part: what they agreed to may be long
                ago, so that they have given up since.
        """
        return self._queue(self._alike(call, begin, kept, gives), self._lane, call)

    def _alike(self, call: Call, begin: Callable[[], MPI.Request], kept: Any, gives: bool) -> Steps:
        """The steps of a collective call that all ranks make alike."""
        yield from self._agree(call)
        if gives:
            call.check()
        yield from self._until(call, begin(), moving=True, kept=kept)

    def _in_pieces(
        self,
        call: Call,
        count: int,
        step: int,
        begin: Callable[[int, int], MPI.Request],
        *kept: Tensor,
    ) -> Task:
        """Queue a large collective call as several, two of which are under way at a time.

        For what it works with, MPI takes memory as large as a piece. That of large ones comes fresh from the
        system, which fills it with zeros page by page; of small ones it is at hand, and in the cache.

        Args:
            call: who calls what.
            count: of elements.
            step: how many a piece has.
            begin: starts a piece, from an element to another.
            *kept: whose memory is used until it is done.
        """

        def steps() -> Steps:
            yield from self._agree(call)
            under_way: deque[MPI.Request] = deque()
            for start in range(0, count, step):
                under_way.append(begin(start, min(start + step, count)))
                if len(under_way) == 2:
                    used = (kept, begin, *under_way)  # also what `begin` has
                    yield from self._until(call, under_way.popleft(), moving=True, kept=used)
            used = (kept, begin)
            yield from self._until(call, under_way.popleft(), moving=True, kept=used)

        return self._queue(steps(), self._lane, call)

    def _until(self, call: Call, request: MPI.Request, *, moving: bool, kept: Any) -> Steps:
        """Wait for a request; `moving` says whether all ranks are known to be there.

        Whatever ends that, also an interrupt, leaves MPI the memory that it may still write.
        """
        test = request.Test
        try:
            while True:
                for _ in _QUESTIONS:
                    if test():
                        return
                yield moving
                call.check()
        except BaseException:
            KEPT.append((request, kept))
            raise

    def _agree(self, call: Call) -> Steps:
        """Compare what all ranks call.

        Raises:
            DistributedError: on every rank, if that differs.
        """
        if self.size == 1:
            return
        mine, all_of_them = call.fingerprint(), bytearray(FINGERPRINT * self.size)
        request = self.comm.Iallgather([mine, MPI.BYTE], [all_of_them, MPI.BYTE])
        yield from self._until(call, request, moving=False, kept=(mine, all_of_them))
        if call.agrees(all_of_them):
            return
        reports = yield from self._exchange(call, call.report(), REPORT)
        raise _harmless(call.mismatch(bytes(reports)))

    def _exchange(self, call: Call, mine: bytes, count: int) -> Any:
        """Steps that return what all ranks give: ``count`` bytes of each."""
        found = bytearray(count * self.size)
        request = self.comm.Iallgather([mine, MPI.BYTE], [found, MPI.BYTE])
        yield from self._until(call, request, moving=True, kept=(mine, found))
        return found

    # ---- collective operations -----------------------------------------------------------------

    def all_reduce(self, call: Call, tensor: Tensor, reduction: str) -> Task:
        element, op, memory = tensor.raw_dtype, OPS[reduction], as_bytes(tensor)
        kind, each = TYPES[element.name], element.itemsize
        count = memory.nbytes // each
        if memory.nbytes <= 2 * PIECE:
            whole = [memory, count, kind]
            return self._collective(
                call, lambda: self.comm.Iallreduce(MPI.IN_PLACE, whole, op), tensor
            )

        def piece(start: int, end: int) -> MPI.Request:
            part = [memory[start * each : end * each], end - start, kind]
            return self.comm.Iallreduce(MPI.IN_PLACE, part, op=op)

        return self._in_pieces(call, count, PIECE // each, piece, tensor)

    def reduce(self, call: Call, tensor: Tensor, root: int, reduction: str) -> Task:
        kind, op = TYPES[_dtype(tensor)], OPS[reduction]
        whole, count, each = as_bytes(tensor), tensor.numel(), tensor.element_size()
        here = self.rank == root
        if count * each > 2 * PIECE:  # MPI's own takes 20 times as long in two processes
            spare = Spare(PIECE)

            def piece(start: int, end: int) -> MPI.Request:
                part = whole[start * each : end * each]
                if not here:
                    copy = spare.next()
                    ctypes.memmove(copy.address, part.address, part.nbytes)
                    part = copy
                return self.comm.Iallreduce(MPI.IN_PLACE, [part, end - start, kind], op=op)

            return self._in_pieces(call, count, PIECE // each, piece, tensor)
        memory = [whole, count, kind]
        send, recv = (MPI.IN_PLACE, memory) if here else (memory, None)
        return self._collective(
            call,
            lambda: self.comm.Ireduce(send, recv, op=op, root=root),
            tensor,
            gives=not here,
        )

    def broadcast(self, call: Call, tensor: Tensor, root: int) -> Task:
        memory = [as_bytes(tensor), MPI.BYTE]
        return self._collective(
            call, lambda: self.comm.Ibcast(memory, root=root), tensor, gives=self.rank == root
        )

    def all_gather(self, call: Call, output: Tensor, tensor: Tensor) -> Task:
        send, recv = [as_bytes(tensor), MPI.BYTE], [as_bytes(output), MPI.BYTE]
        return self._collective(call, lambda: self.comm.Iallgather(send, recv), output, tensor)

    def gather(self, call: Call, output: Tensor | None, tensor: Tensor, root: int) -> Task:
        send = [as_bytes(tensor), MPI.BYTE]
        recv = None if output is None else [as_bytes(output), MPI.BYTE]
        return self._collective(
            call,
            lambda: self.comm.Igather(send, recv, root=root),
            output,
            tensor,
            gives=self.rank != root,
        )

    def scatter(self, call: Call, output: Tensor, tensor: Tensor | None, root: int) -> Task:
        send = None if tensor is None else [as_bytes(tensor), MPI.BYTE]
        recv = [as_bytes(output), MPI.BYTE]
        return self._collective(
            call,
            lambda: self.comm.Iscatter(send, recv, root=root),
            output,
            tensor,
            gives=self.rank == root,
        )

    def reduce_scatter(self, call: Call, output: Tensor, tensor: Tensor, reduction: str) -> Task:
        kind, op = TYPES[_dtype(tensor)], OPS[reduction]
        count, each = output.numel(), output.element_size()
        if tensor.numel() * each > 2 * PIECE:
            whole, into = as_bytes(tensor), as_bytes(output)
            step = max(PIECE // (each * self.size), 1)
            spare = Spare(step * each * self.size)

            def piece(start: int, end: int) -> MPI.Request:
                n = (end - start) * each
                blocks = spare.next()
                for r in range(self.size):
                    at = whole.address + (r * count + start) * each
                    ctypes.memmove(blocks.address + r * n, at, n)
                recv = [into[start * each : end * each], end - start, kind]
                return self.comm.Ireduce_scatter_block([blocks, end - start, kind], recv, op=op)

            return self._in_pieces(call, count, step, piece, output, tensor)
        send = [as_bytes(tensor), count, kind]  # the block's, not the whole's
        recv = [as_bytes(output), count, kind]
        return self._collective(
            call, lambda: self.comm.Ireduce_scatter_block(send, recv, op=op), output, tensor
        )

    def barrier(self, call: Call, device: str) -> Task:
        """Wait until all ranks have called it: to compare the calls is enough."""
        return self._queue(self._agree(call), self._lane, call)

    def all_to_all(
        self,
        call: Call,
        output: Tensor,
        tensor: Tensor,
        output_sizes: Sequence[int],
        input_sizes: Sequence[int],
    ) -> Task:
        """See `Communicator.all_to_all`. The ranks compare their sizes, too."""
        send, recv = _parts(tensor, input_sizes), _parts(output, output_sizes)

        def steps() -> Steps:
            yield from self._agree(call)
            mine = b"".join(n.to_bytes(8, "little") for n in (*input_sizes, *output_sizes))
            known = yield from self._exchange(call, mine, len(mine))
            rows = _sizes(known, self.size)
            if (error := call.unlike_parts(rows)) is not None:
                reports = yield from self._exchange(call, call.report(), REPORT)
                raise _harmless(call.unlike_parts(rows, bytes(reports)) or error)
            request = self.comm.Ialltoallv(send, recv)
            yield from self._until(call, request, moving=True, kept=(tensor, output))

        return self._queue(steps(), self._lane, call)

    # ---- messages ------------------------------------------------------------------------------

    def send(self, call: Call, tensor: Tensor, peer: int, tag: int) -> Task:
        return self._queue(self._messages.send(call, tensor, peer, tag), Lane(), call)

    def recv(self, call: Call, tensor: Tensor, peer: int | None, tag: int) -> Task:
        task = Task(self._progress)
        task.steps = self._guarded(self._messages.recv(call, tensor, peer, tag, task), call)
        self._progress.queue(task, Lane(), now=call.waits)
        return task

    # ---- groups --------------------------------------------------------------------------------

    def split(self, call: Call, ranks: Sequence[int]) -> MPICommunicator | None:
        made: list[MPI.Intracomm] = []
        tag = zlib.crc32(repr([*ranks]).encode()) % 32_768  # the members' alone, and alike there

        def steps() -> Steps:
            if len(call.ranks) == self.size:  # else the members have met already
                yield from self._agree(call)
                # Once more, as MPI's own step waits without end: who comes late finds what others have
                # sent before they gave up, but not this.
                yield from self._agree(call)
            if self.rank in ranks:
                group = self.comm.Get_group().Incl([*ranks])
                made.append(self.comm.Create_group(group, tag=tag))
                made[0].Set_errhandler(MPI.ERRORS_RETURN)

        self._queue(steps(), self._lane, call).wait()
        return MPICommunicator(made[0], self._progress) if made else None

    def renewed(self, start: Callable[[Sequence[int]], list[list[str]]]) -> MPICommunicator:
        """See `Communicator.renewed`; for an MPI with ULFM."""
        from .ulfm import renewed

        self.abort()
        return MPICommunicator(renewed(self.comm, start), self._progress)

    def abort(self) -> None:
        """Let go of the group; MPI keeps what it may still write."""
        if self._broken is None:
            self._broken = RuntimeError("the group was destroyed")


def _dtype(tensor: Tensor) -> str:
    return tensor.raw_dtype.name


def _harmless(error: DistributedError) -> DistributedError:
    """An error after which all ranks stand at the same place, so that the group can go on."""
    error.harmless = True  # type: ignore[attr-defined]  # for `_guarded`
    return error


def _culprit(error: BaseException) -> int | None:
    return error.rank if isinstance(error, DistributedError) else None


def _parts(tensor: Tensor, sizes: Sequence[int]) -> list[Any]:
    """A tensor as MPI is told of parts that lie one after the other: memory, (bytes, places), type."""
    counts = [n * tensor.element_size() for n in sizes]
    places = [sum(counts[:i]) for i in range(len(counts))]
    return [as_bytes(tensor), (counts, places), MPI.BYTE]


def _sizes(known: bytes, size: int) -> list[list[int]]:
    """Of each rank the sizes of what it sends, and of what it expects."""
    return [
        [
            int.from_bytes(known[at : at + 8], "little")
            for at in range(r * 16 * size, (r + 1) * 16 * size, 8)
        ]
        for r in range(size)
    ]
