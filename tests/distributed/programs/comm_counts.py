"""What `CommDebugMode` counts on a rank whose others are imagined; the same with PyTorch and mindtorch."""

import json
import re
import sys
import warnings
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor
from torch.distributed.tensor.debug import CommDebugMode, visualize_sharding
from torch.distributed.tensor.parallel import (
    ColwiseParallel,
    RowwiseParallel,
    parallelize_module,
)

warnings.simplefilter("ignore")
dist.init_process_group("fake", rank=0, world_size=4)
mesh, square = init_device_mesh("cpu", (4,)), init_device_mesh("cpu", (2, 2))
folder, mode = Path(sys.argv[1]), CommDebugMode()


class Perceptron(nn.Module):
    def __init__(self):
        super().__init__()
        self.first, self.relu, self.second = nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 8)

    def forward(self, x):
        return self.second(self.relu(self.first(x)))


def counts(found):
    return sorted((str(op), count) for op, count in found.items() if count)


def tell(title):
    print(title, mode, counts(mode.get_comm_counts()), mode.get_total_counts())
    for name, row in sorted(mode.comm_module_counts.items()):
        print(" ", name, *((way, counts(found)) for way, found in row.items()))
    print(sorted((name, str(how)) for name, how in mode.get_sharding_info().items()))
    print(sorted((name, sorted(row)) for name, row in mode.get_parameter_info().items()))


def parallel(cut):
    model = parallelize_module(
        Perceptron(),
        mesh,
        {
            "first": ColwiseParallel(input_layouts=Shard(0) if cut else Replicate()),
            "second": RowwiseParallel(output_layouts=Shard(0) if cut else Replicate()),
        },
    )
    with mode:
        model(torch.ones(4, 8)).sum().backward()
    tell(f"parallel, cut {cut}")
    print(mode.generate_comm_debug_tracing_table(noise_level=0))
    mode.log_comm_debug_tracing_table_to_file(folder / "log.txt", 1)
    text = (folder / "log.txt").read_text()
    print([line for line in text.splitlines() if "*" in line and "**" not in line])
    print(len(re.findall("PASS", text)), "device mesh: " in text, "\033" in text)
    mode.generate_json_dump(folder / "log.json", 0)
    print(json.loads((folder / "log.json").read_text()))


def laid(value, *placements):
    return distribute_tensor(value, mesh if len(placements) == 1 else square, placements)


def tensors():
    with mode:
        rows = laid(torch.ones(8, 8), Shard(0))
        rows.redistribute(placements=[Replicate()])
        (laid(torch.ones(8, 8), Shard(1)) @ rows).redistribute(placements=[Shard(1)])
        rows.sum().full_tensor()
        laid(torch.ones(8, 8), Shard(0), Replicate()).full_tensor()
    tell("tensors")


def functions():
    eight, two = torch.ones(8, 2), torch.ones(2, 2)
    with mode:
        dist.all_reduce(eight)
        dist.broadcast(eight, 0)
        dist.reduce(eight, 0)
        dist.all_gather([torch.empty(8, 2) for _ in range(4)], eight)
        dist.all_gather_into_tensor(torch.empty(32, 2), eight)
        dist.reduce_scatter_tensor(two, eight)
        dist.reduce_scatter(two, [two] * 4)
        dist.all_to_all_single(torch.empty(8, 2), eight)
        dist.all_to_all([torch.empty(2, 2) for _ in range(4)], [two] * 4)
        dist.scatter(two, [two] * 4, src=0)
        dist.gather(eight, [torch.empty(8, 2) for _ in range(4)], dst=0)
        dist.all_reduce_coalesced([eight, two])
        dist.barrier()
        functional.all_reduce(eight, "sum", mesh)
        functional.all_gather_tensor(eight, 0, mesh)
        functional.reduce_scatter_tensor(eight, "sum", 0, mesh)
        functional.broadcast(eight, 0, mesh)
        functional.all_to_all_single(eight, None, None, mesh)
        functional.all_reduce_coalesced([eight, two], "sum", mesh)
        functional.all_gather_single_coalesced([eight, two], mesh)
        functional.reduce_scatter_single_coalesced([eight, eight.t()], "sum", [0, 1], mesh)
        dist.all_gather_object([None] * 4, "an object")
        dist.gather_object("an object", [None] * 4)
    tell("functions")
    dist.all_reduce(eight)
    print(mode.get_total_counts())


def tables():
    for shape, placements in [
        ((10, 3), [Shard(0)]),
        ((10,), [Shard(0)]),
        ((10,), [Replicate()]),
        ((8, 12), [Shard(0), Shard(1)]),
        ((8, 12), [Replicate(), Shard(1)]),
        ((8, 12), [Shard(0), Shard(0)]),
        ((0, 2), [Shard(0)]),
    ]:
        visualize_sharding(laid(torch.zeros(shape), *placements))
    try:
        visualize_sharding(laid(torch.zeros(4, 1, 1), Shard(0)))
    except RuntimeError as error:
        print(error)


parallel(cut=False)
parallel(cut=True)
tensors()
functions()
if "tables" in sys.argv:
    tables()
names = "allreduce_ _allgather_base_ reduce_scatter_ scatter_ gather_ alltoall_base_ broadcast_"
print([str(getattr(torch.ops.c10d, name)) for name in names.split()])
