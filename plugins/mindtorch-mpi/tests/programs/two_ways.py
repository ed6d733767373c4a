"""Modules cut by tensor parallelism, then by fully_shard. Runs on mindtorch and on PyTorch; writes what it finds."""

import json
import sys
import warnings

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed import checkpoint
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_state_dict,
    set_state_dict,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor._utils import compute_local_shape_and_global_offset
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInputOutput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)
from torch.distributed.tensor.placement_types import _StridedShard
from torch.utils.checkpoint import checkpoint as recomputed

warnings.simplefilter("ignore")
dist.init_process_group("gloo")
rank = dist.get_rank()
mesh = init_device_mesh("cpu", (2, 2), mesh_dim_names=("dp", "tp"))
found = {}
OURS = "mindtorch_core" in sys.modules
WHOLE = StateDictOptions(full_state_dict=True)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(6)
        self.up, self.down = nn.Linear(6, 10), nn.Linear(10, 6)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


class Model(nn.Module):
    def __init__(self, recompute):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])
        self.recompute = recompute

    def forward(self, x):
        for block in self.blocks:
            x = recomputed(block, x, use_reentrant=False) if self.recompute else block(x)
        return x


def made(recompute=False):
    torch.manual_seed(0)
    model = Model(recompute)
    with torch.no_grad():
        for number, p in enumerate(model.parameters()):
            p.copy_((torch.arange(float(p.numel())) * 1.7 + number).sin().reshape(p.shape))
    return model


MIDDLE = {"up": ColwiseParallel(), "down": RowwiseParallel()}
SEQUENCE = {
    "": PrepareModuleInputOutput(
        input_layouts=Replicate(),
        desired_input_layouts=Shard(1),
        output_layouts=Shard(1),
        desired_output_layouts=Replicate(),
    ),
    "norm": SequenceParallel(),
    "up": ColwiseParallel(input_layouts=Shard(1)),
    "down": RowwiseParallel(output_layouts=Shard(1), use_local_output=False),
}


def cut(plan, recompute=False, **options):
    model = made(recompute)
    for block in model.blocks:
        parallelize_module(block, mesh["tp"], plan)
        fully_shard(block, mesh=mesh["dp"], **options)
    return fully_shard(model, mesh=mesh["dp"], **options)


def trained(model, steps=3, part=True, optimizer=None):
    """The losses of some steps, and the optimizer."""
    optimizer = optimizer or torch.optim.AdamW(model.parameters(), lr=0.1)
    losses = []
    for step in range(steps):
        x = (torch.arange(8.0 * 4 * 6) * 0.9 + step).sin().reshape(8, 4, 6)
        optimizer.zero_grad()
        loss = model(x.chunk(2)[mesh.get_local_rank("dp")] if part else x).square().mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses, optimizer


def whole(model):
    return {name: p.full_tensor().tolist() for name, p in model.named_parameters()}


def steps():
    alone = made()
    trained(alone, part=False)
    cases = {
        "middle": cut(MIDDLE),
        "kept": cut(MIDDLE, reshard_after_forward=False),
        "sequence": cut(SEQUENCE),
        "again": cut(SEQUENCE, recompute=True),
        "columns": cut(
            MIDDLE, shard_placement_fn=lambda p: Shard(-1) if p.shape == (10, 6) else None
        ),
    }
    for name, model in cases.items():
        found[f"{name} lies"] = {
            key: [str(p.placements), list(p.to_local().shape), list(p.shape), list(p.stride()),
                  list(p.device_mesh.mesh_dim_names)]
            for key, p in model.named_parameters()
        }  # fmt: skip
        found[name] = [trained(model)[0], whole(model)]
        close(model, alone)
    model = cut(SEQUENCE, mp_policy=MixedPrecisionPolicy(param_dtype=torch.float64))
    found["double"] = [trained(model)[0], str(next(model.parameters()).grad.dtype), whole(model)]


def parts_are_given_up():
    """Graphs keep no parameter: backward gathers again what is given up after forward."""
    calls = []
    own = dist.all_gather_single

    def counted(*args, **kwargs):
        calls.append(args)
        return own(*args, **kwargs)

    dist.all_gather_single = counted
    for reshard, expected in ((True, 2), (False, 0)):
        model = cut(SEQUENCE)
        model.set_reshard_after_forward(reshard)
        model.blocks[0](torch.ones(2, 4, 6))  # it is the root then
        loss = model.blocks[1](torch.ones(2, 4, 6)).sum()
        calls.clear()
        loss.backward()
        assert bool(calls) == bool(expected), (reshard, len(calls))
    dist.all_gather_single = own


def close(model, alone):
    for name, p in alone.named_parameters():
        mine = model[name] if isinstance(model, dict) else model.get_parameter(name).full_tensor()
        torch.testing.assert_close(mine, p.detach(), rtol=1e-4, atol=1e-5)


def states(folder):
    """Whole states are those of one process; they and checkpoints go on as it does, cut in another way too."""
    alone, model = made(), cut(SEQUENCE)
    _, optimizer_alone = trained(alone, 2, part=False)
    _, optimizer = trained(model, 2)
    own, of_optimizer = get_state_dict(model, optimizer, options=WHOLE)
    close(own, alone)
    for name, p in alone.named_parameters():
        for key, t in optimizer_alone.state[p].items():
            torch.testing.assert_close(of_optimizer["state"][name][key], t, rtol=1e-4, atol=1e-5)
    state = dict(zip(("model", "optim"), get_state_dict(model, optimizer), strict=True))
    checkpoint.save(state, checkpoint_id=f"{folder}/two_ways")
    trained(alone, 1, part=False, optimizer=optimizer_alone)

    again = cut(SEQUENCE)
    there = torch.optim.AdamW(again.parameters(), lr=0.1)
    first = rank == 0
    options = StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    set_state_dict(
        again,
        there,
        model_state_dict=own if first else {},
        optim_state_dict=of_optimizer if first else {},
        options=options,
    )
    trained(again, 1, optimizer=there)
    close(again, alone)

    for other in (cut(MIDDLE), fully_shard(made(), mesh=mesh["dp"])):
        there = torch.optim.AdamW(other.parameters(), lr=0.1)
        state = dict(zip(("model", "optim"), get_state_dict(other, there), strict=True))
        checkpoint.load(state, checkpoint_id=f"{folder}/two_ways")
        set_state_dict(
            other, there, model_state_dict=state["model"], optim_state_dict=state["optim"]
        )
        trained(other, 1, optimizer=there)
        close(other, alone)


def placements():
    for count in (1, 3, 4, 5, 8) if OURS else (4, 8):  # PyTorch distributes no uneven ones so
        t = torch.arange(count * 3.0).reshape(count, 3)
        strided = (_StridedShard(0, split_factor=2), Shard(0))
        lies = distribute_tensor(t, mesh, strided)
        ways = [
            strided,
            (Shard(0), Shard(0)),
            (Replicate(), Shard(1)),
            (Shard(1), Shard(0)),
            strided,
        ]
        shapes = []
        for way in ways:
            lies = lies.redistribute(placements=way)
            part = compute_local_shape_and_global_offset(t.shape, mesh, way)
            shapes.append([str(lies.placements), lies.to_local().tolist(), [*map(list, part)]])
            torch.testing.assert_close(lies.full_tensor(), t)
        doubled = lies * 2 + lies
        if count % 4 == 0:
            found[f"placed {count}"] = shapes
            found[f"computed {count}"] = str(doubled.placements)
        torch.testing.assert_close(doubled.full_tensor(), t * 3)
        torch.testing.assert_close(lies.sum().full_tensor(), t.sum())
        torch.testing.assert_close((lies @ lies.T).full_tensor(), t @ t.T)


def refused():
    for way in (mesh["tp"], init_device_mesh("cpu", (4,), mesh_dim_names=("all",))):
        model = made()
        parallelize_module(model.blocks[0], mesh["tp"], MIDDLE)
        with pytest.raises(RuntimeError, match="Linear.weight is a DTensor on" if OURS else "mesh"):
            fully_shard(model.blocks[0], mesh=way)


steps()
placements()
refused()
if OURS:
    states(sys.argv[1])
    parts_are_given_up()
with open(f"{sys.argv[1]}/two_ways-{rank}.json", "w") as file:
    json.dump(found, file)
dist.destroy_process_group()
