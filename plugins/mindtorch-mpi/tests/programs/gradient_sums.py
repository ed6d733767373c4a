"""Gradients that not all steps, outputs or processes have. Runs on mindtorch and on PyTorch; writes them."""

import dataclasses
import json
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel as DDP

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

with open(f"{sys.argv[1]}/gradient_sums-{rank}.json", "w") as file:
    json.dump(found, file)
dist.destroy_process_group()
print("done")
