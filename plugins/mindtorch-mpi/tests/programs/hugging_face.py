"""Checkpoints as safetensors files of two ranks. Runs on mindtorch and on PyTorch; writes what it finds."""

import json
import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint import HuggingFaceStorageReader, HuggingFaceStorageWriter
from torch.distributed.checkpoint._consolidate_hf_safetensors import (
    consolidate_safetensors_files,
    consolidate_safetensors_files_on_every_rank,
)
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Replicate, Shard, distribute_tensor

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (size,))
found = {}


def folder():
    every = [tempfile.mkdtemp() if rank == 0 else None]
    dist.broadcast_object_list(every)
    return Path(every[0])


def cut(value, placement):
    return distribute_tensor(torch.arange(30.0).reshape(5, 6) * value, mesh, [placement])


def header(path):
    data = path.read_bytes()
    head = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    about = head.pop("__metadata__", {})
    about["DCP_SHARDING_INFO"] = json.loads(about.get("DCP_SHARDING_INFO", "{}"))
    return {k: [v["dtype"], v["shape"]] for k, v in sorted(head.items())}, about[
        "DCP_SHARDING_INFO"
    ]


def files(path):
    dist.barrier()
    return {str(p.relative_to(path)): header(p) for p in sorted(path.rglob("*.safetensors"))}


def loaded(path, placement, **options):
    state = {"rows": cut(0, placement), "columns": cut(0, placement)}
    dcp.load(state, storage_reader=HuggingFaceStorageReader(str(path), **options))
    return {name: t.full_tensor().tolist() for name, t in state.items()}


def saved(path, value, **options):
    writer = HuggingFaceStorageWriter(str(path), save_distributed=True, **options)
    state = {"rows": cut(value, Shard(0)), "columns": cut(value + 1, Shard(1))}
    dcp.save(state, storage_writer=writer)


path = folder()
saved(path, 1)
found["parts"] = files(path)
found["read"] = [loaded(path, p) for p in (Shard(0), Shard(1), Replicate())]
saved(path, 3)
found["again"] = loaded(path, Shard(0), thread_count=2)

path = folder()
saved(path, 2, fqn_to_index_mapping={"rows": 2, "columns": 1}, enable_consolidation=True)
dist.barrier()
found["joined"] = {name: head for name, (head, _) in files(path).items()}
found["index"] = json.loads((path / "model.safetensors.index.json").read_text())
found["from whole"] = loaded(path, Shard(1))
found["from parts"] = loaded(path / "sharded", Shard(0))

path, whole, shared = folder(), folder(), folder()
saved(path, 5)
numbers = {"rows": 2, "columns": 1}
if rank == 0:
    consolidate_safetensors_files(str(path), str(whole), numbers)
consolidate_safetensors_files_on_every_rank(str(path), str(shared), numbers)
for each in whole, shared:
    index = json.loads((each / "model.safetensors.index.json").read_text())
    heads = {name: head for name, (head, _) in files(each).items()}
    found[f"made whole {each == whole}"] = [
        heads,
        sorted(index["weight_map"].items()),
        loaded(each, Shard(0)),
    ]

path = folder()
if rank == 0:
    state = {"rows": torch.arange(30.0).reshape(5, 6), "columns": torch.ones(5, 6)}
    dcp.save(state, storage_writer=HuggingFaceStorageWriter(str(path)), no_dist=True)
dist.barrier()
found["alone"] = files(path)
found["from one"] = loaded(path, Shard(0))

Path(sys.argv[1], f"hugging_face-{rank}.json").write_text(json.dumps(found))
dist.barrier()
dist.destroy_process_group()
