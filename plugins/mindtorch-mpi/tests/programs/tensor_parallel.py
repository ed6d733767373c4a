"""A transformer of which each rank computes a part. Runs on mindtorch and on PyTorch; writes what it finds."""

import json
import sys
import warnings

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    PrepareModuleInput,
    PrepareModuleInputOutput,
    PrepareModuleOutput,
    RowwiseParallel,
    SequenceParallel,
    parallelize_module,
)

warnings.simplefilter("ignore")
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (size,))
found = {}


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.size = width // heads

    def forward(self, x):
        q, k, v = (
            each(x).unflatten(-1, (-1, self.size)).transpose(1, 2)
            for each in (self.query, self.key, self.value)
        )
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.out(y.transpose(1, 2).flatten(2))


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.attention = Attention(width, 4)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x):
        x = x + self.attention(self.norms[0](x))
        return x + self.down(nn.functional.gelu(self.up(self.norms[1](x))))


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(12, 16)
        self.blocks = nn.ModuleList([Block(16), Block(16)])
        self.norm = nn.LayerNorm(16)
        self.head = nn.Linear(16, 12, bias=False)

    def forward(self, x):
        x = self.table(x)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))


def plans():
    attention = {
        **{f"blocks.*.attention.{name}": ColwiseParallel() for name in ("query", "key", "value")},
        "blocks.*.up": ColwiseParallel(),
    }
    yield (
        "plain",
        {
            **attention,
            "table": RowwiseParallel(input_layouts=Replicate()),
            "blocks.*.attention.out": RowwiseParallel(),
            "blocks.*.down": RowwiseParallel(),
            "head": ColwiseParallel(output_layouts=Replicate()),
        },
    )
    whole = PrepareModuleInput(input_layouts=Shard(1), desired_input_layouts=Replicate())
    yield (
        "sequence",
        {
            **attention,
            "table": RowwiseParallel(input_layouts=Replicate(), output_layouts=Shard(1)),
            "blocks.*.norms.*": SequenceParallel(use_local_output=True),
            "blocks.*.attention": whole,
            "blocks.*.attention.out": RowwiseParallel(output_layouts=Shard(1)),
            "blocks.*.up": ColwiseParallel(input_layouts=Shard(1)),
            "blocks.*.down": RowwiseParallel(output_layouts=Shard(1)),
            "norm": SequenceParallel(),
            "head": ColwiseParallel(input_layouts=Shard(1), output_layouts=Replicate()),
        },
    )


def values(t):
    whole = t.full_tensor() if isinstance(t, DTensor) else t
    return whole.detach().double().tolist()


def filled(module):
    """Parameters that do not depend on how a library draws numbers."""
    with torch.no_grad():
        for i, p in enumerate(module.parameters()):
            p.copy_((torch.arange(float(p.numel())) * (0.7 + i) + i).sin().reshape(p.shape) * 0.3)
    return module


tokens = (torch.arange(3 * 8) * 5 % 12).reshape(3, 8)
for name, plan in plans():
    model = parallelize_module(filled(Model()), mesh, plan)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(tokens).flatten(0, 1), tokens.roll(1).flatten())
        loss.backward()
        losses.append(loss.item())
        optimizer.step()
    found[f"{name}: losses"] = losses
    found[f"{name}: parameters"] = {
        key: [str(getattr(p, "placements", None)), values(p)[-1]]
        for key, p in model.named_parameters()
    }

# A module of which nobody said how its parameters lie: they are replicated, and inputs and outputs laid out.
model = filled(nn.Linear(4, 4))
style = PrepareModuleInputOutput(
    input_layouts=(Shard(0),), desired_input_layouts=(Replicate(),), use_local_input=True,
    output_layouts=Replicate(), desired_output_layouts=Shard(1), use_local_output=False,
)  # fmt: skip
given = parallelize_module(model, mesh, style)(torch.full((1, 4), rank + 1.0))
found["prepared"] = [
    str(given.placements),
    list(given.shape),
    values(given),
    list(given.to_local().shape),
]
model = filled(nn.Linear(4, 4))
parallelize_module(
    model, mesh, PrepareModuleOutput(output_layouts=Partial(), desired_output_layouts=Replicate())
)
found["summed"] = values(model(torch.ones(1, 4)))

# How results lie.
a, b = (torch.arange(n * 8.0).reshape(n, 8).sin() for n in (8, 8))
for ways in ((Shard(0), Replicate()), (Replicate(), Shard(1)), (Shard(1), Shard(0))):
    x, y = (distribute_tensor(t, mesh, [way]) for t, way in zip((a, b), ways))  # noqa: B905
    for name, compute in {
        "mm": lambda x, y: x @ y, "softmax": lambda x, y: x.softmax(0) if y.placements[0].is_shard(1) else x.t(),
        "sum": lambda x, y: x.sum(0), "view": lambda x, y: x.view(4, 2, 8), "mean": lambda x, y: x.mean(1),
    }.items():  # fmt: skip
        result = compute(x, y)
        found[f"{name} {ways}"] = [str(result.placements), list(result.stride()), values(result)]

# What is partial and written into, and strides of wholes whose parts lie in another order.
two = DTensor.from_local(torch.full((2, 3), 2.0), mesh, [Replicate()])
for name, write in {
    "fill": lambda t: t.fill_(8), "zero": lambda t: t.zero_(), "mul": lambda t: t.mul_(2), "add": lambda t: t.add_(two),
    "copy": lambda t: t.copy_(two), "neg": lambda t: t.neg_(), "lists": lambda t: torch._foreach_mul_([t], 2),
    "list": lambda t: torch._foreach_add_([t], [two]),
}.items():  # fmt: skip
    partial = DTensor.from_local(torch.full((2, 3), rank + 1.0), mesh, [Partial()])
    write(partial)
    found[f"{name} of a partial one"] = [str(partial.placements), values(partial)]
for name, part in {
    "permuted": torch.ones(4, 2, 4).permute(1, 2, 0), "expanded": torch.ones(3, 1).expand(3, 4), "t": torch.ones(3, 4).t(),
}.items():  # fmt: skip
    ways = (Replicate(), Shard(0), Shard(1), Partial())
    found[f"strides, {name}"] = [list(DTensor.from_local(part, mesh, [w]).stride()) for w in ways]

for wrong in (
    lambda: parallelize_module(nn.ReLU(), mesh, ColwiseParallel()),
    lambda: parallelize_module(nn.ReLU(), mesh, 3),
    lambda: PrepareModuleInput(input_layouts=Shard(0)),
    lambda: PrepareModuleOutput(
        output_layouts=(Shard(0),), desired_output_layouts=(Shard(0), Shard(1))
    ),
):
    try:
        wrong()
    except Exception as error:  # noqa: BLE001
        found[f"refused {len(found)}"] = type(error).__name__
with open(f"{sys.argv[1]}/tensor_parallel-{rank}.json", "w") as file:
    json.dump(found, file)
dist.destroy_process_group()
print("done")
