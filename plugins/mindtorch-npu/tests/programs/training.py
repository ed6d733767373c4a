"""Collectives as ops on NPUs, and DistributedDataParallel: as one process that sees all batches."""

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core import nn

dist.init_process_group("npu:hccl")
rank, size = dist.get_rank(), dist.get_world_size()
assert dist.get_backend() == "npu:hccl"
ops, name = torch.ops._c10d_functional, dist.group.WORLD.group_name
total = sum(range(1, size + 1))
DDP = nn.parallel.DistributedDataParallel


def same(found, expected):
    assert found.device.type == "npu"
    assert torch.equal(found.cpu(), expected), (found, expected)


# The loss is the sum of all ranks', so gradients are those of one program that computes all.
x = (torch.arange(4.0) + rank).npu().requires_grad_()
y = ops.wait_tensor(ops.all_reduce(2 * x, "sum", name))
same(y, 2 * sum(torch.arange(4.0) + r for r in range(size)))
(y * (rank + 1)).sum().backward()
same(x.grad, torch.full((4,), 2.0 * total))
x.grad = None
weights = torch.arange(4.0 * size)
(ops.all_gather_into_tensor(x, size, name) * weights.npu() * (rank + 1)).sum().backward()
same(x.grad, total * weights[4 * rank : 4 * rank + 4])
for op, share in (("sum", 1), ("avg", size)):
    x = torch.arange(2.0 * size).npu().requires_grad_()
    y = ops.reduce_scatter_tensor(x, op, size, name)
    same(y, torch.arange(2.0 * size)[2 * rank : 2 * rank + 2] * size / share)
    (y * (rank + 1)).sum().backward()
    same(x.grad, torch.arange(1.0, size + 1).repeat_interleave(2) / share)
x = torch.ones(3, device="npu", requires_grad=True)
ops.broadcast(x, 1, name).sum().backward()
same(x.grad, torch.full((3,), float(size if rank == 1 else 0)))
sent, received = [rank + 1] * size, [r + 1 for r in range(size)]
x = torch.full((sum(sent),), float(rank), device="npu", requires_grad=True)
y = ops.all_to_all_single(x, received, sent, name)
(y * (rank + 1)).sum().backward()
same(x.grad, torch.arange(1.0, size + 1).repeat_interleave(rank + 1))

with torch.pipeline() as pipe:
    a = torch.ones(3, device="npu") * (rank + 1)
    b = ops.all_reduce(a, "sum", name)
    assert b._pending
    ops.all_reduce(a, "max", name)  # nobody looks at it, and the other ranks wait for it
    c = ops.wait_tensor(b) + 1
    del b
assert pipe.stats()["dropped"] == 0
same(c, torch.full((3,), total + 1.0))
for _ in range(4):  # a block that comes again
    with torch.pipeline():
        c = ops.all_reduce(torch.ones(2, device="npu") * (rank + 1), "sum", name) * 2
    same(c, torch.full((2,), 2.0 * total))


def network():
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(5, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, 3)).npu()


def train(model, batches):
    # Not Adam: before a normalization a bias has no gradient but that of rounding.
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for x, y in batches:
        optimizer.zero_grad()
        nn.functional.mse_loss(model(x), y).backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()


draw = torch.Generator().manual_seed(1)
data = [
    (torch.randn(8 * size, 5, generator=draw).npu(), torch.randn(8 * size, 3, generator=draw).npu())
    for _ in range(4)
]
mine = [(x[rank::size], y[rank::size]) for x, y in data]
alone = network()
train(alone, data)
for options in ({}, {"bucket_cap_mb": 1e-4, "gradient_as_bucket_view": True}):
    model = nn.SyncBatchNorm.convert_sync_batchnorm(network())
    if rank:
        nn.init.zeros_(model[0].weight)  # overwritten by rank 0's
    train(DDP(model, device_ids=[rank], **options), mine)
    for (key, own), expected in zip(
        model.state_dict().items(), alone.state_dict().values(), strict=True
    ):
        assert own.device.type == "npu"
        torch.testing.assert_close(own, expected, rtol=1e-4, atol=1e-5, msg=key)
print("done")
