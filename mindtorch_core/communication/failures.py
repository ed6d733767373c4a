"""News of ranks: who died, who raised, who waited in vain. Calls that wait ask it whether to go on."""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
import traceback
from collections.abc import Sequence
from types import TracebackType
from typing import Any, Final

from .calls import MONITORS, Call
from .errors import DistError, DistributedError
from .meeting import ranks_named
from .stores import Store
from .tcp_store import TCPStore

__all__ = ["Watch", "anything_failed", "await_keys", "forget_failures"]

# How long a call goes on waiting for a rank that has ended as it should: what it sent may be on its way.
_GRACE: Final = 1.0
# The same of one that has died.
_ON_ITS_WAY: Final = 0.2
# How long one that waited in vain listens for who else did: at least, and while several seem missing.
_LISTEN: Final = 0.5
_LISTEN_FOR_MORE: Final = 5.0
_PAUSE: Final = 0.005  # between two looks into a store
# How long the process that serves the store stays for others at its end, in seconds.
_PATIENCE: Final = 5.0
_FAILED: Final[list[str]] = []  # what has happened, of any group there was


def anything_failed() -> bool:
    """Whether a rank has failed, so that there is nobody to wait for at the end."""
    return bool(_FAILED)


def forget_failures() -> None:
    """All that had failed has been replaced."""
    _FAILED.clear()


def await_keys(call: Call, store: Store, keys: Sequence[str], deadline: float) -> list[str]:
    """Wait for keys that ranks set in a call; returns those that have not come until a deadline.

    Args:
        call: whose deadline is later: it is asked whether its ranks are there.
        store: where the keys are.
        keys: each of them is waited for.
        deadline: as `time.monotonic` counts.

    Raises:
        DistributedError: if a rank of the call is gone.
        DistError: if the store is, and nobody says why.
    """
    left, unreached = list(keys), 0.0
    while True:
        try:
            left = [key for key in left if not store.check([key])]
        except (DistError, OSError):
            unreached = unreached or time.monotonic()
            if time.monotonic() > unreached + _LISTEN + _ON_ITS_WAY:
                raise
        if not left or time.monotonic() > deadline:
            return left
        call.check()
        time.sleep(_PAUSE)


class Watch:
    """Hears what happens to the ranks, and tells what happens to this one.

    Args:
        store: the one that rank 0 serves.
        rank: this process's.
    """

    def __init__(self, store: TCPStore, rank: int) -> None:
        self._store = store
        self._rank = rank
        self._events: list[tuple[float, dict[str, Any]]] = []
        self._answered: set[tuple[str, int, str]] = (
            set()
        )  # calls of which it was told that they wait
        self._closed = False
        self._process = os.getpid()
        own = store.clone()
        own.watch(rank)
        threading.Thread(
            target=self._listen, args=(own,), name="mindtorch-watch", daemon=True
        ).start()
        self._hook = sys.excepthook
        sys.excepthook = self._raised
        MONITORS.append(self.concerning)

    def _listen(self, store: TCPStore) -> None:
        number = 0
        while not self._closed:
            try:
                event = store.event(number)
            except (DistError, OSError):
                if not any(e["rank"] == 0 and e["kind"] == "left" for _, e in self._events):
                    self._take({"rank": 0, "kind": "lost", "text": "its process has died"})
                return
            number += 1
            self._take(event)

    def _take(self, event: dict[str, Any]) -> None:
        if self._closed:
            return
        if event["kind"] != "left":
            _FAILED.append(event["text"])
        self._events.append((time.monotonic(), event))

    def deaths(self) -> set[int]:
        """The ranks that have died or were ended by an exception."""
        return {
            event["rank"] for _, event in [*self._events] if event["kind"] in ("lost", "raised")
        }

    def tell(self, kind: str, text: str, **more: Any) -> None:
        """Tell all ranks what happens to this one, if there is anybody left to carry it."""
        if os.getpid() != self._process:  # a forked child is no rank
            return
        with contextlib.suppress(DistError, OSError):  # a TimeoutError is one
            self._store.tell({"rank": self._rank, "kind": kind, "text": text, **more})

    def _raised(
        self,
        kind: type[BaseException],
        error: BaseException,
        trace: TracebackType | None,
    ) -> None:
        """Tell of an exception that ends the process; then it is shown as ever."""
        last = traceback.extract_tb(trace)[-1:]
        at = f" at {last[0].filename}:{last[0].lineno}" if last else ""
        said = str(error).partition("\n")[0]
        text = f"raised {kind.__name__}: {said}{at}"
        if os.getpid() == self._process:
            _FAILED.append(text)
        self.tell("raised", text[:600], consequence=isinstance(error, DistributedError))
        self._hook(kind, error, trace)

    # ---- what calls ask ----------------------------------------------------------------------------

    def concerning(self, call: Call) -> DistributedError | None:
        """The error of a call that waits in vain, or None."""
        late = time.monotonic() > call.deadline
        if not self._events and not late:
            return None
        for since, event in [*self._events]:
            if event["kind"] == "waits" and self._rank in event["ranks"]:
                self._answer(call)
            found = self._told(call, since, event)
            if found is not None:
                return found
        return self._too_late(call) if late else None

    def _told(self, call: Call, since: float, event: dict[str, Any]) -> DistributedError | None:
        rank, kind, text = event["rank"], event["kind"], event["text"]
        if rank == self._rank or rank not in call.ranks:
            return None
        if kind in ("lost", "raised") and time.monotonic() > since + _ON_ITS_WAY:
            return call.error(f"rank {rank} is gone: {text}", rank, {rank: text})
        if call.partners is not None and (rank not in call.partners or self._others_may(call)):
            return None
        if kind == "left" and time.monotonic() > since + _GRACE:
            return call.error(f"rank {rank} has ended without this call", rank, {rank: "ended"})
        if kind == "late" and event["group"] == call.group:
            missing = event["missing"]
            who = missing[0] if missing else None
            known = {each: event["said"].get(str(each), "did not come") for each in missing}
            said = {rank: text, **{each: known[each] for each in missing if each != self._rank}}
            reason = f"rank {rank} has given up waiting"
            if missing:
                reason += f" for {ranks_named(missing)}"
            return call.error(reason, who, said)
        return None

    def _others_may(self, call: Call) -> bool:
        """Whether a message may come from one of several ranks, as not all have left."""
        if call.partners is None or len(call.partners) == 1:
            return False
        left = {event["rank"] for _, event in [*self._events] if event["kind"] == "left"}
        return not left.issuperset(call.partners)

    def _too_late(self, call: Call) -> DistributedError:
        """Tell that this rank waits no longer, and hear who else does."""
        self._answer(call)
        began = time.monotonic()
        time.sleep(_LISTEN)
        here, missing, behind = self._who_waits(call)
        while len(missing) > 1 and time.monotonic() < began + _LISTEN_FOR_MORE:
            time.sleep(_PAUSE)  # theirs may be on its way, where the machine has other things to do
            here, missing, behind = self._who_waits(call)
        slow = {} if missing else {str(rank): here[rank] for rank in behind}
        late = missing or behind
        self.tell("late", call.described(), missing=late, said=slow, group=call.group)
        said = {**here, **{rank: self._elsewhere(rank, call) for rank in missing}}
        text = f"not done after {call.seconds:g} s"
        if missing:
            text += f": {ranks_named(missing)} did not come"
        elif behind:
            text += f": the device of {ranks_named(behind)} did not come to it"
            missing = behind
        elif call.partners is None:
            text += ", though all ranks came"
        elif len(call.partners) == 1:
            text += f": rank {call.partners[0]} waits in another call"
            missing = [*call.partners]
        one = missing and (call.partners is None or len(missing) == 1)
        return call.error(text, missing[0] if one else None, said)

    def _answer(self, call: Call) -> None:
        """Tell, once, where this rank waits."""
        if (call.group, call.number, call.op) not in self._answered:
            self._answered.add((call.group, call.number, call.op))
            more = {"behind": bool(call.behind), "group": call.group, "ranks": call.ranks}
            self.tell("waits", call.described(), **more)

    def _elsewhere(self, rank: int, call: Call) -> str:
        """What a rank does that has not come, as far as it has said that since the call."""
        for since, event in reversed([*self._events]):
            if event["rank"] == rank and event["kind"] == "waits":
                if since < call.deadline - call.seconds:
                    break
                return f"did not come: it waits in {event['text']} of the group {event['group']!r}"
        return "did not come"

    def _who_waits(self, call: Call) -> tuple[dict[int, str], list[int], list[int]]:
        """What ranks wait in within a call's group; who of those it needs does not; who is behind."""
        here, behind = {}, {}
        for _, event in [*self._events]:
            if event["kind"] == "waits" and event["group"] == call.group:
                here[event["rank"]] = event["text"]
                behind[event["rank"]] = event["behind"]
        here[self._rank], behind[self._rank] = call.described(), bool(call.behind)
        needed = call.partners or call.ranks
        missing = [rank for rank in needed if rank not in here]
        return here, missing, [rank for rank in sorted({*needed, self._rank}) if behind.get(rank)]

    def close(self) -> None:
        """Leave: tell that this rank ends as it should."""
        if self._closed:
            return
        self._closed = True
        if sys.excepthook == self._raised:
            sys.excepthook = self._hook
        MONITORS.remove(self.concerning)
        if os.getpid() != self._process:
            return
        with contextlib.suppress(DistError, OSError):
            self._store.leave(self._rank)
        self.tell("left", "ended")

    def await_others(self) -> None:
        """Where this process serves the store, go on doing so for a while until all have left."""
        if not _FAILED and os.getpid() == self._process:
            self._store.await_leaving(_PATIENCE)
