"""A rank that dies in training is replaced, and the result is that of a run in which none has died."""

import os
import re
import subprocess
import sys

import pytest

from mindtorch_core.communication.launchers import replaces


@pytest.fixture(scope="module")
def train(ranks, programs, minute, tmp_path_factory):
    """``train(*options, deaths=...)``: what each rank ends with, and what was written to stderr."""

    def run(*options, deaths=(), checkpoint="none", count=2):
        folder = tmp_path_factory.mktemp("run")
        done = subprocess.run(
            [
                *(sys.executable, "-m", "mindtorch_core", "run", "-n", str(count), *options),
                *(str(programs / "elastic.py"), str(folder), checkpoint, *deaths),
            ],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True, text=True, timeout=minute(), check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        ends = re.findall(r"\[\d\] ends with (.*)", done.stdout)
        assert len(ends) == count
        assert len(set(ends)) == 1
        return ends[0], done.stderr

    return run


@pytest.fixture(scope="module")
def undisturbed(train):
    return train()[0]


def test_ranks_that_die_are_replaced(train, undisturbed):
    if not replaces():
        pytest.skip("this MPI has no ULFM, so no rank can be replaced")
    ends, said = train("--elastic", deaths=["0:0", "1:4", "0:9"])  # before the first commit too
    assert ends == undisturbed
    assert said.count("another takes its place") == 3
    assert "begin again" not in said


def test_deaths_of_all_and_while_starting_have_all_begin_again(train, undisturbed):
    if not replaces():
        pytest.skip("this MPI has no ULFM, so no rank can be replaced")
    deaths = ["1:start", "0:5", "1:5"]
    options = "--elastic", "--max-restarts", "3"
    ends, said = train(*options, deaths=deaths, checkpoint="checkpoint")
    assert ends == undisturbed
    assert "rank 1 failed first, with signal 9" in said
    assert "all processes begin again (1 of 3)" in said


def test_without_ulfm_all_begin_again_from_the_checkpoint(train, undisturbed):
    ends, said = train("--max-restarts", "1", deaths=["1:5"], checkpoint="checkpoint")
    assert ends == undisturbed
    assert "all processes begin again (1 of 1)" in said


def test_what_a_state_keeps(ranks, tmp_path):
    done = ranks(1, "elastic_state.py", tmp_path)
    assert done.returncode == 0, done.stderr
    assert "done" in done.stdout
