"""Asking backends how to launch what was recorded: each for its own ops, and what it says is checked."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from operator import is_, itemgetter
from typing import NamedTuple

from ..runtime import Runtime
from ..values.devices import TABLE
from ..values.shapes import numel
from .dependence import bound_to_order, memory_of
from .frames import user_place
from .positions import whole
from .programs.planned import compiled_plan
from .trace import COPIES, Batch, Entry, Plan, Share, Step, tensors_of

__all__ = ["Part", "backend_of", "plan_parts", "warn_of_plan"]


class Part(NamedTuple):
    """Recorded ops that one backend launches in a row.

    Attributes:
        positions: of the ops, in program order; some may stand for ops that were dropped.
        plan: what the backend makes of them, by these positions; None to launch them one by one.
        forgotten: positions for which the plan has no step.
    """

    positions: Sequence[int]
    plan: Plan | None
    forgotten: Sequence[int] = ()


def plan_parts(entries: Sequence[Entry | None], nbytes: int) -> list[Part]:
    """Divide recorded ops by the backend that runs them, and have each plan its own.

    Args:
        entries: the ops, in program order; None for those that nobody needs.
        nbytes: size of their results.
    """
    shares = {e[0].share for e in entries if e is not None}
    if len(shares) == 1:
        return [_planned(shares.pop(), range(len(entries)), entries, nbytes)]
    parts = []
    for share, positions in _divided(entries):
        own = [e for i in positions if (e := entries[i]) is not None]
        nbytes = sum(numel(t._shape) * t._dtype.itemsize for e in own for t in e.outs)
        parts.append(_planned(share, positions, own, nbytes))
    return parts


def _planned(
    share: Share, positions: Sequence[int], entries: Sequence[Entry | None], nbytes: int
) -> Part:
    """What a backend makes of entries; it counts them from 0."""
    device, compiled = share
    if share is COPIES:
        return Part(positions, None)
    runtime = TABLE[device].runtime
    if nbytes < runtime.planned_from:
        return Part(positions, None)
    try:
        plan = compiled_plan(device, entries) if compiled else None
        if plan is None:
            plan = _asked(runtime, entries)
        if plan is None or plan.steps is None:
            return Part(positions, plan)
        if not isinstance(plan.steps, list):  # else it stays the backend's own
            plan.steps = [*plan.steps]
        covered = _covered(plan.steps, entries)
        _check_order(plan.steps, entries)
    except Exception as error:  # noqa: BLE001 (whatever it is, nothing was launched yet)
        warn_of_plan(device, error)
        return Part(positions, None)
    forgotten = [positions[i] for i, e in enumerate(entries) if e is not None and i not in covered]
    if positions[-1] != len(entries) - 1:
        plan.steps = [step and step.moved(positions) for step in plan.steps]
    return Part(positions, plan, forgotten)


def _asked(runtime: Runtime, entries: Sequence[Entry | None]) -> Plan | None:
    """The plan of a backend, which is to leave the list of entries as it is.

    Raises:
        TypeError: if it gives what is no plan.
        RuntimeError: if it has changed the list.
    """
    kept = [*entries]
    try:
        plan: Plan | None = runtime.plan(entries)
    finally:
        changed = len(kept) != len(entries) or not all(map(is_, kept, entries))
        if changed and isinstance(entries, list):
            entries[:] = kept
    if changed:
        raise RuntimeError("it has changed the list of entries that it was given")
    if plan is None:
        return None
    if not isinstance(plan, Plan):
        raise TypeError(f"it gave {plan!r} where a Plan or None is expected")
    if plan.batch is not None and not isinstance(plan.batch, Batch):
        raise TypeError(f"its batch is {plan.batch!r} where a Batch or None is expected")
    return plan


def _covered(steps: Iterable[Step | None], entries: Sequence[Entry | None]) -> set[int]:
    """The positions that steps cover.

    Raises:
        ValueError: if there is no such entry, or two steps have it.
    """
    covered: set[int] = set()
    for step in steps:
        if step is None:
            continue
        for i in (*step.entries, *step.borrowed):
            if not 0 <= whole(i) < len(entries):
                raise ValueError(
                    f"a step has entry {i} of {len(entries)}, which are counted from 0"
                )
        for i in step.entries:
            if i in covered:
                e = entries[i]
                what = "" if e is None else f", {e.op.name} recorded at {e.location}"
                raise ValueError(f"two steps have entry {i}{what}: one may have it as borrowed")
            covered.add(i)
    return covered


def _check_order(steps: Iterable[Step | None], entries: Sequence[Entry | None]) -> None:
    """See to it that what reads memory, and what writes it, stays in program order.

    What reads what is still to be made is told of when it is launched.

    Raises:
        ValueError: if it does not.
    """
    order: dict[int, list[int]] = {}
    last, sorted_steps = -1, True
    for at, step in enumerate(steps):
        for i in () if step is None else (*step.entries, *step.borrowed):
            order.setdefault(i, []).append(at)
            sorted_steps = sorted_steps and i > last
            last = i
    if sorted_steps or not bound_to_order(e for e in entries if e is not None):
        return
    # By what is gone by: an entry, and the step that makes it first, or reads it last, as values may be made
    # again.
    wrote: dict[object, tuple[int, int]] = {}
    read: dict[object, tuple[int, int]] = {}
    for i, entry in enumerate(entries):
        if entry is None or i not in order or entry.op.view:
            continue
        gives, takes = _touched(entry)
        first, end = order[i][0], order[i][-1]
        before = [wrote[m] for m in gives | takes if m in wrote]
        before += [read[m] for m in gives if m in read]
        for other, at in before:
            if first < at and (late := entries[other]) is not None:
                raise ValueError(
                    f"{entry.op.name} recorded at {entry.location} stands before {late.op.name} recorded at "
                    f"{late.location}, though one of both changes what the other goes by"
                )
        for m in takes - gives:
            read[m] = max(read.get(m, (i, end)), (i, end), key=itemgetter(1))
        for m in gives:
            wrote[m] = i, first
            read.pop(m, None)


def _touched(entry: Entry) -> tuple[set[object], set[object]]:
    """What an op changes, and what it goes by: memory, random numbers, what nobody has told."""
    op = entry.op
    gives: set[object] = {id(memory_of(t)) for t in entry.outs}
    takes: set[object] = {
        id(memory_of(t)) for t in tensors_of((*entry.args, *entry.kwargs.values()))
    }
    if op.definition is None:
        gives.add("what nobody has told")
    elif op.definition.traits.random:
        gives.add(f"random numbers of {op.share[0]}")
    return gives, takes


def _divided(entries: Sequence[Entry | None]) -> list[tuple[Share, list[int]]]:
    """The backends' shares in an order in which they can run, each share in program order.

    A share comes after those of other backends whose memory it reads or overwrites. Ops that do more
    than make or write tensors, such as drawing random numbers, stay in program order.
    """
    shares: dict[tuple[int, Share], list[int]] = {}
    # By memory, or what else an op changes: where what wrote it last stands, and what read it since.
    wrote: dict[object, tuple[int, Share]] = {}
    read: dict[object, list[tuple[int, Share]]] = {}
    for i, entry in enumerate(entries):
        if entry is None:
            continue
        share = entry.op.share
        gives, takes = _touched(entry)
        before = [wrote[m] for m in gives | takes if m in wrote]
        before += [at for m in gives for at in read.get(m, ())]
        level = max((at + (other != share) for at, other in before), default=0)
        shares.setdefault((level, share), []).append(i)
        for m in takes:
            read.setdefault(m, []).append((level, share))
        for m in gives:
            wrote[m] = (level, share)
            read.pop(m, None)
    return [(at[1], shares[at]) for at in sorted(shares, key=itemgetter(0))]


def warn_of_plan(device: str, error: Exception) -> None:
    """Say at the user's line that a plan was of no use, and that nothing is lost by that."""
    warnings.warn_explicit(
        f"the plan of {backend_of(device)} failed, so its ops were launched one by one: "
        f"{type(error).__name__}: {error}",
        RuntimeWarning,
        *user_place(),
    )


def backend_of(device: str) -> str:
    """How messages name a backend."""
    return f"{device} ({TABLE[device].distribution})"
