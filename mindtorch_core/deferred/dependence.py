"""Which recorded ops others need: those that an interrupt has left over, or an outer block."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from ..tensors.tensor import Tensor
from .trace import Entry, tensors_of

__all__ = ["bound_to_order", "divided", "memory_of", "needed_for"]

_NUMBERS: Final = -1  # stands for the random numbers, which are drawn in program order


def needed_for(
    entries: Sequence[Entry], read: Iterable[object], written: Iterable[object] = ()
) -> list[int]:
    """Positions of the ops that have to run before others may read or write some memory.

    Args:
        entries: recorded ops, in program order.
        read: memory, as `memory_of` gives it, whose values are wanted.
        written: memory that will be overwritten: what reads it has to run before.
    """
    wanted = {id(memory) for memory in read}
    overwritten = {id(memory) for memory in written}
    chosen: list[int] = []
    for i in range(len(entries) - 1, -1, -1):
        entry = entries[i]
        gives = {id(memory_of(t)) for t in entry.outs}
        takes = {id(memory_of(t)) for t in tensors_of((*entry.args, *entry.kwargs.values()))}
        d = entry.op.definition
        if d is not None and d.traits.random:
            gives.add(_NUMBERS)
        if gives & wanted or (gives | takes) & overwritten:
            chosen.append(i)
            wanted |= gives | takes
            if entry.op.writes:
                overwritten |= gives
    return chosen[::-1]


def divided(
    recorded: Sequence[Entry], chosen: Iterable[int] | None
) -> tuple[list[Entry | None], list[Entry]]:
    """The ops of a launch, by their positions, and those that wait; None for all of them."""
    if chosen is None:
        return [*recorded], []
    taken = {*chosen}
    waiting = [e for i, e in enumerate(recorded) if i not in taken]
    return [recorded[i] for i in sorted(taken)], waiting


def memory_of(t: Tensor) -> object:
    """What stands for a tensor's memory: what all storages of it have in common."""
    s = t._storage
    return t if s is None else s.root


def bound_to_order(entries: Iterable[Entry]) -> bool:
    """Whether ops must not run before any that were recorded earlier, though they need nothing of them.

    They may write what others read, or draw random numbers.
    """
    return any(e.op.writes or (d := e.op.definition) is None or d.traits.random for e in entries)
