"""Collective operations as ops: gradients, and pipelines that keep them all in their order."""

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist

dist.init_process_group()
rank, size = dist.get_rank(), dist.get_world_size()
ops, name = torch.ops._c10d_functional, dist.group.WORLD.group_name
total = sum(range(1, size + 1))

# The loss is the sum of all ranks', so gradients are those of one program that computes all.
x = (torch.arange(4.0) + rank).requires_grad_()
y = ops.wait_tensor(ops.all_reduce(2 * x, "sum", name))
assert torch.equal(y, 2 * sum(torch.arange(4.0) + r for r in range(size)))
(y * (rank + 1)).sum().backward()
assert torch.equal(x.grad, torch.full((4,), 2.0 * total))

x.grad = None
y = ops.all_gather_into_tensor(x, size, name)
weights = torch.arange(4.0 * size)
(y * weights * (rank + 1)).sum().backward()
assert torch.equal(x.grad, total * weights[4 * rank : 4 * rank + 4])

for op, share in (("sum", 1), ("avg", size)):
    x = torch.arange(2.0 * size).requires_grad_()
    y = ops.reduce_scatter_tensor(x, op, size, name)
    assert torch.equal(y, torch.arange(2.0 * size)[2 * rank : 2 * rank + 2] * size / share)
    (y * (rank + 1)).sum().backward()
    expected = torch.arange(1.0, size + 1).repeat_interleave(2) / share
    assert torch.equal(x.grad, expected)

x = torch.ones(3, requires_grad=True)
ops.broadcast(x, 1, name).sum().backward()
assert torch.equal(x.grad, torch.full((3,), float(size if rank == 1 else 0)))

# Rank r sends r + 1 elements to each.
sent, received = [rank + 1] * size, [r + 1 for r in range(size)]
x = torch.full((sum(sent),), float(rank), requires_grad=True)
y = ops.all_to_all_single(x, received, sent, name)
assert y.tolist() == [float(r) for r in range(size) for _ in range(r + 1)]
(y * (rank + 1)).sum().backward()
assert torch.equal(x.grad, torch.arange(1.0, size + 1).repeat_interleave(rank + 1))

# Into what there is.
into = torch.zeros(2 * size)
assert ops.all_gather_into_tensor_out(torch.full((2,), rank + 1.0), size, name, out=into) is into
assert into.tolist() == [r + 1.0 for r in range(size) for _ in range(2)]
pair = [torch.ones(2), torch.arange(3.0)]
found = ops.all_reduce_coalesced_(pair, "sum", name)
assert [t.tolist() for t in pair] == [[size] * 2, [0.0, size, 2.0 * size]]
assert all(a is b for a, b in zip(found, pair, strict=True))

# The same by the functions around them, along other dimensions.
calls = dist._functional_collectives
x = (torch.arange(6.0).reshape(2, 3) + rank).requires_grad_()
y = calls.all_gather_tensor(x, 1, dist.group.WORLD)
assert torch.equal(y, torch.cat([torch.arange(6.0).reshape(2, 3) + r for r in range(size)], 1))
z = calls.reduce_scatter_tensor(y, "sum", 1, name)
assert torch.equal(z, size * x)
z.sum().backward()
assert torch.equal(x.grad, torch.full((2, 3), float(size)))
x.grad = None
parts = dist.nn.functional.all_gather(x)
assert torch.equal(parts[1], torch.arange(6.0).reshape(2, 3) + 1)
(parts[0] * (rank + 1)).sum().backward()
assert torch.equal(x.grad, torch.full((2, 3), float(total if rank == 0 else 0)))
assert torch.equal(dist.nn.functional.all_reduce(x.detach()), sum(p.detach() for p in parts))

line, grid = (dist.init_device_mesh("cpu", shape) for shape in ((size,), (1, size)))
for group in (line, (line, 0), (grid, 1)):
    assert calls.all_reduce(torch.ones(2), "sum", group).tolist() == [size] * 2
assert calls.all_reduce(torch.ones(2), "sum", (grid, 0)).tolist() == [1] * 2
with pytest.raises(AssertionError, match="Only 1D mesh is supported"):
    calls.all_reduce(torch.ones(2), "sum", grid)

with torch.pipeline() as pipe:
    a = torch.ones(3) * (rank + 1)
    b = ops.all_reduce(a, "sum", name)
    assert b._pending
    ops.all_reduce(a, "max", name)  # nobody looks at it, and the other ranks wait for it
    c = ops.wait_tensor(b) + 1
    del b
assert pipe.stats()["dropped"] == 0
assert torch.equal(c, torch.full((3,), total + 1.0))
for _ in range(4):  # a block that comes again
    with torch.pipeline():
        c = ops.all_reduce(torch.ones(2) * (rank + 1), "sum", name) * 2
    assert c.tolist() == [2.0 * total] * 2
print("done")
