"""What saves that have failed leave behind goes before the next one writes, and what counts stays."""

import pytest

import mindtorch_core as torch
import mindtorch_core.distributed.checkpoint as dcp


def names(folder):
    return sorted(file.name for file in folder.iterdir())


class Failing(dcp.FileSystemWriter):
    """Has no room for the index."""

    def finish(self, metadata, results):
        raise OSError("No space left on device")


class Looking(dcp.FileSystemWriter):
    """Notes what is there when it begins to write."""

    def write_data(self, plan, planner):
        self.seen = names(self.path)
        return super().write_data(plan, planner)


@pytest.mark.parametrize("saved", [False, True], ids=["no checkpoint", "a checkpoint"])
def test_it_takes_no_room(tmp_path, saved):
    if saved:
        dcp.save({"weight": torch.arange(3.0)}, checkpoint_id=tmp_path)
    before = names(tmp_path)
    with pytest.raises(Exception, match="No space left"):
        dcp.save({"weight": torch.arange(4.0)}, storage_writer=Failing(tmp_path))
    left = [name for name in names(tmp_path) if name not in before]
    assert left
    writer = Looking(tmp_path)
    dcp.save({"weight": torch.arange(5.0)}, storage_writer=writer)
    assert writer.seen == before
    assert not {*names(tmp_path)} & {*left}
    found = {"weight": torch.zeros(5)}
    dcp.load(found, checkpoint_id=tmp_path)
    assert found["weight"].tolist() == [0, 1, 2, 3, 4]
