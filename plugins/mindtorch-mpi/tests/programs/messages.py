"""Messages between two ranks while a third has ended: they concern nobody else."""

import sys
import time
from datetime import timedelta

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist

dist.init_process_group("mpi", timeout=timedelta(seconds=30))
rank, size = dist.get_rank(), dist.get_world_size()
soon = dist.new_group(timeout=timedelta(seconds=1))
if rank == 2:
    print("done")
    sys.exit(0)
t = torch.full((2,), rank + 1.0)
if rank == 0:
    time.sleep(1.5)  # so long that a call of all ranks would have failed
    dist.send(t, 1)
else:
    dist.recv(t, 0)
    time.sleep(0.2)
if rank == 0:  # from anybody who is there
    assert dist.recv(t) == 1
else:
    dist.send(t * 2, 0)
assert t.tolist() == ([2.0, 2.0] if rank == 0 else [1.0, 1.0])


def other_tags():
    if rank == 0:
        dist.send(t, 1, group=soon, tag=1)
    else:
        dist.recv(t, 0, group=soon, tag=2)


SAID = r"not done after 1 s: rank \d (waits in another call|did not come)|has given up"
with pytest.raises(dist.DistributedError, match=SAID) as raised:
    other_tags()
assert raised.value.rank in (None, 1 - rank), raised.value
assert set(raised.value.by_rank) == {0, 1}
assert "send(tag 1)" in raised.value.by_rank[0]
assert "recv(tag 2)" in raised.value.by_rank[1]
if rank == 0:
    with pytest.raises(dist.DistributedError, match="has ended without this call"):
        dist.recv(t)
print("done")
