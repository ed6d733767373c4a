"""Large collective operations, which go in pieces, give what small ones give."""

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core.distributed import ReduceOp

dist.init_process_group("mpi")
rank, size = dist.get_rank(), dist.get_world_size()
MB = 1 << 20


def repeated(row, count):
    return row.repeat(count // 41 + 1)[:count]


def row_of(who, dtype):
    return (torch.arange(41) * (who + 3) % 37).to(dtype)


def own(count, dtype):
    return repeated(row_of(rank, dtype), count)


def folded(count, dtype, op):
    rows = torch.stack([row_of(who, dtype) for who in range(size)])
    if op is ReduceOp.MAX:
        return repeated(rows.amax(0), count)
    found = rows.sum(0).to(dtype)
    return repeated(found / size if op is ReduceOp.AVG else found, count)


# At the bound, just above it, and with a last piece that is short.
for dtype, op in (
    (torch.float32, ReduceOp.AVG),
    (torch.int8, ReduceOp.MAX),
    (torch.bfloat16, ReduceOp.SUM),
):
    for size_in_bytes in (2 * MB, 2 * MB + 8, 4 * MB - 24):
        count = size_in_bytes // dtype.itemsize
        expected = folded(count, dtype, op)
        x = own(count, dtype)
        dist.all_reduce(x, op)
        assert torch.equal(x, expected), (dtype, count)
        x = own(count, dtype)
        dist.reduce(x, 1, op)
        assert torch.equal(x, expected if rank == 1 else own(count, dtype)), (dtype, count)
        out = torch.empty(count, dtype=dtype)
        dist.reduce_scatter_single(out, own(count * size, dtype), op)
        expected = folded(count * size, dtype, op)[rank * count : (rank + 1) * count]
        assert torch.equal(out, expected), (dtype, count)

# Several at once, and small ones among them.
many = [own(n, torch.float32) for n in (MB, 3, MB + 1, 5)]
works = [dist.all_reduce(x, async_op=True) for x in many]
for work, x in zip(works, many, strict=True):
    work.wait()
    assert torch.equal(x, folded(x.numel(), torch.float32, ReduceOp.SUM))
dist.destroy_process_group()
print("done")
