"""Who is in which group: ranks, sizes, names, and groups of groups."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from .beginning import new_group
from .errors import DistError
from .failures import await_keys
from .groups import (
    NON_MEMBER,
    WORLD,
    ProcessGroup,
    chosen,
    default_group,
    is_member,
    outside,
)

__all__ = [
    "get_backend",
    "get_backend_config",
    "get_global_rank",
    "get_group_rank",
    "get_node_local_rank",
    "get_pg_count",
    "get_process_group_ranks",
    "get_rank",
    "get_world_size",
    "is_initialized",
    "monitored_barrier",
    "new_subgroups",
    "new_subgroups_by_enumeration",
]


def is_initialized() -> bool:
    """Whether `init_process_group` has been called."""
    return WORLD.group is not None


def get_rank(group: Any = None) -> int:
    """This process's position in a group, the default one if None; -1 if it is not in it.

    Raises:
        ValueError: if there is no default group.
    """
    world = default_group()
    if not is_member(group):
        return -1
    return (world if group is None else chosen(group)).position


def get_world_size(group: Any = None) -> int:
    """How many processes a group has; -1 if this one is not in it.

    Raises:
        ValueError: if there is no default group.
    """
    if not is_member(group):
        return -1
    return chosen(group).size()


def get_backend(group: Any = None) -> str:
    """The name that a group's backend was asked for by.

    Raises:
        ValueError: if this process is not in the group, or there is none.
    """
    if not is_member(group):
        raise ValueError("Invalid process group specified")
    return chosen(group).backend


def get_backend_config(group: Any = None) -> str:
    """What moves which device's tensors, such as ``cpu:mpi``."""
    own = chosen(group)
    return ",".join(f"{device}:{engine.name}" for device, engine in own.engines.items())


def get_global_rank(group: Any, group_rank: int) -> int:
    """The rank in the default group of a position in a group.

    Raises:
        ValueError: if the group has no such position.
    """
    ranks = chosen(group).ranks
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


def get_group_rank(group: Any, global_rank: int) -> int:
    """The position in a group of a rank in the default group.

    Raises:
        ValueError: if it is not in it.
    """
    ranks = chosen(group).ranks
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks.index(global_rank)


def get_process_group_ranks(group: Any) -> list[int]:
    """The members' ranks in the default group, in the group's order."""
    return list(chosen(group).ranks)


def get_pg_count() -> int:
    """How many groups this process is in."""
    return len(WORLD.groups)


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """Which process of this machine it is, by the variable LOCAL_RANK.

    Raises:
        RuntimeError: if that is not set, and there is no fallback.
    """
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
        "`get_node_local_rank` to work, assuming you are not running in a multi-device context and want "
        "the code to run locally instead."
    )


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]],
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Make groups of the ranks that lists name; returns this process's, and all.

    Raises:
        ValueError: for an empty list, or a rank in two.
    """
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    named = [rank for ranks in ranks_per_subgroup_list for rank in ranks]
    if len(set(named)) < len(named):
        twice = next(rank for rank in named if named.count(rank) > 1)
        raise ValueError(f"Rank {twice} has appeared in more than one subgroup")
    made = [
        new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        for ranks in ranks_per_subgroup_list
    ]
    own = next((group for group in made if group != NON_MEMBER), None)
    return own, made


def new_subgroups(
    group_size: int | None = None,
    group: Any = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Divide all ranks into groups of neighbours; returns this process's, and all.

    Args:
        group_size: of each; by default the processes of a machine (LOCAL_WORLD_SIZE).
        group: taken for PyTorch's sake.
        timeout: as in `new_group`.
        backend: as in `new_group`.
        pg_options: as in `new_group`.
        group_desc: as in `new_group`.

    Raises:
        ValueError: if the size does not divide the number of ranks.
    """
    size = default_group().size()
    each = int(os.environ.get("LOCAL_WORLD_SIZE", size)) if group_size is None else group_size
    if each <= 0:
        raise ValueError(f"The arg 'group_size' ({each}) must be positive")
    if size < each:
        raise ValueError(f"The arg 'group_size' ({each}) must not exceed the world size ({size})")
    if size % each:
        raise ValueError(f"The world size ({size}) must be divisible by group_size={each}")
    parts = [range(first, first + each) for first in range(0, size, each)]
    return new_subgroups_by_enumeration(parts, timeout, backend, pg_options, group_desc)


def monitored_barrier(
    group: Any = None, timeout: timedelta | None = None, wait_all_ranks: bool = False
) -> None:
    """Wait until all ranks have called it; rank 0 says who has not. It uses the store alone.

    Args:
        group: the ranks.
        timeout: by default the group's.
        wait_all_ranks: whether the error names all that are missing, in place of the first.

    Raises:
        DistributedError: on all ranks that have come, if one has not.
    """
    if outside(group, "monitored_barrier"):
        return
    own: ProcessGroup = chosen(group)
    limit = own.timeout if timeout is None else timeout
    seconds = limit.total_seconds()
    call = own.call("monitored_barrier", timeout=limit + timedelta(seconds=_MORE))
    deadline = time.monotonic() + seconds
    base, store = f"monitored/{call.number}", own.store
    if own.position == 0:
        names = {f"{base}/{n}": n for n in range(1, own.size())}
        missing = [names[key] for key in await_keys(call, store, [*names], deadline)]
        shown = missing if wait_all_ranks else missing[:1]
        store.set(f"{base}/end", ",".join(map(str, shown)))
    else:
        try:
            store.set(f"{base}/{own.position}", call.described())
        except DistError:  # it may be gone with its rank, which the news name
            await_keys(call, store, [f"{base}/end"], deadline)
            raise
        if await_keys(call, store, [f"{base}/end"], deadline + _LISTEN):
            text = f"rank {own.ranks[0]} did not come in {seconds:g} s"
            raise call.error(text, own.ranks[0], {own.ranks[0]: "did not come"})
        shown = [int(n) for n in store.get(f"{base}/end").decode().split(",") if n]
    if shown:
        ranks = [own.ranks[n] for n in shown]
        text = (
            f"[Rank 0]: Ranks {', '.join(map(str, ranks))} failed to pass monitoredBarrier in "
            f"{round(seconds * 1000)} ms"
        )
        raise call.error(text, ranks[0], dict.fromkeys(ranks, "did not come"))
    return


_LISTEN = 2.0  # how much longer than rank 0 the others wait, which waits for them
_MORE = 60.0  # and until when news of ranks are asked for: longer than all of that
