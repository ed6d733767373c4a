"""Sharded modules whose activations are computed again, scaled losses, and an optimizer's state by itself.

Runs on mindtorch and on PyTorch; writes what it finds.
"""

import functools
import json
import sys
import warnings

import torch
import torch.distributed as dist
import torch.distributed.checkpoint.optimizer as of_optimizers
from torch import nn
from torch.distributed import checkpoint as dcp
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import (
    CheckpointImpl,
    CheckpointWrapper,
    apply_activation_checkpointing,
    checkpoint_wrapper,
    offload_wrapper,
)
from torch.distributed.fsdp import (
    FullyShardedDataParallel,
    MixedPrecisionPolicy,
    StateDictType,
    fully_shard,
)
from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler
from torch.distributed.fsdp.wrap import ModuleWrapPolicy
from torch.utils.checkpoint import checkpoint

warnings.simplefilter("ignore")
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
mesh = dist.init_device_mesh("cpu", (size,))
found = {}
calls = []


class Block(nn.Module):
    def __init__(self, width=4):
        super().__init__()
        self.first, self.second = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.register_buffer("scale", torch.full((width,), 0.5))

    def forward(self, x, shift=None):
        calls.append(1)
        x = x + self.second(torch.tanh(self.first(x * self.scale.to(x.dtype))))
        return x if shift is None else x + shift


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.embed = nn.Linear(4, 4)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        x = self.embed(x)
        for i, block in enumerate(self.blocks):
            x = block(x, shift=torch.ones(4) * i)
        return self.head(x)


def alike(model):
    for i, p in enumerate(model.parameters()):  # both draw the same
        with torch.no_grad():
            p.copy_(torch.sin(torch.arange(p.numel()).reshape(p.shape) * (0.7 + 0.1 * i)) * 0.4)
    return model


def batch(number):
    return torch.cos(torch.arange(20.0).reshape(5, 4) * (1 + number) + rank)


def train(model, optimizer, steps=2):
    rows = []
    for number in range(steps):
        optimizer.zero_grad()
        loss = model(batch(number)).float().square().mean()
        loss.backward()
        optimizer.step()
        rows.append(loss.item())
    return rows


def numbers(state):
    return {
        name: (t.full_tensor() if hasattr(t, "full_tensor") else t).tolist()
        for name, t in state.items()
    }


def wrapped(kind):
    model = alike(Network())
    apply_activation_checkpointing(model, KINDS[kind], lambda m: isinstance(m, Block))
    return model


def momentum(model):
    return torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


# PyTorch takes a device for granted, unless it is told one.
FSDP = functools.partial(
    FullyShardedDataParallel,
    auto_wrap_policy=ModuleWrapPolicy({Block}),
    device_id=torch.device("cpu"),
    use_orig_params=True,
)
KINDS = {
    "again": checkpoint_wrapper,
    "reentrant": functools.partial(
        checkpoint_wrapper, checkpoint_impl=CheckpointImpl.REENTRANT, preserve_rng_state=False
    ),
    "in host memory": offload_wrapper,
}

for kind in KINDS:
    model = wrapped(kind)
    calls.clear()
    model(batch(0)).sum().backward()
    found[f"{kind} alone"] = [
        len(calls),
        numbers({name: p.grad for name, p in model.named_parameters()}),
        [*model.state_dict()],
        [name for name, _ in model.blocks[0].named_parameters()],
        model.blocks[0].first.in_features,
        str(model.load_state_dict(Network().state_dict())),
    ]
    model = wrapped(kind)
    for block in model.blocks:
        fully_shard(block, mesh=mesh)
    fully_shard(model, mesh=mesh)
    rows = train(model, momentum(model))
    found[f"{kind} within parts"] = rows, numbers(model.state_dict())
    for name, inner in (("within", wrapped(kind)), ("around", alike(Network()))):
        model = FSDP(inner)
        if name == "around":
            apply_activation_checkpointing(model, KINDS[kind], lambda m: isinstance(m, Block))
        rows = train(model, momentum(model))
        with FullyShardedDataParallel.state_dict_type(model, StateDictType.FULL_STATE_DICT):
            state = model.state_dict()
            model.load_state_dict(state)
        found[f"{kind} {name} the wrapper"] = rows, numbers(state)

model = alike(Network())
apply_activation_checkpointing(model, auto_wrap_policy=ModuleWrapPolicy({nn.Linear}))
found["policy"] = [name for name, _ in model.named_modules()]


def own(module, *args, mark, **kwargs):
    calls.append(mark)
    return module(*args, **kwargs)


made = checkpoint_wrapper(Block(), checkpoint_fn=own, mark="seen")
made(batch(0))
found["own function"] = calls[-2:], isinstance(made, CheckpointWrapper)


# Checkpoints in forward, of all or of a part of what is sharded together, and one within another.
class Again(Block):
    def __init__(self, part, reenters):
        super().__init__()
        self.part, self.reenters = part, reenters

    def forward(self, x):
        if self.part == "first":
            x = checkpoint(lambda x: self.first(x).tanh(), x, use_reentrant=self.reenters)
            return self.second(x)
        inner = super().forward
        if self.part == "nested":
            inner = functools.partial(checkpoint, inner, use_reentrant=self.reenters)
            return checkpoint(lambda x: inner(x) * 2, x, use_reentrant=False)
        return checkpoint(inner, x, use_reentrant=self.reenters)


OPTIONS = {
    "": {},
    "kept": {"reshard_after_forward": False},
    "half": {"mp_policy": MixedPrecisionPolicy(param_dtype=torch.bfloat16)},
}
for part, reenters in [
    *(("all", False), ("all", True), ("first", False), ("first", True)),
    ("nested", False),
]:
    for name, options in OPTIONS.items():
        for each in (True, False):
            layers = [Again(part, reenters) for _ in range(2)]
            model = alike(nn.Sequential(nn.Linear(4, 4), *layers, nn.Linear(4, 2)))
            for layer in layers * each:
                fully_shard(layer, mesh=mesh, **options)
            fully_shard(model, mesh=mesh, **options)
            rows = train(model, momentum(model), 3)
            rows = [round(row, 2) for row in rows] if name == "half" else rows
            found[f"{part} {reenters} {name} {each}"] = rows

# All ranks skip a step if one has to.
for name in ("finite", "not finite"):
    model = nn.Linear(4, 3)
    for p in model.parameters():
        nn.init.constant_(p, 0.1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    scaler = ShardedGradScaler("cpu", 8.0, 0.25, 2.0, growth_interval=1)
    for step in range(2):
        optimizer.zero_grad()
        scaler.scale(model(torch.ones(2, 4)).sum()).backward()
        if name != "finite" and rank == 1 and not step:
            model.weight.grad[0, 0] = float("inf")
        if step:
            scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
    found[f"scaled {name}"] = scaler.state_dict(), numbers(model.state_dict())

# An optimizer goes on from a checkpoint that is asked for its state alone.
folder = f"{sys.argv[1]}/with_optimizer"
model = FSDP(alike(Network()))
optimizer = momentum(model)
train(model, optimizer)
with FullyShardedDataParallel.state_dict_type(model, StateDictType.SHARDED_STATE_DICT):
    state = FullyShardedDataParallel.optim_state_dict(model, optimizer)
    dcp.save({"model": model.state_dict(), "optimizer": state}, checkpoint_id=folder)
goes_on = train(model, optimizer)
model = FSDP(Network())
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.1)
with FullyShardedDataParallel.state_dict_type(model, StateDictType.SHARDED_STATE_DICT):
    state = {"model": model.state_dict()}
    dcp.load(state, checkpoint_id=folder)
    model.load_state_dict(state["model"])
    read = of_optimizers.load_sharded_optimizer_state_dict(
        state["model"], "optimizer", dcp.FileSystemReader(folder)
    )
    taken = FullyShardedDataParallel.optim_state_dict_to_load(model, optimizer, read["optimizer"])
    optimizer.load_state_dict(taken)
found["optimizer"] = [*read], sorted(read["optimizer"]["state"]), goes_on, train(model, optimizer)
assert goes_on == found["optimizer"][-1]

with open(f"{sys.argv[1]}/activations-{rank}.json", "w") as file:
    json.dump(found, file)
