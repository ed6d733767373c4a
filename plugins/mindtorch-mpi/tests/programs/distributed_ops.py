"""Ops on DTensors, however their operands lie: what they give, and gradients, is what plain tensors have."""

import itertools
import warnings

from every_way import beside, compare

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core import nn
from mindtorch_core.distributed.tensor import Replicate, Shard, distribute_tensor

F = nn.functional
dist.init_process_group("mpi")
mesh = dist.init_device_mesh("cpu", (dist.get_world_size(),))
draw = torch.Generator().manual_seed(0)
ids = torch.tensor([[0, 1, 5], [3, 2, 4]])
classes = torch.tensor([0, 1, 2, 3])


def r(*shape):
    return torch.randn(*shape, generator=draw)


cases = {
    "linear": (lambda x, w, b: F.linear(x, w, b), [r(4, 6, 8), r(10, 8), r(10)]),
    "matmul": (lambda a, b: a @ b, [r(2, 4, 6), r(2, 6, 8)]),
    "mm": (lambda a, b: torch.mm(a, b), [r(4, 6), r(6, 8)]),
    "vec": (lambda a, b: a @ b, [r(4, 6), r(6)]),
    "addmm": (lambda c, a, b: torch.addmm(c, a, b), [r(8), r(4, 6), r(6, 8)]),
    "broadcast": (lambda a, b: (a + b) * b, [r(2, 4, 6), r(6)]),
    "broadcast both": (lambda a, b: a - b, [r(4, 1, 6), r(2, 6)]),
    "ln": (lambda x, w, b: F.layer_norm(x, (6,), w, b), [r(2, 4, 6), r(6), r(6)]),
    "rms": (lambda x, w: F.rms_norm(x, (6,), w), [r(2, 4, 6), r(6)]),
    "softmax": (lambda x: x.softmax(-1), [r(4, 6)]),
    "log_softmax": (lambda x: x.log_softmax(0), [r(4, 6)]),
    "sum0": (lambda x: x.sum(0), [r(4, 6)]),
    "sumk": (lambda x: x.sum((0, 1), keepdim=True), [r(4, 6, 2)]),
    "mean": (lambda x: x.mean(1), [r(4, 6)]),
    "amax": (lambda x: x.amax(1), [r(4, 6)]),
    "max": (lambda x: x.max(1).values, [r(4, 6)]),
    "var": (lambda x: x.var(1), [r(4, 6)]),
    "t": (lambda x: x.t(), [r(4, 6)]),
    "permute": (lambda x: x.permute(2, 0, 1), [r(4, 6, 2)]),
    "heads": (lambda x: x.view(2, 4, 2, 4).transpose(1, 2), [r(2, 4, 8)]),
    "unheads": (lambda x: x.transpose(1, 2).contiguous().view(2, 4, 8), [r(2, 2, 4, 4)]),
    "flatten": (lambda x: x.flatten(0, 1), [r(2, 4, 6)]),
    "unsqueeze": (lambda x: x.unsqueeze(1).expand(4, 3, 6), [r(4, 6)]),
    "squeeze": (lambda x: x.squeeze(1), [r(4, 1, 6)]),
    "split": (lambda x: torch.cat([t * 2 for t in x.split(2, 1)], 1), [r(4, 6)]),
    "chunk": (lambda x: x.chunk(2, -1)[1] * x.chunk(2, -1)[0], [r(4, 8)]),
    "select": (lambda x: x[1], [r(4, 6)]),
    "sdpa": (
        lambda q, k, v: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        [r(2, 2, 4, 4), r(2, 2, 4, 4), r(2, 2, 4, 4)],
    ),
    "embedding": (lambda w: F.embedding(beside(w, ids, mesh), w), [r(6, 4)]),
    "ce": (lambda x: F.cross_entropy(x, beside(x, classes, mesh)), [r(4, 6)]),
    "gelu": (lambda x: F.gelu(x), [r(4, 6)]),
    "uneven": (lambda x, w: F.layer_norm(F.linear(x, w), (3,)).sum(1), [r(5, 3, 7), r(3, 7)]),
    "tall view": (lambda x: x.view(2, 2, 6), [r(4, 6)]),
}
# Of more ranks some have no elements.
compare(cases, mesh, 8, {*cases} - {"broadcast both"} if mesh.size() == 2 else ())

# An op without a rule says once that it gathers.
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    for _ in range(2):
        found = distribute_tensor(r(4, 6), mesh, [Shard(0)]).diag_embed()
assert [str(each.message).partition(" ")[0] for each in told] == ["aten.diag_embed.default"]
assert found.placements == (Replicate(),)

# In two dimensions of a mesh.
if dist.get_world_size() == 4:
    grid = dist.init_device_mesh("cpu", (2, 2))
    x, w = r(8, 4, 8), r(8, 8)
    for ways in itertools.product((Replicate(), Shard(0), Shard(1), Shard(2)), repeat=2):
        for other in ((Replicate(), Shard(0)), (Shard(1), Shard(1)), (Shard(0), Replicate())):
            a, b = distribute_tensor(x, grid, ways), distribute_tensor(w, grid, other)
            found = F.linear(a, b).softmax(-1).view(8, 4, 4, 2).transpose(0, 2).sum(1)
            expected = F.linear(x, w).softmax(-1).view(8, 4, 4, 2).transpose(0, 2).sum(1)
            torch.testing.assert_close(found.full_tensor(), expected, msg=f"{ways} {other}")
print("done")
