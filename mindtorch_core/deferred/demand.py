"""How long the Pipeline key is part of every call: as long as a value may be missing.

Blocks are open, or were left before all of their ops ran, or an op has failed whose result somebody
holds. Each of them keeps a `Claim`; the key goes with the last one.
"""

from __future__ import annotations

import os
import threading
import weakref
from typing import Any, Final

from ..dispatch.keys import DispatchKey, exclude_everywhere, include_everywhere
from ..values.forks import fork_safe, free

__all__ = ["Claim", "claim_key", "release_key"]


class Claim:
    """Something that needs the key. It ends with the last reference to it.

    Attributes:
        lock: what its owner takes while it has the claim; free in forked children.
    """

    __slots__ = ("__weakref__", "lock")

    lock: Any


# Claims leave it as they die, wherever that is: nothing of Python's runs, so nothing interrupts it.
_CLAIMS: Final[set[weakref.ref[Claim]]] = set()
_KEY: Final = int(DispatchKey.Pipeline)  # to make an int of a member of an enum takes 300 ns
_LOCK: Final = fork_safe(threading.RLock())  # a finaliser may come here while this thread is inside


def claim_key(lock: Any = None) -> Claim:
    """Put the key into every call.

    Args:
        lock: see `Claim`.
    """
    claim = Claim()
    claim.lock = lock
    with _LOCK:
        _CLAIMS.add(weakref.ref(claim, _CLAIMS.discard))
        include_everywhere(_KEY)
    return claim


def release_key() -> None:
    """Take the key out if no claim is left; calls that find it needless come here too."""
    if not _CLAIMS:
        with _LOCK:
            exclude_everywhere(_KEY)
            if _CLAIMS:  # of a handler that ran meanwhile
                include_everywhere(_KEY)


def _free_locks() -> None:
    for ref in [*_CLAIMS]:
        if (claim := ref()) is not None:
            free(claim.lock)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_locks)
