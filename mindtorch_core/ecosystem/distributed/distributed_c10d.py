"""``torch.distributed.distributed_c10d``: the names of ``torch.distributed``, and some more."""

from __future__ import annotations

import importlib
from typing import Any

from ...communication.groups import WORLD, default_group
from ...communication.groups import ProcessGroup as Members
from ...communication.process_group import ProcessGroup
from ...communication.stores import Store

__all__ = ["ProcessGroup", "_get_default_group", "_get_default_store", "_get_process_group_name"]


def _get_default_group() -> Members:
    """The group of all processes.

    Raises:
        ValueError: if there is none.
    """
    return default_group()


def _get_default_store() -> Store:
    """The store of the group of all processes.

    Raises:
        ValueError: if there is none.
    """
    return default_group().store


def _get_process_group_name(pg: Members) -> str:
    """A group's name."""
    return pg.group_name


def _resolve_process_group(group_name: str) -> Members:
    """A group by its name."""
    return WORLD.groups[group_name]


def __getattr__(name: str) -> Any:
    if name == "_pg_map":
        return {group: (group.backend, group.store) for group in WORLD.groups.values()}
    package = importlib.import_module(__package__)
    if not hasattr(package, name):
        raise AttributeError(
            f"module 'torch.distributed.distributed_c10d' has no attribute {name!r}"
        )
    return getattr(package, name)
