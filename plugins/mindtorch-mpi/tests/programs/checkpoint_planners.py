"""Planners and storages of a program's own. Runs on mindtorch and on PyTorch; writes what it finds."""

import dataclasses
import io
import json
import sys
import tempfile
from pathlib import Path

import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.default_planner import DefaultLoadPlanner, DefaultSavePlanner
from torch.distributed.checkpoint.format_utils import dcp_to_torch_save, torch_save_to_dcp
from torch.distributed.checkpoint.metadata import MetadataIndex
from torch.distributed.checkpoint.planner import LoadItemType, WriteItemType
from torch.distributed.checkpoint.storage import WriteResult
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Shard, distribute_tensor
from torch.futures import Future

dist.init_process_group("gloo")
rank, size = dist.get_rank(), dist.get_world_size()
mesh = init_device_mesh("cpu", (size,))
found = {}
every = [tempfile.mkdtemp() if rank == 0 else None]
dist.broadcast_object_list(every)
folder = Path(every[0])


def state(value, **more):
    cut = distribute_tensor(torch.arange(10.0).reshape(5, 2) * value, mesh, [Shard(0)])
    own = {"cut": cut, "same": torch.full((3,), float(value)), "scalar": torch.tensor(value)}
    return {"model": own, "epoch": value, "names": ["a", "b"], **more}


def values(saved):
    own = saved["model"]
    return [own["cut"].full_tensor().tolist(), own["same"].tolist(), own["scalar"].item()]


def item_facts(item):
    index = [item.index.fqn, None if item.index.offset is None else [*item.index.offset]]
    data = item.tensor_data
    if data is None:
        return [*index, item.type.name]
    chunk = [[*data.chunk.offsets], [*data.chunk.sizes], [*data.size], str(data.properties.dtype)]
    return [*index, item.type.name, *chunk, item.tensor_storage_size()]


def read_facts(item):
    return [
        item.type.name,
        *([i.fqn, None if i.offset is None else [*i.offset]] for i in (item.dest_index, item.storage_index)),
        [*item.dest_offsets], [*item.storage_offsets], [*item.lengths],
    ]  # fmt: skip


# ---- the order of calls, to a storage in memory of all ranks' files ------------------------------

calls = []


def noted(kind):
    """A class whose methods write down their names."""

    def wrap(method):
        def call(self, *args, **kwargs):
            calls.append(f"{kind.__name__}.{method.__name__}")
            return method(self, *args, **kwargs)

        return call

    for name, value in list(vars(kind).items()):
        if callable(value) and not name.startswith("__"):
            setattr(kind, name, wrap(value))
    return kind


@noted
class SavePlanner(DefaultSavePlanner):
    def set_up_planner(self, state_dict, storage_meta=None, is_coordinator=False):
        found["coordinator"] = is_coordinator
        super().set_up_planner(state_dict, storage_meta, is_coordinator)

    def create_local_plan(self):
        plan = super().create_local_plan()
        found["local plan"] = sorted(map(item_facts, plan.items), key=repr)
        return plan

    def create_global_plan(self, all_plans):
        plans, metadata = super().create_global_plan(all_plans)
        found["metadata"] = {
            name: None if not hasattr(each, "size")
            else [[*each.size], str(each.properties.dtype), sorted([*c.offsets] for c in each.chunks)]
            for name, each in sorted(metadata.state_dict_metadata.items())
        }  # fmt: skip
        found["paths"] = {n: [*p] for n, p in sorted(metadata.planner_data.items())}
        found["number of items"] = sum(len(plan.items) for plan in plans)
        return plans, metadata

    def finish_plan(self, new_plan):
        return super().finish_plan(new_plan)


@noted
class Writer(dcp.StorageWriter):
    def reset(self, checkpoint_id=None):
        found["reset"] = checkpoint_id

    def set_up_storage_writer(self, is_coordinator, *args, **kwargs):
        found["kwargs"] = sorted(kwargs)

    def prepare_local_plan(self, plan):
        return dataclasses.replace(plan, storage_data=f"of {rank}")

    def prepare_global_plan(self, plans):
        found["storage data"] = [plan.storage_data for plan in plans]
        return [dataclasses.replace(plan, storage_data=n) for n, plan in enumerate(plans)]

    def write_data(self, plan, planner):
        assert plan.storage_data == rank
        held = {}
        results = []
        for item in plan.items:
            value = planner.resolve_data(item)
            if item.type is WriteItemType.BYTE_IO:
                value = value.getvalue()
            key = repr((item.index.fqn, item.index.offset and [*item.index.offset]))
            held[key] = value
            results.append(WriteResult(item.index, 1, [rank, key]))
        torch.save(held, folder / f"mine-{rank}")
        future = Future()
        future.set_result(results)
        return future

    def finish(self, metadata, results):
        places = {each.index: each.storage_data for part in results for each in part}
        torch.save(
            {repr((i.fqn, i.offset and [*i.offset])): place for i, place in places.items()},
            folder / "mine",
        )
        Reader.metadata = metadata
        found["results"] = [len(part) > 0 for part in results]

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        return True


@noted
class Reader(dcp.StorageReader):
    metadata = None

    def reset(self, checkpoint_id=None):
        pass

    def read_metadata(self, *args, **kwargs):
        return Reader.metadata

    def set_up_storage_reader(self, metadata, is_coordinator, *args, **kwargs):
        self.places = torch.load(folder / "mine")

    def prepare_local_plan(self, plan):
        return plan

    def prepare_global_plan(self, plans):
        return plans

    def read_data(self, plan, planner):
        for item in plan.items:
            index = item.storage_index
            number, key = self.places[repr((index.fqn, index.offset and [*index.offset]))]
            value = torch.load(folder / f"mine-{number}")[key]
            if item.type is LoadItemType.BYTE_IO:
                planner.load_bytes(item, io.BytesIO(value))
                continue
            for dim, (start, length) in enumerate(
                zip(item.storage_offsets, item.lengths, strict=True)
            ):
                value = value.narrow(dim, start, length)
            target = planner.resolve_tensor(item)
            target.copy_(value)
            planner.commit_tensor(item, target)
        future = Future()
        future.set_result(None)
        return future

    @classmethod
    def validate_checkpoint_id(cls, checkpoint_id):
        return True


@noted
class LoadPlanner(DefaultLoadPlanner):
    def set_up_planner(self, state_dict, metadata=None, is_coordinator=False):
        super().set_up_planner(state_dict, metadata, is_coordinator)

    def create_local_plan(self):
        plan = super().create_local_plan()
        found["read plan"] = sorted(map(read_facts, plan.items), key=repr)
        return plan

    def create_global_plan(self, global_plan):
        return super().create_global_plan(global_plan)

    def finish_plan(self, central_plan):
        return super().finish_plan(central_plan)


saved = dcp.save(state(3), storage_writer=Writer(), planner=SavePlanner())
found["saved"] = sorted(saved.state_dict_metadata)
every = [Reader.metadata]
dist.broadcast_object_list(every)
Reader.metadata = every[0]
target = state(0)
dcp.load(target, storage_reader=Reader(), planner=LoadPlanner())
found["loaded"] = [values(target), target["epoch"], target["names"]]
found["calls"] = [*calls]

# ---- planners that change what is written and read -----------------------------------------------


class Half(DefaultSavePlanner):
    """Writes float16."""

    def create_local_plan(self):
        plan = super().create_local_plan()
        for item in plan.items:
            if item.tensor_data is not None and item.tensor_data.properties.dtype == torch.float32:
                item.tensor_data.properties.dtype = torch.float16
        return plan

    def resolve_data(self, write_item):
        value = super().resolve_data(write_item)
        narrow = isinstance(value, torch.Tensor) and value.dtype == torch.float32
        return value.to(torch.float16) if narrow else value


class Renamed(DefaultSavePlanner):
    """Puts all under another name, and keeps data of each rank."""

    def set_up_planner(self, state_dict, storage_meta=None, is_coordinator=False):
        renamed = {f"foo_{name}": value for name, value in state_dict.items()}
        super().set_up_planner(renamed, storage_meta, is_coordinator)

    def create_global_plan(self, all_plans):
        plans, metadata = super().create_global_plan(all_plans)
        data = [metadata.planner_data, ["more", len(all_plans)]]
        return plans, dataclasses.replace(metadata, planner_data=data)


class Doubled(DefaultLoadPlanner):
    """Reads into memory of its own, and doubles what it puts into the state."""

    def resolve_tensor(self, read_item):
        return torch.empty_like(super().resolve_tensor(read_item))

    def commit_tensor(self, read_item, tensor):
        super().resolve_tensor(read_item).copy_(tensor * 2)


saved = dcp.save(state(3), checkpoint_id=folder / "half", planner=Half())
found["half"] = sorted(
    str(each.properties.dtype)
    for each in saved.state_dict_metadata.values()
    if hasattr(each, "size")
)
target = state(0)
dcp.load(target, checkpoint_id=folder / "half", planner=Doubled())
found["doubled"] = values(target)
dcp.save(state(4), checkpoint_id=folder / "renamed", planner=Renamed())
there = dcp.FileSystemReader(folder / "renamed").read_metadata()
found["renamed"] = [sorted(there.state_dict_metadata), there.planner_data[1]]
target = {f"foo_{name}": value for name, value in state(0).items()}
dcp.load(target, checkpoint_id=folder / "renamed")
found["renamed values"] = [values({"model": target["foo_model"]}), target["foo_epoch"]]

# ---- files of torch.save -------------------------------------------------------------------------

nested = {"a": {"b": [torch.ones(2), {"c": 5}], 0: "text"}, "cut": state(2)["model"]["cut"]}
dcp.save(nested, checkpoint_id=folder / "nested")
if rank == 0:
    dcp_to_torch_save(folder / "nested", folder / "whole.pt")
    whole = torch.load(folder / "whole.pt")
    found["whole"] = [
        whole["a"]["b"][0].tolist(), whole["a"]["b"][1], sorted(whole["a"]), whole["cut"].tolist()
    ]  # fmt: skip
    torch_save_to_dcp(folder / "whole.pt", folder / "back")
dist.barrier()
target = {"cut": torch.zeros(5, 2)}
dcp.load(target, checkpoint_id=folder / "back")
found["back"] = target["cut"].tolist()
found["equal"] = MetadataIndex("a", [1, 2], 5) == MetadataIndex("a", torch.Size([1, 2]))

Path(sys.argv[1], f"checkpoint_planners-{rank}.json").write_text(json.dumps(found))
dist.barrier()
dist.destroy_process_group()
