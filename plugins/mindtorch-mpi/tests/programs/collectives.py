"""Every collective operation with every dtype: each rank computes what must come out by NumPy."""

import numpy as np
import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist

dist.init_process_group("mpi")
rank, size = dist.get_rank(), dist.get_world_size()
Op = dist.ReduceOp
WHOLE = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
FLOATING = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
COMPLEX = [torch.complex64, torch.complex128]
DTYPES = [torch.bool, *WHOLE, *FLOATING, *COMPLEX]
HOW = {
    Op.SUM: np.sum,
    Op.PRODUCT: np.prod,
    Op.MIN: np.min,
    Op.MAX: np.max,
    Op.BAND: np.bitwise_and.reduce,
    Op.BOR: np.bitwise_or.reduce,
    Op.BXOR: np.bitwise_xor.reduce,
    Op.AVG: lambda x, axis: x.mean(axis),
}


def given(of, shape, dtype):
    """The tensor of a rank: small whole numbers, so that every sum is exact."""
    numbers = np.random.default_rng(100 * of + len(shape)).integers(0, 3, shape)
    return torch.tensor(numbers).to(dtype)


def same(found, expected):
    expected = torch.as_tensor(expected).to(found.dtype).reshape(found.shape)
    torch.testing.assert_close(found, expected)  # means are divided by us


def all_of(shape, dtype):
    plain = torch.int64 if dtype is torch.bool else dtype
    plain = torch.float64 if dtype in FLOATING else plain
    return np.stack([given(r, shape, dtype).to(plain).numpy() for r in range(size)])


for dtype in DTYPES:
    for shape in ((), (0,), (5,), (2, 3)):
        mine, every = given(rank, shape, dtype), all_of(shape, dtype)
        for op, how in HOW.items():
            bits = op in (Op.BAND, Op.BOR, Op.BXOR)
            if dtype in COMPLEX and op not in (Op.SUM, Op.AVG):
                continue
            if (bits and dtype in FLOATING) or (dtype is torch.bool and op is Op.AVG):
                continue
            if every.size == 0:
                expected = every[0]
            elif op is Op.AVG and dtype in WHOLE:
                expected = every.sum(0) // size
            else:
                expected = how(every, axis=0)
            t = mine.clone()
            assert dist.all_reduce(t, op) is None
            same(t, expected)
            t = mine.clone()
            dist.reduce(t, size - 1, op)
            same(t, expected if rank == size - 1 else mine)
            row = torch.empty(shape, dtype=dtype)
            dist.reduce_scatter(row, [mine.clone() for _ in range(size)], op)
            same(row, expected)
            out = torch.empty_like(mine.reshape(-1))
            dist.reduce_scatter_tensor(out, torch.cat([mine.reshape(-1)] * size), op)
            same(out, expected)
        for root in range(size):
            t = mine.clone()
            dist.broadcast(t, root)
            same(t, given(root, shape, dtype))
            rows = [torch.empty(shape, dtype=dtype) for _ in range(size)] if rank == root else None
            dist.gather(mine, rows, dst=root)
            for r, row in enumerate(rows or []):
                same(row, given(r, shape, dtype))
            parts = [given(10 + r, shape, dtype) for r in range(size)] if rank == root else None
            t = torch.empty(shape, dtype=dtype)
            dist.scatter(t, parts, src=root)
            same(t, given(10 + rank, shape, dtype))
        rows = [torch.empty(shape, dtype=dtype) for _ in range(size)]
        dist.all_gather(rows, mine)
        for r, row in enumerate(rows):
            same(row, given(r, shape, dtype))
        whole = torch.empty((size, *shape), dtype=dtype)
        dist.all_gather_into_tensor(whole, mine)
        for r in range(size):
            same(whole[r], given(r, shape, dtype))
        sent = [given(10 * rank + r, shape, dtype) for r in range(size)]
        rows = [torch.empty(shape, dtype=dtype) for _ in range(size)]
        dist.all_to_all(rows, sent)
        for r, row in enumerate(rows):
            same(row, given(10 * r + rank, shape, dtype))

    # Parts of different sizes: rank r sends r + 1 rows to each, plus its place.
    sent = torch.cat([torch.full((rank + 1, 2), 10 * rank + r) for r in range(size)]).to(dtype)
    found = torch.empty((sum(r + 1 for r in range(size)), 2), dtype=dtype)
    dist.all_to_all_single(found, sent, [r + 1 for r in range(size)], [rank + 1] * size)
    same(found, torch.cat([torch.full((r + 1, 2), 10 * r + rank) for r in range(size)]).to(dtype))

# Memory that is not contiguous, conjugate views, versions, tensors that are being recorded.
t = torch.arange(12.0).reshape(3, 4).T * (rank + 1)
dist.all_reduce(t[::2])
scale = sum(range(1, size + 1))
expected = torch.arange(12.0).reshape(3, 4).T * (rank + 1)
expected[::2] = (torch.arange(12.0).reshape(3, 4).T * scale)[::2]
same(t, expected)
t = torch.tensor([1 + 2j])
dist.all_reduce(t.conj())
same(t, torch.tensor([size + 2j * size]))
t = torch.ones(2)
before = t._version
dist.all_reduce(t)
assert t._version > before
with torch.pipeline():
    t = torch.ones(3) * (rank + 1)
    dist.all_reduce(t)
    same(t, torch.ones(3) * scale)
t = torch.ones(2) * (rank + 1)
dist.all_reduce(t, dist._make_nccl_premul_sum(0.5))
same(t, torch.ones(2) * scale * 0.5)

# Asynchronous work, many at a time, waited for in another order.
tensors = [torch.full((n,), float(rank + n)) for n in range(1, 40)]
works = [dist.all_reduce(t, async_op=True) for t in tensors]
for work in reversed(works):
    assert work.wait() is True
    assert work.is_completed()
    assert work.is_success()
for n, t in enumerate(tensors, 1):
    same(t, torch.full((n,), float(sum(r + n for r in range(size)))))
big = torch.ones(1 << 20) * (rank + 1)
dist.all_reduce(big)
same(big, torch.ones(1 << 20) * scale)
pair = [torch.ones(2), torch.ones(3)]
dist.all_reduce_coalesced(pair)
same(pair[1], torch.full((3,), float(size)))

# Messages: a ring, both ways at once, by tags, from anybody, objects.
right, left = (rank + 1) % size, (rank - 1) % size
got = torch.empty(3)
works = dist.batch_isend_irecv(
    [
        dist.P2POp(dist.isend, torch.full((3,), float(rank)), right),
        dist.P2POp(dist.irecv, got, left),
    ]
)
for work in works:
    work.wait()
same(got, torch.full((3,), float(left)))
a, b = torch.empty(1), torch.empty(1)
works = [dist.irecv(a, left, tag=1), dist.irecv(b, left, tag=2)]
works += [
    dist.isend(torch.tensor([2.0]), right, tag=2),
    dist.isend(torch.tensor([1.0]), right, tag=1),
]
for work in works:
    work.wait()
assert (a.item(), b.item()) == (1, 2)
if rank == 0:
    seen = {dist.recv(a): a.item() for _ in range(size - 1)}
    assert seen == {r: 10.0 * r for r in range(1, size)}, seen
    dist.send_object_list([1, {"a": [2]}], dst=1)
else:
    dist.send(torch.tensor([10.0 * rank]), 0)
if rank == 1:
    found = [None, None]
    assert dist.recv_object_list(found, src=0) == 0
    assert found == [1, {"a": [2]}]
found = [None] * size
dist.all_gather_object(found, {"rank": rank, "long": "x" * (100 * rank)})
assert found == [{"rank": r, "long": "x" * (100 * r)} for r in range(size)]
found = [rank, None] if rank == 1 else [None, 5]
dist.broadcast_object_list(found, src=1)
assert found == [1, None]
found = [None]
dist.scatter_object_list(found, [f"for {r}" for r in range(size)] if rank == 0 else None, src=0)
assert found == [f"for {rank}"]
for root in (0, size - 1):
    found = [None] * size if rank == root else None
    dist.gather_object(rank * rank, found, dst=root)
    assert found is None or found == [r * r for r in range(size)]

# Groups.
evens = dist.new_group(range(0, size, 2))
if rank % 2 == 0:
    t = torch.tensor([rank])
    dist.all_reduce(t, group=evens)
    assert t.item() == sum(range(0, size, 2))
    assert dist.get_group_rank(evens, rank) == rank // 2 == dist.get_rank(evens)
else:
    assert evens is dist.GroupMember.NON_GROUP_MEMBER
    for call in (dist.get_process_group_ranks, dist.get_backend_config, dist.get_backend):
        with pytest.raises(ValueError, match="Invalid process group specified"):
            call(evens)
    assert dist.get_rank(evens) == -1
with pytest.raises(ValueError, match="Invalid process group specified: 3"):
    dist.all_reduce(torch.ones(1), group=3)
if rank < 2:
    few = dist.new_group([1, 0], use_local_synchronization=True)
    t = torch.tensor([rank])
    dist.broadcast(t, src=1, group=few)
    assert t.item() == 1
own, every = dist.new_subgroups(1)
assert dist.get_process_group_ranks(own) == [rank]
assert len(every) == size
dist.barrier()
dist.monitored_barrier()
dist.destroy_process_group()
assert not dist.is_initialized()
dist.init_process_group()
t = torch.ones(1)
dist.all_reduce(t)
assert t.item() == size
dist.destroy_process_group()
print("done")
