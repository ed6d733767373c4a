"""Ops along a dimension on parts of DTensors. Runs on mindtorch and on PyTorch; writes what it finds."""

import json
import sys
import warnings

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
ALONE = {
    "argmax": lambda x: x.argmax(),
    "argmax of rows": lambda x: x.argmax(1),
    "argmin of columns": lambda x: x.argmin(0, keepdim=True),
    "sort": lambda x: x.sort(),
    "sort of columns": lambda x: x.sort(0, descending=True),
    "topk": lambda x: x.topk(2),
    "cumsum": lambda x: x.cumsum(1),
    "tril": lambda x: x.tril(),
    "triu": lambda x: x.triu(1),
    "flip": lambda x: x.flip(0),
}
LOOKED_UP = {
    "gather": lambda x, i: x.gather(1, i % 4),
    "gather of columns": lambda x, i: x.gather(0, i),
    "gather of some": lambda x, i: x.gather(1, i[:, :2] % 4),
    "scatter": lambda x, i: x.scatter(1, i % 4, 5.0),
    "scatter of a tensor": lambda x, i: x.scatter(0, i, x * 2),
    "scatter_add": lambda x, i: x.scatter_add(1, i % 4, x),
}
found = {}


def both(name, call, placement, *tensors):
    """What comes of the parts is what comes of the wholes."""
    parts = call(*(distribute_tensor(t, mesh, [placement]) for t in tensors))
    wholes = call(*tensors)
    for each, whole in zip(
        *((r if isinstance(r, tuple) else (r,)) for r in (parts, wholes)), strict=True
    ):
        torch.testing.assert_close(each.full_tensor(), whole)
        found.setdefault(f"{name} {placement}", []).append(
            [str(each.placements), list(each.shape), list(each.stride())]
        )


def slope(call, t, *rest):
    """The gradient of what an op gives, weighted."""
    t = t.detach().requires_grad_()
    made = call(t, *rest)
    made = made[0] if isinstance(made, tuple) else made
    (made * made).sum().backward()
    return t.grad


warnings.simplefilter("error")
for rows in (4, 5):
    x = (torch.arange(rows * 4.0) * 0.7).sin().reshape(rows, 4)
    index = torch.arange(rows * 4).reshape(rows, 4) * 7 % rows
    for placement in (Shard(0), Shard(1), Replicate()):
        for name, call in ALONE.items():
            both(f"{name} {rows}", call, placement, x)
        for name, call in LOOKED_UP.items():
            both(f"{name} {rows}", call, placement, x, index)
    for name in ("topk", "flip", "tril"):
        part = slope(ALONE[name], distribute_tensor(x, mesh, [Shard(0)]))
        torch.testing.assert_close(part.full_tensor(), slope(ALONE[name], x))
    part = slope(LOOKED_UP["gather"], *(distribute_tensor(t, mesh, [Shard(0)]) for t in (x, index)))
    torch.testing.assert_close(part.full_tensor(), slope(LOOKED_UP["gather"], x, index))

for op in ("sum", "avg", "max", "min"):
    part = distribute_tensor(torch.arange(4.0) + dist.get_rank(), mesh, [Partial(op)])
    found[f"partial {op}"] = [str(part.placements), part.full_tensor().tolist()]

with open(f"{sys.argv[1]}/along_dimensions-{dist.get_rank()}.json", "w") as file:
    json.dump(found, file)
dist.destroy_process_group()
print("done")
