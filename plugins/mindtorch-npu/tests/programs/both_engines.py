"""MPI for tensors of the CPU and HCCL for those of NPUs, in the same groups."""

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist

dist.init_process_group("cpu:mpi,npu:hccl")
rank, size = dist.get_rank(), dist.get_world_size()
world = dist.group.WORLD
for device, engine in (("cpu", "mpi"), ("npu", "hccl")):
    assert world.communicator_for(device)[0].name == engine
    for group in (world, dist.new_group([1, 0], sort_ranks=False)):
        t = torch.ones(3, device=device) * (rank + 1)
        dist.all_reduce(t, group=group)
        assert t.device.type == device
        assert t.tolist() == [3.0] * 3
        works = [
            dist.all_reduce(torch.ones(2, device=where), group=group, async_op=True)
            for where in ("cpu", "npu", "cpu", "npu")
        ]
        assert [work.wait() for work in works] == [True] * 4
# No engine could end a list over both, if one of its calls fails.
text = "tensors must all be on the same device, got cpu and npu:"
both = [torch.ones(2), torch.ones(2, device="npu")]
with pytest.warns(FutureWarning), pytest.raises(RuntimeError, match=text):
    dist.all_reduce_coalesced(both)
with pytest.raises(RuntimeError, match=text), dist._coalescing_manager():
    [dist.all_reduce(each) for each in both]
found = [None] * size
dist.all_gather_object(found, rank)
assert found == [0, 1]
only = dist.new_group(backend="hccl")
t = torch.tensor([rank], device="npu")
dist.broadcast(t, 1, group=only)
assert t.item() == 1
dist.barrier()
dist.destroy_process_group()
print("done")
