"""Checkpoints as folders of safetensors files; `hugging_face.py` has two ranks of them beside PyTorch."""

import json

import pytest

import mindtorch_core as torch
import mindtorch_core.distributed.checkpoint as dcp
from mindtorch_core.communication.checkpoint.consolidation import consolidate_safetensors_files
from mindtorch_core.communication.checkpoint.errors import CheckpointException
from mindtorch_core.serialization import safetensors

INDEX = "model.safetensors.index.json"


def state():
    weight = torch.arange(6.0).reshape(2, 3)
    return {"a": weight, "b": {"c": torch.ones(4, dtype=torch.bfloat16)}, "tied": weight}


def empty():
    return {
        "a": torch.zeros(2, 3),
        "b": {"c": torch.zeros(4, dtype=torch.bfloat16)},
        "tied": torch.zeros(2, 3),
    }


def test_files_by_their_numbers_and_an_index(tmp_path):
    numbers = {"a": 1, "b.c": 2, "tied": 2}
    dcp.save(state(), storage_writer=dcp.HuggingFaceStorageWriter(tmp_path, numbers))
    first, second = (f"model-0000{i}-of-00002.safetensors" for i in (1, 2))
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([first, second, INDEX])
    index = json.loads((tmp_path / INDEX).read_text())
    assert index == {
        "metadata": {"total_size": 24 + 8 + 24},
        "weight_map": {"a": first, "b.c": second, "tied": second},
    }
    assert safetensors.load_file(tmp_path / second)["b.c"].dtype is torch.bfloat16
    assert safetensors.load_metadata(tmp_path / first)["format"] == "pt"
    found = empty()
    dcp.load(found, storage_reader=dcp.HuggingFaceStorageReader(tmp_path))
    assert found["a"].equal(state()["a"])
    assert found["tied"].equal(state()["a"])
    assert found["b"]["c"].tolist() == [1, 1, 1, 1]


def test_tensors_that_share_memory_in_one_file(tmp_path):
    dcp.save(state(), storage_writer=dcp.HuggingFaceStorageWriter(tmp_path))
    held = safetensors.load_file(tmp_path / "model-00001-of-00001.safetensors")
    assert held["a"].equal(state()["a"])
    assert held["tied"].equal(state()["a"])


def test_a_tensor_that_is_not_there_cannot_be_made_whole(tmp_path):
    dcp.save(state(), storage_writer=dcp.HuggingFaceStorageWriter(tmp_path, save_distributed=True))
    with pytest.raises(ValueError, match=r"has no d, e$"):
        consolidate_safetensors_files(tmp_path, tmp_path / "whole", {"a": 1, "e": 1, "d": 1})
    consolidate_safetensors_files(tmp_path, tmp_path / "whole", {"a": 1})
    index = json.loads((tmp_path / "whole" / INDEX).read_text())
    assert index == {
        "metadata": {"total_size": 24},
        "weight_map": {"a": "model-00001-of-00001.safetensors"},
    }
    assert len([*tmp_path.glob("shard-*")]) == 1
    with pytest.raises(FileNotFoundError, match="has no safetensors files"):
        consolidate_safetensors_files(tmp_path / "whole" / "no", tmp_path, {"a": 1})


def test_what_an_earlier_save_has_left_is_not_read(tmp_path):
    numbers = {"a": 1, "b.c": 2, "tied": 3}
    dcp.save(state(), storage_writer=dcp.HuggingFaceStorageWriter(tmp_path, numbers))
    (tmp_path / "notes.safetensors.txt").write_text("a user's own")
    dcp.save({"a": torch.ones(2)}, storage_writer=dcp.HuggingFaceStorageWriter(tmp_path))
    names = {p.name for p in tmp_path.iterdir()}
    assert names == {"model-00001-of-00001.safetensors", INDEX, "notes.safetensors.txt"}
    writer = dcp.HuggingFaceStorageWriter(tmp_path, save_distributed=True)
    dcp.save({"a": torch.full((2,), 5.0)}, storage_writer=writer)
    found = {"a": torch.zeros(2)}
    dcp.load(found, storage_reader=dcp.HuggingFaceStorageReader(tmp_path))
    assert found["a"].tolist() == [5, 5]


def part(path, name, start, data, key="x"):
    about = {"DCP_SHARDING_INFO": json.dumps({key: {"saved_offsets": start}})}
    safetensors.save_file({key: data}, path / name, about)


def test_parts_in_any_files_make_a_tensor(tmp_path):
    whole = torch.arange(12.0).reshape(3, 4)
    part(tmp_path, "one.safetensors", [0, 0], whole[:2, :3].clone())
    part(tmp_path, "two.safetensors", [2, 0], whole[2:].clone())
    part(tmp_path, "three.safetensors", [0, 3], whole[:2, 3:].clone())
    leaf = torch.zeros(3, 4, requires_grad=True)
    before = leaf._version
    dcp.load({"x": leaf}, storage_reader=dcp.HuggingFaceStorageReader(tmp_path))
    assert leaf.detach().equal(whole)
    assert leaf._version > before


def nothing(path):
    pass


def lacking(path):
    part(path, "one.safetensors", [0], torch.ones(2))
    part(path, "two.safetensors", [3], torch.ones(2))


def twice(path):
    part(path, "one.safetensors", [0], torch.ones(2))
    part(path, "two.safetensors", [0], torch.ones(2))


def unlisted(path):
    dcp.save({"x": torch.ones(5)}, storage_writer=dcp.HuggingFaceStorageWriter(path))
    next(path.glob("*.safetensors")).unlink()


def damaged(path):
    (path / "one.safetensors").write_bytes(b"\x10" + bytes(30))


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (nothing, "has no safetensors files"),
        (lacking, r"of x, \[5\], there are 4 elements"),
        (twice, "x is in one.safetensors and in two.safetensors"),
        (unlisted, "has no model-00001-of-00001.safetensors"),
        (damaged, "damaged"),
    ],
)
def test_what_is_no_whole_checkpoint_is_refused(tmp_path, make, text):
    make(tmp_path)
    found = {"x": torch.zeros(5)}
    with pytest.raises((CheckpointException, RuntimeError, FileNotFoundError), match=text):
        dcp.load(found, storage_reader=dcp.HuggingFaceStorageReader(tmp_path))
    assert found["x"].tolist() == [0] * 5


@pytest.mark.parametrize(
    ("given", "options", "text"),
    [
        ({"a": torch.ones(2), "epoch": 3}, {}, "epoch is no tensor"),
        ({"a": torch.ones(2)}, {"fqn_to_index_mapping": {"b": 1}}, "into which file a goes"),
    ],
)
def test_what_cannot_be_written_is_refused(tmp_path, given, options, text):
    with pytest.raises((CheckpointException, TypeError, ValueError), match=text):
        dcp.save(given, storage_writer=dcp.HuggingFaceStorageWriter(tmp_path, **options))
    assert not [*tmp_path.glob("*.json")]
