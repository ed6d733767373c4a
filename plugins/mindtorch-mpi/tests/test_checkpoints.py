"""Checkpoints that several processes write, and other numbers of them read."""

import json

import pytest

import mindtorch_core as torch
from mindtorch_core.distributed import checkpoint as dcp


def passes(done, count):
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("done") == count


@pytest.fixture(scope="module")
def saved(ranks, tmp_path_factory):
    """A checkpoint that two processes have written."""
    folder = tmp_path_factory.mktemp("checkpoint")
    passes(ranks(2, "checkpoints.py", "save", folder), 2)
    return folder


@pytest.mark.parametrize("count", [1, 3, 4])
def test_another_number_of_processes_goes_on(ranks, saved, count):
    passes(ranks(count, "checkpoints.py", "load_sharded", saved), count)


def test_models_that_are_not_sharded_go_on(ranks, saved):
    passes(ranks(2, "checkpoints.py", "load_plain", saved), 2)


def test_one_process_reads_without_any_group(saved):
    state = {"model": {"0.weight": torch.zeros(7, 5)}, "epoch": 0}
    dcp.load(state, checkpoint_id=saved)
    assert state["epoch"] == 3
    assert float(state["model"]["0.weight"].abs().sum()) > 0


@pytest.mark.parametrize("what", ["whole_states", "beside", "refused"])
def test_states_and_faults(ranks, tmp_path, what):
    passes(ranks(2, "checkpoints.py", what, tmp_path), 2)


def test_a_process_killed_while_saving_leaves_the_checkpoint_before(ranks, tmp_path):
    passes(ranks(2, "checkpoints.py", "save", tmp_path), 2)
    index = (tmp_path / "index.json").read_text()
    done = ranks(2, "checkpoints.py", "kill", tmp_path)
    assert done.returncode != 0
    assert (tmp_path / "index.json").read_text() == index
    assert list(tmp_path.glob("*.part"))
    passes(ranks(1, "checkpoints.py", "load_sharded", tmp_path), 1)
    passes(ranks(2, "checkpoints.py", "save", tmp_path), 2)
    files = {each.name for each in tmp_path.iterdir()} - {"index.json"}
    assert files == set(json.loads((tmp_path / "index.json").read_text())["files"])
