"""Messages between two ranks: both say what they call, through the store, before data moves.

HCCL has neither tags nor receivers for anybody. A sender announces its message in the receiver's inbox;
the receiver finds what fits, and answers which of the messages between the two it will be. These go one
after the other through a communicator of HCCL's for the two ranks in that direction.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from mindtorch_core import Tensor
from mindtorch_core.communication import REPORT, Call, PrefixStore, Steps, Store, Task

from ..events import LentEvent
from .library import DTYPES, hccl
from .link import Launch, Link
from .news import harmless, until

__all__ = ["Messages"]

_NUMBER: Final = 8  # bytes before a report: which message between the two ranks it is
_REFUSED: Final = 0  # in its place: none


@dataclass(slots=True)
class _Announced:
    """A message in the inbox."""

    number: int
    source: int
    tag: int
    report: bytes


@dataclass(slots=True, eq=False)
class _Wanted:
    """A receiver that waits."""

    source: int | None
    tag: int
    found: _Announced | None = None

    def fits(self, message: _Announced) -> bool:
        """Whether it is for this one."""
        return self.tag == message.tag and self.source in (None, message.source)


class _Channel:
    """Messages from one rank to another.

    Attributes:
        link: which connects the two, the sender first.
        agreed: how many messages the receiver has agreed to.
        moved: how many have gone through.
    """

    def __init__(self, link: Link) -> None:
        self.link = link
        self.agreed = 0
        self.moved = 0


class Messages:
    """The messages of one communicator.

    Args:
        rank: this process's.
        store: keys are this object's own.
    """

    def __init__(self, rank: int, store: Store) -> None:
        self._rank = rank
        self._store = store
        self._read = 0  # of the inbox
        self._inbox: list[_Announced] = []
        self._wanted: list[_Wanted] = []
        self._channels: dict[tuple[int, int], _Channel] = {}

    def send(
        self, call: Call, tensor: Tensor, peer: int, tag: int, index: int, before: list[LentEvent]
    ) -> Steps:
        """Announce a message, hear which one it is and what the receiver expects, and send the data."""
        number = 0

        def announced() -> bool:
            nonlocal number
            number = self._store.add(f"{peer}/count", 1)
            row = json.dumps([self._rank, tag]).encode()
            self._store.set(f"{peer}/{number}", call.report() + row)
            return True

        yield from until(call, announced)
        answer = f"{peer}/{number}/answer"
        yield from until(call, lambda: self._store.check([answer]))
        said = self._store.get(answer)
        self._store.delete_key(answer)
        place, report = int.from_bytes(said[:_NUMBER], "little"), said[_NUMBER:]
        _compare(call, peer, call.report(), report)
        channel = self._channel(self._rank, peer, index)
        at, (code, count) = tensor.data_ptr(), _moved(tensor)

        def launch(comm: int, stream: int) -> int:
            result: int = hccl.HcclSend(at, count, code, 1, comm, stream)
            return result

        yield from self._through(call, channel, place, "HcclSend", launch, before, tensor)

    def recv(
        self,
        call: Call,
        tensor: Tensor,
        peer: int | None,
        tag: int,
        index: int,
        before: list[LentEvent],
        task: Task,
    ) -> Steps:
        """Find a message, answer what is expected, and receive the data."""
        wanted = _Wanted(peer, tag)
        message = next((each for each in self._inbox if wanted.fits(each)), None)
        if message is not None:
            self._inbox.remove(message)
        else:
            self._wanted.append(wanted)
            try:
                yield from until(call, lambda: self._found(wanted))
            finally:
                if wanted in self._wanted:
                    self._wanted.remove(wanted)
            message = wanted.found
            assert message is not None, "`_found` says so"
        task.source = message.source
        mine = call.report()
        differs = call.unlike(message.source, message.report, mine) is not None
        channel = self._channel(message.source, self._rank, index)
        place = _REFUSED if differs else channel.agreed + 1
        channel.agreed += not differs
        key = f"{self._rank}/{message.number}/answer"
        self._store.set(key, place.to_bytes(_NUMBER, "little") + mine)
        _compare(call, message.source, message.report, mine)
        at, (code, count) = tensor.data_ptr(), _moved(tensor)

        def launch(comm: int, stream: int) -> int:
            result: int = hccl.HcclRecv(at, count, code, 0, comm, stream)
            return result

        yield from self._through(call, channel, place, "HcclRecv", launch, before, tensor)

    def _found(self, wanted: _Wanted) -> bool:
        """Whether there is a message for a receiver; reads what has come for all of them."""
        while wanted.found is None:
            key = f"{self._rank}/{self._read + 1}"
            if not self._store.check([key]):
                return False
            data = self._store.get(key)
            self._store.delete_key(key)
            self._read += 1
            source, tag = json.loads(data[REPORT:])
            message = _Announced(self._read, source, tag, data[:REPORT])
            whose = next((each for each in self._wanted if each.fits(message)), None)
            if whose is None:
                self._inbox.append(message)
            else:
                whose.found = message
                self._wanted.remove(whose)
        return True

    def _channel(self, source: int, target: int, index: int) -> _Channel:
        found = self._channels.get((source, target))
        if found is None:
            own = PrefixStore(f"channel/{source}/{target}", self._store)
            link = Link(index, int(self._rank == target), 2, own)
            found = self._channels[source, target] = _Channel(link)
        return found

    def _through(
        self,
        call: Call,
        channel: _Channel,
        place: int,
        name: str,
        launch: Launch,
        before: list[LentEvent],
        tensor: Tensor,
    ) -> Steps:
        """Steps that wait for a message's turn, and move its data."""
        while channel.moved + 1 != place:
            yield False
            call.check()
        yield from channel.link.connected(call)
        if tensor.numel():
            yield from channel.link.run(call, name, launch, before, tensor)
        channel.moved += 1

    def close(self) -> None:
        """Let go of HCCL's communicators."""
        for channel in self._channels.values():
            channel.link.close()


def _moved(tensor: Tensor) -> tuple[int, int]:
    """A message's type and number of elements: bytes, as its dtype was compared before."""
    return DTYPES["uint8"], tensor.numel() * tensor.element_size()


def _compare(call: Call, peer: int, sent: bytes, expected: bytes) -> None:
    """Refuse a message that is not what its receiver expects: on both sides.

    Raises:
        DistributedError: if dtype or shape differ.
    """
    error = call.unlike(peer, sent, expected)
    if error is not None:
        raise harmless(error)
