"""Groups of processes that mpiexec has not started."""

import os
import subprocess
import sys

import pytest

from mindtorch_core.communication import DistBackendError, mpiexec
from mindtorch_core.communication.stores import HashStore


@pytest.fixture
def python(ranks, programs):
    """``python(*arguments)`` runs an interpreter on this project; it ends in a minute."""

    def run(*arguments):
        return subprocess.run(
            [sys.executable, *map(str, arguments)],
            env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
            capture_output=True, text=True, timeout=58, check=False, cwd=programs,
        )  # fmt: skip

    return run


@pytest.mark.parametrize(
    "manner", ["spawn", "fork", "multiprocessing", "subprocess", "launched", "slurm", "pmix"]
)
def test_they_form_a_group(python, manner):
    done = python("started_otherwise.py", manner)
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["0 done", "1 done"]


def test_by_torchrun(python):
    run = "from mindtorch_core.distributed.run import main; main()"
    done = python(
        "-c", run, "--standalone", "--nproc_per_node=2", "started_otherwise.py", "torchrun", "--own"
    )
    assert done.returncode == 0, done.stderr
    assert sorted(done.stdout.splitlines()) == ["0 done", "1 done"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        (["--nnodes=2"], "torchrun serves one machine"),
        (["--nproc-per-node=many"], "Unsupported nproc_per_node value: many"),
    ],
)
def test_what_torchrun_cannot_do(python, options, text):
    done = python("-c", "from mindtorch_core.distributed.run import main; main()", *options, "x.py")
    assert done.returncode == 2
    assert text in done.stderr


@pytest.mark.parametrize(
    ("launcher", "text"),
    [
        ([], "there is no mpiexec"),
        ([sys.executable, "-c", "raise SystemExit('no such option')"], "no such option"),
    ],
)
def test_a_launcher_that_does_not_serve(ranks, monkeypatch, launcher, text):
    seats = pytest.importorskip("mindtorch_mpi.seats")
    monkeypatch.setattr(seats, "mpiexec", lambda: launcher)
    with (
        pytest.raises(DistBackendError, match="mindtorch run -n 2") as error,
        seats.seated(0, 2, HashStore(), 20),
    ):
        pass
    assert text in str(error.value)


def test_mpi_waits_no_longer_than_was_said(python):
    own = [each for each in mpiexec() if each != "--continuous"]  # as users start it
    command = [*own, "-n", "2", sys.executable, "absent.py"]
    launch = f"import os; os.execvp({own[0]!r}, {command})"
    done = python("-c", launch)
    assert done.returncode != 0
    assert "it began" not in done.stdout
    known = "--oversubscribe" in own  # of Open MPI, which gives the processes a folder
    who = "rank 1 has not" if known else "not all of them have"
    text = f"rank 0 of 2 ends: after 1 s {who} come to init_process_group, and mpi waits"
    assert text in done.stderr


def test_processes_of_two_machines(ranks, monkeypatch):
    seats = pytest.importorskip("mindtorch_mpi.seats")
    store = HashStore()
    store.set("seats", '{"folder": "/nonesuch", "machine": "another"}')
    with pytest.raises(DistBackendError, match="on another machine"), seats.seated(1, 2, store, 20):
        pass
