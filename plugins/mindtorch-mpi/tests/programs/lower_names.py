"""What `DistributedDataParallel` is made of, by its own names. Runs on mindtorch and on PyTorch; writes it."""

import json
import sys
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import nn
from torch._C import _distributed_c10d as compiled

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
pg, found = dist.group.WORLD, {}


def outcome(call, *args):
    try:
        return call(*args)
    except RuntimeError as error:
        return str(error)


# Copies that fit, that have other numbers of parameters, other sizes, other strides.
verify = dist._verify_params_across_processes
same = torch.ones(2, 3)
square = torch.ones(3, 3)
found["verify"] = [
    outcome(verify, pg, [same], None),
    outcome(verify, pg, [same] * (1 + rank)),
    outcome(verify, pg, [same, torch.ones(2, 3 + rank)]),
    outcome(verify, pg, [square.t() if rank else square]),
]
for buffer, src in ((8, 0), (1 << 20, 1)):
    each = [
        torch.full((3,), rank + 1.0),
        torch.full((2, 2), rank + 5),
        torch.full((2,), rank + 2.0),
    ]
    dist._broadcast_coalesced(pg, each, buffer, src)
    found[f"broadcast {buffer}"] = [t.tolist() for t in each]

tensors = [torch.ones(100), torch.ones(200), torch.ones(10, dtype=torch.float64), torch.ones(50)]
divide = dist._compute_bucket_assignment_by_size
found["divided"] = [
    divide(tensors, [400]),
    divide(tensors, [400, 1000]),
    divide(tensors, [1, 1]),
    divide(tensors, [10000], [True, False, False, False]),
    divide(tensors[:2], [400, 1000], [], [1, 0]),
]
found["divided"] = json.loads(json.dumps(found["divided"]))
found["first"] = dist._DEFAULT_FIRST_BUCKET_BYTES


def filled():
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 1))
    for p in model.parameters():
        nn.init.constant_(p, 0.5)
    return model, list(model.parameters())


def hook(state, bucket):
    work = dist.all_reduce(bucket.buffer() * state, async_op=True)
    return work.get_future().then(lambda future: future.value()[0])


for name, options in {
    "plain": {},
    "views": {"gradient_as_bucket_view": True},
    "unused": {"find_unused_parameters": True},
    "hook": {},
    "builtin": {},
}.items():
    model, params = filled()
    reducer = dist.Reducer(params, [[2, 3], [0, 1]], [1 << 20, 1 << 20], pg, **options)
    if name == "hook":
        dist._register_comm_hook(reducer, 3.0, hook)
    elif name == "builtin":
        dist._register_builtin_comm_hook(reducer, dist.BuiltinCommHookType.ALLREDUCE)
    logger = dist.Logger(reducer)
    logger.set_construction_data_and_log("Sequential", [], -1, True, False, False)
    for step in range(2):
        reducer.prepare_for_forward()
        out = model[1 if name == "unused" else 0](torch.full((2, 3), rank + step + 1.0)).sum()
        reducer.prepare_for_backward(out if name == "unused" else [])
        if name != "unused":
            out = out + model[1](torch.ones(2, 3)).sum()
        out.backward()
        found[f"{name} {step}"] = [None if p.grad is None else p.grad.tolist() for p in params]
    data = logger._get_ddp_logging_data()
    mine = ("module_name", "backend_name", "bucket_sizes", "dtypes", "device_ids", "master_addr")
    found[f"{name} texts"] = [data.strs_map[key] for key in mine]
    found[f"{name} numbers"] = [
        data.ints_map[key]
        for key in (
            "world_size", "rank", "num_parameter_tensors", "total_parameter_size_bytes", "bucket_cap_bytes",
            "find_unused_parameters", "gradient_as_bucket_view", "broadcast_buffers", "output_device",
        )
    ]  # fmt: skip

# Groups by the name of PyTorch's engine.
inner = pg._get_backend(torch.device("cpu"))
found["gloo"] = [
    isinstance(inner, dist.ProcessGroupGloo),
    isinstance(pg, compiled.ProcessGroup),
    isinstance(dist.HashStore(), compiled.Store),
    compiled.Reducer is dist.Reducer,
    inner.rank(),
    inner.size(),
    inner.name(),
]
x = torch.ones(2) * (rank + 1)
inner.allreduce([x]).wait()
found["inner"] = x.tolist()
options = dist.ProcessGroupGloo._Options()
options._timeout = timedelta(seconds=30)
options._devices = [dist.ProcessGroupGloo.create_device(interface="lo")]
for name, how in (("a", options), ("b", timedelta(seconds=30))):
    store = dist.PrefixStore(name, pg.get_group_store())
    own = dist.ProcessGroupGloo(store, rank, size, how)
    x = torch.ones(2) * (rank + 1)
    own.allreduce([x]).wait()
    found[f"own {name}"] = [x.tolist(), own.rank(), own.size()]
dist.barrier()
with open(f"{sys.argv[1]}/lower_names-{rank}.json", "w") as file:
    json.dump(found, file)
dist.destroy_process_group()
