"""Groups that are parts of groups, and calls of a group with a timeout of their own; four ranks."""

import time
from datetime import timedelta

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist

dist.init_process_group("mpi")
rank, size = dist.get_rank(), dist.get_world_size()


def total(group):
    x = torch.tensor([2.0**rank])
    dist.all_reduce(x, group=group)
    return x.item()


# All ranks in one of two; the lists' order within a group does not matter.
half = dist.split_group(None, [[2, 0], [3, 1]])
assert dist.get_process_group_ranks(half) == [[0, 2], [1, 3]][rank % 2]
assert (half.rank(), half.size()) == (rank // 2, 2)
assert (half.group_desc, half.name()) == ("default_pg:split:0", dist.group.WORLD.name())
assert total(half) == [1.0 + 4.0, 2.0 + 8.0][rank % 2]

# A rank in none, and again the same ranks: another group, with another name.
pair = dist.split_group(split_ranks=[[1, 2]], group_desc="a pair", timeout=timedelta(seconds=50))
assert (pair is not None) == (rank in (1, 2))
if pair is not None:
    assert (pair.group_desc, pair.timeout.total_seconds()) == ("a pair", 50)
    again = dist.new_group([1, 2], use_local_synchronization=True)
    assert total(pair) == total(again) == 6.0
    dist.destroy_process_group(again)
    more = dist.new_group([1, 2], use_local_synchronization=True)
    assert more.group_name != again.group_name  # what was said to make the first is no news now
    assert total(more) == 6.0
other = dist.split_group(None, [[0, 2], [1, 3]])
assert other.group_name != half.group_name
assert total(other) == total(half)

# Positions are the parent's, whose ranks alone call it.
turned = dist.new_group([3, 1, 0], sort_ranks=False)
if rank != 2:
    part = dist.split_group(turned, [[0, 2], [1]])
    assert dist.get_process_group_ranks(part) == {3: [3, 0], 0: [3, 0], 1: [1]}[rank]
    assert total(part) == {3: 9.0, 0: 9.0, 1: 2.0}[rank]
    own = turned.split_group([2, 0] if rank != 1 else [1], group_name=f"own {rank == 1}")
    assert dist.get_process_group_ranks(own) == {3: [0, 3], 0: [0, 3], 1: [1]}[rank]
    assert own.group_name == f"own {rank == 1}"
kept = dist.split_group(None, [[0, 1], [2, 3]], backend="cpu:mpi")
assert total(kept) == [3.0, 12.0][rank // 2]

for given, text in (
    ({"split_ranks": None}, "split_ranks cannot be None or empty"),
    ({"split_ranks": [[0], []]}, "the split group cannot be empty"),
    ({"split_ranks": [[0, 0]]}, "the split group cannot have duplicate ranks"),
    ({"split_ranks": [[0, 1, 2, 3, 4]]}, "less or equal to the world_size"),
    ({"split_ranks": [[0], [0, 1]]}, "rank 0 is named twice"),
    ({"split_ranks": [[4]]}, "none of the parent's 4 positions"),
    ({"split_ranks": [[0]], "parent_pg": -100}, "Group -100 is not registered"),
    ({"split_ranks": [[0]], "backend": "npu:mpi"}, "device 'npu' is not present in the parent"),
):
    with pytest.raises(ValueError, match=text):
        dist.split_group(**given)
with pytest.raises(TypeError, match=r"timeout argument to be of type datetime\.timedelta, got 3"):
    dist.split_group(None, [[0]], timeout=3)

# Ranks that would divide it differently hear of it, and it can be used again.
with pytest.raises(
    dist.DistributedError, match=r"rank 3 made another call.*\[\[0, 1, 2\], \[3\]\]"
):
    dist.split_group(None, [[0, 1], [2, 3]] if rank < 3 else [[0, 1, 2], [3]])
part = dist.split_group(None, [[0, 1], [2, 3]])
dist.barrier()

# A call's own timeout: the other rank of the pair does not come.
if part.rank() == 0:
    options = dist.AllreduceOptions()
    options.timeout = timedelta(seconds=0.3)
    begun = time.monotonic()
    with pytest.raises(dist.DistributedError, match=r"not done after 0\.3 s"):
        part.allreduce([torch.ones(1)], options).wait()
    assert time.monotonic() - begun < 20
    assert half.timeout == timedelta(minutes=30)
else:
    time.sleep(2)
print("done")
