"""Plain tensors, functions and rules of programs beside DTensors. Runs on mindtorch and on PyTorch."""

import json
import sys

import pytest
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.experimental import (
    implicit_replication,
    local_map,
    register_sharding,
)

dist.init_process_group("gloo")
mesh = init_device_mesh("cpu", (dist.get_world_size(),))
x = torch.arange(24.0).reshape(4, 6).sin()
found = {}


def cut(t, placement):
    return distribute_tensor(t, mesh, [placement])


def seen(name, *results):
    found[name] = [
        [str(t.placements), list(t.shape), list(t.stride()), t.full_tensor().tolist()]
        if hasattr(t, "placements")
        else t
        for t in results
    ]


def plain():
    with implicit_replication():
        seen("added", cut(x, Shard(0)) + x)
        seen("expanded", cut(x, Shard(1)) * torch.arange(6.0))
        seen("product", cut(x, Shard(0)) @ x.T)
        if "mindtorch_core" in sys.modules:  # PyTorch forgets the outer one
            with implicit_replication():
                pass
            cut(x, Shard(0)) + x
    with pytest.raises(RuntimeError, match="got mixed torch"):
        cut(x, Shard(0)) + x
    with pytest.raises(KeyError), implicit_replication():
        raise KeyError
    with pytest.raises(RuntimeError, match="got mixed torch"):
        cut(x, Shard(0)) + x


def functions():
    lies = {"out_placements": [Partial()], "in_placements": ([Shard(1)], [Shard(0)])}
    product = local_map(lambda a, b: a @ b, **lies)
    seen("of parts", product(cut(x, Shard(1)), cut(x.T.contiguous(), Shard(0))))
    with pytest.raises(ValueError, match="mismatched placements"):
        product(cut(x, Shard(0)), cut(x.T.contiguous(), Shard(0)))
    product = local_map(lambda a, b: a @ b, **lies, redistribute_inputs=True)
    seen("laid out", product(cut(x, Shard(0)), cut(x.T.contiguous(), Replicate())))
    several = local_map(
        lambda a, k: (a * k, a.sum(0), k),
        out_placements=([Shard(0)], [Partial()], None),
        in_placements=([Shard(0)], None),
    )
    seen("several", *several(cut(x, Shard(0)), 3))
    with pytest.raises(AssertionError, match="2 is expected"):
        local_map(lambda a: (a, a), out_placements=([Shard(0)],))(cut(x, Shard(0)))
    with pytest.raises(AssertionError, match="in_placements length 2"):
        local_map(lambda a: a, [Shard(0)], in_placements=([Shard(0)], None))(cut(x, Shard(0)))
    d = cut(x, Shard(0)).requires_grad_()
    way = ([Shard(0)],)

    @local_map(out_placements=[Shard(0)], in_placements=way, in_grad_placements=way)
    def doubled(a):
        return a * 2

    doubled(d).sum().backward()
    seen("gradient", d.grad)
    assert torch.equal(doubled(x) if "mindtorch_core" in sys.modules else x * 2, x * 2)


library = torch.library.Library("beside", "DEF")
library.define("twist(Tensor x, int k) -> Tensor")
library.define("two(Tensor x, Tensor y) -> (Tensor, Tensor)")
library.impl("twist", lambda x, k: x.flip(1) * k, "CPU")
library.impl("twist", lambda x, k: torch.empty_like(x), "Meta")
library.impl("two", lambda x, y: (x @ y, x * 2), "CPU")
library.impl(
    "two",
    lambda x, y: (torch.empty(x.shape[0], y.shape[1], device="meta"), torch.empty_like(x)),
    "Meta",
)


@register_sharding(torch.ops.beside.twist.default)
def rows(x, k):
    found["told"] = [str(x.placements), list(x.shape), k]
    return [([Shard(0)], [Shard(0), None])]


@register_sharding([torch.ops.beside.two.default])
def ways(x, y):
    return [
        ([Replicate()] * 2, [Replicate()] * 2),
        ([Shard(0)] * 2, [Shard(0), Replicate()]),
        ([Partial(), Shard(1)], [Shard(1), Shard(0)]),
    ]


def rules():
    for placement in (Shard(0), Shard(1), Replicate()):
        seen(f"twisted {placement}", torch.ops.beside.twist(cut(x, placement), 2))
        for other in (Shard(0), Replicate()):
            both = torch.ops.beside.two(cut(x, placement), cut(x.T.contiguous(), other))
            seen(f"two {placement} {other}", *both)


plain()
functions()
rules()
with open(f"{sys.argv[1]}/beside_dtensors-{dist.get_rank()}.json", "w") as file:
    json.dump(found, file)
dist.destroy_process_group()
