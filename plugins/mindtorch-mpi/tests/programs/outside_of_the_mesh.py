"""DTensors on ranks that their mesh does not have. Runs on mindtorch and on PyTorch; writes what it finds."""

import json
import sys

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor, ones, zeros

dist.init_process_group("gloo")
mesh = DeviceMesh("cpu", [0, 2])
x = zeros(4, 3, device_mesh=mesh, placements=[Shard(0)])
weight = ones(3, 2, device_mesh=mesh, placements=[Replicate()])
cases = {
    "zeros": lambda: x,
    "add": lambda: x + 1,
    "add in place": lambda: x.add_(1),
    "sum": lambda: x.sum(),
    "sum of a dimension": lambda: x.sum(0),
    "matmul": lambda: x @ weight,
    "softmax": lambda: x.softmax(-1),
    "view": lambda: x.view(12),
    "split": lambda: torch.cat(x.split(2), 1),
    "all": lambda: (x == x).all(),
    "full_tensor": lambda: (x + 1).full_tensor(),
    "redistribute": lambda: x.redistribute(placements=[Replicate()]),
    "from_local": lambda: DTensor.from_local(torch.ones(2, 3), mesh, [Shard(0)]),
    "distribute_tensor": lambda: distribute_tensor(torch.ones(4, 3), mesh, [Shard(1)]),
}
found = {}
for name, make in cases.items():
    made = make()
    local = made.to_local() if isinstance(made, DTensor) else made
    found[name] = [type(made).__name__, list(made.shape), list(local.shape)]
with open(f"{sys.argv[1]}/outside_of_the_mesh-{dist.get_rank()}.json", "w") as file:
    json.dump(found, file)
dist.destroy_process_group()
print("done")
