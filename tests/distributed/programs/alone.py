"""A group of one process, by an engine of a third party that has what is required and nothing else."""

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist

assert dist.is_available()
assert dist.is_backend_available("toy")
assert not dist.is_initialized()
with pytest.raises(ValueError, match="Default process group has not been initialized"):
    dist.all_reduce(torch.ones(1))
with pytest.raises(ValueError, match="environment variable RANK expected, but not set"):
    dist.init_process_group("toy")
with pytest.raises(RuntimeError, match="the communicator 'bad' failed to load: KeyError"):
    dist.init_process_group("bad")
with pytest.raises(RuntimeError, match=r"'none_such' is not installed \(installed: .*\)\.$"):
    dist.init_process_group("none_such")
dist.init_process_group("toy", store=dist.HashStore(), rank=0, world_size=1)
with pytest.raises(ValueError, match="trying to initialize the default process group twice"):
    dist.init_process_group("toy")
assert (dist.get_backend(), dist.get_rank(), dist.get_world_size()) == ("toy", 0, 1)

# Operations that the engine lacks are made of those that it has.
t = torch.arange(3)
dist.all_reduce(t)
dist.reduce(t, 0)
dist.broadcast(t, 0)
rows = [torch.zeros(3, dtype=torch.long)]
dist.gather(t, rows, 0)
assert torch.equal(rows[0], torch.arange(3))
dist.scatter(rows[0], [t + 1], 0)
assert torch.equal(rows[0], t + 1)
out = torch.zeros(3, dtype=torch.long)
dist.all_to_all_single(out, t)
assert torch.equal(out, t)
assert dist.all_reduce(torch.ones(2), async_op=True).wait() is True
dist.barrier()
dist.monitored_barrier()
found = [None]
dist.all_gather_object(found, {"a": 1})
assert found == [{"a": 1}]

# What is refused, as in PyTorch.
Op = dist.ReduceOp
for wrong, error, text in (
    (lambda: dist.all_reduce([t]), TypeError, "Expected parameter `tensor` of type torch.Tensor"),
    (lambda: dist.all_gather(t, t), TypeError, r"`tensor_list` of type List\[torch.Tensor\]"),
    (lambda: dist.all_gather([t, t], t), ValueError, "must have 1 tensors, one for each rank"),
    (lambda: dist.all_reduce(t, "sum"), TypeError, "op must be a ReduceOp"),
    (lambda: dist.all_reduce(t * 1j, Op.MAX), ValueError, "does not support .*MAX.* on complex"),
    (
        lambda: dist.all_reduce(t * 1.0, Op.BOR),
        RuntimeError,
        "Cannot use ReduceOp.BOR with non-int",
    ),
    (lambda: dist.broadcast(t, 3), ValueError, "Global rank 3 is not part of group"),
    (lambda: dist.broadcast(t), ValueError, "Must specify src or group_src"),
    (
        lambda: dist.send(t, 0),
        ValueError,
        "should not be the same as the rank of the current process",
    ),
    (lambda: dist.gather(t, dst=0), ValueError, "``gather_list`` must be specified on destination"),
    (lambda: dist.scatter(t, src=0), ValueError, "``scatter_list`` must be specified on source"),
    (lambda: dist.batch_isend_irecv([]), ValueError, "Invalid ``p2p_op_list``"),
    (lambda: dist.P2POp(dist.send, t, 0), ValueError, "Invalid ``op``"),
    (lambda: dist.new_group([0, 0]), ValueError, "world size should be less or equal"),
    (lambda: dist.new_group([7]), ValueError, "Rank 7 is out of range"),
    (lambda: dist.new_subgroups(2), ValueError, "must not exceed the world size"),
    (
        lambda: dist.all_gather_into_tensor(torch.zeros(4), torch.zeros(3)),
        ValueError,
        "output tensor size must be equal to world_size times input tensor size",
    ),
    (
        lambda: dist.all_to_all_single(out, t, [2], [3]),
        RuntimeError,
        "Split sizes doesn't match total dim 0 size",
    ),
):
    with pytest.raises(error, match=text):
        wrong()
with pytest.warns(UserWarning, match="which does not belong to the given group"):
    assert dist.all_reduce(t, group=dist.GroupMember.NON_GROUP_MEMBER) is None

dist.destroy_process_group()
assert not dist.is_initialized()
dist.init_process_group("toy", init_method="tcp://localhost:0?rank=0&world_size=1")
dist.destroy_process_group()
with pytest.raises(RuntimeError, match="No rendezvous handler for gopher://"):
    dist.init_process_group("toy", init_method="gopher://x", rank=0, world_size=1)
print("done")
