"""Leaving out what nobody can see any more."""

from __future__ import annotations

import gc
import os
import sys
from typing import Any, Final

from ..tensors.storage import Storage, held_once
from ..tensors.tensor import Tensor
from ..values.references import if_counted
from .trace import Entry

__all__ = ["drop_dead", "held_outside"]

_getrefcount = sys.getrefcount
# Whoever asks for referrers refers to them: who is asking now, and how often somebody has begun to.
_ASKING: Final[set[object]] = set()
_ASKED: Final = [0]
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ASKING.clear)


def drop_dead(entries: list[Entry | None], *, abandoned: bool = False) -> int:
    """Replace entries whose results nobody can see any more by None; returns how many.

    From the last to the first: without an entry its arguments may have no other user either. A
    result is dead if only the entry refers to it, and only the result to its storage (a node of
    autograd may have saved the storage, or a view share it). Ops of others may do more than make
    their results, so they run, but not for a block that an interrupt has ended.

    Args:
        entries: the ops, in program order.
        abandoned: whether an interrupt has left them over.
    """
    dropped = 0
    for i in range(len(entries) - 1, -1, -1):
        entry = entries[i]
        if entry is None:
            continue
        op = entry.op
        if (op.pure or (abandoned and not op.writes)) and _dead(entry.outs):
            entries[i] = None
            dropped += 1
        del entry
    return dropped


def _dead(outs: tuple[Tensor, ...]) -> bool:
    for t in outs:
        if _getrefcount(t) > _UNSEEN:
            return False
        s = t._storage
        if s is None or s.memory is not None or not held_once(t, 1):
            return False
    return True


def _references_of_an_unseen_result() -> int:
    """What `sys.getrefcount` says in `_dead` of a tensor that only its entry holds."""

    def probe(outs: tuple[Any, ...]) -> int:
        for t in outs:
            return _getrefcount(t)
        return 0

    return if_counted(probe((Storage.__new__(Storage),)))


_UNSEEN = _references_of_an_unseen_result()


def held_outside(t: Tensor) -> bool:
    """Whether anybody holds a tensor but entries and the caller; slow.

    No, as far as is known, while another thread asks this: what the collector gives it refers to ``t`` too.
    """
    own = object()
    try:
        _ASKING.add(own)
        _ASKED[0] += 1
        turn = _ASKED[0]
        inside = _inside(t)  # first: a list that goes meanwhile counts as if it were there
        found = _getrefcount(t) > _HELD_BY_ONE + inside
        alone = len(_ASKING) == 1 and _ASKED[0] == turn
    finally:
        _ASKING.discard(own)
    return found and alone


def _inside(t: Tensor) -> int:
    """How often entries, and what the collector has given to others, refer to a tensor."""
    inside = 0
    for holder in gc.get_referrers(t):
        if isinstance(holder, tuple | list | dict):
            held = [*holder.values()] if isinstance(holder, dict) else [*holder]
            # Only the collector gives lists that also have what a tensor never shows.
            if _of_entries(holder) or any(each is t._storage for each in held):
                inside += sum(each is t for each in held)
            del held
        del holder
    return inside


def _of_entries(holder: Any, depth: int = 2) -> bool:
    """Whether entries hold arguments or results: a tuple, a dict of options, a list among them."""
    holders = gc.get_referrers(holder)
    return any(
        type(o) is Entry
        or (depth > 1 and isinstance(o, tuple | list | dict) and _of_entries(o, depth - 1))
        for o in holders
    )


def _references_of_what_one_caller_holds() -> int:
    """What `sys.getrefcount` says in `held_outside` of a tensor that only its caller holds."""

    def probe(t: Any) -> int:
        return _getrefcount(t)

    held = Storage.__new__(Storage)
    return if_counted(probe(held))


_HELD_BY_ONE = _references_of_what_one_caller_holds()
