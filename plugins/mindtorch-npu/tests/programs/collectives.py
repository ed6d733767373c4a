"""Every collective operation on NPUs with every dtype: each rank computes what must come out by NumPy."""

import warnings

import numpy as np

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_npu_simulator import control

dist.init_process_group("hccl")
rank, size = dist.get_rank(), dist.get_world_size()
assert torch.npu.current_device() == rank
Op = dist.ReduceOp
WHOLE = [torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64]
FLOATING = [torch.float16, torch.bfloat16, torch.float32, torch.float64]
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
BITS = (Op.BAND, Op.BOR, Op.BXOR)


def given(of, shape, dtype, device="npu"):
    """The tensor of a rank: small whole numbers, so that every sum is exact."""
    numbers = np.random.default_rng(100 * of + len(shape)).integers(0, 3, shape)
    return torch.tensor(numbers).to(dtype).to(device)


def same(found, expected):
    expected = torch.as_tensor(expected).cpu().to(found.dtype).reshape(found.shape)
    torch.testing.assert_close(found.cpu(), expected)


def all_of(shape, dtype):
    plain = torch.int64 if dtype is torch.bool else dtype
    plain = torch.float64 if dtype in FLOATING else plain
    return np.stack([given(r, shape, dtype, "cpu").to(plain).numpy() for r in range(size)])


def empty(shape, dtype):
    return torch.empty(shape, dtype=dtype, device="npu")


for dtype in [torch.bool, *WHOLE, *FLOATING, torch.complex64]:
    for shape in ((), (0,), (2, 3)):
        mine, every = given(rank, shape, dtype), all_of(shape, dtype)
        for op, how in HOW.items():
            if dtype.is_complex and op not in (Op.SUM, Op.AVG):
                continue
            if (op in BITS and dtype in FLOATING) or (dtype is torch.bool and op is Op.AVG):
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
            row = empty(shape, dtype)
            dist.reduce_scatter(row, [mine.clone() for _ in range(size)], op)
            same(row, expected)
        root = size - 1
        t = mine.clone()
        dist.broadcast(t, root)
        same(t, given(root, shape, dtype))
        rows = [empty(shape, dtype) for _ in range(size)] if rank == root else None
        dist.gather(mine, rows, dst=root)
        for r, row in enumerate(rows or []):
            same(row, given(r, shape, dtype))
        parts = [given(10 + r, shape, dtype) for r in range(size)] if rank == root else None
        t = empty(shape, dtype)
        dist.scatter(t, parts, src=root)
        same(t, given(10 + rank, shape, dtype))
        rows = [empty(shape, dtype) for _ in range(size)]
        dist.all_gather(rows, mine)
        for r, row in enumerate(rows):
            same(row, given(r, shape, dtype))
        sent = [given(10 * rank + r, shape, dtype) for r in range(size)]
        rows = [empty(shape, dtype) for _ in range(size)]
        dist.all_to_all(rows, sent)
        for r, row in enumerate(rows):
            same(row, given(10 * r + rank, shape, dtype))
    # Parts of different sizes: rank r sends r + 1 rows to each, plus its place.
    sent = torch.cat([torch.full((rank + 1, 2), 10 * rank + r) for r in range(size)]).to(dtype)
    found = empty((sum(r + 1 for r in range(size)), 2), dtype)
    dist.all_to_all_single(found, sent.npu(), [r + 1 for r in range(size)], [rank + 1] * size)
    same(found, torch.cat([torch.full((r + 1, 2), 10 * r + rank) for r in range(size)]).to(dtype))

# A product of what HCCL has no products of is not rounded to another type.
t = torch.full((3,), 1.0 + 2**-7, dtype=torch.bfloat16, device="npu")
dist.all_reduce(t, Op.PRODUCT)
expected = torch.ones(3, dtype=torch.bfloat16)
for _ in range(size):
    expected *= 1.0 + 2**-7
same(t, expected)
t = torch.full((3,), 1.0 + 2**-40, dtype=torch.float64, device="npu")
dist.all_reduce(t)
assert t.cpu().tolist() == [size * (1.0 + 2**-40)] * 3

# Memory that is not contiguous, tensors of the CPU, which are staged, versions, pipelines.
scale = sum(range(1, size + 1))
t = (torch.arange(12.0).reshape(3, 4).T * (rank + 1)).npu()
before = t._version
dist.all_reduce(t[::2])
assert t._version > before
expected = torch.arange(12.0).reshape(3, 4).T * (rank + 1)
expected[::2] = (torch.arange(12.0).reshape(3, 4).T * scale)[::2]
same(t, expected)
for device in ("cpu", "npu"):
    t = torch.ones(2, device=device) * (rank + 1)
    dist.all_reduce(t, dist._make_nccl_premul_sum(0.5))
    assert t.device.type == device
    same(t, torch.ones(2) * scale * 0.5)
    with torch.pipeline():
        t = torch.ones(3, device=device) * (rank + 1)
        dist.all_reduce(t)
        same(t, torch.ones(3) * scale)
other = torch.ones(2, device=f"npu:{(rank + 1) % size}")  # not this process's, and taken there
dist.all_reduce(other)
assert other.device.index == (rank + 1) % size
same(other, torch.full((2,), float(size)))

# Asynchronous work, many at a time, waited for in another order; on another stream.
tensors = [torch.full((n,), float(rank + n), device="npu") for n in range(1, 20)]
works = [dist.all_reduce(t, async_op=True) for t in tensors]
for work in reversed(works):
    assert work.wait() is True
    assert work.is_completed()
    assert work.is_success()
for n, t in enumerate(tensors, 1):
    same(t, torch.full((n,), float(sum(r + n for r in range(size)))))
stream = torch.npu.Stream()
with torch.npu.stream(stream):
    t = torch.ones(300_000, device="npu") * (rank + 1)
    dist.all_reduce(t)
    t *= 2
    same(t, torch.full((300_000,), 2.0 * scale))
pair = [torch.ones(2, device="npu"), torch.ones(3, device="npu")]
with warnings.catch_warnings(action="ignore", category=FutureWarning):  # PyTorch has deprecated it
    dist.all_reduce_coalesced(pair)
same(pair[1], torch.full((3,), float(size)))

# Messages: a ring, both ways at once, by tags, from anybody; objects.
right, left = (rank + 1) % size, (rank - 1) % size
got = empty((3,), torch.float32)
mine = torch.full((3,), float(rank), device="npu")
works = dist.batch_isend_irecv(
    [dist.P2POp(dist.isend, mine, right), dist.P2POp(dist.irecv, got, left)]
)
for work in works:
    work.wait()
same(got, torch.full((3,), float(left)))
a, b = empty((1,), torch.float32), empty((1,), torch.float32)
works = [dist.irecv(a, left, tag=1), dist.irecv(b, left, tag=2)]
works += [dist.isend(torch.tensor([n], device="npu"), right, tag=int(n)) for n in (2.0, 1.0)]
for work in works:
    work.wait()
assert (a.item(), b.item()) == (1, 2)
if rank == 0:
    seen = {dist.recv(a): a.item() for _ in range(size - 1)}
    assert seen == {r: 10.0 * r for r in range(1, size)}, seen
else:
    dist.send(torch.tensor([10.0 * rank], device="npu"), 0)
found = [None] * size
dist.all_gather_object(found, {"rank": rank, "long": "x" * (100 * rank)})
assert found == [{"rank": r, "long": "x" * (100 * r)} for r in range(size)]
found = [rank, None] if rank == 1 else [None, 5]
dist.broadcast_object_list(found, src=1)
assert found == [1, None]

# Groups.
evens = dist.new_group(range(0, size, 2))
if rank % 2 == 0:
    t = torch.tensor([rank], device="npu")
    dist.all_reduce(t, group=evens)
    assert t.item() == sum(range(0, size, 2))
for _ in range(2):  # a group of which the others do not know, made again
    if rank < 2:
        few = dist.new_group([1, 0], use_local_synchronization=True)
        t = torch.tensor([rank], device="npu")
        dist.broadcast(t, src=1, group=few)
        assert t.item() == 1
        dist.barrier(few)
        dist.destroy_process_group(few)
dist.barrier()
dist.monitored_barrier()
dist.destroy_process_group()
calls = control.counters()["calls"]
assert calls["HcclCommInitRootInfo"] == calls["HcclCommDestroy"], calls  # those of messages too
dist.init_process_group("hccl")
t = torch.ones(1, device="npu")
dist.all_reduce(t)
assert t.item() == size
dist.destroy_process_group()
print("done")
