"""A rank that dies, raises, comes late or whose NPU fails: the others hear who and what, soon."""

import contextlib
import os
import signal
import sys
import time
from datetime import timedelta

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_npu_simulator import control

mode = sys.argv[1]
dist.init_process_group("hccl", timeout=timedelta(seconds=50))
rank, size = dist.get_rank(), dist.get_world_size()
t = torch.ones(4, device="npu")
dist.all_reduce(t)
torch.npu.synchronize()  # what is queued still needs the others
store = dist.distributed_c10d._get_default_store()
store.set(f"begun/{rank}", "")
store.wait([f"begun/{r}" for r in range(size)])
limits = {"late": 3, "behind": 5}
group = dist.new_group(timeout=timedelta(seconds=limits[mode])) if mode in limits else None
began = time.monotonic()
if mode == "store":  # which rank 0 serves
    if rank == 0:
        store.wait([f"here/{r}" for r in range(1, size)])
        os.kill(os.getpid(), signal.SIGKILL)
    with contextlib.suppress(dist.DistError):  # the answer may not come any more
        store.set(f"here/{rank}", "")
if rank == 1:
    if mode == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    elif mode == "inside":  # within the operation, after all have agreed to it
        control.latency("kernel:HcclAllReduce=20000000")
        work = dist.all_reduce(t, async_op=True)
        time.sleep(1.5)
        os.kill(os.getpid(), signal.SIGKILL)
    elif mode == "raise":
        raise KeyError("mine")
    elif mode == "late":
        store.wait(["heard/0", "heard/2"])  # however long that takes on a busy machine
    elif mode == "fault":
        control.inject("kernel:HcclAllReduce:1=507015")
    elif mode == "refused":  # nothing is queued here, and the others' kernels wait
        control.inject("HcclAllReduce:1=4")
    elif mode == "slow":
        control.latency("kernel:HcclAllReduce=700000")
    elif (
        mode == "behind"
    ):  # the rank comes in time, and what is queued before takes longer than it may
        control.latency("kernel:aclnnAdds=25000000")
        t.add(1)
        store.set("queued", "")
if mode == "behind":
    store.wait(["queued"])
try:
    dist.all_reduce(t, group=group)
except dist.DistributedError as error:
    if mode in ("late", "refused", "behind"):  # else rank 0, which serves the store, may have ended
        store.set(f"heard/{rank}", "")
    took = time.monotonic() - began
    said = f"{error.rank} {error.op} {error.number} {' '.join(str(error).split())}"
    print(f"after {took:.1f} s: {said}", flush=True)
else:
    print(f"all is well: {t.tolist()}, waited {time.monotonic() - began > 0.6}")
if mode != "slow":
    try:  # the group is of no use any more, and says so at once
        dist.barrier(group=group)
    except dist.DistributedError as error:
        print(f"then {error.rank} {' '.join(str(error).split())}", flush=True)
    if mode != "behind" or rank != 1:  # whose NPU is busy indeed
        torch.npu.synchronize()
        print(f"goes on: {(torch.ones(1, device='npu') + 1).tolist()}", flush=True)
# Of one that has ended the others would hear that. Rank 0 serves the store, which the others still use.
if mode == "refused" or (mode == "late" and rank == 0):
    store.wait([f"heard/{r}" for r in range(size)])
if mode == "behind":
    if rank != 1:
        store.set(f"done/{rank}", "")
    if rank < 2:
        store.wait(["done/0", "done/2"])
    os._exit(0)  # the end would wait for the NPU
