"""Groups that are parts of other groups."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import TypeVar

from .calls import Call
from .engine import Communicator, Engine
from .groups import WORLD, ProcessGroup
from .stores import PrefixStore, Store

__all__ = ["known", "part", "parted"]

G = TypeVar("G", bound=ProcessGroup)


def known(group: G) -> G:
    """The group, which this process finds by its name from now on."""
    WORLD.groups[group.group_name] = group
    return group


def part(
    parent: G,
    ranks: Sequence[int],
    timeout: timedelta | None,
    name: str | None,
    desc: str | None,
    devices: Sequence[str] | None = None,
    lists: str = "",
) -> G | None:
    """A group of some positions of another one; all of that call it, each with its own group's or any.

    Args:
        parent: the other group.
        ranks: the positions; None is returned to those that are not in it.
        timeout: of its calls; by default the parent's.
        name: unique among the groups; by default made of the parent's.
        desc: what it is for.
        devices: whose engines it has; None for all of the parent's.
        lists: of all the new groups' positions, if the ranks must have them alike.
    """
    members = [int(rank) for rank in ranks]
    named = f"{parent.group_name}/{parent.splits + 1}/{'_'.join(map(str, members))}"
    name, limit = name or named, timeout or parent.timeout
    kept = parent.engines if devices is None else {d: parent.engines[d] for d in devices}
    call = parent.call("split_group", timeout=max(limit, parent.timeout), reduction=lists)
    store = PrefixStore(name, parent.store)
    found = parted(parent, kept, call, members, store, limit)
    parent.splits += 1
    if parent.position not in members:
        return None
    return known(
        type(parent)(
            name, [parent.ranks[rank] for rank in members], members.index(parent.position),
            backend=parent.backend, engines=kept, communicators=found, store=store, timeout=limit,
            desc=desc or f"{parent.group_desc}:split:{parent.splits - 1}",
        )
    )  # fmt: skip


def parted(
    world: ProcessGroup,
    made: dict[str, Engine],
    call: Call,
    members: Sequence[int],
    store: Store,
    limit: timedelta,
) -> dict[str, Communicator]:
    """Communicators of some processes, by device: parts of the whole's, or new ones of other engines."""
    by_engine: dict[int, Communicator | None] = {}
    for device, engine in made.items():
        if id(engine) in by_engine:
            continue
        whole, parent = world.communicator_for(device)
        if engine is whole:
            by_engine[id(engine)] = parent.split(call, members)
        elif world.position in members:
            by_engine[id(engine)] = engine.connect(
                members.index(world.position), len(members), PrefixStore(engine.name, store),
                limit.total_seconds(),
            )  # fmt: skip
    found = {device: by_engine.get(id(engine)) for device, engine in made.items()}
    return {device: each for device, each in found.items() if each is not None}
