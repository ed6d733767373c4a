"""Writers, readers, planners and stagers that are not ours; `checkpoint_planners.py` has them beside PyTorch's."""

import errno
import os
import resource
from concurrent.futures import Future

import pytest

import mindtorch_core as torch
import mindtorch_core.distributed.checkpoint as dcp
from mindtorch_core.distributed.checkpoint import format_utils, staging, state_dict_saver
from mindtorch_core.serialization import safetensors


def test_what_a_writer_and_a_reader_do_otherwise_they_do(tmp_path):
    names = []

    class Writer(dcp.FileSystemWriter):
        def write_data(self, plan, planner):
            names.extend(item.index.fqn for item in plan.items)
            return super().write_data(plan, planner)

    class Reader(dcp.FileSystemReader):
        def read_data(self, plan, planner):
            names.extend(item.storage_index.fqn for item in plan.items)
            return super().read_data(plan, planner)

    dcp.save({"weight": torch.arange(3.0)}, storage_writer=Writer(tmp_path))
    found = {"weight": torch.zeros(3)}
    dcp.load(found, storage_reader=Reader(tmp_path))
    assert names == ["weight", "weight"]
    assert found["weight"].tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("call", "given", "text"),
    [
        (dcp.save, {"storage_writer": 5}, "storage_writer must be a StorageWriter, got int"),
        (dcp.load, {"storage_reader": 5}, "storage_reader must be a StorageReader, got int"),
        (dcp.save, {"planner": 5}, "planner must be a SavePlanner, got int"),
        (dcp.load, {"planner": 5}, "planner must be a LoadPlanner, got int"),
    ],
)
def test_what_is_none_is_refused(tmp_path, call, given, text):
    if "planner" in given:
        given = {**given, "checkpoint_id": tmp_path}
    with pytest.raises(TypeError, match=text):
        call({"x": 1}, **given)


def test_a_planner_of_old_takes_no_description_of_the_storage(tmp_path):
    class Planner(dcp.DefaultSavePlanner):
        def set_up_planner(self, state_dict, is_coordinator):
            super().set_up_planner(state_dict, None, is_coordinator)

    dcp.save({"x": 1}, checkpoint_id=tmp_path, planner=Planner())
    found = {"x": 0}
    dcp.load(found, checkpoint_id=tmp_path)
    assert found == {"x": 1}


def test_a_state_that_is_not_made_flat(tmp_path):
    state = {"inner": {"a": torch.ones(2)}, "b": torch.ones(3)}
    saved = dcp.save(
        state, checkpoint_id=tmp_path, planner=dcp.DefaultSavePlanner(flatten_state_dict=False)
    )
    assert sorted(saved.state_dict_metadata) == ["b", "inner"]
    found = {"inner": None, "b": torch.zeros(3)}
    dcp.load(
        found, checkpoint_id=tmp_path, planner=dcp.DefaultLoadPlanner(flatten_state_dict=False)
    )
    assert found["inner"]["a"].tolist() == [1, 1]
    assert found["b"].tolist() == [1, 1, 1]


def test_tensors_without_memory_get_some(tmp_path):
    dcp.save({"inner": {"a": torch.arange(3)}}, checkpoint_id=tmp_path)
    found = {"inner": {"a": torch.empty(3, dtype=torch.int64, device="meta")}}
    dcp.load(found, checkpoint_id=tmp_path)
    assert found["inner"]["a"].tolist() == [0, 1, 2]


def test_a_checkpoint_into_an_empty_state(tmp_path):
    state = {"a": {"w": torch.ones(2), 3: {"x": 1}}, "b": [{"d": 1}, {"c": "text"}], "other": 5}
    dcp.save(state, checkpoint_id=tmp_path)
    found = {}
    format_utils._load_state_dict(
        found,
        storage_reader=dcp.FileSystemReader(tmp_path),
        planner=format_utils._EmptyStateDictLoadPlanner(keys={"a", "b"}),
        no_dist=True,
    )
    assert found["a"]["w"].tolist() == [1, 1]
    assert found["a"]["3"] == {"x": 1}
    assert found["b"] == [{"d": 1}, {"c": "text"}]
    assert "other" not in found


@pytest.mark.parametrize("kind", ["blocking", "cached", "of the writer", "in a thread"])
def test_who_copies_for_async_save(tmp_path, kind):
    copies = []

    class Stager(staging.BlockingAsyncStager):
        def stage(self, state_dict):
            found = super().stage(state_dict)
            copies.append(found["w"])
            if kind != "in a thread":
                return found
            later = Future()
            later.set_result(found)
            return later

    class Writer(Stager, dcp.FileSystemWriter):
        pass

    given = {"async_stager": Stager(kind == "cached"), "checkpoint_id": tmp_path}
    if kind == "of the writer":
        given = {"storage_writer": Writer(tmp_path)}
    for number in range(2):
        state = {"w": torch.full((4,), float(number))}
        future = dcp.async_save(state, **given)
        state["w"].zero_()
        if kind == "in a thread":
            assert isinstance(future, state_dict_saver.AsyncSaveResponse)
            assert future.staging_completion.result() is None
            future = future.upload_completion
        future.result()
        found = {"w": torch.zeros(4)}
        dcp.load(found, checkpoint_id=tmp_path)
        assert found["w"].tolist() == [number] * 4
    assert (copies[0] is copies[1]) == (kind == "cached")


@pytest.mark.parametrize("beside", [True, False])
def test_copies_of_the_default_stager(tmp_path, beside):
    stager = staging.DefaultStager(staging.StagingOptions(use_async_staging=beside))
    state = {"w": torch.zeros(4), "n": 0}
    for number in range(3):
        with torch.pipeline():
            state["w"] = torch.full((4,), float(number)) + 1
            future = dcp.async_save(state, checkpoint_id=tmp_path, async_stager=stager)
        stager.synchronize_staging()
        state["w"].zero_()
        if beside:
            assert future.staging_completion.result() is None
            future = future.upload_completion
        future.result()
        found = {"w": torch.zeros(4), "n": 0}
        dcp.load(found, checkpoint_id=tmp_path)
        assert found["w"].tolist() == [number + 1] * 4
    stager.close()
    if beside:
        with pytest.raises(RuntimeError, match="after shutdown"):
            stager.stage(state)


def test_plans_that_are_not_carried_out_are_said(tmp_path):
    class Writer(dcp.FileSystemWriter):
        def write_data(self, plan, planner):
            found = super().write_data(plan, planner)
            found.value().pop()
            return found

    with pytest.raises(dcp.CheckpointException, match="nobody has written b at None"):
        dcp.save({"a": 1, "b": 2}, storage_writer=Writer(tmp_path))
    with pytest.raises(dcp.CheckpointException, match="there is no checkpoint"):
        dcp.load({"a": 1}, checkpoint_id=tmp_path)


def test_a_writer_writes_again(tmp_path):
    writer = dcp.FileSystemWriter(tmp_path)
    for number in range(2):
        dcp.save({"a": torch.full((2,), number), "b": number}, storage_writer=writer)
        found = {"a": torch.zeros(2, dtype=torch.int64), "b": None}
        dcp.load(found, checkpoint_id=tmp_path)
        assert (found["a"].tolist(), found["b"]) == ([number] * 2, number)
    assert len(list(tmp_path.iterdir())) == 3


def test_what_lies_as_it_was_written_is_read_right_into_the_state(tmp_path):
    """Whatever else it could be: of another dtype, order, or a part, through a copy."""
    state = {
        name: torch.arange(12.0).reshape(3, 4) for name in ("same", "order", "kind", "complex")
    }
    state["complex"] = state["complex"] + 1j
    dcp.save(state, checkpoint_id=tmp_path)
    found = {
        "same": torch.zeros(3, 4),
        "order": torch.zeros(4, 3).t(),
        "kind": torch.zeros(3, 4, dtype=torch.float64),
        "complex": torch.zeros(3, 4, dtype=torch.complex64),
    }
    before = {name: (t.data_ptr(), t._version) for name, t in found.items()}
    same = found["same"]
    read = []
    memory_of = safetensors.memory_of

    def noted(t):
        if (memory := memory_of(t)) is not None:
            read.append(t.data_ptr())
        return memory

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(safetensors, "memory_of", noted)
        dcp.load(found, checkpoint_id=tmp_path)
    assert read == [same.data_ptr()]
    for name, t in found.items():
        assert (t.data_ptr(), t._version) == (before[name][0], before[name][1] + 1)
        torch.testing.assert_close(t, state[name].to(t.dtype))


def test_a_disk_that_is_full_keeps_the_checkpoint_and_room_for_the_next(tmp_path):
    small = {"weight": torch.arange(3.0), "epoch": 1}
    dcp.save(small, checkpoint_id=tmp_path)
    there = {each.name for each in tmp_path.iterdir()}
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, limits[1]))  # as a disk has no more
    try:
        with pytest.raises(dcp.CheckpointException, match=os.strerror(errno.EFBIG)):
            dcp.save({"weight": torch.ones(100_000), "epoch": 2}, checkpoint_id=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert {each.name for each in tmp_path.iterdir()} == there
    found = {"weight": torch.zeros(3), "epoch": 0}
    dcp.load(found, checkpoint_id=tmp_path)
    assert found["epoch"] == 1
    assert found["weight"].tolist() == [0, 1, 2]


def test_what_a_save_has_left_goes_before_the_next_one_writes(tmp_path):
    left = tmp_path / "0123456789abcdef-00001.safetensors"
    seen = []

    class Writer(dcp.FileSystemWriter):
        def write_data(self, plan, planner):
            seen.append(left.exists())
            return super().write_data(plan, planner)

    dcp.save({"weight": torch.arange(3.0)}, checkpoint_id=tmp_path)
    left.write_bytes(b"half")
    (tmp_path / "notes.txt").write_text("mine")
    dcp.save({"weight": torch.arange(4.0)}, storage_writer=Writer(tmp_path))
    assert seen == [False]
    assert (tmp_path / "notes.txt").exists()


@pytest.mark.parametrize("written", [b"", b"{", b"\xa3\xff", b"null", b"[]", b'{"format": 1}'])
def test_an_index_that_is_damaged_is_named(tmp_path, written):
    dcp.save({"weight": torch.arange(3.0)}, checkpoint_id=tmp_path)
    (tmp_path / "index.json").write_bytes(written)
    with pytest.raises(dcp.CheckpointException, match=r"index\.json is damaged: "):
        dcp.load({"weight": torch.zeros(3)}, checkpoint_id=tmp_path)
