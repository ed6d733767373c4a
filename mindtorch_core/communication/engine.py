"""What a communicator plugin implements: an engine, which connects processes, and its communicators.

A distribution names a module in the entry-point group ``mindtorch.communicators``. The module has the
hook ``mindtorch_communicator``, which returns an `Engine`. Data goes through the engine alone; stores
carry addresses and news of failures.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Final

from ..tensors.tensor import Tensor
from .calls import Call
from .errors import DistBackendError

if TYPE_CHECKING:
    from .stores import Store

__all__ = ["COMMUNICATOR_API", "Communicator", "Engine", "Finished", "Then", "Ticket"]

COMMUNICATOR_API: Final = 1


class Ticket(ABC):
    """What a communicator gives for a call that it has queued."""

    @property
    @abstractmethod
    def done(self) -> bool:
        """Whether it has ended, well or not. Never waits."""

    @abstractmethod
    def wait(self, deadline: float | None = None) -> None:
        """Wait for the end, at most until the call's own deadline.

        Args:
            deadline: an earlier one, as `time.monotonic` counts; the call goes on after it.

        Raises:
            DistributedError: if the call failed.
            TimeoutError: if the earlier deadline has passed.
        """


class Finished(Ticket):
    """The ticket of a call that had nothing to wait for."""

    @property
    def done(self) -> bool:
        """True."""
        return True

    def wait(self, deadline: float | None = None) -> None:
        """Do nothing."""


class Then(Ticket):
    """Tickets, and what is to be done when they are through: once, by whoever waits first."""

    def __init__(self, tickets: Sequence[Ticket], action: Callable[[], None] | None = None) -> None:
        self._tickets = list(tickets)
        self._action = action
        self._lock = threading.RLock()

    @property
    def done(self) -> bool:
        """Whether all have ended."""
        return all(ticket.done for ticket in self._tickets)

    def wait(self, deadline: float | None = None) -> None:
        """Wait for all in turn, then act."""
        for ticket in self._tickets:
            ticket.wait(deadline)
        with self._lock:
            action, self._action = self._action, None
            if action is not None:
                action()


class Communicator(ABC):
    """Moves tensors between the ranks of one group.

    Tensors are contiguous, on a device of the engine, and have no conjugate or negative bit. A method
    queues its work and returns; what it was given stays untouched by others until the ticket is done.
    Calls of collective operations run in the order in which they were queued. Before data moves, ranks
    compare ``call.fingerprint()``; where these differ all raise ``call.mismatch(...)``. While a rank
    waits it asks ``call.check()`` at least every 100 ms, and ends the call with what that raises.

    Attributes:
        rank: the position of this process.
        size: how many there are.
    """

    rank: int
    size: int

    # ---- required --------------------------------------------------------------------------------

    @abstractmethod
    def all_reduce(self, call: Call, tensor: Tensor, reduction: str) -> Ticket:
        """Reduce in place over all ranks.

        Args:
            call: who calls what.
            tensor: of a dtype of `Engine.reducible`.
            reduction: ``sum``, ``product``, ``min``, ``max``, ``band``, ``bor`` or ``bxor``.
        """

    @abstractmethod
    def broadcast(self, call: Call, tensor: Tensor, root: int) -> Ticket:
        """Overwrite all ranks' tensor with the root's."""

    @abstractmethod
    def all_gather(self, call: Call, output: Tensor, tensor: Tensor) -> Ticket:
        """Write all ranks' tensors one after the other into ``output``."""

    @abstractmethod
    def reduce_scatter(self, call: Call, output: Tensor, tensor: Tensor, reduction: str) -> Ticket:
        """Reduce over all ranks; each gets the part of ``tensor`` at its position."""

    @abstractmethod
    def send(self, call: Call, tensor: Tensor, peer: int, tag: int) -> Ticket:
        """Send to a rank. Done when the other side has agreed and the memory may be changed."""

    @abstractmethod
    def recv(self, call: Call, tensor: Tensor, peer: int | None, tag: int) -> Source:
        """Receive from a rank, or from any if ``peer`` is None."""

    @abstractmethod
    def split(self, call: Call, ranks: Sequence[int]) -> Communicator | None:
        """A communicator of some ranks, in this order; all ranks call it with their own part's.

        Returns None to those that are not in ``ranks``.
        """

    @abstractmethod
    def abort(self) -> None:
        """Give up what is queued and let go of the group; never waits. Also after a failure."""

    # ---- made of these, unless an engine does better ---------------------------------------------

    def close(self) -> None:
        """Let go of the group after the last call, with all ranks."""
        self.abort()

    def renewed(self, start: Callable[[Sequence[int]], list[list[str]]]) -> Communicator:
        """The group again, with new processes in place of those that have died; survivors call it.

        The new ones call `Engine.rejoin`. All ranks keep their numbers. This object is of no use then.

        Args:
            start: called by one survivor with the ranks that died; gives the command that starts each.

        Raises:
            DistBackendError: if the engine cannot do it, or it fails.
        """
        raise DistBackendError("this engine cannot replace a process that has died")

    def reduce(self, call: Call, tensor: Tensor, root: int, reduction: str) -> Ticket:
        """Reduce to the root's tensor; the others' keep their values."""
        if self.rank == root:
            return self.all_reduce(call, tensor, reduction)
        return self.all_reduce(call, tensor.clone(), reduction)

    def gather(self, call: Call, output: Tensor | None, tensor: Tensor, root: int) -> Ticket:
        """All ranks' tensors one after the other in the root's ``output``; None elsewhere."""
        if output is None:
            output = tensor.new_empty([self.size * tensor.numel()])
        return self.all_gather(call, output, tensor)

    def scatter(self, call: Call, output: Tensor, tensor: Tensor | None, root: int) -> Ticket:
        """The part of the root's ``tensor`` at this rank's position."""
        count = output.numel()
        if tensor is None:
            tensor = output.new_empty([self.size * count])
        whole = tensor.reshape([self.size, count])
        rank = self.rank

        def keep() -> None:
            output.copy_(whole[rank].reshape(output.shape))

        return Then([self.broadcast(call, tensor, root)], keep)

    def barrier(self, call: Call, device: str) -> Ticket:
        """Wait until all ranks have called it."""
        from ..frontend.creation import tensor

        return self.all_reduce(call, tensor(0, device=device), "max")

    def all_to_all(
        self,
        call: Call,
        output: Tensor,
        tensor: Tensor,
        output_sizes: Sequence[int],
        input_sizes: Sequence[int],
    ) -> Ticket:
        """Send a part of ``tensor`` to each rank, receive one from each; sizes in elements."""
        outputs, inputs = output.split([*output_sizes]), tensor.split([*input_sizes])
        tickets: list[Ticket] = []
        for step in range(self.size):
            to, of = (self.rank + step) % self.size, (self.rank - step) % self.size
            if step == 0:
                outputs[to].copy_(inputs[to])
                continue
            tickets.append(self.recv(call, outputs[of], of, 0))
            tickets.append(self.send(call, inputs[to], to, 0))
        return Then(tickets)

    def coalesced(self, calls: Sequence[Callable[[], Ticket]]) -> Ticket:
        """Queue several calls as one."""
        return Then([queue() for queue in calls])


class Source(Ticket):
    """The ticket of a message that was received.

    Attributes:
        source: the position of the rank that sent it, once it is done.
    """

    source: int = -1


class Engine(ABC):
    """How processes are connected.

    Attributes:
        name: what ``init_process_group`` is told.
        devices: types of devices whose memory it moves; that of others is staged through the CPU.
        api: the `COMMUNICATOR_API` it was written for.
        reducible: names of the dtypes, such as ``float32``, that it can reduce; tensors of others are
            widened before.
    """

    name: str
    devices: tuple[str, ...] = ("cpu",)
    api: int = 0
    reducible: frozenset[str] = frozenset()

    def missing(self) -> str:
        """Why it cannot be used here, and what to do; empty if it can. Must not raise."""
        return ""

    def launched(self) -> tuple[int, int] | None:
        """Rank and number of processes, where a launcher of the engine's own has started them."""
        return None

    def folder(self) -> str:
        """A folder of the engine's own launcher, for the processes alone; empty if there is none."""
        return ""

    def share(self, text: str) -> str:
        """Rank 0's text, on all ranks, where `launched` says who they are."""
        raise NotImplementedError

    def rejoin(self, rank: int, size: int, timeout: float) -> Communicator:
        """Connect a process that survivors have started by `Communicator.renewed`.

        Raises:
            DistBackendError: if the engine cannot do it, or it fails.
        """
        raise DistBackendError("this engine cannot replace a process that has died")

    @abstractmethod
    def connect(self, rank: int, size: int, store: Store, timeout: float) -> Communicator:
        """Connect all processes.

        Args:
            rank: of this process.
            size: how many there are.
            store: through which they can find each other; keys are the engine's own.
            timeout: in seconds.

        Raises:
            DistBackendError: if they cannot be connected; the text says how to start them.
        """
