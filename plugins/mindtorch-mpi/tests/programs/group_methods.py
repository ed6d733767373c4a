"""Calls that a group makes itself. Runs on mindtorch and on PyTorch; writes what it finds."""

import json
import sys
import warnings
from datetime import timedelta

import torch
import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
found = {}
Op = dist.ReduceOp
pg = dist.group.WORLD


def own(*shape):
    count = torch.Size(shape).numel()
    return torch.arange(float(count)).reshape(shape) + 10 * rank


def shown(work, *tensors):
    assert work.wait() is True
    return [t.tolist() for t in tensors]


def options(cls, **given):
    made = cls()
    for name, value in given.items():
        setattr(made, name, value)
    return made


found["what"] = [pg.rank(), pg.size(), pg.group_name, pg.group_desc, type(pg).__name__]
found["store"] = isinstance(pg.get_group_store(), dist.Store)

# Reductions: of a list of one tensor, of a tensor, with an op, with options, with a timeout.
x = own(3)
found["allreduce list"] = shown(pg.allreduce([x]), x)
x = own(3)
found["allreduce tensor"] = shown(pg.allreduce(x), x)
x = own(3)
found["allreduce op"] = shown(pg.allreduce([x], Op.MAX), x)
x = own(3)
found["allreduce keyword"] = shown(pg.allreduce(tensor=x, op=Op.MIN), x)
x = own(3)
chosen = options(dist.AllreduceOptions, reduceOp=Op.PRODUCT, timeout=timedelta(seconds=30))
work = pg.allreduce([x], chosen)
found["allreduce options"] = shown(work, x)
found["result"] = [t.tolist() for t in work.result()]
x = own(3)
found["future"] = [t.tolist() for t in pg.allreduce([x]).get_future().wait()]
x, y = own(2), own(2, 2)
found["allreduce_coalesced"] = shown(
    pg.allreduce_coalesced([x, y], dist.AllreduceCoalescedOptions()), x, y
)
for root in range(size):
    x = own(2)
    found[f"broadcast {root}"] = shown(pg.broadcast(x, root), x)
    x = own(2)
    found[f"broadcast keyword {root}"] = shown(pg.broadcast(tensor=x, root=root), x)
    x = own(2)
    chosen = options(dist.BroadcastOptions, rootRank=root)
    found[f"broadcast options {root}"] = shown(pg.broadcast([x], chosen), x)
    x = own(2)
    shown(pg.reduce(x, root), x)
    found[f"reduce {root}"] = x.tolist() if rank == root else None
    x = own(2)
    shown(pg.reduce([x], options(dist.ReduceOptions, rootRank=root, reduceOp=Op.MAX)), x)
    found[f"reduce options {root}"] = x.tolist() if rank == root else None
    rows = [torch.zeros(2) for _ in range(size)] if rank == root else []
    found[f"gather {root}"] = shown(pg.gather(rows, own(2), root), *rows)
    rows = [[torch.zeros(2) for _ in range(size)]] if rank == root else []
    chosen = options(dist.GatherOptions, rootRank=root)
    found[f"gather options {root}"] = shown(
        pg.gather(rows, [own(2)], chosen), *[t for row in rows for t in row]
    )
    x = torch.zeros(2)
    parts = [own(2) + i for i in range(size)] if rank == root else []
    found[f"scatter {root}"] = shown(pg.scatter(x, parts, root), x)
    chosen = options(dist.ScatterOptions, rootRank=root)
    parts = [[own(2) * i for i in range(size)]] if rank == root else []
    found[f"scatter options {root}"] = shown(pg.scatter([x], parts, chosen), x)

rows = [torch.zeros(2) for _ in range(size)]
found["allgather"] = shown(pg.allgather([rows], [own(2)]), *rows)
found["allgather tensor"] = shown(pg.allgather(rows, own(2) + 1), *rows)
found["allgather options"] = shown(pg.allgather([rows], [own(2)], c10d.AllgatherOptions()), *rows)
whole = torch.zeros(2 * size)
found["_allgather_base"] = shown(pg._allgather_base(whole, own(2)), whole)
x = torch.zeros(2)
rows = [own(2) * i for i in range(size)]
found["reduce_scatter"] = shown(pg.reduce_scatter(x, rows), x)
chosen = options(dist.ReduceScatterOptions, reduceOp=Op.MAX)
found["reduce_scatter options"] = shown(pg.reduce_scatter([x], [rows], chosen), x)
found["_reduce_scatter_base"] = shown(pg._reduce_scatter_base(x, own(2 * size)), x)
whole = torch.zeros(2 * size)
found["alltoall_base"] = shown(pg.alltoall_base(whole, own(2 * size), [], []), whole)
uneven = torch.zeros(sum(range(1, size + 1)))
received, sent = [r + 1 for r in range(size)], [rank + 1] * size
found["all_to_all_single"] = shown(
    pg.all_to_all_single(uneven, own((rank + 1) * size), received, sent), uneven
)
found["barrier"] = pg.barrier().wait(), pg.barrier(dist.BarrierOptions()).wait()
found["monitored_barrier"] = pg.monitored_barrier(timedelta(seconds=30))
x = own(2)
if rank == 0:
    pg.send([x], 1, 7).wait()
elif rank == 1:
    x.zero_()
    pg.recv([x], 0, 7).wait()
    found["received"] = x.tolist()
if rank == 1:
    pg.send([own(2)], 0, 8).wait()
elif rank == 0:
    found["from any"] = shown(pg.recv_anysource([x], 8), x)

# What options are when nothing is set, and what is refused.
for name in (
    "Allgather", "AllToAll", "Allreduce", "AllreduceCoalesced", "Barrier", "Broadcast", "Gather", "Reduce",
    "ReduceScatter", "Scatter",
):  # fmt: skip
    made = getattr(c10d, f"{name}Options")()
    named = {each for each in dir(made) if each[0] != "_"} - {"reduceOp"}
    found[f"{name}Options"] = [[each, str(getattr(made, each))] for each in sorted(named)]
for name, call in (
    ("allreduce(3)", lambda: pg.allreduce(3)),
    ("broadcast('x')", lambda: pg.broadcast(own(2), "x")),
    ("allreduce(options)", lambda: pg.allreduce([own(2)], dist.BarrierOptions())),
    ("option", lambda: setattr(dist.AllreduceOptions(), "other", 1)),
):
    try:
        call()
    except Exception as error:  # noqa: BLE001 (it is what the program tells)
        text = str(error).partition(". The following")[0].partition(": got")[0]
        text = text.replace("torch._C._distributed_c10d.", "")
        found[f"wrong {name}"] = [type(error).__name__, text.rpartition("'AllreduceOptions'")[2]]

# Names of the module that programs use.
x = {"a": [rank]}
data, length = c10d._object_to_tensor(x, torch.device("cpu"), pg)
found["object"] = c10d._tensor_to_object(data, length, pg), str(data.dtype), length.tolist()
found["sizes"] = c10d._get_group_size(None), c10d._get_group_size_by_name(pg.group_name)
ranks = c10d._world.pg_group_ranks[pg]
found["ranks"] = [[k, v] for k, v in ranks.items()], c10d._pg_group_ranks[pg] == ranks
found["world"] = c10d._world.default_pg is pg, c10d._world.pg_names[pg] == pg.group_name
found["names"] = (
    c10d._get_process_group_name(pg),
    c10d._pg_names[pg],
    c10d._get_object_coll_device(),
)
found["inside"] = [dist._rank_not_in_group(each) for each in (None, pg, -100)]
found["complex"] = [[str(op), c10d.supports_complex(op)] for op in (Op.SUM, Op.MAX, Op.BOR, Op.AVG)]
found["timeout"] = c10d._get_default_timeout("gloo").total_seconds()
turned = dist.new_group([1, 0])
found["canonical"] = [
    c10d._canonicalize_group_rank(turned, 0),
    c10d._canonicalize_group_rank(turned, group_rank=1, return_global=True),
    c10d._canonicalize_group_rank(turned, 1, return_global=True),
]
for name, call in (
    ("rank twice", lambda: c10d._canonicalize_group_rank(pg, 0, 0)),
    ("no rank", lambda: c10d._canonicalize_group_rank(pg)),
    ("timeout", lambda: c10d._check_valid_timeout(3)),
    ("tensor", lambda: c10d._check_single_tensor(3, "x")),
):
    try:
        call()
    except Exception as error:  # noqa: BLE001
        found[f"refused {name}"] = [type(error).__name__, str(error)]

# Groups of groups.
mine, groups = dist.new_subgroups_by_enumeration([[r] for r in range(size)])
found["subgroups"] = [mine.size(), mine.rank(), dist.get_process_group_ranks(mine), len(groups)]
part = dist.new_group([size - 1, 0])
mine, groups = dist.new_subgroups(1, group=part)
found["subgroups of a group"] = [dist.get_process_group_ranks(mine), len(groups)]
for name, call in (
    ("size", lambda: dist.new_subgroups(size + 1)),
    ("negative", lambda: dist.new_subgroups(-1)),
    ("twice", lambda: dist.new_subgroups_by_enumeration([[0], [0]])),
    ("none", lambda: dist.new_subgroups_by_enumeration([])),
    ("no split", lambda: dist.split_group(None, [])),
):
    try:
        call()
    except Exception as error:  # noqa: BLE001
        found[f"wrong {name}"] = [type(error).__name__, str(error)]

# Names of old, which still work and say so.
x, y = own(2), [torch.zeros(2) for _ in range(size)]
for name, call in {
    "_all_gather_base": lambda: dist._all_gather_base(torch.zeros(2 * size), x),
    "all_gather_into_tensor": lambda: dist.all_gather_into_tensor(torch.zeros(2 * size), x),
    "all_gather_single": lambda: dist.all_gather_single(torch.zeros(2 * size), x),
    "_reduce_scatter_base": lambda: dist._reduce_scatter_base(torch.zeros(2), own(2 * size)),
    "reduce_scatter_tensor": lambda: dist.reduce_scatter_tensor(torch.zeros(2), own(2 * size)),
    "reduce_scatter_single": lambda: dist.reduce_scatter_single(torch.zeros(2), own(2 * size)),
    "all_reduce_coalesced": lambda: dist.all_reduce_coalesced([own(2)]),
    "all_gather_coalesced": lambda: dist.all_gather_coalesced([[each] for each in y], [x]),
    "reduce_op": lambda: dist.reduce_op.SUM == Op.SUM,
    "_get_global_rank": lambda: c10d._get_global_rank(pg, 1),
    "all_reduce": lambda: dist.all_reduce(own(2)),
}.items():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        given = call()
    said = [[each.category.__name__, str(each.message)] for each in caught]
    found[f"old {name}"] = [said, given if isinstance(given, int) else None]
for name, call in (
    ("no list", lambda: dist.distributed_c10d.shrink_group(3)),
    ("nobody", lambda: dist.distributed_c10d.shrink_group([])),
    ("flags", lambda: dist.distributed_c10d.shrink_group([1], shrink_flags=7)),
    ("of one", lambda: dist.distributed_c10d.shrink_group([1], group=part if size == 1 else mine)),
    ("engine", lambda: dist.distributed_c10d.shrink_group([1])),
):
    try:
        call()
    except Exception as error:  # noqa: BLE001
        found[f"shrunk {name}"] = [type(error).__name__, str(error)]
with open(f"{sys.argv[1]}/group_methods-{rank}.json", "w") as file:
    json.dump(found, file)
dist.destroy_process_group()
print("done")
