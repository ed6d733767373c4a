"""``torch.distributed.distributed_c10d``: the names of ``torch.distributed``, and some more."""

from __future__ import annotations

import importlib
import pickle
from datetime import timedelta
from typing import Any, Final

from ...communication.beginning import DEFAULT_PG_TIMEOUT
from ...communication.groups import NON_MEMBER, WORLD, chosen, default_group
from ...communication.groups import ProcessGroup as Members
from ...communication.lending import check_tensor as _check_single_tensor
from ...communication.membership import get_global_rank
from ...communication.objects import pickled, unpickled
from ...communication.process_group import ProcessGroup
from ...communication.reductions import ReduceOp
from ...communication.stores import Store
from ...frontend.creation import tensor as make
from ...tensors.tensor import Tensor
from ...values.dtypes import int64
from .deprecated import warning

__all__ = [
    "ProcessGroup",
    "_check_single_tensor",
    "_get_default_group",
    "_get_default_store",
    "_get_process_group_name",
]

STORE_BASED_BARRIER_PREFIX: Final = "store_based_barrier_key"
_pickler, _unpickler = pickle.Pickler, pickle.Unpickler
_HOME: Final = "torch.distributed.distributed_c10d"
_get_global_rank = warning(
    get_global_rank,
    f"`{_HOME}._get_global_rank` is deprecated, please use `{_HOME}.get_global_rank` instead",
)


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


def _get_process_group_store(pg: Members) -> Store:
    """A group's store."""
    return pg.store


def _rank_not_in_group(group: Any) -> bool:
    """Whether this process is outside of a group."""
    return group is not None and bool(group == NON_MEMBER)


def _get_group_size(group: Members | None) -> int:
    """How many processes a group has."""
    return chosen(group).size()


def _get_group_size_by_name(group_name: Any) -> int:
    """How many processes the group of a name has."""
    if isinstance(group_name, str):
        group_name = _resolve_process_group(group_name)
    return _get_group_size(group_name)


def _get_default_timeout(backend: str) -> timedelta:
    """The timeout of calls where none is given."""
    return DEFAULT_PG_TIMEOUT


def _check_valid_timeout(timeout: Any) -> None:
    """Refuse what is no timeout.

    Raises:
        TypeError: saying so.
    """
    if not isinstance(timeout, timedelta):
        raise TypeError(
            f"Expected timeout argument to be of type datetime.timedelta, got {timeout}"
        )


def _set_pg_timeout(timeout: timedelta, group: Any = None) -> None:
    """Let this be the timeout of each further call of a group.

    Raises:
        ValueError: if this process is not in it.
    """
    if _rank_not_in_group(group):
        raise ValueError("Invalid process group specified")
    _check_valid_timeout(timeout)
    chosen(group).timeout = timeout


def _get_object_coll_device(group: Any = None) -> str:
    """The type of device on which objects travel."""
    devices = [*chosen(group).communicators]
    return "cpu" if "cpu" in devices else devices[0]


def _object_to_tensor(obj: Any, device: Any, group: Any) -> tuple[Tensor, Tensor]:
    """An object's pickle as bytes, and their number."""
    data = pickled(obj)
    return data.to(device), make([data.numel()], dtype=int64, device=device)


def _tensor_to_object(tensor: Tensor, tensor_size: Any, group: Any) -> Any:
    """The object of a pickle, of which so many bytes are read."""
    return unpickled(tensor.cpu(), int(tensor_size))


def supports_complex(reduceOp: Any) -> bool:
    """Whether a reduction takes complex numbers."""
    return getattr(reduceOp, "op", reduceOp) not in _ORDERED


_ORDERED: Final = (
    ReduceOp.MAX,
    ReduceOp.MIN,
    ReduceOp.PRODUCT,
    ReduceOp.BAND,
    ReduceOp.BOR,
    ReduceOp.BXOR,
)


def _canonicalize_group_rank(
    group: Any,
    global_rank: int | None = None,
    group_rank: int | None = None,
    return_global: bool = False,
) -> int:
    """A position in a group from either number of a rank, or its rank in the default group.

    Raises:
        ValueError: if neither is given or both are.
    """
    package = importlib.import_module(__package__)
    if group_rank is not None and global_rank is not None:
        raise ValueError("Can't specify both group_rank and global_rank")
    if group_rank is not None:
        found = package.get_global_rank(group, group_rank) if return_global else group_rank
    elif global_rank is not None:
        found = global_rank if return_global else package.get_group_rank(group, global_rank)
    else:
        raise ValueError("Must specify global_rank or group_rank")
    return int(found)


class _Known:
    """What this process knows of groups, by PyTorch's names; made anew each time, so only to be read."""

    @property
    def default_pg(self) -> Members | None:
        """The group of all processes, or None."""
        return WORLD.group

    @property
    def pg_map(self) -> dict[Members, tuple[str, Store]]:
        """By group, its backend and its store."""
        return {group: (group.backend, group.store) for group in WORLD.groups.values()}

    @property
    def pg_names(self) -> dict[Members, str]:
        """By group, its name."""
        return {group: name for name, group in WORLD.groups.items()}

    @property
    def pg_group_ranks(self) -> dict[Members, dict[int, int]]:
        """By group, its positions by rank in the default group."""
        groups = WORLD.groups.values()
        return {group: {rank: i for i, rank in enumerate(group.ranks)} for group in groups}

    @property
    def pg_backend_config(self) -> dict[Members, str]:
        """By group, what moves which device's tensors."""
        package = importlib.import_module(__package__)
        return {group: package.get_backend_config(group) for group in WORLD.groups.values()}

    @property
    def group_count(self) -> int:
        """How many groups were made."""
        return WORLD.count


_world: Final = _Known()
_OF_WORLD: Final = {"_pg_map", "_pg_names", "_pg_group_ranks", "_pg_backend_config"}


def __getattr__(name: str) -> Any:
    if name in _OF_WORLD:
        return getattr(_world, name[1:])
    package = importlib.import_module(__package__)
    if not hasattr(package, name):
        raise AttributeError(
            f"module 'torch.distributed.distributed_c10d' has no attribute {name!r}"
        )
    return getattr(package, name)
