"""A group of one process without any communicator: what one rank has is everybody's."""

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core.nn.parallel import DistributedDataParallel

for size in (2, -1):
    with pytest.raises(
        RuntimeError, match="needs a communicator, and none that works is installed"
    ):
        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=size)
with pytest.raises(RuntimeError, match="needs a communicator, and none that works is installed"):
    dist.ProcessGroupGloo(dist.HashStore(), 0, 2)
assert not dist.is_initialized()
with pytest.raises(RuntimeError, match="the communicator 'mpi' is"):
    dist.init_process_group("mpi", store=dist.HashStore(), rank=0, world_size=1)
dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
assert (dist.get_backend(), dist.get_rank(), dist.get_world_size()) == ("gloo", 0, 1)

t = torch.arange(3.0)
for op in ("SUM", "AVG", "PRODUCT", "MIN", "MAX"):
    dist.all_reduce(t, getattr(dist.ReduceOp, op))
assert torch.equal(t, torch.arange(3.0))
rows = [torch.zeros(3)]
dist.all_gather(rows, t)
assert torch.equal(rows[0], t)
out = torch.zeros(3)
dist.reduce_scatter(out, [t + 1])
assert torch.equal(out, t + 1)
dist.scatter(out, [t + 2])
assert torch.equal(out, t + 2)
dist.all_to_all_single(out, t)
assert torch.equal(out, t)
said = [{"epoch": 3}]
dist.broadcast_object_list(said)
assert said == [{"epoch": 3}]
found = [None]
dist.gather_object({"a": 1}, found)
assert found == [{"a": 1}]
with pytest.raises(RuntimeError, match="No backend type associated with device type meta"):
    dist.group.WORLD._get_backend(torch.device("meta"))
dist.barrier()
with pytest.raises(RuntimeError, match="no other rank that could send"):
    dist.recv(t)
assert dist.get_world_size(dist.new_group([0])) == 1

model = DistributedDataParallel(torch.nn.Linear(3, 2))
model(t).sum().backward()
assert torch.equal(model.module.weight.grad, torch.stack([t, t]))
dist.destroy_process_group()
print("done")
