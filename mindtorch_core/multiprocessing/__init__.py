"""``torch.multiprocessing``: Python's `multiprocessing`, with tensors that processes share.

Tensors that are sent through queues and pipes, or given to processes, are moved to memory that both
sides see, and are not copied.
"""

from __future__ import annotations

import multiprocessing
from multiprocessing import *  # noqa: F403 (all of it is shown here, as PyTorch does)
from typing import TYPE_CHECKING, Any

from ..frontend.storages import STRATEGY
from ..tensors.mapped import STRATEGIES
from . import reductions
from .spawn import (
    ProcessContext,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

__all__ = [
    *multiprocessing.__all__,
    "ProcessContext",
    "ProcessExitedException",
    "ProcessRaisedException",
    "SpawnContext",
    "get_all_sharing_strategies",
    "get_sharing_strategy",
    "set_sharing_strategy",
    "spawn",
    "start_processes",
]


def set_sharing_strategy(new_strategy: str) -> None:
    """Set how memory is shared from now on.

    Args:
        new_strategy: ``file_descriptor``, which leaves no trace but keeps files open, or
            ``file_system``, whose memory has names in a folder of the system's. These go with the
            memory, those of a process that was killed when all of the program have ended.

    Raises:
        AssertionError: for a strategy that is not one of `get_all_sharing_strategies`.
    """
    if new_strategy not in STRATEGIES:
        raise AssertionError(
            f"invalid sharing strategy {new_strategy!r}, expected one of {set(STRATEGIES)}"
        )
    STRATEGY[0] = new_strategy


def get_sharing_strategy() -> str:
    """How memory is shared; see `set_sharing_strategy`."""
    return STRATEGY[0]


def get_all_sharing_strategies() -> set[str]:
    """The strategies that there are on this system."""
    return set(STRATEGIES)


def _late(name: str) -> Any:
    return getattr(multiprocessing, name)


if not TYPE_CHECKING:  # for type checkers a misspelt name would be there too
    __getattr__ = _late


reductions.install()
