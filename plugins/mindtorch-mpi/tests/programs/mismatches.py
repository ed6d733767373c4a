"""Calls that do not go together: every rank hears who differs, and the group can be used again."""

import pickle
import re
from datetime import timedelta

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core import nn
from mindtorch_core.distributed.fsdp import fully_shard

dist.init_process_group("mpi")
rank, size = dist.get_rank(), dist.get_world_size()
odd = rank == 1
t, Op = torch.ones(4), dist.ReduceOp
CASES = {
    "shape [5] instead of [4]": lambda: dist.all_reduce(torch.ones(4 + odd)),
    "shape [2, 2] instead of [4]": lambda: dist.all_reduce(torch.ones(2, 2) if odd else t),
    "dtype float64 instead of float32": lambda: dist.all_reduce(t.double() if odd else t),
    "reduction max instead of sum": lambda: dist.all_reduce(t, Op.MAX if odd else Op.SUM),
    "op broadcast instead of all_reduce": lambda: (
        dist.broadcast(t, 0) if odd else dist.all_reduce(t)
    ),
    "root 1 instead of 0": lambda: dist.broadcast(t, int(odd)),
    "op barrier instead of all_gather": lambda: (
        dist.barrier() if odd else dist.all_gather([t.clone() for _ in range(size)], t)
    ),
    "ranks [0] instead of [0, 1]": lambda: dist.new_group([0] if odd else [0, 1]),
    "op new_group instead of barrier": lambda: dist.new_group([0]) if odd else dist.barrier(),
    # What is made of other calls is told of by the name that the user has called.
    **{
        f"op barrier instead of {call.__name__}": lambda call=call, given=given: (
            dist.barrier() if odd else call(*given)
        )
        for call, given in {
            dist.all_gather_object: ([None] * size, "an object"),
            dist.gather_object: ("an object", [None] * size if rank == 0 else None),
            dist.broadcast_object_list: (["an object"], 0),
            dist.scatter_object_list: ([None], ["an object"] * size),
        }.items()
    },
    # Parts of the same size, of parameters that are not the same.
    "carrying parameters [6, 4], [6] instead of parameters [4, 4], [4]": lambda: fully_shard(
        nn.Linear(4, 6 if odd else 4)
    )(torch.ones(4)),
    "carrying 40 parameters of 410 elements": lambda: fully_shard(
        nn.Sequential(*(nn.Linear(4, 4) for _ in range(19)), nn.Linear(4, 6 if odd else 4))
    )(torch.ones(4)),
    "op barrier instead of all_reduce_coalesced": lambda: (
        dist.barrier() if odd else dist.all_reduce_coalesced([t])
    ),
}
for text, call in CASES.items():
    with pytest.raises(dist.DistributedError, match=re.escape(text)) as raised:
        call()
    error = raised.value
    assert error.rank == 1, error
    assert set(error.by_rank) == set(range(size))
    assert "mismatches.py:" in error.by_rank[1]
    again = pickle.loads(pickle.dumps(error))
    assert (again.rank, again.op, str(again)) == (1, error.op, str(error))
    t = torch.ones(4)
    dist.all_reduce(t)
    assert t.tolist() == [size] * 4

work = dist.all_reduce(torch.ones(3 + odd), async_op=True)
with pytest.raises(dist.DistributedError) as raised:
    work.wait()
assert work.exception() is raised.value
assert not work.is_success()

# Parts of different sizes, and messages that their receivers do not expect.
sent = [2] + [1] * (size - 2) + [0] if odd else [1] * size
text = "sends 2 elements to rank 0, which expects 1"
with pytest.raises(dist.DistributedError, match=text) as raised:
    dist.all_to_all_single(torch.ones(size), torch.ones(size), [1] * size, sent)
assert raised.value.rank == 1
assert set(raised.value.by_rank) == set(range(size))
assert f"sends {sent} elements and expects {[1] * size}" in raised.value.by_rank[rank]
assert all("mismatches.py:" in said for said in raised.value.by_rank.values())
for other in (torch.ones(4), torch.ones(3, dtype=torch.int32)):
    if rank < 2:
        text = re.escape("a message of float32 [3] meets a receiver of")
        with pytest.raises(dist.DistributedError, match=text) as raised:
            dist.recv(other, 0) if odd else dist.send(torch.ones(3), 1)
        assert raised.value.rank == 1 - rank
if rank < 2:
    text = re.escape("recv_object_list() of int64 [1]")
    with pytest.raises(dist.DistributedError, match=text) as raised:
        dist.recv_object_list(["an object"], 0) if odd else dist.send(torch.ones(3), 1)
    assert raised.value.op == ("recv_object_list" if odd else "send")
# Lists of other lengths, or that differ later on: no rank goes on with the rest, so that all stand alike.
ops, own = torch.ops._c10d_functional, dist.new_group()
name = own.group_name


def block(call, *, later=False):
    """A way that makes a call for each tensor, in a block; or for none, which is no call."""

    def way(given):
        if not given:
            return dist.all_reduce_coalesced([], group=own)
        with dist._coalescing_manager(own, async_ops=later) as manager:
            for each in given:
                call(each)
        return manager.wait()

    return way


def parts(given):
    """Room for a part of a tensor."""
    return torch.ones(len(given) // size)


sums = (
    lambda given: dist.all_reduce_coalesced(given, group=own),
    lambda given: dist.all_reduce_coalesced(given, group=own, async_op=True).wait(),
    lambda given: ops.all_reduce_coalesced_(given, "sum", name),
    lambda given: ops.reduce_scatter_tensor_coalesced(given, "sum", size, name),
    block(lambda each: dist.all_reduce(each, group=own)),
    block(lambda each: dist.all_reduce(each, group=own, async_op=True), later=True),
    block(lambda each: dist.reduce_scatter_single(parts(each), each, group=own)),
)
gathers = (
    lambda given: dist.all_gather_coalesced([[*given] for _ in range(size)], given, own),
    lambda given: ops.all_gather_into_tensor_coalesced(given, size, name),
    block(lambda each: dist.all_gather_single(torch.ones(size * len(each)), each, own)),
)


def usable():
    """The next call is well."""
    total = torch.ones(2)
    dist.all_reduce(total, group=own)
    assert total.tolist() == [size, size]


for ways, text in ((sums, "reduction sum, tensor 1 of {}"), (gathers, "carrying tensor 1 of {}")):
    lengths = f"{text.format(3)} instead of {text.format(2).split(' ', 1)[1]}"
    for way in ways:
        with pytest.raises(dist.DistributedError, match=lengths):
            way([torch.ones(size) for _ in range(2 + odd)])
        with pytest.raises(
            dist.DistributedError, match=rf"shape \[{2 * size}\] instead of \[{size}\]"
        ):
            way([torch.ones(size * (1 + (odd and i == 1))) for i in range(3)])
        with pytest.raises(NotImplementedError, match="you passed an empty list of Tensors"):
            way([])
        usable()
# Blocks of other functions, of one rank alone, and with one that is refused there.
several = [torch.ones(size) for _ in range(2)]
with pytest.raises(dist.DistributedError, match=r"op reduce_\w+_coalesced instead of all_gather"):
    (sums if odd else gathers)[-1](several)
with pytest.raises(
    dist.DistributedError, match=r"op all_reduce instead of all_gather_into_\w+_coa"
):
    usable() if odd else gathers[-1](several)
mixed = pytest.raises(RuntimeError, match="requires all collectives to be the same type")
if odd:
    with mixed, dist._coalescing_manager(own):
        dist.all_reduce(torch.ones(3), group=own)
        dist.all_gather_single(torch.ones(size), torch.ones(1), own)
usable()
# A list that is refused on one rank after its first call: its next call meets the others' second.
rows = [[*several] for _ in range(size)]
if odd:
    wrong = [[several[0], several[1].double() if row else several[1]] for row in range(size)]
    with pytest.raises(ValueError, match="with different dtypes"):
        dist.all_gather_coalesced(wrong, several, own)
with pytest.raises(dist.DistributedError, match="carrying tensor 1 of 2 instead of tensor 2 of 2"):
    dist.all_gather_coalesced(rows, several, own)
usable()
# Who has called a monitored barrier in vain makes the next call with who comes to it too late.
brief = timedelta(seconds=0.3)
for late in (1, 0):
    if rank != late:
        with pytest.raises(
            dist.DistributedError, match=rf"anks? {late} (failed to pass|did not come)"
        ):
            dist.monitored_barrier(own, timeout=brief)
    usable()
    if rank == late:
        with pytest.raises(
            dist.DistributedError, match=rf"anks? {late} (failed to pass|did not come)"
        ):
            dist.monitored_barrier(own, timeout=brief)
    dist.monitored_barrier(own)
    usable()
dist.barrier()
print("done")
