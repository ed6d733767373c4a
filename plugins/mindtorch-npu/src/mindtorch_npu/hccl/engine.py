"""The engine ``hccl``: processes with an NPU each."""

from __future__ import annotations

import os
from typing import Final

from mindtorch_core.communication import (
    COMMUNICATOR_API,
    Communicator,
    DistBackendError,
    Engine,
    Progress,
    Store,
)

from ..acl_loader import find
from .library import DTYPES, LIBRARY, located

__all__ = ["HCCLEngine"]

# What launchers call the number of a process on its machine.
_LOCAL: Final = (
    "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID",
)  # fmt: skip


class HCCLEngine(Engine):
    """HCCL, which comes with CANN's toolkit."""

    name = "hccl"
    devices = ("npu",)
    api = COMMUNICATOR_API
    # What HCCL does not reduce is gathered, and reduced on each NPU.
    reducible = frozenset(DTYPES)

    def __init__(self) -> None:
        self._progress: Progress | None = None

    def missing(self) -> str:
        """Why there is no HCCL; loads nothing."""
        toolkit = find()
        if toolkit is None:
            return (
                "there is no CANN toolkit.\n"
                "  fix: install one and `source set_env.sh`; `mindtorch doctor npu` says where it looked"
            )
        if located() is None:
            return f"the CANN toolkit in {toolkit.root} has no {LIBRARY}.\n  fix: install it whole"
        return ""

    def connect(self, rank: int, size: int, store: Store, timeout: float) -> Communicator:
        """A communicator of all processes; HCCL connects them when they first call it.

        A process whose current device is the first one, as it is where none was chosen, takes the one
        of its number on this machine for current from now on.

        Raises:
            DistBackendError: if there is no NPU for it.
        """
        from ..contexts import CONTEXTS
        from ..runtime import RUNTIME
        from .communicator import HCCLCommunicator

        try:
            count = CONTEXTS.find_devices()
        except (RuntimeError, OSError) as error:
            raise DistBackendError(f"hccl: the NPUs cannot be used: {error}") from error
        index = RUNTIME.current_device()
        if index == 0:
            local = _local(rank, count)
            if local >= count:
                raise DistBackendError(
                    f"hccl: this is process {local} of its machine, counted from 0, and there are "
                    f"{count} NPUs: each process needs one of its own"
                )
            index = local
            if index:
                RUNTIME.set_device(index)
        if self._progress is None:
            self._progress = Progress("mindtorch-hccl")
        return HCCLCommunicator(rank, size, store.clone(), self._progress, index)


def _local(rank: int, count: int) -> int:
    """The number of this process on its machine; a guess where no launcher says it."""
    for name in _LOCAL:
        value = os.environ.get(name, "")
        if value.isdigit():
            return int(value)
    return rank % max(count, 1)
