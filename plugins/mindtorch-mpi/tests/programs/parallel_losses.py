"""Losses of logits that are cut along their classes. Runs on mindtorch and on PyTorch; writes what it finds."""

import json
import sys
import warnings

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import DTensor, Partial, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import loss_parallel
from torch.nn.functional import cross_entropy, log_softmax

warnings.simplefilter("ignore")
dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
line = init_device_mesh("cpu", (size,))
grid = init_device_mesh("cpu", (2, size // 2))
found = {}
OURS = "mindtorch_core" in sys.modules
CLASSES = (Shard(1),)


def drawn(*shape):
    n = torch.Size(shape).numel()
    return (torch.arange(float(n)) * 2.3 + 1).sin().reshape(shape) * 3


def whole(t):
    return (t.full_tensor() if isinstance(t, DTensor) else t).detach().double().tolist()


def case(
    name,
    logits,
    target,
    mesh=line,
    cut=CLASSES,
    target_cut=None,
    dtype=torch.float32,
    **options,
):
    """The loss and the gradient of some logits, how both lie, and how they are on one process."""
    plain = logits.clone().to(dtype).requires_grad_()
    alone = cross_entropy(plain, target, **options)
    alone.backward(torch.ones_like(alone) * 2)
    spread = distribute_tensor(logits.clone().to(dtype), mesh, cut).requires_grad_()
    if target_cut is not None:
        target = distribute_tensor(target, mesh, target_cut)
    with loss_parallel():
        loss = cross_entropy(spread, target, **options)
        loss.backward(torch.ones_like(loss) * 2)
    same = {"rtol": 2e-2, "atol": 2e-2} if dtype is torch.bfloat16 else {}
    torch.testing.assert_close(loss.full_tensor(), alone.detach(), equal_nan=True, **same)
    if OURS:  # PyTorch's gradients of pixels are not those of one process
        torch.testing.assert_close(spread.grad.full_tensor(), plain.grad, equal_nan=True, **same)
    found[name] = [str(loss.placements), list(loss.shape), str(loss.dtype), whole(loss),
                   str(spread.grad.placements), list(spread.grad.to_local().shape), list(spread.grad.stride())]  # fmt: skip


rows, targets = drawn(6, 10), torch.tensor([0, 9, 4, 5, 2, 7])
for way in ("mean", "sum", "none"):
    case(way, rows, targets, reduction=way)
    case(f"{way}, weighed", rows, targets, reduction=way, weight=drawn(10).abs(), ignore_index=5)
    case(f"{way}, pixels", drawn(2, 7, 3, 2), torch.arange(12).reshape(2, 3, 2) % 7, reduction=way)
    if way != "mean":  # PyTorch refuses it on such a mesh
        case(
            f"{way}, grid",
            rows,
            targets,
            grid,
            (Shard(0), Shard(1)),
            (Shard(0), Replicate()),
            reduction=way,
        )
        case(f"{way}, grid of copies", rows, targets, grid, (Replicate(), Shard(1)), reduction=way)
case("large", rows * 1e4, targets)
case("ignored", rows, torch.where(targets > 4, -100, targets))
case("all ignored", rows, torch.full((6,), -100))
case("half", rows, targets, dtype=torch.bfloat16)
case("target of the mesh", rows, targets, target_cut=(Replicate(),))
with loss_parallel():
    logs = log_softmax(distribute_tensor(rows, line, [Shard(1)]), -1)
found["logs"] = [str(logs.placements), whole(logs)]
after = log_softmax(distribute_tensor(rows, line, [Shard(1)]), -1)
found["after"] = [str(after.placements), whole(after)]


def refused(*args, **options):
    try:
        with loss_parallel():
            cross_entropy(*args, **options)
    except Exception as error:  # noqa: BLE001
        return type(error).__name__
    return None


spread = distribute_tensor(rows, line, [Shard(1)])
by_rows = distribute_tensor(targets, line, [Shard(0)])
found["refused"] = [
    refused(distribute_tensor(rows, line, [Shard(0)]), targets),
    refused(distribute_tensor(rows, line, [Replicate()]), targets),
    refused(DTensor.from_local(rows, line, [Partial()]), targets),
    refused(distribute_tensor(rows, grid, [Shard(0), Shard(1)]), targets, reduction="sum"),
    refused(spread, by_rows),
    refused(spread, targets, weight=distribute_tensor(torch.ones(10), line, [Shard(0)])),
]
if OURS:  # what PyTorch refuses, fails at or forgets
    assert log_softmax(distribute_tensor(rows, line, [Shard(1)]), -1).placements == (Replicate(),)
    case("fewer classes than ranks", drawn(3, size - 1), torch.tensor([0, size - 2, 0]))
    case("one row", drawn(9), torch.tensor(3), cut=(Shard(0),))
    del found["fewer classes than ranks"], found["one row"]
    spread = distribute_tensor(rows, grid, (Shard(0), Shard(1))).requires_grad_()
    with loss_parallel():
        target = distribute_tensor(targets, grid, (Shard(0), Replicate()))
        loss = cross_entropy(spread, target, weight=drawn(10).abs())
        loss.backward()
    plain = rows.clone().requires_grad_()
    alone = cross_entropy(plain, targets, weight=drawn(10).abs())
    alone.backward()
    torch.testing.assert_close(loss.full_tensor(), alone.detach())
    torch.testing.assert_close(spread.grad.full_tensor(), plain.grad)
    assert refused(distribute_tensor(rows, line, [Shard(1)]), targets + 1) == "IndexError"
with open(f"{sys.argv[1]}/parallel_losses-{rank}.json", "w") as file:
    json.dump(found, file)
dist.destroy_process_group()
print("done")
