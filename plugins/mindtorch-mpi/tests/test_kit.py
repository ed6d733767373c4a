"""The conformance kit for communicators: MPI passes, and wrong ones are found by the right check."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def verify(ranks, minute, tmp_path):
    """Run the kit where the wrong engine is installed."""
    meta = tmp_path / "wrong_engine-1.0.dist-info"
    meta.mkdir()
    (meta / "METADATA").write_text("Metadata-Version: 2.1\nName: wrong-engine\nVersion: 1.0\n")
    (meta / "entry_points.txt").write_text("[mindtorch.communicators]\nwrong = wrong_engine\n")
    path = os.pathsep.join([str(tmp_path), str(PROGRAMS), *filter(None, sys.path)])

    def run(*arguments, fault=""):
        return subprocess.run(
            [sys.executable, "-m", "mindtorch_core", "verify", "--communicator", *arguments],
            env={**os.environ, "PYTHONPATH": path, "WRONG": fault},
            capture_output=True, text=True, timeout=minute(), check=False,
        )  # fmt: skip

    return run


def test_mpi_passes(verify):
    done = verify("mpi", "-n", "2", "--json")
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.stderr.splitlines()[-1] == "[0] all checks passed"
    assert done.stderr.count("[0] passed ") == 10
    found = json.loads(done.stdout)
    assert (found["communicator"], found["processes"], found["status"]) == ("mpi", 2, 0)
    assert len(found["checks"]) == 10
    assert all(said == ["", ""] for said in found["checks"].values())


@pytest.mark.parametrize(
    "wrong",
    [
        {
            "sum": ("reductions", "all_reduce SUM of torch.float32 ()"),
            "order": ("copies", "place 0 of all_gather"),
            "tags": ("messages", "messages by tags"),
        },
        {
            "early": ("order", "three sums in a row"),
            "group": ("groups", "all_gather of a reversed group"),
        },
        {
            "unfinished": ("order", "is never said to be done"),
            "open": ("barriers", "to which rank 1 has not come"),
        },
        {"silent": ("mismatches", "")},
        {"patient": ("deadlines", "came more than 2.0 s too late")},
    ],
    ids=" ".join,
)
def test_a_wrong_communicator_is_found(verify, wrong):
    checks = " or ".join(check for check, _ in wrong.values())
    done = verify("wrong", "-k", checks, "--json", fault=" ".join(wrong))
    assert done.returncode == 1, (done.stdout, done.stderr)
    found = json.loads(done.stdout)
    assert (found["communicator"], found["processes"], found["status"]) == ("wrong", 2, 1)
    assert set(found["checks"]) == {check for check, _ in wrong.values()}
    for check, text in wrong.values():
        assert f"FAILED {check}" in done.stderr
        assert any(said and text in said for said in found["checks"][check])


def test_a_check_that_is_not_there(verify):
    done = verify("mpi", "-k", "none_such")
    assert done.returncode == 2
    assert "there is no check 'none_such': there are reductions, copies," in done.stderr
    assert "passed" not in done.stdout


def test_a_communicator_that_is_not_there(verify):
    done = verify("none_such")
    assert done.returncode == 2
    assert "'none_such' is not installed" in done.stderr
