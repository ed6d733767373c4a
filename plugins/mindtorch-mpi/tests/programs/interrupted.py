"""Rank 0 is interrupted while it waits for rank 1: ``interrupted.py all_reduce|recv``."""

import gc
import sys
import time

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core.communication.calls import MONITORS


class Interrupted(BaseException):
    pass


def interrupt(call):
    """What a call that waits asks; a signal's handler raises there too."""
    if time.monotonic() > begun + 0.3:
        raise Interrupted


dist.init_process_group("mpi")
rank, what, begun = dist.get_rank(), sys.argv[1], time.monotonic()
x = torch.ones(4)
if rank == 0:
    MONITORS.append(interrupt)
    try:
        dist.all_reduce(x) if what == "all_reduce" else dist.recv(x, src=1)
    except Interrupted:
        from mindtorch_mpi.memory import KEPT

        MONITORS.remove(interrupt)
        dist.destroy_process_group()
        gc.collect()
        # What MPI writes when the other comes: the fingerprints of both, or the head of a message.
        assert len(KEPT) == 1
        assert "bytearray" in repr(KEPT)
    else:
        raise AssertionError("it was not interrupted")
else:
    time.sleep(1)
print("done", flush=True)
