"""Messages between two ranks: both say what they call before data moves."""

from __future__ import annotations

from itertools import count
from typing import Any, Final

from mpi4py import MPI

from mindtorch_core import Tensor
from mindtorch_core.communication import REPORT, Call, Steps, Task

from .memory import KEPT, as_bytes

__all__ = ["Messages"]

_NUMBER: Final = 8  # bytes before a report: the sender's number of the message


class Messages:
    """The messages of one communicator.

    A sender announces its message under the user's tag. The receiver answers with its own call, under a
    tag that is the message's alone, as the data is that follows.
    """

    def __init__(self, comm: MPI.Intracomm) -> None:
        self._comm = comm
        self._numbers = count()
        limit = comm.Get_attr(MPI.TAG_UB)
        self._tags = ((32_767 if limit is None else limit) + 1) // 3

    def send(self, call: Call, tensor: Tensor, peer: int, tag: int) -> Steps:
        """Announce a message, hear what the receiver expects, and send the data."""
        number = next(self._numbers)
        announced = number.to_bytes(_NUMBER, "little") + call.report()
        answer = bytearray(REPORT)
        own = number % self._tags
        expected = self._comm.Irecv([answer, MPI.BYTE], source=peer, tag=self._tags + own)
        said = self._comm.Isend([announced, MPI.BYTE], dest=peer, tag=tag % self._tags)
        yield from self._until(call, [said, expected], False, (announced, answer))
        _compare(call, peer, call.report(), answer)
        data = self._comm.Isend([as_bytes(tensor), MPI.BYTE], dest=peer, tag=2 * self._tags + own)
        yield from self._until(call, [data], True, tensor)

    def recv(self, call: Call, tensor: Tensor, peer: int | None, tag: int, task: Task) -> Steps:
        """Hear of a message, answer what is expected, and receive the data."""
        announced = bytearray(_NUMBER + REPORT)
        source = MPI.ANY_SOURCE if peer is None else peer
        status = MPI.Status()
        heard = self._comm.Irecv([announced, MPI.BYTE], source=source, tag=tag % self._tags)
        yield from self._until(call, [heard], False, announced, status)
        source = task.source = status.Get_source()
        own = int.from_bytes(announced[:_NUMBER], "little") % self._tags
        mine = call.report()
        answer = self._comm.Isend([mine, MPI.BYTE], dest=source, tag=self._tags + own)
        yield from self._until(call, [answer], True, mine)
        _compare(call, source, announced[_NUMBER:], mine)
        data = self._comm.Irecv(
            [as_bytes(tensor), MPI.BYTE], source=source, tag=2 * self._tags + own
        )
        yield from self._until(call, [data], True, tensor)

    def _until(
        self,
        call: Call,
        requests: list[MPI.Request],
        moving: bool,
        kept: Any,
        status: MPI.Status | None = None,
    ) -> Steps:
        try:
            while not (
                requests[0].Test(status) if status is not None else MPI.Request.Testall(requests)
            ):
                yield moving
                call.check()
        except BaseException:  # also an interrupt
            KEPT.append((requests, kept))
            raise


def _compare(call: Call, peer: int, sent: bytes | bytearray, expected: bytes | bytearray) -> None:
    """Refuse a message that is not what its receiver expects: on both sides.

    Raises:
        DistributedError: if dtype or shape differ.
    """
    error = call.unlike(peer, bytes(sent), bytes(expected))
    if error is not None:
        error.harmless = True  # type: ignore[attr-defined]  # nothing is left on its way
        raise error
