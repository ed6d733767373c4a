"""A rank that dies, raises, ends or comes late: the others hear who and what, before their time is over."""

import os
import signal
import sys
import time
from datetime import timedelta

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core.communication import failures

LONG = 50  # seconds, of which none is waited where the others hear at once
mode, *ops = sys.argv[1:]
dist.init_process_group("mpi", timeout=timedelta(seconds=LONG))
rank, size = dist.get_rank(), dist.get_world_size()
store = dist.distributed_c10d._get_default_store()
t = torch.ones(4)
dist.all_reduce(t)
OPS = {
    "all_reduce": lambda group: dist.all_reduce(t, group=group),
    "broadcast": lambda group: dist.broadcast(t, 1, group=group),
    "scatter": lambda group: dist.scatter(t, [t] * 3 if rank == 1 else None, 1, group=group),
    "gather": lambda group: dist.gather(t, [t] * 3 if rank == 0 else None, 0, group=group),
    "reduce": lambda group: dist.reduce(t, 0, group=group),
    "monitored_barrier": lambda group: dist.monitored_barrier(group=group),
    "new_group": lambda _: dist.new_group([0, 2], use_local_synchronization=True),
}
GIVING = ("broadcast", "scatter", "gather", "reduce")  # what rank 1 can do without the others
for op in ops:
    group = dist.new_group(timeout=timedelta(seconds=2)) if mode == "late" else None
    began, known = time.monotonic(), len(failures._FAILED)
    if rank == 1:
        if mode == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        elif mode == "raise":
            raise KeyError("mine")
        elif mode == "end":
            sys.exit(0)
        elif mode == "late":  # comes when the others have raised, however long that takes here
            store.wait([f"heard/{op}/0", f"heard/{op}/2"])
            while op in GIVING and len(failures._FAILED) == known:  # a thread takes the news
                time.sleep(0.01)
    try:
        OPS[op](group)
    except dist.DistributedError as error:
        said = f"{error.rank} {error.op} {error.number} {' '.join(str(error).split())}"
        print(f"heard after {time.monotonic() - began:.1f} s: {said}", flush=True)
    else:
        print("no error")
    if mode == "late":  # otherwise rank 0, which serves the store, may have ended
        store.set(f"heard/{op}/{rank}", "")
    try:  # the group is of no use any more, and says so at once
        dist.barrier(group=group)
    except dist.DistributedError as error:
        print(f"then {error.rank} {op}")
    # All make the next group; after the last call rank 0 stays, which serves the store.
    if mode == "late" and (rank == 0 or op != ops[-1]):
        store.wait([f"heard/{op}/{r}" for r in range(size)])
