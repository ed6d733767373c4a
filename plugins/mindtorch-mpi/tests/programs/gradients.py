"""Gradients of collective operations. Runs on mindtorch and on PyTorch; writes what it finds."""

import json
import sys
import warnings

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives
import torch.distributed.nn as dnn

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
found = {}
pg = dist.group.WORLD
Op = dist.ReduceOp
calls = dnn.functional


def leaf(*shape, scale=1.0):
    count = torch.Size(shape).numel()
    start = torch.arange(float(count), dtype=torch.float64).reshape(shape)
    return ((start + rank + 1) * scale * 0.1).requires_grad_()


def weigh(results):
    """One number of results, in which each element counts otherwise on each rank."""
    total = 0
    for i, each in enumerate(results):
        weights = torch.arange(float(each.numel()), dtype=torch.float64).reshape(each.shape)
        total = total + ((weights + 1) * (rank + 2) * (i + 1) * each.square()).sum()
    return total


def record(name, call, *leaves):
    """The results, the gradients and those of the gradients."""
    results = call(*leaves)
    results = [results] if isinstance(results, torch.Tensor) else list(results)
    first = torch.autograd.grad(weigh(results), leaves, create_graph=True, allow_unused=True)
    second = torch.autograd.grad(weigh([g for g in first if g is not None]), leaves)
    rows = [results, [g for g in first if g is not None], second]
    shown = [[each.tolist() for each in row] for row in rows]
    found[name] = shown, [each.requires_grad for each in results]


with warnings.catch_warnings():
    warnings.simplefilter("ignore", FutureWarning)
    for op in (Op.SUM, Op.PRODUCT, Op.MIN, Op.MAX):
        record(f"all_reduce {op}", lambda x, op=op: calls.all_reduce(x, op), leaf(2, 3))
    record("all_reduce strided", lambda x: calls.all_reduce(x.t()), leaf(2, 3))
    for root in range(size):
        record(f"broadcast {root}", lambda x, root=root: calls.broadcast(x, root), leaf(3))
        record(f"gather {root}", lambda x, root=root: calls.gather(x, root), leaf(2, 2))
        record(
            f"scatter {root}",
            lambda *x, root=root: calls.scatter(x, root),
            *(leaf(3, scale=i + 1.0) for i in range(size)),
        )

        def to_one(x, root=root):
            result = calls.reduce(x, root)
            return result if rank == root else result * 0  # gloo leaves parts of sums elsewhere

        record(f"reduce {root}", to_one, leaf(2, 2))
    record("all_gather", calls.all_gather, leaf(2, 2))
    record("all_gather strided", lambda x: calls.all_gather(x.t()), leaf(2, 3))
    record("dnn.all_gather", lambda x: dnn.all_gather(x)[0], leaf(2))
    outputs = [torch.zeros(2, 3, dtype=torch.float64) for _ in range(size)]

    def exchange(*x):
        results = calls.all_to_all(outputs, x)
        found["all_to_all same"] = [a is b for a, b in zip(results, outputs, strict=True)]
        return results

    record("all_to_all", exchange, *(leaf(2, 3, scale=r + 1.0) for r in range(size)))
    output = torch.zeros(2 * size, 2, dtype=torch.float64)
    record("all_to_all_single", lambda x: calls.all_to_all_single(output, x), leaf(2 * size, 2))
    found["all_to_all_single output"] = output.tolist(), output.requires_grad
    uneven = torch.zeros(sum(range(1, size + 1)), dtype=torch.float64)
    record(
        "all_to_all_single uneven",
        lambda x: calls.all_to_all_single(
            uneven, x, [r + 1 for r in range(size)], [rank + 1] * size
        ),
        leaf((rank + 1) * size),
    )
    part = torch.zeros(3, dtype=torch.float64)
    for op in (Op.SUM, Op.MAX):
        record(
            f"reduce_scatter {op}",
            lambda *x, op=op: calls.reduce_scatter(part, x, op),
            *(leaf(3, scale=1.0 + i) for i in range(size)),
        )
    found["reduce_scatter output"] = part.tolist(), part.requires_grad
    group = dist.new_group([size - 1, 0])
    record("a group", lambda x: calls.all_gather(x, group=group), leaf(2))

turned = dist._functional_collectives
turned_round = dist.new_group([size - 1, 0], sort_ranks=False)
x = torch.arange(6.0).reshape(2, 3) + 10 * rank
for name, call in (
    ("all_gather_single", lambda: turned.all_gather_single(x, 1, pg)),
    ("reduce_scatter_single", lambda: turned.reduce_scatter_single(x.t()[:2], "sum", 1, pg)),
    ("broadcast", lambda: turned.broadcast(x, 1, turned_round)),
    ("all_gather_single_coalesced", lambda: turned.all_gather_single_coalesced([x, x + 1], pg)[1]),
    (
        "permute_tensor",
        lambda: turned.permute_tensor(x[0], [(r + 1) % size for r in range(size)], pg),
    ),
):
    found[name] = call().tolist()

for name, call in (
    ("all_reduce", lambda *x: turned.all_reduce_coalesced([*x], "sum", pg)),
    ("all_gather", lambda *x: turned.all_gather_single_coalesced([*x], pg)),
    (
        "reduce_scatter",
        lambda *x: turned.reduce_scatter_single_coalesced([*x], "sum", [0, 1], pg),
    ),
):
    leaves = (
        leaf(2, 4),
        leaf(4, 2, scale=3.0),
    )  # PyTorch has their gradients, not those of gradients
    results = call(*leaves)
    grads = torch.autograd.grad(weigh(results), leaves)
    found[f"{name} coalesced"] = [[each.tolist() for each in row] for row in (results, grads)]
for name, call in (
    ("all_reduce", lambda: calls.all_reduce(torch.ones(1))),
    ("all_gather", lambda: calls.all_gather(torch.ones(1))),
    ("broadcast", lambda: calls.broadcast(torch.ones(1), 0)),
    ("gather", lambda: calls.gather(torch.ones(1))),
    ("reduce_scatter", lambda: calls.reduce_scatter(torch.ones(1), [torch.ones(1)] * size)),
):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        call()
    found[f"{name} warns"] = [
        [w.category.__name__, str(w.message), w.filename == __file__] for w in caught
    ]
with open(f"{sys.argv[1]}/gradients-{rank}.json", "w") as file:
    json.dump(found, file)
dist.destroy_process_group()
print("done")
