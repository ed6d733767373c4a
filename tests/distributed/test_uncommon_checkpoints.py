"""Checkpoints in one process: what is refused, what files that are damaged say, and options few programs use."""

import json

import pytest

import mindtorch_core as torch
from mindtorch_core import distributed as dist
from mindtorch_core.communication.checkpoint import errors, flattening, state_options
from mindtorch_core.communication.checkpoint.staging import AsyncStager
from mindtorch_core.distributed import checkpoint as dcp
from mindtorch_core.distributed.checkpoint import state_dict as states
from mindtorch_core.distributed.tensor import Partial, Replicate, Shard, distribute_tensor

nn = pytest.importorskip("mindtorch_nn")


@pytest.fixture
def mesh():
    dist.init_process_group("gloo", rank=0, world_size=1, store=dist.HashStore())
    yield dist.init_device_mesh("cpu", (1,))
    dist.destroy_process_group()


def test_partial_tensors_are_no_values_to_write(mesh, tmp_path):
    part = distribute_tensor(torch.ones(2), mesh, [Partial()])
    with pytest.raises(dcp.CheckpointException, match="x is partial, with placements"):
        dcp.save({"x": part}, checkpoint_id=tmp_path)
    with pytest.raises(dcp.CheckpointException, match="x is on the device meta and has no values"):
        dcp.save({"x": torch.empty(2, device="meta")}, checkpoint_id=tmp_path)


def test_parts_without_elements(mesh, tmp_path):
    """They are written, and read, as the others."""
    empty = distribute_tensor(torch.ones(0, 3), mesh, [Shard(0)])
    dcp.save({"x": empty, "y": torch.ones(2)}, checkpoint_id=tmp_path)
    state = {"x": distribute_tensor(torch.ones(0, 3), mesh, [Replicate()]), "y": torch.zeros(2)}
    dcp.load(state, checkpoint_id=tmp_path)
    assert (state["x"].shape, state["y"].tolist()) == ((0, 3), [1.0, 1.0])


def test_two_values_of_one_name(tmp_path):
    with pytest.raises(dcp.CheckpointException, match=r"two values of the state are called 'a\.b'"):
        dcp.save(
            {"a.b": torch.ones(1), "a": {"b": torch.ones(1)}}, checkpoint_id=tmp_path, no_dist=True
        )


@pytest.mark.parametrize(
    ("state", "after"),
    [({1: 2, "k": 3}, {1: "new", "k": "new"}), ({"k": {2: torch.ones(1)}}, {"k": {2: "new"}})],
)
def test_keys_that_are_no_texts(state, after):
    """They are found by their texts."""
    for path, _ in flattening.flattened(state).values():
        flattening.put(state, path, "new")
    assert state == after


def test_values_in_tuples_stay():
    state = {"k": (torch.ones(1), torch.ones(1))}
    with pytest.raises(TypeError, match="lies in a tuple, which cannot be written: use a list"):
        flattening.put(state, ("k", 1), torch.zeros(1))
    assert state["k"][1].tolist() == [1.0]


class Bare(flattening.Stateful):
    pass


@pytest.mark.parametrize("call", [lambda: Bare().state_dict(), lambda: Bare().load_state_dict({})])
def test_states_of_nothing(call):
    with pytest.raises(NotImplementedError):
        call()


def test_stagers_stage():
    class Own(AsyncStager):
        pass

    made = Own()
    with pytest.raises(NotImplementedError, match="Own must implement stage method"):
        made.stage({})
    assert made.should_synchronize_after_execute


@pytest.mark.parametrize(
    ("error", "kind", "text"),
    [
        (ValueError("x"), ValueError, "x"),
        (UnicodeDecodeError("utf-8", b"", 0, 1, "bad"), RuntimeError, "UnicodeDecodeError: "),
        (dcp.CheckpointException("x", {}), RuntimeError, ""),
    ],
)
def test_errors_as_other_ranks_have_them(error, kind, text):
    found = errors._sendable(error)
    assert type(found) is kind
    assert text in str(found)


def saved(folder):
    dcp.save({"x": torch.ones(2)}, checkpoint_id=folder, no_dist=True)
    return next(p for p in folder.iterdir() if p.suffix == ".json" or "index" in p.name)


def test_files_that_are_not_of_a_checkpoint(tmp_path):
    index = saved(tmp_path)
    whole = json.loads(index.read_text("utf-8"))
    for name in ("../x", "x", "a/b"):
        index.write_text(json.dumps({**whole, "files": {name: 3}}), "utf-8")
        with pytest.raises(Exception, match="is damaged"):
            dcp.load({"x": torch.zeros(2)}, checkpoint_id=tmp_path, no_dist=True)
    index.write_text("{", "utf-8")
    with pytest.raises(Exception, match="is damaged"):
        dcp.load({"x": torch.zeros(2)}, checkpoint_id=tmp_path, no_dist=True)


def test_places_of_storages(tmp_path):
    for kind in (dcp.FileSystemWriter, dcp.FileSystemReader):
        assert kind.validate_checkpoint_id(tmp_path)
        assert not kind.validate_checkpoint_id("s3://bucket")
        storage = kind(tmp_path / "a")
        assert str(storage.checkpoint_id) == str(tmp_path / "a")
        storage.reset()
        assert str(storage.checkpoint_id) == str(tmp_path / "a")
        storage.reset(tmp_path / "b")
        assert str(storage.checkpoint_id) == str(tmp_path / "b")


@pytest.mark.parametrize("name", ["storage_writer", "storage_reader"])
def test_what_is_no_storage(tmp_path, name):
    call = dcp.save if name == "storage_writer" else dcp.load
    with pytest.raises((TypeError, dcp.CheckpointException), match="must be a Storage"):
        call({"x": torch.ones(1)}, **{name: 3}, no_dist=True)
    with pytest.raises((RuntimeError, dcp.CheckpointException), match="Cannot infer the storage"):
        call({"x": torch.ones(1)}, no_dist=True)


# ---- states of models and optimizers -----------------------------------------------------------------


def model_and_optimizer():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    model[0].bias.requires_grad_(False)
    optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], 0.1)
    model(torch.ones(1, 2)).sum().backward()
    optimizer.step()
    return model, optimizer


def test_frozen_parameters_are_left_out():
    model, _ = model_and_optimizer()
    options = states.StateDictOptions(ignore_frozen_params=True)
    assert sorted(states.get_model_state_dict(model, options=options)) == [
        "0.weight", "1.bias", "1.weight",
    ]  # fmt: skip
    assert len(states.get_model_state_dict(model)) == 4


def test_states_of_submodules():
    model, optimizer = model_and_optimizer()
    with pytest.warns(FutureWarning, match="Getting submodules only"):
        found = states.get_optimizer_state_dict(model, optimizer, submodules={model[1]})
    assert sorted(found["state"]) == ["1.bias", "1.weight"]
    assert [sorted(g["params"]) for g in found["param_groups"]] == [["1.bias", "1.weight"]]
    with (
        pytest.warns(FutureWarning, match="Getting submodules only"),
        pytest.raises(ValueError, match="Linear is no submodule of the model"),
    ):
        states.get_model_state_dict(model, submodules={nn.Linear(1, 1)})


@pytest.mark.parametrize("mine", [True, False])
def test_parameters_that_nobody_knows(mine):
    model, optimizer = model_and_optimizer()
    if mine:
        optimizer.add_param_group({"params": [nn.Parameter(torch.ones(1))]})
        with pytest.raises(RuntimeError, match="has a parameter that the model does not have"):
            states.get_optimizer_state_dict(model, optimizer)
    else:
        found = states.get_optimizer_state_dict(model, optimizer)
        found["param_groups"][0]["params"].remove("1.bias")
        with pytest.raises(RuntimeError, match=r"nothing of the parameter 1\.bias"):
            states.set_optimizer_state_dict(model, optimizer, found)


def test_options_that_contradict_each_other():
    options = states.StateDictOptions(broadcast_from_rank0=True)
    with pytest.raises(ValueError, match="full_state_dict must be True when broadcast_from_rank0"):
        states.get_model_state_dict(nn.Linear(2, 2), options=options)


def test_values_as_they_are_asked_for(mesh):
    part = distribute_tensor(torch.ones(2), mesh, [Shard(0)])
    options = states.StateDictOptions(full_state_dict=True, cpu_offload=True)
    found = state_options.told({"a": [part, (part, 3)], "b": "text"}, options)
    assert type(found["a"][0]) is type(found["a"][1][0]) is torch.Tensor
    assert (type(found["a"][1]), found["a"][1][1], found["b"]) == (tuple, 3, "text")


def test_names_without_wrappers(mesh):
    """`module` is taken off the names of a wrapper, and of no other."""
    model = nn.Sequential()
    model.add_module("module", nn.Linear(2, 2))
    assert sorted(states.get_model_state_dict(model)) == ["module.bias", "module.weight"]
    wrapped = nn.parallel.DistributedDataParallel(nn.Linear(2, 2))
    assert sorted(states.get_model_state_dict(wrapped)) == ["bias", "weight"]


def test_states_from_rank_0(mesh):
    """Flat ones of optimizers too."""
    for flat in (False, True):
        model, optimizer = model_and_optimizer()
        options = states.StateDictOptions(
            full_state_dict=True, broadcast_from_rank0=True, flatten_optimizer_state_dict=flat
        )
        found = states.get_optimizer_state_dict(model, optimizer, options=options)
        other = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], 0.3)
        states.set_optimizer_state_dict(model, other, found, options=options)
        for p in optimizer.state:
            ours, theirs = other.state[p]["exp_avg"], optimizer.state[p]["exp_avg"]
            assert ours.tolist() == theirs.tolist()
        assert other.param_groups[0]["lr"] == 0.1
