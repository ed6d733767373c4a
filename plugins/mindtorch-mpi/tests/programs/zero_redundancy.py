"""ZeroRedundancyOptimizer: the steps of one optimizer, with states in several processes."""

import copy

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core import nn
from mindtorch_core.distributed.optim import ZeroRedundancyOptimizer

dist.init_process_group("mpi")
rank, size = dist.get_rank(), dist.get_world_size()
close = torch.testing.assert_close


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 16), nn.ReLU(), nn.Linear(16, 3), nn.Linear(3, 2))


def groups(model, lr):
    return [{"params": model[0].parameters(), "lr": lr}, {"params": [*model[2].parameters()]}]


def train(model, optimizer, steps):
    for number in steps:
        draw = torch.Generator().manual_seed(number)
        optimizer.zero_grad()
        model(torch.randn(8, 5, generator=draw)).square().mean().backward()
        optimizer.step()


for kind, options in (
    (torch.optim.AdamW, {"lr": 0.01}),
    (torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
):
    alone, model = network(), network()
    first = kind(groups(alone, 0.02), **options)
    own = ZeroRedundancyOptimizer(groups(model, 0.02), kind, **options)
    first.add_param_group({"params": alone[3].parameters(), "lr": 0.5 * options["lr"]})
    own.add_param_group({"params": model[3].parameters(), "lr": 0.5 * options["lr"]})
    schedules = [torch.optim.lr_scheduler.StepLR(each, 1, gamma=0.5) for each in (first, own)]
    train(alone, first, range(3))
    train(model, own, range(3))
    for each in schedules:
        each.step()
    train(alone, first, range(3, 5))
    train(model, own, range(3, 5))
    for mine, expected in zip(model.parameters(), alone.parameters(), strict=True):
        close(mine, expected)
    counts = [None] * size
    dist.all_gather_object(counts, len(own.optim.state))
    assert sum(counts) == 6
    assert max(counts) < 6
    with pytest.raises(RuntimeError, match="has not been consolidated on this rank"):
        own.state_dict()
    own.consolidate_state_dict(to=1)
    held = [own.state_dict() if rank == 1 else None]
    if rank == 1:
        close(held[0]["state"], first.state_dict()["state"])
        assert held[0]["param_groups"] == first.state_dict()["param_groups"]
    dist.broadcast_object_list(held, src=1)
    later, other = copy.deepcopy(model), network()
    other.load_state_dict(later.state_dict())
    again = ZeroRedundancyOptimizer(groups(other, 0.3), kind, lr=0.9)
    again.add_param_group({"params": other[3].parameters()})
    again.load_state_dict(held[0])
    train(alone, first, range(5, 7))
    train(other, again, range(5, 7))
    for mine, expected in zip(other.parameters(), alone.parameters(), strict=True):
        close(mine, expected)
with pytest.raises(NotImplementedError, match="overlap_with_ddp"):
    ZeroRedundancyOptimizer(network().parameters(), torch.optim.SGD, overlap_with_ddp=True, lr=0.1)
print("done")
