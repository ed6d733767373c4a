"""Ranks that wait for each other in different groups: who gives up first hears where the others are."""

from datetime import timedelta

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist

dist.init_process_group("mpi", timeout=timedelta(seconds=50))
rank, t = dist.get_rank(), torch.ones(3)
hasty, other = dist.new_group(timeout=timedelta(seconds=1)), dist.new_group()
if rank == 0:
    with pytest.raises(dist.DistributedError, match="ranks 1, 2 did not come") as caught:
        dist.all_reduce(t, group=hasty)
    for each in (1, 2):
        said = caught.value.by_rank[each]
        assert said.startswith(
            "did not come: it waits in all_reduce(max) of float32 [3], call 1, at"
        )
        assert said.endswith(f" of the group {other.group_name!r}")
        assert "elsewhere.py:" in said
dist.all_reduce(t, dist.ReduceOp.MAX, group=other)
print("done")
