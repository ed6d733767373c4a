"""A rank that dies, raises, ends or comes late: the others hear who and what, soon."""

import os
import signal
import sys
import time
from datetime import timedelta

import mindtorch_core as torch
from mindtorch_core import distributed as dist

mode = sys.argv[1]
dist.init_process_group("mpi", timeout=timedelta(seconds=3 if mode == "late" else 40))
rank, size = dist.get_rank(), dist.get_world_size()
t = torch.ones(4)
dist.all_reduce(t)
began = time.monotonic()
if rank == 1:
    if mode == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif mode == "raise":
        raise KeyError("mine")
    elif mode == "end":
        sys.exit(0)
    elif mode == "late":
        time.sleep(5)
try:
    dist.all_reduce(t)
except dist.DistributedError as error:
    took = time.monotonic() - began
    said = f"{error.rank} {error.op} {error.number} {' '.join(str(error).split())}"
    print(f"after {took:.1f} s: {said}", flush=True)
else:
    print("no error")
try:  # the group is of no use any more, and says so at once
    dist.barrier()
except dist.DistributedError as error:
    print(f"then {error.rank}")
