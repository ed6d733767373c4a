"""A group of one process that imagines the others: ``init_process_group("fake", rank=0, world_size=1024)``.

For what a program does as one of many ranks, on one machine: shapes, memory, computing, which calls it makes.
No data moves, so that results of collective calls are not those of many ranks: each rank is taken to have
what this one has, sums are left as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Final

from ..tensors.tensor import Tensor
from .calls import Call
from .engine import COMMUNICATOR_API, Communicator, Engine, Finished, Source, Ticket
from .stores import HashStore, Store

__all__ = ["FAKE", "Alone", "FakeEngine", "FakeStore"]


class FakeStore(HashStore):
    """A store in which every key is there: what others would have written is empty."""

    def check(self, keys: Sequence[str]) -> bool:
        """True."""
        return True

    def get(self, key: str) -> bytes:
        """The value, or nothing."""
        return super().get(key) if super().check([key]) else b""

    def wait(self, keys: Sequence[str], timeout: timedelta | None = None) -> None:
        """Do nothing."""


class _Received(Finished, Source):
    """A message that nobody has sent."""

    def __init__(self, source: int) -> None:
        self.source = source


class Alone(Communicator):
    """The calls of one rank. Tensors may lie on any device, without data too."""

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size

    def all_reduce(self, call: Call, tensor: Tensor, reduction: str) -> Ticket:
        """Leave the tensor as it is."""
        return Finished()

    def broadcast(self, call: Call, tensor: Tensor, root: int) -> Ticket:
        """Leave the tensor as it is."""
        return Finished()

    def all_gather(self, call: Call, output: Tensor, tensor: Tensor) -> Ticket:
        """Write this rank's tensor into all places."""
        output.reshape([self.size, tensor.numel()]).copy_(tensor.reshape([1, tensor.numel()]))
        return Finished()

    def reduce_scatter(self, call: Call, output: Tensor, tensor: Tensor, reduction: str) -> Ticket:
        """Take this rank's part."""
        output.copy_(tensor.reshape([self.size, *output.shape])[self.rank])
        return Finished()

    def scatter(self, call: Call, output: Tensor, tensor: Tensor | None, root: int) -> Ticket:
        """Take this rank's part, where it is known."""
        if tensor is not None:
            output.copy_(tensor.reshape([self.size, *output.shape])[self.rank])
        return Finished()

    def gather(self, call: Call, output: Tensor | None, tensor: Tensor, root: int) -> Ticket:
        """Write this rank's tensor into all places of the root."""
        return Finished() if output is None else self.all_gather(call, output, tensor)

    def reduce(self, call: Call, tensor: Tensor, root: int, reduction: str) -> Ticket:
        """Leave the tensor as it is."""
        return Finished()

    def all_to_all(
        self,
        call: Call,
        output: Tensor,
        tensor: Tensor,
        output_sizes: Sequence[int],
        input_sizes: Sequence[int],
    ) -> Ticket:
        """Take this rank's part."""
        taken, given = output.split([*output_sizes]), tensor.split([*input_sizes])
        if taken[self.rank].shape == given[self.rank].shape:
            taken[self.rank].copy_(given[self.rank])
        return Finished()

    def barrier(self, call: Call, device: str) -> Ticket:
        """Do nothing."""
        return Finished()

    def send(self, call: Call, tensor: Tensor, peer: int, tag: int) -> Ticket:
        """Do nothing."""
        return Finished()

    def recv(self, call: Call, tensor: Tensor, peer: int | None, tag: int) -> Source:
        """Leave the tensor as it is."""
        return _Received(0 if peer is None else peer)

    def split(self, call: Call, ranks: Sequence[int]) -> Communicator | None:
        """This rank among fewer."""
        return Alone([*ranks].index(self.rank), len(ranks)) if self.rank in ranks else None

    def abort(self) -> None:
        """Do nothing."""


class _Everywhere(tuple[str, ...]):
    """Types of devices: all there are, as no memory is moved."""

    __slots__ = ()

    def __contains__(self, device: object) -> bool:
        return True


class _Everything(frozenset[str]):
    """Dtypes that can be reduced: all there are."""

    def __contains__(self, dtype: object) -> bool:
        return True


class FakeEngine(Engine):
    """Connects nothing: this process stands for all."""

    name = "fake"
    devices = _Everywhere(("cpu",))
    api = COMMUNICATOR_API
    reducible = _Everything()

    def connect(self, rank: int, size: int, store: Store, timeout: float) -> Communicator:
        """This process as one of so many."""
        return Alone(rank, size)


FAKE: Final = FakeEngine()
