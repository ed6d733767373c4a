"""Calls that do not go together: every rank hears who differs, and the group can be used again."""

import re

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_npu_simulator import control

dist.init_process_group("hccl")
rank, size = dist.get_rank(), dist.get_world_size()
odd = rank == 1
t, Op = torch.ones(4, device="npu"), dist.ReduceOp


def npu(*shape):
    return torch.ones(*shape, device="npu")


CASES = {
    "shape [5] instead of [4]": lambda: dist.all_reduce(npu(4 + odd)),
    "dtype float16 instead of float32": lambda: dist.all_reduce(t.half() if odd else t),
    "reduction max instead of sum": lambda: dist.all_reduce(t, Op.MAX if odd else Op.SUM),
    "op broadcast instead of all_reduce": lambda: (
        dist.broadcast(t, 0) if odd else dist.all_reduce(t)
    ),
    "root 1 instead of 0": lambda: dist.broadcast(t, int(odd)),
    "op barrier instead of all_gather": lambda: (
        dist.barrier() if odd else dist.all_gather([t.clone() for _ in range(size)], t)
    ),
    "op new_group instead of barrier": lambda: dist.new_group([0]) if odd else dist.barrier(),
}
for text, call in CASES.items():
    with pytest.raises(dist.DistributedError, match=re.escape(text)) as raised:
        call()
    error = raised.value
    assert error.rank == 1, error
    assert set(error.by_rank) == set(range(size))
    assert "mismatches.py:" in error.by_rank[1]
    t = npu(4)
    dist.all_reduce(t)
    assert t.tolist() == [size] * 4
work = dist.all_reduce(npu(3 + odd), async_op=True)
with pytest.raises(dist.DistributedError) as raised:
    work.wait()
assert work.exception() is raised.value

# Parts of different sizes, and messages that their receivers do not expect.
sent = [2] + [1] * (size - 2) + [0] if odd else [1] * size
with pytest.raises(
    dist.DistributedError, match="sends 2 elements to rank 0, which expects 1"
) as raised:
    dist.all_to_all_single(npu(size), npu(size), [1] * size, sent)
assert all("mismatches.py:" in said for said in raised.value.by_rank.values())
for other in (npu(4), npu(3).int()):
    if rank < 2:
        text = re.escape("a message of float32 [3] meets a receiver of")
        with pytest.raises(dist.DistributedError, match=text) as raised:
            dist.recv(other, 0) if odd else dist.send(npu(3), 1)
        assert raised.value.rank == 1 - rank
        t = npu(3) * rank
        dist.recv(t, 0) if odd else dist.send(t, 1)  # the next one goes through
        assert t.tolist() == [0.0] * 3


def sums(lengths, *, later):
    """Sums in a block, which are one call, also where it is waited for later."""
    with dist._coalescing_manager(async_ops=later) as manager:
        for each in lengths:
            dist.all_reduce(npu(each))
    manager.wait()


for later in (False, True):
    with pytest.raises(dist.DistributedError, match="tensor 1 of 3 instead of sum, tensor 1 of 2"):
        sums([4, 4, 4] if odd else [4, 4], later=later)
    with pytest.raises(dist.DistributedError, match=r"shape \[5\] instead of \[4\]"):
        sums([4, 4 + odd, 4], later=later)
dist.barrier()
assert control.findings() == []  # nothing of it has come to a device
print("done")
