"""Who is in which group: ranks, sizes, names, and groups of groups."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from .beginning import by_device, limited, new_group
from .groups import (
    NON_MEMBER,
    WORLD,
    ProcessGroup,
    chosen,
    default_group,
    is_member,
)
from .parts import part

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
    "new_subgroups",
    "new_subgroups_by_enumeration",
    "split_group",
]


def is_initialized() -> bool:
    """Whether `init_process_group` has been called."""
    return WORLD.group is not None


def get_rank(group: Any = None) -> int:
    """This process's position in a group, the default one if None; -1 if it is not in it.

    Raises:
        ValueError: if there is no default group, or for what is no group.
    """
    world = default_group()
    if group == NON_MEMBER:
        return -1
    return (world if group is None else chosen(group)).position


def get_world_size(group: Any = None) -> int:
    """How many processes a group has; -1 if this one is not in it.

    Raises:
        ValueError: if there is no default group.
    """
    if group == NON_MEMBER:
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
    seen: dict[int, Sequence[int]] = {}
    for ranks in ranks_per_subgroup_list:
        for rank in ranks:
            if rank in seen:
                raise ValueError(
                    f"Rank {rank} has appeared in both subgroup {seen[rank]} and {ranks}"
                )
            seen[rank] = ranks
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
        group: whose ranks are divided, in place of all; all processes are in it.
        timeout: as in `new_group`.
        backend: as in `new_group`.
        pg_options: as in `new_group`.
        group_desc: as in `new_group`.

    Raises:
        ValueError: if the size does not divide the number of ranks.
    """
    ranks = chosen(group).ranks
    size = len(ranks)
    each = int(os.environ.get("LOCAL_WORLD_SIZE", size)) if group_size is None else group_size
    if each <= 0:
        raise ValueError(f"The arg 'group_size' ({each}) must be positive")
    if size < each:
        raise ValueError(f"The arg 'group_size' ({each}) must not exceed the world size ({size})")
    if size % each:
        raise ValueError(f"The world size ({size}) must be divisible by 'group_size={each}'")
    parts = [ranks[first : first + each] for first in range(0, size, each)]
    return new_subgroups_by_enumeration(parts, timeout, backend, pg_options, group_desc)


def split_group(
    parent_pg: Any = None,
    split_ranks: Sequence[Sequence[int]] | None = None,
    timeout: timedelta | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
    backend: str | None = None,
) -> ProcessGroup | None:
    """Divide a group into groups; its ranks alone call it, all with the same lists.

    Args:
        parent_pg: the group; None for that of all ranks.
        split_ranks: positions in it, for each new group; a rank may be in none.
        timeout: as in `new_group`.
        pg_options: taken for PyTorch's sake.
        group_desc: what they are for.
        backend: of which of the parent's engines they are, as in `init_process_group`; None for all.

    Returns:
        This rank's group, or None if it is in none.

    Raises:
        ValueError: for no lists, empty ones, or ranks that are named twice.
    """
    if not split_ranks:
        raise ValueError("split_ranks cannot be None or empty")
    world = default_group()
    parent = parent_pg or world
    if not isinstance(parent, ProcessGroup) or parent.closed:
        raise ValueError(f"Group {parent_pg} is not registered")
    devices = None if backend is None else _kept(parent, backend)
    limited(timeout, parent.timeout)
    named = [int(rank) for ranks in split_ranks for rank in ranks]
    for ranks in split_ranks:
        if not ranks:
            raise ValueError("the split group cannot be empty")
        if len(ranks) > world.size():
            raise ValueError(
                "the split group's size should be less or equal to the world_size set by "
                "init_process_group"
            )
        if len(set(ranks)) < len(ranks):
            raise ValueError("the split group cannot have duplicate ranks")
    for rank in named:
        if not 0 <= rank < parent.size() or named.count(rank) > 1:
            raise ValueError(
                f"split_ranks {[*split_ranks]}: rank {rank} is named twice or is none of the parent's "
                f"{parent.size()} positions"
            )
    own = next((ranks for ranks in split_ranks if parent.position in ranks), split_ranks[0])
    lists = str([[*map(int, ranks)] for ranks in split_ranks])
    return part(parent, sorted(own), timeout, None, group_desc, devices, lists)


def _kept(parent: ProcessGroup, backend: str) -> list[str]:
    """The types of devices whose engines a backend's name keeps of a group.

    Raises:
        ValueError: if the group has another engine for one, or none.
    """
    wanted = by_device(str(backend))
    has = {device: engine.name for device, engine in parent.engines.items()}
    for device, engine in wanted.items():
        if device not in has:
            raise ValueError(
                f"Requested backend for device '{device}' is not present in the parent process group "
                f"(parent backends: {has})"
            )
        if engine.name != has[device]:
            raise ValueError(
                f"Backend mismatch for device '{device}': parent has '{has[device]}', requested "
                f"'{engine.name}'. Backend names must match exactly when filtering split_group backends."
            )
    return [*wanted]
