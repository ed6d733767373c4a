"""Checkpoints of sharded training: `checkpoints.py WHAT FOLDER`."""

import copy
import os
import signal
import sys
import time
from pathlib import Path

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core import nn
from mindtorch_core.distributed import checkpoint as dcp
from mindtorch_core.distributed.checkpoint import state_dict as states
from mindtorch_core.distributed.checkpoint.stateful import Stateful
from mindtorch_core.distributed.fsdp import fully_shard
from mindtorch_core.distributed.tensor import Shard, distribute_tensor

what, folder = sys.argv[1], Path(sys.argv[2])
dist.init_process_group("mpi")
rank, size = dist.get_rank(), dist.get_world_size()
close = torch.testing.assert_close
WHOLE = states.StateDictOptions(full_state_dict=True)


def network(seed, *, sharded=True):
    torch.manual_seed(seed)
    model = nn.Sequential(
        nn.Linear(5, 7), nn.BatchNorm1d(7), nn.Linear(7, 7), nn.LayerNorm(7), nn.Linear(7, 3)
    )
    if sharded:
        for part in (model[0], model[2]):
            fully_shard(part)
        fully_shard(model)
    return model


def step(model, optimizer, number):
    """The same batch on all ranks, so that any number of them makes the same step."""
    optimizer.zero_grad()
    x = torch.randn(8, 5, generator=torch.Generator().manual_seed(number))
    model(x).square().mean().backward()
    optimizer.step()


def trained(steps, *, sharded):
    model = network(0, sharded=sharded)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    for number in range(steps):
        step(model, optimizer, number)
    return model, optimizer


def state_of(model, optimizer, **more):
    own, of_optimizer = states.get_state_dict(model, optimizer)
    return {"model": own, "optim": of_optimizer, **more}


def check_same(model, optimizer, alone, expected):
    close(states.get_model_state_dict(model, options=WHOLE), dict(alone.state_dict()))
    found = states.get_optimizer_state_dict(model, optimizer, options=WHOLE)
    wanted = states.get_optimizer_state_dict(alone, expected)
    close(found["state"], wanted["state"])
    assert found["param_groups"] == wanted["param_groups"]


def load(model, optimizer, where=folder):
    state = state_of(model, optimizer, epoch=0, note=[], numbers=torch.zeros(5, dtype=torch.int64))
    dcp.load(state, checkpoint_id=where)
    states.set_state_dict(
        model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optim"]
    )
    return state


def save():
    model, optimizer = trained(3, sharded=True)
    more = {"epoch": 3, "note": ["a", (1, 2)], "numbers": torch.arange(5)}
    dcp.save(state_of(model, optimizer, **more), checkpoint_id=folder)
    names = sorted(each.name for each in folder.iterdir())
    assert names[-1] == "index.json"
    assert len([n for n in names if n.endswith(".safetensors")]) == size


def load_sharded(*, sharded=True):
    model = network(5, sharded=sharded)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.5)
    state = load(model, optimizer)
    assert (state["epoch"], state["note"]) == (3, ["a", (1, 2)])
    assert state["numbers"].tolist() == [0, 1, 2, 3, 4]
    assert optimizer.param_groups[0]["lr"] == 0.01
    alone, expected = trained(4, sharded=False)
    step(model, optimizer, 3)
    check_same(model, optimizer, alone, expected)


def load_plain():
    load_sharded(sharded=False)


def whole_states():
    model, optimizer = trained(2, sharded=True)
    only_first = states.StateDictOptions(full_state_dict=True, cpu_offload=True)
    found = states.get_state_dict(model, optimizer, options=only_first)
    assert [bool(each) for each in found] == [rank == 0] * 2
    sent = states.StateDictOptions(full_state_dict=True, broadcast_from_rank0=True)
    other = network(9)
    own = torch.optim.AdamW(other.parameters(), lr=0.3)
    states.set_state_dict(
        other, own, model_state_dict=found[0], optim_state_dict=found[1], options=sent
    )
    alone, expected = trained(2, sharded=False)
    check_same(other, own, alone, expected)
    flat = states.StateDictOptions(flatten_optimizer_state_dict=True)
    table = states.get_optimizer_state_dict(model, optimizer, options=flat)
    assert {"state.0.weight.exp_avg", "param_groups.0.weight.lr"} <= set(table)
    third = torch.optim.AdamW(other.parameters(), lr=0.3)
    states.set_optimizer_state_dict(other, third, table, options=flat)
    check_same(other, third, alone, expected)
    for options in (WHOLE, sent):
        given = copy.deepcopy(alone.state_dict()) if options is WHOLE or rank == 0 else {}
        with torch.device("meta"):
            empty = network(1)
        states.set_model_state_dict(empty, given, options=options)
        step(empty, torch.optim.AdamW(empty.parameters(), lr=0.01), 7)
        got, other = (
            states.get_model_state_dict(m, options=WHOLE) for m in (empty, stepped(alone))
        )
        close(got, other)


def stepped(model):
    """A copy after one more step."""
    made = copy.deepcopy(model)
    step(made, torch.optim.AdamW(made.parameters(), lr=0.01), 7)
    return made


def beside():
    """A save that goes on while the model is trained is of the model as it was."""
    model, optimizer = trained(2, sharded=True)
    future = dcp.async_save(
        state_of(model, optimizer, epoch=2, note=[], numbers=torch.arange(5)), checkpoint_id=folder
    )
    for number in range(2, 5):
        step(model, optimizer, number)
    future.result()
    load(model, optimizer)
    alone, expected = trained(2, sharded=False)
    check_same(model, optimizer, alone, expected)

    class Counter:
        def __init__(self):
            self.count = 1

        def state_dict(self):
            return {
                "count": self.count,
                "part": distribute_tensor(torch.arange(5.0), mesh, [Shard(0)]),
            }

        def load_state_dict(self, state):
            self.count = state["count"]
            close(state["part"].full_tensor(), torch.arange(5.0))

    mesh = dist.init_device_mesh("cpu", (size,))
    counter = Counter()
    assert isinstance(counter, Stateful)
    dcp.async_save({"app": counter}, storage_writer=dcp.FileSystemWriter(folder / "app")).result()
    counter.count = 7
    dcp.load({"app": counter}, storage_reader=dcp.FileSystemReader(folder / "app"))
    assert counter.count == 1


def let_go():
    """A save that nobody has waited for is there before the group ends, which it needs."""
    mesh = dist.init_device_mesh("cpu", (size,))
    state = {"part": distribute_tensor(torch.arange(200_000.0), mesh, [Shard(0)])}
    future = dcp.async_save(state, checkpoint_id=folder)
    dist.destroy_process_group()
    assert future.done()
    assert (folder / "index.json").exists()


def refused():
    """What is wrong is said on every rank, and nobody waits forever."""
    good = {
        "weight": distribute_tensor(
            torch.ones(5, 2), dist.init_device_mesh("cpu", (size,)), [Shard(0)]
        ),
        "x": 1,
    }
    dcp.save(good, checkpoint_id=folder)
    cases = [
        (
            {"weight": torch.zeros(5, 3)},
            r"Size mismatch between saved \[5, 2\] and current: \[5, 3\] for weight",
        ),
        ({"other": torch.zeros(1)}, "Missing key in checkpoint state_dict: other"),
        ({"x": torch.zeros(1)}, "x was saved as an object"),
    ]
    for state, text in cases:
        with pytest.raises(dcp.CheckpointException, match=text) as caught:
            dcp.load(state, checkpoint_id=folder)
        assert list(caught.value.failures) == list(range(size))
    with pytest.raises(dcp.CheckpointException, match="rank 0: RuntimeError: Missing key"):
        dcp.load({"other": 1} if rank == 0 else {"x": 1}, checkpoint_id=folder)
    state = {"other": 5, "x": 0}
    dcp.load(state, checkpoint_id=folder, planner=dcp.DefaultLoadPlanner(allow_partial_load=True))
    assert state == {"other": 5, "x": 1}
    with pytest.raises(dcp.CheckpointException, match="there is no checkpoint in"):
        dcp.load(dict(good), checkpoint_id=folder / "nothing")
    with pytest.raises(dcp.CheckpointException, match=r"rank 1: .*meta and has no values"):
        dcp.save({"w": torch.zeros(2, device="meta" if rank == 1 else "cpu")}, checkpoint_id=folder)
    with pytest.raises(
        dcp.CheckpointException, match="is float32 \\[2\\] on rank 1, and float32 \\[1\\]"
    ):
        dcp.save({"w": torch.zeros(1 + rank)}, checkpoint_id=folder)
    with pytest.raises(dcp.CheckpointException, match="already exists"):
        dcp.save(good, storage_writer=dcp.FileSystemWriter(folder, overwrite=False))
    with pytest.raises(RuntimeError, match="give checkpoint_id"):
        dcp.save(good)
    dist.barrier()
    (data,) = folder.glob("*00000.safetensors")
    content = data.read_bytes()
    damages = [
        ("it has 1 bytes, and was written with", lambda: data.write_bytes(b"x")),
        ("lacks its file", data.unlink),
        ("are not those that were written", lambda: data.write_bytes(content[:-1] + b"\x7f")),
    ]
    for text, damage in damages:
        if rank == 0:
            damage()
        dist.barrier()
        with pytest.raises(dcp.CheckpointException, match=text):
            dcp.load({"weight": torch.zeros(5, 2)}, checkpoint_id=folder)
        dist.barrier()
    if rank == 0:
        (folder / "index.json").write_text("{")
    dist.barrier()
    with pytest.raises(dcp.CheckpointException, match=r"index.json is damaged"):
        dcp.load({"weight": torch.zeros(5, 2)}, checkpoint_id=folder)


def kill():
    """Rank 1 is killed while it writes: the checkpoint before stays whole."""
    from mindtorch_core.communication.checkpoint import filesystem

    model, optimizer = trained(5, sharded=True)
    before = filesystem.safetensors.save_file

    def killed(tensors, file):
        if rank == 1:
            file.write(b"half")
            file.flush()
            os.kill(os.getpid(), signal.SIGKILL)
        before(tensors, file)

    filesystem.safetensors.save_file = killed
    start = time.monotonic()
    with pytest.raises(dist.DistributedError):
        dcp.save(state_of(model, optimizer, epoch=5), checkpoint_id=folder)
    assert time.monotonic() - start < 30
    print("told", flush=True)


{
    each.__name__: each
    for each in (save, load_sharded, load_plain, whole_states, beside, let_go, refused, kill)
}[what]()
print("done")
