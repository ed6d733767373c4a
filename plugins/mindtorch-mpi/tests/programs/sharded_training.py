"""fully_shard on two ranks. Runs on mindtorch and on PyTorch; writes what it finds."""

import json
import sys
import warnings

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import (
    CPUOffloadPolicy,
    FSDPModule,
    MixedPrecisionPolicy,
    fully_shard,
    register_fsdp_forward_method,
    share_comm_ctx,
)
from torch.distributed.tensor import DTensor, Shard

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
torch.set_num_threads(1)
found = {}
warnings.simplefilter("ignore")
mesh = init_device_mesh("cpu", (size,), mesh_dim_names=("shard",))
square = init_device_mesh("cpu", (size, 1), mesh_dim_names=("copies", "shard"))


class Net(nn.Module):
    def __init__(self, width=5):
        super().__init__()
        self.first = nn.Linear(3, width)
        self.mid = nn.Sequential(nn.Linear(width, 7), nn.Tanh(), nn.Linear(7, width))
        self.norm = nn.LayerNorm(width)
        self.last = nn.Linear(width, 1)
        self.seen = []

    def forward(self, x):
        h = self.first(x).tanh()
        h = self.norm(h + self.mid(h).to(h.dtype))
        self.seen.append([str(t.dtype)[6:] for t in (x, h, self.last.weight)])
        return self.last(h)


def fill(model):
    for number, p in enumerate(model.parameters()):
        with torch.no_grad():
            count = torch.arange(float(p.numel())).reshape(p.shape)
            p.copy_(((count * 0.37 + number) % 1.7 - 0.8).to(p.dtype))
    return model


def batch(number, rows=4):
    count = torch.arange(float(rows * size * 3)).reshape(rows * size, 3)
    x = (count * (0.11 + 0.03 * number)) % 2 - 1
    return x[rank::size], (x.sum(1, keepdim=True) % 1)[rank::size]


def full(t):
    return (t.full_tensor() if isinstance(t, DTensor) else t).detach().float().tolist()


def params(model):
    return {name: full(p) for name, p in model.named_parameters()}


def kinds(model):
    return {
        name: [type(p).__name__, str(p.dtype)[6:], list(p.shape), p.requires_grad]
        + ([list(p.to_local().shape), str(p.placements)] if isinstance(p, DTensor) else [])
        for name, p in model.named_parameters()
    }


def train(model, optimizer, steps=3, norm=0.7):
    losses, norms = [], []
    for number in range(steps):
        x, y = batch(number)
        loss = (model(x).float() - y).square().mean()
        loss.backward()
        norms.append(full(nn.utils.clip_grad_norm_(model.parameters(), norm)))
        optimizer.step()
        optimizer.zero_grad()
        losses.append(loss.item())
    return [losses, norms, params(model)]


def cut(model, *parts, **options):
    for part in parts:
        fully_shard(part, **options)
    return fully_shard(model, **options)


# Nested; what forward leaves.
for name, options in {
    "default": {},
    "kept": {"reshard_after_forward": False},
    "given up": {"reshard_after_forward": True},
    "one": {"reshard_after_forward": 1},
    "two": {"reshard_after_forward": size},
    "mesh": {"mesh": mesh},
    "copies": {"mesh": square},
    "offloaded": {"offload_policy": CPUOffloadPolicy(pin_memory=False)},
    "along 1": {
        "shard_placement_fn": lambda p: Shard(p.ndim - 1) if p.shape[-1] % 2 == 0 else None
    },
}.items():
    model = fill(Net(width=6 if name == "along 1" else 5))
    cut(model, model.mid, model.last, **options)
    before = kinds(model)
    out = model(batch(0)[0])
    found[f"{name} kinds"] = [before, kinds(model)]
    out.sum().backward()
    model.zero_grad()
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.02, eps=1e-3)
    found[f"{name} trains"] = train(model, optimizer)
    found[f"{name} after"] = kinds(model)
found["classes"] = [type(model).__name__, type(model.mid).__name__, isinstance(model, FSDPModule)]
found["class is"] = [isinstance(model.mid, nn.Sequential), type(model.first).__name__]
found["foreach"] = {}
for name, make in {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, foreach=True),
    "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1),
    "adamax": lambda p: torch.optim.Adamax(p, lr=0.02, eps=1e-3),
}.items():
    model = fill(Net())
    cut(model, model.mid)
    found["foreach"][name] = train(model, make(model.parameters()))

# Dtypes.
bf16, f16, f32 = torch.bfloat16, torch.float16, torch.float32
for name, policy in {
    "bf16": MixedPrecisionPolicy(param_dtype=bf16),
    "bf16 summed in f32": MixedPrecisionPolicy(param_dtype=bf16, reduce_dtype=f32),
    "given out as f32": MixedPrecisionPolicy(bf16, f32, f32),
    "inputs as they are": MixedPrecisionPolicy(f32, cast_forward_inputs=False),
    "summed in bf16": MixedPrecisionPolicy(reduce_dtype=bf16),
    "out f16": MixedPrecisionPolicy(output_dtype=f16),
}.items():
    model = fill(Net())
    cut(model, model.mid, mp_policy=policy)
    x, y = batch(0)
    out = model(x)
    (out.float() - y).square().mean().backward()
    grads = {
        n: [str(p.grad.dtype)[6:], p.grad.full_tensor().tolist()]
        for n, p in model.named_parameters()
    }

    # As many digits as bfloat16 has: where it is rounded is each framework's own.
    def rounded(values):
        return [rounded(v) for v in values] if isinstance(values, list) else round(values, 1)

    found[f"{name} dtypes"] = [str(out.dtype)[6:], model.seen, {n: g[0] for n, g in grads.items()}]
    if name in ("inputs as they are", "out f16"):
        found[f"{name} grads"] = {n: g[1] for n, g in grads.items()} if name[0] == "i" else None
model = fill(Net())
cut(model, model.mid, mp_policy=MixedPrecisionPolicy(torch.float64, torch.float64))
found["float64"] = [train(model, torch.optim.SGD(model.parameters(), lr=0.1)), model.seen]

# Gradients of several backwards.
for name, how in {"by sync": "set_requires_gradient_sync", "plain": None}.items():
    model = fill(Net())
    cut(model, model.mid)
    for number in range(3):
        if how is not None:
            model.set_requires_gradient_sync(number == 2)
            model.set_is_last_backward(number == 2)
        x, y = batch(number)
        (model(x) - y).square().mean().backward()
        found[f"{name} grads {number}"] = {
            n: None if p.grad is None else [type(p.grad).__name__, full(p.grad)]
            for n, p in model.named_parameters()
        }
model = fill(Net())
cut(model, model.mid, mesh=square)
for number in range(2):
    model.set_requires_all_reduce(number == 1)
    x, y = batch(number)
    (model(x) - y).square().mean().backward()
found["all reduce later"] = {n: full(p.grad) for n, p in model.named_parameters()}

# Factors, parts that are never used, frozen, ignored, shared.
model = fill(Net())
cut(model, model.mid)
for each in (model, model.mid):  # gloo multiplies nothing in sums
    each.set_force_sum_reduction_for_comms(True)
model.set_gradient_divide_factor(1.0)
model.mid.set_gradient_divide_factor(4.0)
model(batch(0)[0]).sum().backward()
found["factors"] = {n: full(p.grad) for n, p in model.named_parameters()}
model = fill(Net())
model.spare = nn.Linear(2, 3)
model.first.weight.requires_grad_(False)
model.norm.requires_grad_(False)
kept = model.last.bias
cut(model, model.mid, ignored_params={kept})
model(batch(0)[0]).sum().backward()
found["frozen"] = [
    kinds(model),
    {n: None if p.grad is None else full(p.grad) for n, p in model.named_parameters()},
    model.last.bias is kept,
]
model = fill(Net())
fully_shard([model.first, model.mid])
fully_shard(model)
found["list"] = train(model, torch.optim.SGD(model.parameters(), lr=0.1))
tied = fill(nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)))
tied[2].weight = tied[0].weight
fully_shard(tied)
tied(torch.ones(2, 4) * (rank + 1)).sum().backward()
found["tied"] = [
    tied[2].weight is tied[0].weight,
    {n: full(p.grad) for n, p in tied.named_parameters()},
]
again = Net.forward
model = fill(Net())
model.other = model.forward
register_fsdp_forward_method(model, "other")
cut(model, model.mid)
register_fsdp_forward_method(model, "other")
found["another method"] = model.other(batch(0)[0]).detach().tolist()

# By hand.
model = fill(Net())
cut(model, model.mid, model.last)
handle = model.unshard(async_op=True)
handle.wait()
found["unsharded"] = [kinds(model), handle.wait()]
found["unshard"] = [model.mid.unshard(), kinds(model)]
model.reshard()
found["resharded"] = [kinds(model), model.mid.reshard()]
model.mid.set_modules_to_forward_prefetch([model.last])
model.last.set_modules_to_backward_prefetch([model.mid])
model.set_reshard_after_forward(False, recurse=False)
model.set_unshard_in_backward(True)
found["ahead"] = train(model, torch.optim.SGD(model.parameters(), lr=0.1))
with torch.no_grad():
    found["no grad"] = [model(batch(0)[0]).tolist(), kinds(model)]
calls = []
model = fill(Net())
cut(model, model.mid, mesh=square)
for each in (model, model.mid):
    each.set_all_reduce_hook(lambda grads: calls.append([list(grads.shape), grads.tolist()]))
model(batch(0)[0]).sum().backward()
found["hook"] = calls
model.set_separate_reduce_scatter_group(False)
model.set_reduce_scatter_max_input_buffers(2)
share_comm_ctx([model, model.mid])
model.set_force_sum_reduction_for_comms(True)

# States.
model = fill(Net())
cut(model, model.mid)
optimizer = torch.optim.AdamW(model.parameters(), lr=0.02, eps=1e-3)
train(model, optimizer, steps=1)
state = model.state_dict()
found["state"] = {
    n: [type(t).__name__, list(t.shape), list(t.to_local().shape), full(t)]
    for n, t in state.items()
}
moments = optimizer.state_dict()
found["moments"] = {
    str(n): {k: [type(t).__name__, full(t)] for k, t in each.items()}
    for n, each in moments["state"].items()
}
twin = fill(Net())
cut(twin, twin.mid)
found["loaded"] = [str(twin.load_state_dict(state)), params(twin) == params(model)]
twin_optimizer = torch.optim.AdamW(twin.parameters(), lr=0.02, eps=1e-3)
twin_optimizer.load_state_dict(moments)
found["goes on"] = train(twin, twin_optimizer) == train(model, optimizer)
late = Net()
with torch.device("meta"):
    late = Net()
cut(late, late.mid)
late.to_empty(device="cpu")
late.load_state_dict(state)
found["from meta"] = params(late)
assigned = Net()
with torch.device("meta"):
    assigned = Net()
cut(assigned, assigned.mid)
assigned.load_state_dict(state, assign=True)
found["assigned"] = [params(assigned), kinds(assigned)]


def refused(name, call):
    try:
        given = call()
    except Exception as error:  # noqa: BLE001
        text = "" if name in ("no module", "method") else str(error)[:30]
        found[f"refused {name}"] = [type(error).__name__, text]
    else:
        found[f"refused {name}"] = type(given).__name__


wrong = fill(Net())
refused("list without forward", lambda: fully_shard(nn.ModuleList([nn.Linear(1, 1)])))
refused("dict without forward", lambda: fully_shard(nn.ModuleDict({"a": nn.Linear(1, 1)})))
refused("twice", lambda: fully_shard(fully_shard(fill(Net()))))
refused("no module", lambda: fully_shard(3))
refused("string", lambda: fully_shard(fill(Net()), reshard_after_forward="x"))
refused("no divisor", lambda: fully_shard(fill(Net()), reshard_after_forward=3))
refused("mesh of 3", lambda: fully_shard(fill(Net()), mesh=init_device_mesh("cpu", (1, 1, size))))
unnamed = init_device_mesh("cpu", (1, size))
refused("mesh without names", lambda: fully_shard(fill(Net()), mesh=unnamed))
refused(
    "uneven", lambda: fully_shard(nn.Linear(3, 4), shard_placement_fn=lambda p: Shard(p.ndim - 1))
)
refused("scalar", lambda: fully_shard(nn.ParameterDict({"a": nn.Parameter(torch.ones(()))})))
refused("copy", lambda: __import__("copy").deepcopy(fully_shard(fill(Net()))))
refused("prefetch", lambda: model.set_modules_to_forward_prefetch([nn.Linear(1, 1)]))
refused("last", lambda: model.set_is_last_backward(3))
refused("no buffers", lambda: model.set_reduce_scatter_max_input_buffers(0))
refused("buffers", lambda: model.set_reduce_scatter_max_input_buffers(True))
refused("shared", lambda: share_comm_ctx([nn.Linear(1, 1)]))
refused("hook", lambda: model.set_all_reduce_hook(print, stream=3))
refused("reshard", lambda: model.set_reshard_after_forward(3))
refused("method", lambda: register_fsdp_forward_method(model, "none"))
refused("method of another", lambda: register_fsdp_forward_method(nn.Linear(1, 1), "none"))
refused("mixed", lambda: model(batch(0)[0]) + model.last.weight)
inner = fill(Net())
cut(inner, inner.mid)
inner.mid(torch.ones(1, 5))
refused("inner first", lambda: inner(batch(0)[0]))
with torch.device("meta"):
    empty = Net()
cut(empty, empty.mid)
refused("meta", lambda: empty(batch(0)[0]))
with open(f"{sys.argv[1]}/sharded_training-{rank}.json", "w") as file:
    json.dump(found, file)
dist.destroy_process_group()
print("done")
