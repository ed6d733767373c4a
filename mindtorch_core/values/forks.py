"""Locks in forked children, where the threads that held them are not there."""

from __future__ import annotations

import os
import weakref
from typing import Any, Final, TypeVar

__all__ = ["fork_safe", "free"]

Lock = TypeVar("Lock")
# Locks leave it as they die; nothing of Python's runs then.
_LOCKS: Final[set[weakref.ref[Any]]] = set()


def fork_safe(lock: Lock) -> Lock:
    """Have forked children find a lock free if another thread held it, and return it.

    What the lock guards may be half changed there, as far as the thread had come.

    Args:
        lock: a `threading.Lock` or `threading.RLock`.
    """
    _LOCKS.add(weakref.ref(lock, _LOCKS.discard))
    return lock


def _free_locks() -> None:
    for ref in [*_LOCKS]:
        free(ref())


def free(lock: Any) -> None:
    """Free a lock in a forked child, unless the thread that forked holds it; None is no lock."""
    own = getattr(lock, "_is_owned", None)  # only a lock of one's own knows whose it is
    if lock is not None and not (own is not None and own()):
        lock._at_fork_reinit()  # as `threading` frees its own


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_free_locks)
