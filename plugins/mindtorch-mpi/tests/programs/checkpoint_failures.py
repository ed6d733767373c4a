"""A rank fails at each stage of a checkpoint: `checkpoint_failures.py alive|STAGE FOLDER [async]`.

``alive`` raises and interrupts at all stages in turn, and goes on. A stage's name has a rank killed there.
"""

import os
import signal
import sys
import time
from datetime import timedelta
from itertools import product
from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core.distributed import checkpoint as dcp
from mindtorch_core.distributed.tensor import Shard, distribute_tensor

mode, folder, beside = sys.argv[1], Path(sys.argv[2]), sys.argv[3:] == ["async"]
dist.init_process_group("mpi", timeout=timedelta(seconds=50))
rank, size = dist.get_rank(), dist.get_world_size()
mesh = dist.init_device_mesh("cpu", (size,))
SAVING = {"plan": 1, "prepare": 0, "half a file": 1, "half the index": 0, "the index is there": 0}
LOADING = {"metadata": 1, "read": 0, "objects": 1, "take": 1}


class Fails:
    """Fails once, on one rank, at one stage."""

    stage, how = "", None

    def __call__(self, stage):
        if self.stage == stage and rank == {**SAVING, **LOADING}[stage]:
            self.stage = ""
            self.how()


fails = Fails()


class Writer(dcp.FileSystemWriter):
    def prepare_global_plan(self, plans):
        fails("prepare")
        return super().prepare_global_plan(plans)

    def _file(self, name, write):
        if fails.stage == "half a file":
            (self.path / f"{name}.part").write_bytes(b"half")
        fails("half a file")
        return super()._file(name, write)

    def finish(self, metadata, results):
        if fails.stage == "half the index":
            (self.path / "index.json.part").write_text('{"format": "mindtorch.check')
        fails("half the index")
        super().finish(metadata, results)
        fails("the index is there")


class Reader(dcp.FileSystemReader):
    def read_metadata(self):
        fails("metadata")
        return super().read_metadata()

    def read_data(self, plan, planner):
        for stage, name in (("read", "resolve_tensor"), ("objects", "load_bytes")):
            setattr(planner, name, self.failing(stage, getattr(planner, name)))
        return super().read_data(plan, planner)

    def failing(self, stage, method):
        def call(*args):
            fails(stage)
            return method(*args)

        return call


class Counter:
    """An object with a state."""

    def __init__(self, count):
        self.count = count

    def state_dict(self):
        fails("plan")
        return {"count": self.count}

    def load_state_dict(self, state):
        fails("take")
        self.count = state["count"]


def state(number):
    parts = distribute_tensor(torch.full((2 * size, 3), float(number)), mesh, [Shard(0)])
    return {"parts": parts, "b": torch.full((5,), float(number)), "counter": Counter(number)}


def save(number):
    if beside:
        return dcp.async_save(state(number), storage_writer=Writer(folder)).result()
    return dcp.save(state(number), storage_writer=Writer(folder))


def load():
    """The number of the checkpoint that is there, which is whole."""
    found = state(-1)
    dcp.load(found, storage_reader=Reader(folder))
    seen = {*found["parts"].full_tensor().flatten().tolist(), *found["b"].tolist()}
    assert seen == {found["counter"].count}
    return found["counter"].count


def told(call, what):
    """The error that a call raises on every rank, soon."""
    began = time.monotonic()
    with pytest.raises(BaseException) as caught:  # noqa: PT011 (which one is looked at below)
        call()
    assert time.monotonic() - began < 40, what
    assert not isinstance(caught.value, AssertionError), what
    return caught.value


def alive():
    """All ranks raise, the checkpoint is the one before, and the next one is written."""

    def raises():
        raise OSError(28, "the disk is full")

    def interrupted():
        raise KeyboardInterrupt

    def ends():
        sys.exit(3)

    whole = 0
    for number, (how, (stage, victim)) in enumerate(
        product((raises, interrupted, ends), {**SAVING, **LOADING}.items()), 1
    ):
        fails.how, fails.stage = how, stage
        loads = stage in LOADING
        error = told(load if loads else lambda number=number: save(number), (how, stage))
        fails.stage = ""
        if rank == victim and how is not raises:
            assert type(error) in (KeyboardInterrupt, SystemExit), error
        else:
            assert isinstance(error, dcp.CheckpointException), (stage, error)
            assert [*error.failures] == [victim], (stage, error)
        if stage == "the index is there":
            whole = number
        assert load() == whole, stage
    save(100)
    assert load() == 100
    names = {each.name for each in folder.iterdir()}
    assert not [name for name in names if name.endswith(".part")], names


save(0)
assert load() == 0
if mode == "alive":
    alive()
else:
    loads = mode in LOADING
    fails.how, fails.stage = lambda: os.kill(os.getpid(), signal.SIGKILL), mode
    error = told(load if loads else lambda: save(1), mode)
    assert isinstance(error, dist.DistributedError), error
    notes = " ".join(getattr(error, "__notes__", ()))
    print(f"told {error.rank} {error.op} {' '.join(str(error).split())} {notes}", flush=True)
    os._exit(0)
dist.destroy_process_group()
print("done")
