"""Processes that work together: engines that connect them, groups, and what groups do.

The public face is ``torch.distributed``. This module is the door for communicator plugins, which import
nothing else of this room.
"""

from __future__ import annotations

from .calls import FINGERPRINT, REPORT, Call
from .engine import COMMUNICATOR_API, Communicator, Engine, Finished, Source, Then, Ticket
from .errors import (
    DistBackendError,
    DistError,
    DistNetworkError,
    DistributedError,
    DistStoreError,
)
from .failures import anything_failed
from .launchers import mpiexec
from .progress import Lane, Progress, Steps, Task
from .stores import PrefixStore, Store

__all__ = [
    "COMMUNICATOR_API",
    "FINGERPRINT",
    "REPORT",
    "Call",
    "Communicator",
    "DistBackendError",
    "DistError",
    "DistNetworkError",
    "DistStoreError",
    "DistributedError",
    "Engine",
    "Finished",
    "Lane",
    "PrefixStore",
    "Progress",
    "Source",
    "Steps",
    "Store",
    "Task",
    "Then",
    "Ticket",
    "anything_failed",
    "mpiexec",
]
