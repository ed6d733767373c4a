"""How long the Pipeline key is part of every call: as long as a value may be missing.

Blocks are open, or were left before all of their ops ran, or an op has failed whose result somebody
holds. Each of them keeps a `Claim`; the key goes with the last one.
"""

from __future__ import annotations

import os
import sys
import threading
import weakref
from collections.abc import Callable
from functools import wraps
from typing import Any, Final, TypeVar

from ..dispatch.keys import ACTIVE, PROCESS_INCLUDE, DispatchKey
from ..values.forks import fork_safe, free

__all__ = ["Claim", "claim_key", "release_key"]

F = TypeVar("F", bound=Callable[..., Any])


class Claim:
    """Something that needs the key. It ends with the last reference to it.

    Attributes:
        lock: what its owner takes while it has the claim; free in forked children.
        ref: what stands for it among `_CLAIMS`.
    """

    __slots__ = ("__weakref__", "lock", "ref")

    lock: Any
    ref: weakref.ref[Claim]


# Claims leave it as they die, wherever that is: nothing of Python's runs, so nothing interrupts it.
_CLAIMS: Final[set[weakref.ref[Claim]]] = set()
_LEAVE: Final = _CLAIMS.discard
_KEY: Final = int(DispatchKey.Pipeline)  # to make an int of a member of an enum takes 300 ns


def _in_turns(function: F) -> F:
    """The function; where threads run at once, what one of them does at a time.

    Under a global lock another thread comes in only where something is called, as a handler does.
    """
    if getattr(sys, "_is_gil_enabled", lambda: True)():
        return function

    @wraps(function)
    def alone(*args: Any) -> Any:
        with _LOCK:
            return function(*args)

    return alone  # type: ignore[return-value]


_LOCK: Final = fork_safe(threading.RLock())  # a finaliser may come here while this thread is inside


@_in_turns
def claim_key(lock: Any = None, claim: Claim | None = None) -> Claim:
    """Put the key into every call.

    Args:
        lock: see `Claim`.
        claim: one that was released; a new one where None is given.
    """
    included, active = PROCESS_INCLUDE, ACTIVE
    if claim is None:
        claim = Claim()
        claim.lock = lock
        claim.ref = weakref.ref(claim, _LEAVE)
    _CLAIMS.add(claim.ref)
    if not included[0]:  # nothing is called from here on, so nothing comes between
        active += (1,)  # before the other: calls ask which one of the list this is
        included[0] = _KEY
    return claim


@_in_turns
def release_key(claim: Claim | None = None) -> None:
    """Take the key out if no claim is left; calls that find it needless come here too.

    Args:
        claim: one that ends, but may come again.
    """
    included, active = PROCESS_INCLUDE, ACTIVE
    if claim is not None:
        _LEAVE(claim.ref)
    if included[0] and not _CLAIMS:  # as above: who claims now, puts it in again
        included[0] = 0
        del active[-1:]


def _free_locks() -> None:
    for ref in [*_CLAIMS]:
        if (claim := ref()) is not None:
            free(claim.lock)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_locks)
