"""Checkpoints that several processes write, and other numbers of them read."""

import json

import pytest

import mindtorch_core as torch
from mindtorch_core.distributed import checkpoint as dcp

SAVE = "checkpoints.py save {folder}/saved"
GO_ON = "checkpoints.py load_sharded {folder}/saved"


@pytest.mark.parametrize(
    ("count", "line"),
    [
        (2, SAVE),
        (2, "checkpoints.py load_plain {folder}/saved"),  # models that are not sharded
        (2, "checkpoints.py whole_states {folder}/whole"),
        (2, "checkpoints.py beside {folder}/beside"),
        (2, "checkpoints.py let_go {folder}/let_go"),
        (2, "checkpoints.py refused {folder}/refused"),
        (2, "checkpoint_failures.py alive {folder}/alive"),
        (2, "checkpoint_failures.py alive {folder}/alive_beside async"),
    ],
)
def test_two_processes(passes, count, line):
    passes(count, line)


def test_one_process_reads_without_any_group(passes, folder):
    passes(2, SAVE)
    state = {"model": {"0.weight": torch.zeros(7, 5)}, "epoch": 0}
    dcp.load(state, checkpoint_id=folder / "saved")
    assert state["epoch"] == 3
    assert float(state["model"]["0.weight"].abs().sum()) > 0


@pytest.fixture(scope="module")
def broken_off(ranks, passes, folder):
    """The checkpoint, after a save in which a process was killed."""
    passes(2, SAVE)
    saved = folder / "saved"
    index = (saved / "index.json").read_text()
    done = ranks(2, "checkpoints.py", "kill", saved)
    assert done.returncode != 0
    assert (saved / "index.json").read_text() == index
    assert list(saved.glob("*.part"))
    return saved


@pytest.mark.parametrize(
    ("count", "line"),
    [(1, GO_ON), (3, GO_ON), (4, GO_ON), (4, SAVE)],
)
def test_another_number_of_processes_goes_on_from_the_checkpoint_before(
    broken_off, passes, count, line
):
    passes(count, line)
    if (count, line) == (4, SAVE):  # what was broken off is cleared away
        files = {each.name for each in broken_off.iterdir()} - {"index.json"}
        assert files == set(json.loads((broken_off / "index.json").read_text())["files"])


@pytest.mark.parametrize(
    ("stage", "more", "rank", "whole"),
    [
        ("plan", (), 1, 0),
        ("half a file", ("async",), 1, 0),
        ("half the index", (), 0, 0),
        ("half the index", ("async",), 0, 0),
        ("the index is there", (), 0, 1),
        ("read", (), 0, 0),
        ("take", (), 1, 0),
    ],
)
def test_a_process_dies_at_any_stage(ranks, tmp_path, stage, more, rank, whole):
    done = ranks(2, "checkpoint_failures.py", stage, tmp_path, *more, grace=40)
    (line,) = [line for line in done.stdout.splitlines() if "told" in line]
    assert f"told {rank} all_gather_object" in line
    assert f"rank {rank} is gone: its process has died" in line
    assert "checkpoint_failures.py:" in line
    assert line.endswith("It was a call of torch.distributed.checkpoint.")
    state = {"parts": torch.zeros(4, 3), "b": torch.zeros(5), "counter": {"count": -1}}
    dcp.load(state, checkpoint_id=tmp_path)
    seen = {*state["parts"].flatten().tolist(), *state["b"].tolist(), state["counter"]["count"]}
    assert seen == {whole}
