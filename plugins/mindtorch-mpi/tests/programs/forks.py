"""Forked children are no ranks: they may end, raise, and live on, and no rank hears of it."""

import os
import sys

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist

dist.init_process_group("mpi")
rank, size = dist.get_rank(), dist.get_world_size()
dist.barrier()
for ending in (0, 1):
    child = os.fork()
    if not child:
        if ending:
            raise KeyError("the child's")
        sys.exit(0)
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == ending
    t = torch.ones(2)
    dist.all_reduce(t)
    assert t.tolist() == [size] * 2


child = os.fork()
if not child:
    for call in (
        lambda: dist.all_reduce(torch.ones(2)),
        lambda: dist.all_reduce(torch.ones(2), async_op=True),
        lambda: dist.send(torch.ones(2), 1 - rank),
        dist.barrier,
        lambda: dist.all_gather_object([None] * size, 1),
    ):
        with pytest.raises(RuntimeError, match=f"was forked by rank {rank} of the group '0'"):
            call()
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
t = torch.ones(2)
dist.all_reduce(t)
assert t.tolist() == [size] * 2


class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, i):
        return torch.tensor(i * i)


data = Squares()
sampler = torch.utils.data.DistributedSampler(data, shuffle=False)
loader = torch.utils.data.DataLoader(data, batch_size=2, sampler=sampler, num_workers=1)
total = sum(batch.sum() for batch in loader)
dist.all_reduce(total)
assert total.item() == sum(i * i for i in range(8))
print("done")
