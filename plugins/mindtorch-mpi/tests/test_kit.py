"""The conformance kit for communicators: MPI passes, and wrong ones are found by the right check."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).parent / "programs"


@pytest.fixture
def verify(ranks, tmp_path):
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
            capture_output=True, text=True, timeout=58, check=False,
        )  # fmt: skip

    return run


def test_mpi_passes(verify):
    done = verify("mpi", "-n", "2")
    assert done.returncode == 0, (done.stdout, done.stderr)
    assert done.stdout.splitlines()[-1] == "[0] all checks passed"
    assert done.stdout.count("[0] passed ") == 9


@pytest.mark.parametrize(
    ("fault", "check", "text"),
    [
        ("sum", "reductions", "all_reduce SUM of torch.float32 ()"),
        ("order", "copies", "place 0 of all_gather"),
        ("early", "order", "three sums in a row"),
        ("tags", "messages", "messages by tags"),
        ("group", "groups", "all_gather of a reversed group"),
        ("silent", "mismatches", ""),
        ("patient", "deadlines", "came more than 2.0 s too late"),
    ],
)
def test_a_wrong_communicator_is_found(verify, fault, check, text):
    done = verify("wrong", "-k", check, fault=fault)
    assert done.returncode == 1, (done.stdout, done.stderr)
    assert f"FAILED {check}" in done.stdout
    assert text in done.stdout


def test_json_has_what_each_rank_said(verify):
    done = verify("wrong", "-k", "reductions", "--json", fault="sum")
    found = json.loads(done.stdout)
    assert done.returncode == found["status"] == 1
    assert (found["communicator"], found["processes"]) == ("wrong", 2)
    assert "all_reduce SUM" in found["checks"]["reductions"][0]
    assert "FAILED reductions" in done.stderr
    assert json.loads(verify("mpi", "-k", "order", "--json").stdout)["checks"] == {
        "order": ["", ""]
    }


def test_a_check_that_is_not_there(verify):
    done = verify("mpi", "-k", "none_such")
    assert done.returncode == 2
    assert "there is no check 'none_such': there are reductions, copies," in done.stderr
    assert "passed" not in done.stdout


def test_a_communicator_that_is_not_there(verify):
    done = verify("none_such")
    assert done.returncode == 2
    assert "'none_such' is not installed" in done.stderr
