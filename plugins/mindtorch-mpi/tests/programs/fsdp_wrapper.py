"""`FullyShardedDataParallel` as programs use it. Runs on mindtorch and on PyTorch; writes what it finds."""

import functools
import json
import sys
import warnings

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.fsdp import (
    CPUOffload,
    FullOptimStateDictConfig,
    FullStateDictConfig,
    FullyShardedDataParallel,
    MixedPrecision,
    ShardedStateDictConfig,
    ShardingStrategy,
    StateDictType,
)
from torch.distributed.fsdp.wrap import (
    CustomPolicy,
    ModuleWrapPolicy,
    enable_wrap,
    lambda_auto_wrap_policy,
    size_based_auto_wrap_policy,
    transformer_auto_wrap_policy,
    wrap,
)

warnings.simplefilter("ignore")
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
found = {}
# PyTorch takes a device for granted, unless it is told one.
FSDP = functools.partial(
    FullyShardedDataParallel, device_id=torch.device("cpu"), use_orig_params=True
)
Strategy = ShardingStrategy
FULL = StateDictType.FULL_STATE_DICT


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.first, self.second = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.norm = nn.LayerNorm(width)

    def forward(self, x):
        return x + self.second(torch.tanh(self.first(self.norm(x))))


class Network(nn.Module):
    def __init__(self, width=6, depth=2):
        super().__init__()
        self.embed = nn.Linear(4, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.register_buffer("scale", torch.full((width,), 0.5))
        self.head = nn.Linear(width, 3)

    def forward(self, x):
        x = self.embed(x)
        for block in self.blocks:
            x = block(x * self.scale)
        return self.head(x)


def network(scale=0.4):
    model = Network()
    for i, p in enumerate(model.parameters()):  # both draw the same
        with torch.no_grad():
            p.copy_(torch.sin(torch.arange(p.numel()).reshape(p.shape) * (0.7 + 0.1 * i)) * scale)
    return model


def batch(number, of=rank):
    return torch.cos(torch.arange(20.0).reshape(5, 4) * (1 + number) + of)


def numbers(state):
    return {name: t.double().tolist() for name, t in state.items()}


def train(model, optimizer, steps=3, clip=True):
    rows = []
    for number in range(steps):
        optimizer.zero_grad()
        loss = model(batch(number)).float().square().mean()
        loss.backward()
        norm = float(model.clip_grad_norm_(0.5)) if clip else 0.0
        optimizer.step()
        rows.append([float(loss), norm])
    return rows


def adam(model):
    return torch.optim.AdamW(model.parameters(), lr=0.05)


def momentum(model):  # with one state: PyTorch's mixes two up on CPUs
    return torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)


def whole(model):
    with FullyShardedDataParallel.state_dict_type(model, FULL):
        return numbers(model.state_dict())


BLOCKS = ModuleWrapPolicy({Block})
POLICIES = {
    "none": None,
    "class": BLOCKS,
    "layers": functools.partial(transformer_auto_wrap_policy, transformer_layer_cls={Block}),
    "size": functools.partial(size_based_auto_wrap_policy, min_num_params=70),
    "function": functools.partial(
        lambda_auto_wrap_policy, lambda_fn=lambda m: isinstance(m, nn.Linear)
    ),
    "custom": CustomPolicy(
        lambda m: {"sharding_strategy": Strategy.SHARD_GRAD_OP} if isinstance(m, Block) else False
    ),
}
for name, policy in POLICIES.items():
    model = FSDP(network(), auto_wrap_policy=policy)
    modules = FullyShardedDataParallel.fsdp_modules(model)
    found[f"policy {name}"] = [
        [
            next(
                kind.__name__
                for kind in (Network, Block, nn.Linear)
                if isinstance(each.module, kind)
            )
            for each in modules
        ],
        train(model, adam(model)),
        whole(model),
        isinstance(model.module, Network),
        isinstance(model, nn.Module),
        len(FullyShardedDataParallel.fsdp_modules(model, root_only=True)),
    ]
for strategy in (Strategy.SHARD_GRAD_OP, Strategy.NO_SHARD):
    model = FSDP(network(), auto_wrap_policy=BLOCKS, sharding_strategy=strategy)
    found[f"{strategy}"] = train(model, adam(model)), whole(model)
model = FSDP(network(), auto_wrap_policy=BLOCKS, cpu_offload=CPUOffload(offload_params=False))
model(batch(0)).sum().backward()
found["clip inf"] = float(model.clip_grad_norm_(0.1, float("inf")))

# Gradients of several backward passes are summed once.
model = FSDP(network(), auto_wrap_policy=BLOCKS)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
with model.no_sync():
    model(batch(0)).square().mean().backward()
model(batch(1)).square().mean().backward()
optimizer.step()
found["no_sync"] = whole(model)

# All begin with rank 0's; PyTorch does that on GPUs alone.
own = hasattr(torch, "pipeline")
model = FSDP(network(0.4 + rank * own), sync_module_states=own)
found["sync"] = whole(model)

# Whole parameters for a while, also to be changed.
with FullyShardedDataParallel.summon_full_params(model):
    found["summoned"] = {n: [*p.shape] for n, p in model.named_parameters()}
    with torch.no_grad():
        model.head.bias.fill_(3.0)
found["written"] = whole(model)["head.bias"]
with FullyShardedDataParallel.summon_full_params(model, writeback=False), torch.no_grad():
    model.head.bias.fill_(5.0)
found["not written"] = whole(model)["head.bias"]

# States: whole, on rank 0 alone, and taken by another model and optimizer.
model = FSDP(network(), auto_wrap_policy=BLOCKS)
optimizer = momentum(model)
train(model, optimizer)
if own:  # PyTorch's ranks die of it without a GPU
    first = FullStateDictConfig(offload_to_cpu=True, rank0_only=True)
    with FullyShardedDataParallel.state_dict_type(model, FULL, first):
        state = model.state_dict()
    assert [*state] == ([*network().state_dict()] if rank == 0 else [])
config = FullOptimStateDictConfig(rank0_only=False)
with FullyShardedDataParallel.state_dict_type(model, FULL, FullStateDictConfig(), config):
    states = model.state_dict()
    of_optimizer = FullyShardedDataParallel.optim_state_dict(model, optimizer)
found["optimizer"] = {
    name: {key: torch.as_tensor(v).double().tolist() for key, v in sorted(row.items())}
    for name, row in sorted(of_optimizer["state"].items())
}
found["groups"] = [[sorted(g["params"]), g["lr"]] for g in of_optimizer["param_groups"]]
other = FSDP(network(0.1), auto_wrap_policy=BLOCKS)
again = momentum(other)
with FullyShardedDataParallel.state_dict_type(other, FULL, FullStateDictConfig(), config):
    keys = other.load_state_dict(states)
    found["keys"] = [list(keys.missing_keys), list(keys.unexpected_keys)]
    taken = FullyShardedDataParallel.optim_state_dict_to_load(other, again, of_optimizer)
    again.load_state_dict(taken)
found["goes on"] = [train(model, optimizer), train(other, again), whole(other)]
with FullyShardedDataParallel.state_dict_type(
    model, StateDictType.SHARDED_STATE_DICT, ShardedStateDictConfig()
):
    parts = model.state_dict()
found["parts"] = sorted(parts)
try:
    other.load_state_dict({"head.bias": torch.zeros(3)})
except RuntimeError as error:
    found["missing"] = "Missing key(s)" in str(error)

if own:  # what PyTorch does not do without a GPU
    for each in (model, other):
        FullyShardedDataParallel.set_state_dict_type(
            each, FULL, FullStateDictConfig(), FullOptimStateDictConfig(rank0_only=True)
        )
    again = adam(other)
    train(other, again)
    taken = FullyShardedDataParallel.optim_state_dict(other, again)
    assert bool(taken) == (rank == 0)
    model.load_state_dict(other.state_dict())
    optimizer = adam(model)
    optimizer.load_state_dict(
        FullyShardedDataParallel.optim_state_dict_to_load(model, optimizer, taken)
    )
    assert train(model, optimizer) == train(other, again)
    groups = dist.new_group(), dist.new_group([rank], use_local_synchronization=True)
    results = []
    for strategy, group in [
        (Strategy.FULL_SHARD, groups[0]),
        (Strategy.NO_SHARD, groups[0]),
        (Strategy.HYBRID_SHARD, groups),
        (Strategy._HYBRID_SHARD_ZERO2, groups[::-1]),
        (Strategy.HYBRID_SHARD, None),
    ]:
        model = FSDP(network(), group, strategy, CPUOffload(offload_params=True), BLOCKS)
        results.append([train(model, adam(model)), whole(model)])
    torch.testing.assert_close(results[1:], results[:1] * 4)
    states = dist.checkpoint.state_dict.get_model_state_dict(model)
    assert [*states] == [*network().state_dict()]
    assert isinstance(states["head.weight"], dist.tensor.DTensor)

# Lower precision, by the wrappers that a block makes.
half = MixedPrecision(
    param_dtype=torch.bfloat16, reduce_dtype=torch.float32, buffer_dtype=torch.bfloat16
)
with enable_wrap(wrapper_cls=FSDP, mixed_precision=half):
    inner = network()
    inner.head = wrap(inner.head)
    model = wrap(inner)
seen = []
inner.head.module.register_forward_pre_hook(
    lambda m, args: seen.append([str(args[0].dtype), str(m.weight.dtype)])
)
out = model(batch(0))
out.float().square().mean().backward()
found["precision"] = [
    seen,
    str(out.dtype),
    sorted({str(p.grad.dtype) for p in model.parameters() if p.grad is not None}),
]
with FullyShardedDataParallel.state_dict_type(model, FULL):
    found["precision of states"] = {n: str(t.dtype) for n, t in model.state_dict().items()}
with open(f"{sys.argv[1]}/fsdp_wrapper-{rank}.json", "w") as file:
    json.dump(found, file)
dist.destroy_process_group()
print("done")
