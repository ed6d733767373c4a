"""What ranks tell each other beside HCCL, through the store: nothing goes to a device before they agree."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Generator
from typing import Final

from mindtorch_core.communication import (
    FINGERPRINT,
    REPORT,
    Call,
    DistError,
    DistributedError,
    Steps,
    Store,
)

__all__ = ["Agreement", "blamed", "harmless", "heard_of", "heeding", "until"]

# How long to wait for the news that a rank has died, when something fails that this may explain: they come
# within milliseconds, unless the machine has other things to do.
_SOON: Final = 10.0
# How often others are asked whether something has failed there, and how long HCCL has to say so itself.
_EACH: Final = 0.05
_ITSELF: Final = 1.0
# HCCL's codes for failures that may be another rank's: TIMEOUT, NETWORK, REMOTE.
_ELSEWHERE: Final = (9, 19, 21)


def until(call: Call, reached: Callable[[], bool]) -> Steps:
    """Steps that wait until the store says so.

    Raises:
        DistributedError: if that will not be.
    """
    while True:
        try:
            if reached():
                return
        except (DistError, OSError) as error:
            yield from heard_of(call)
            raise call.error(f"the store is gone: {error}", None) from error
        yield False
        call.check()


def heard_of(call: Call) -> Steps:
    """Steps that wait a moment for news of a rank, and raise them."""
    end = time.monotonic() + _SOON
    while time.monotonic() < end:
        call.check()
        yield False


def blamed(call: Call, error: Exception, store: Store) -> Steps:
    """Steps that raise why an operation has failed on a device: naming whose, if that is heard soon.

    Args:
        call: who called what.
        error: what HCCL, or the stream, said here.
        store: whose only users are the ranks of the group.

    Raises:
        DistributedError: always.
    """
    text = f"HCCL failed: {error}"
    call.check()
    if getattr(error, "code", 0) not in _ELSEWHERE and not _said(store, "failed"):
        with contextlib.suppress(DistError, OSError):
            store.set(f"failed/{call.rank}", text)
            store.set("failed", str(call.rank))
        raise call.error(text, call.ranks[call.rank]) from error
    end = time.monotonic() + _SOON
    while time.monotonic() < end:
        call.check()
        for position, rank in enumerate(call.ranks):
            said = _said(store, f"failed/{position}")
            if said:
                raise _failed_there(call, rank, said) from error
        yield False
    raise call.error(text, None) from error


def heeding(call: Call, steps: Steps, store: Store) -> Steps:
    """Steps that end where another rank says that the operation has failed there, of which HCCL may not know.

    A function of HCCL's that fails has queued nothing, and the others' operations wait for it.

    Raises:
        DistributedError: naming that rank.
    """
    looked, heard = time.monotonic(), 0.0
    try:
        for moving in steps:
            yield moving
            now = time.monotonic()
            if now < looked + _EACH:
                continue
            looked = now
            if not heard:
                heard = now if _said(store, "failed") else 0.0
            elif now > heard + _ITSELF:
                position = int(_said(store, "failed"))
                said = _said(store, f"failed/{position}")
                raise _failed_there(call, call.ranks[position], said)
    finally:
        steps.close()


def _failed_there(call: Call, rank: int, said: str) -> DistributedError:
    """The error of an operation that has failed on another rank, which has said why."""
    return call.error(f"rank {rank} has failed: {said}", rank, {rank: said})


def _said(store: Store, key: str) -> str:
    """A key's text, if it is there."""
    try:
        return store.get(key).decode() if store.check([key]) else ""
    except (DistError, OSError):
        return ""


def harmless(error: DistributedError) -> DistributedError:
    """An error after which all ranks stand at the same place, so that the group can go on."""
    error.harmless = True  # type: ignore[attr-defined]  # asked by the communicator
    return error


class Agreement:
    """What the ranks of a communicator compare, in their order.

    Args:
        rank: this process's.
        size: how many there are.
        store: keys are this object's own.
    """

    def __init__(self, rank: int, size: int, store: Store) -> None:
        self._rank, self._size = rank, size
        self._store = store
        self._number = 0

    def agree(self, call: Call) -> Steps:
        """Compare what all ranks call.

        Raises:
            DistributedError: on every rank, if that differs.
        """
        found = yield from self.exchange(call, call.fingerprint())
        if call.agrees(b"".join(each[:FINGERPRINT] for each in found)):
            return
        raise harmless(call.mismatch((yield from self.reports(call))))

    def reports(self, call: Call) -> Generator[bool, None, bytes]:
        """Steps that return what all ranks say of their calls."""
        found = yield from self.exchange(call, call.report())
        return b"".join(each[:REPORT] for each in found)

    def exchange(self, call: Call, mine: bytes) -> Generator[bool, None, list[bytes]]:
        """Steps that return what all ranks give."""
        if self._size == 1:
            return [mine]
        self._number += 1
        found: list[bytes] = []
        keys = [f"{self._number}/{rank}" for rank in range(self._size)]

        def reached() -> bool:
            if not self._store.check(keys):
                return False
            found.extend(self._store.multi_get(keys))
            # All have come here, so that none reads what was before.
            self._store.delete_key(f"{self._number - 1}/{self._rank}")
            return True

        def told() -> bool:
            self._store.set(keys[self._rank], mine)
            return True

        yield from until(call, told)
        yield from until(call, reached)
        return found
