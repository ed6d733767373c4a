"""Gradients that not all steps, outputs or processes have. Runs on mindtorch and on PyTorch; writes them."""

import copy
import dataclasses
import io
import json
import sys
import warnings

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.nn.parallel import DistributedDataParallel as DDP
from torch.nn.parallel.distributed import _find_tensors

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
found = {}


def filled(model):
    with torch.no_grad():
        for i, p in enumerate(model.parameters()):
            p.copy_((torch.arange(float(p.numel())).reshape(p.shape) + i).sin())
    return model


def batch(step=0):
    return (torch.arange(12.0).reshape(3, 4) * (rank + 1) + step).cos()


def grads(model):
    return [None if p.grad is None else p.grad.tolist() for p in model.parameters()]


@dataclasses.dataclass
class Pair:
    b: object
    c: object


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b, self.c = nn.Linear(4, 4), nn.Linear(4, 2), nn.Linear(4, 2)

    def forward(self, x, which="b"):
        h = self.a(x).tanh()
        if which == "bc":
            return self.b(h), self.c(h)
        if which == "pair":
            return Pair(self.b(h), [self.c(h)])
        return (self.b if which == "b" else self.c)(h)


def trained(**options):
    return DDP(filled(Net()), find_unused_parameters=True, **options)


mine = "b" if rank == 0 else "c"
for kept in (False, True):
    # What was gathered before is summed where a process does not use a parameter this time.
    model = trained(gradient_as_bucket_view=kept)
    with model.no_sync():
        model(batch(), "b").sum().backward()
    model(batch(1), mine).sum().backward()
    found[f"gathered {kept}"] = grads(model)
    model(batch(2), "c").square().sum().backward()
    found[f"kept {kept}"] = grads(model)
    model.zero_grad()
    model(batch(2), mine).square().sum().backward()
    found[f"zeroed {kept}"] = grads(model)
    model = trained(gradient_as_bucket_view=kept)
    with model.no_sync():
        model(batch(), mine).sum().backward()
    model(batch(1), "c").sum().backward()
    found[f"gathered alone {kept}"] = grads(model)
    # An output that the loss does not depend on.
    model = trained(gradient_as_bucket_view=kept)
    for step in range(3):
        model.zero_grad()
        model(batch(step), "bc")[rank if step == 1 else 0].square().sum().backward()
        found[f"outputs {kept} {step}"] = grads(model)
    # Gradients that are dropped between forward and backward.
    loss = model(batch(4), "b").sum()
    model.zero_grad()
    loss.backward()
    found[f"dropped {kept}"] = grads(model)
model = trained()
for step in range(2):
    model.zero_grad()
    pair = model(batch(step), "pair")
    (pair.b * pair.c[0]).sum().backward()
    found[f"dataclass {step}"] = grads(model)

# Gradients of rows alone stay such.
for options in ({}, {"find_unused_parameters": True}):
    model = DDP(filled(nn.Embedding(6, 2, sparse=True)), **options)
    with model.no_sync():
        model(torch.tensor([5, rank])).square().sum().backward()
    model(torch.tensor([1, 1, rank + 2])).square().sum().backward()
    grad = model.module.weight.grad
    found[f"rows {[*options]}"] = (
        grad.is_sparse,
        grad.coalesce().indices().tolist(),
        grad.to_dense().tolist(),
    )
bag = nn.Sequential(nn.EmbeddingBag(6, 2, sparse=True), nn.Linear(2, 1))
model = DDP(filled(bag), gradient_as_bucket_view=True)
optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
for step in range(2):
    optimizer.zero_grad()
    model(torch.tensor([[rank, 1 + step]])).square().sum().backward()
    optimizer.step()
found["bag"] = [p.tolist() for p in bag.parameters()]
plain = (torch.eye(3) * (rank + 1)).to_sparse()
dist.all_reduce(plain)
found["sparse"] = plain.is_sparse, plain.to_dense().tolist()
rows = torch.sparse_coo_tensor(torch.tensor([[2, 0, 2][rank:]]), torch.ones(3 - rank, 2), (4, 2))
work = dist.all_reduce(rows, async_op=True)
work.wait()
found["some rows"] = rows.coalesce().indices().tolist(), rows.to_dense().tolist()
empty = torch.sparse_coo_tensor(torch.zeros(2, 0, dtype=torch.int64), torch.zeros(0), (2, 2))
dist.all_reduce(empty)
found["nothing"] = empty.to_dense().tolist()
try:
    dist.all_reduce(plain, dist.ReduceOp.MAX)
except RuntimeError as error:
    found["largest"] = "unsupported reduction operation" in str(error)
try:
    dist.broadcast(plain, 0)
except RuntimeError as error:
    found["copies"] = type(error).__name__

# Gradients lie in memory as the parameters do.
for kept in (False, True):
    conv = filled(nn.Conv2d(2, 3, 2)).to(memory_format=torch.channels_last)
    conv.scale = nn.Parameter(torch.arange(12.0).reshape(3, 4)[:, ::2])
    conv.turned = nn.Parameter(torch.arange(12.0).reshape(3, 4).t())
    model = DDP(conv, gradient_as_bucket_view=kept)
    image = batch().repeat(1, 4).reshape(3, 2, 2, 4)[:, :, :, :3]
    for _ in range(2):
        (model(image).square().sum() + (conv.scale**2).sum() + (conv.turned**2).sum()).backward()
    found[f"in memory {kept}"] = grads(conv), [p.grad.stride() for p in conv.parameters()]

# Copies and what was saved train on; arguments of late.
for name in ("copied", "saved"):
    model = DDP(filled(Net()), find_unused_parameters=True)
    model(batch(), "b").sum().backward()
    held = io.BytesIO()
    torch.save(model, held)
    held.seek(0)
    other = copy.deepcopy(model) if name == "copied" else torch.load(held, weights_only=False)
    other.zero_grad()
    for each in (other, model):
        each(batch(1), mine).square().sum().backward()
    found[name] = grads(other), grads(model), list(other.state_dict()), other.find_unused_parameters
alone = dist.new_group([0])
if rank == 0:
    try:
        copy.deepcopy(DDP(nn.Linear(1, 1), process_group=alone))
    except RuntimeError as error:
        found["of a group"] = str(error)
mesh = init_device_mesh("cpu", (size,))
quiet = {"batched_grad_copy": True, "skip_all_reduce_unused_params": True}
for name, options in (
    ("mesh", {"device_mesh": mesh, "mixed_precision": None}),
    ("quiet", {"find_unused_parameters": True, **quiet}),
    ("list", {"bucket_cap_mb_list": [1e-5, 1e-4, 1]}),
    ("one by one", {"bucket_cap_mb": 0}),
):
    model = DDP(filled(Net()), **options)
    sum(each.square().sum() for each in model(batch(), "bc")).backward()
    found[name] = grads(model)
model = DDP(filled(Net()))
model._set_static_graph()
for step in range(2):
    model.zero_grad()
    model(batch(step), mine).square().sum().backward()
    found[f"static {step}"] = grads(model)
found["tensors"] = [
    t.item() for t in _find_tensors({"a": [torch.tensor(1)], "b": Pair(torch.tensor(2), 3)})
]
for name, options in (
    ("new name", {"forward_sync_buffers": False}),
    ("old name", {"broadcast_buffers": False}),
    ("both", {"broadcast_buffers": True, "forward_sync_buffers": False}),
    ("two groups", {"device_mesh": mesh, "process_group": dist.group.WORLD}),
    ("one of two", {"param_to_hook_all_reduce": nn.Parameter(torch.ones(1))}),
):
    norm = filled(nn.BatchNorm1d(4)).train()
    norm.running_mean.fill_(rank)
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", FutureWarning)
        try:
            model = DDP(norm, **options)
        except (RuntimeError, ValueError) as error:
            found[name] = type(error).__name__, str(error)
            continue
    begun = norm.running_mean.tolist()
    model(batch())
    model(batch(1))
    told = [str(each.message) for each in heard if each.category is FutureWarning]
    found[name] = begun, norm.running_mean.tolist(), told, model.broadcast_buffers

with open(f"{sys.argv[1]}/gradient_sums-{rank}.json", "w") as file:
    json.dump(found, file)
dist.destroy_process_group()
print("done")
