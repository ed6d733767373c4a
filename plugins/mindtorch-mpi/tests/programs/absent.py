"""Started by mpiexec itself: rank 1 never calls init_process_group, so that MPI waits for it without end."""

import os
import signal
from datetime import timedelta

from mindtorch_core import distributed as dist

rank = int(os.environ.get("OMPI_COMM_WORLD_RANK") or os.environ["PMI_RANK"])
if rank == 1:
    signal.pause()
dist.init_process_group("mpi", timeout=timedelta(seconds=1))
print("it began", flush=True)
