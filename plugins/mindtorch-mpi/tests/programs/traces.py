"""Collective operations stand in profiles, on rows of their own: ``traces.py FOLDER``."""

import json
import os
import sys
from itertools import pairwise

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core import nn
from mindtorch_core.profiler import profile, record_function

dist.init_process_group("mpi")
rank, size = dist.get_rank(), dist.get_world_size()
model = nn.parallel.DistributedDataParallel(
    nn.Sequential(*(nn.Linear(256, 256) for _ in range(6))), bucket_cap_mb=0.5
)
x = torch.ones(64, 256)
model(x).sum().backward()
dist.barrier()
with profile() as found:
    with record_function("step"):
        model(x).sum().backward()
    with record_function("blocking"):
        dist.all_reduce(torch.ones(4))
    dist.all_reduce(torch.ones(4))  # ends in it
path = f"{sys.argv[1]}/trace-{rank}.json"
found.export_chrome_trace(path)
with open(path) as file:
    events = [e for e in json.load(file)["traceEvents"] if e["ph"] == "X"]


def span(event):
    return event["ts"], event["ts"] + event["dur"]


(step,) = [span(e) for e in events if e["name"] == "step"]
(blocking,) = [span(e) for e in events if e["name"] == "blocking"]
sums = [span(e) for e in events if e["name"] == "mpi:all_reduce"]
rows = {e["tid"] for e in events if e["name"].startswith("mpi:")}
ops = [e for e in events if e["name"].startswith("aten::")]
assert rows == {"mpi, group 0"}, rows
assert not rows & {e["tid"] for e in ops}
# Buckets of 256 KiB, one for each layer, and buffers: there are none.
within = [each for each in sums if step[0] <= each[0] and each[1] <= step[1]]
assert len(within) >= 3, within
assert len(sums) == len(within) + 2
assert all(a[1] <= b[0] for a, b in pairwise(sums)), "in their order"
assert blocking[0] <= sums[-2][0]
assert sums[-2][1] <= blocking[1]

averages = {e.key: e for e in found.key_averages()}
assert averages["mpi:all_reduce"].count == len(sums)
assert averages["mpi:all_reduce"].self_cpu_time_total == 0  # no thread's time
assert averages["mpi:all_reduce"].cpu_time_total > 0
with profile() as nothing:
    torch.ones(2).sum()
assert not [e for e in nothing.events() if e.name.startswith("mpi:")]
os.remove(path)
dist.barrier()
dist.destroy_process_group()
print("done")
