"""Writers and readers of checkpoints that are not ours."""

import pytest

import mindtorch_core as torch
import mindtorch_core.distributed.checkpoint as dcp


def test_what_nobody_would_call_is_refused(tmp_path):
    """PyTorch calls these with its plans; here what they do would have no effect."""

    class Writer(dcp.FileSystemWriter):
        def write_data(self, plan, planner):
            raise AssertionError("nobody calls it")

    class Reader(dcp.FileSystemReader):
        def read_data(self, plan, planner):
            raise AssertionError("nobody calls it")

    state = {"weight": torch.ones(3)}
    with pytest.raises(NotImplementedError, match=r"Writer has write_data, .* Override write and"):
        dcp.save(state, storage_writer=Writer(tmp_path))
    assert list(tmp_path.iterdir()) == []
    dcp.save(state, storage_writer=dcp.FileSystemWriter(tmp_path))
    with pytest.raises(
        NotImplementedError, match=r"Reader has read_data, .* Override read_metadata"
    ):
        dcp.load(state, storage_reader=Reader(tmp_path))


def test_what_a_writer_does_otherwise_it_does(tmp_path):
    names = []

    class Writer(dcp.FileSystemWriter):
        def write(self, name, tensors, objects):
            names.extend(chunk.key for chunk, _ in tensors)
            return super().write(name, tensors, objects)

    dcp.save({"weight": torch.arange(3.0)}, storage_writer=Writer(tmp_path))
    assert names == ["weight"]
    found = {"weight": torch.zeros(3)}
    dcp.load(found, storage_reader=dcp.FileSystemReader(tmp_path))
    assert found["weight"].tolist() == [0, 1, 2]
