"""Programs that several processes run, started as users start them."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from mindtorch_core.communication import engines

PROGRAMS = Path(__file__).parent / "programs"


def missing():
    """Why MPI cannot be used here; empty if it can."""
    if "mpi" not in {each.name for each in engines.communicators()}:
        return "mindtorch-mpi is not installed"
    try:
        engines.engine("mpi")
    except RuntimeError as error:
        return str(error).partition("\n")[0]
    return ""


@pytest.fixture(scope="session")
def programs():
    """Where the programs are."""
    return PROGRAMS


@pytest.fixture(scope="session")
def ranks():
    """``ranks(count, program, *arguments)`` runs a program in several processes; it ends in a minute.

    ``grace=`` says how long the others may take to end after a failure; ``ranks.start`` does not wait.
    """
    if why := missing():
        pytest.skip(why)

    def command(count, program, arguments, grace):
        return [
            *(sys.executable, "-m", "mindtorch_core", "run", "-n", str(count), f"--grace={grace}"),
            *(str(PROGRAMS / program), *map(str, arguments)),
        ]

    env = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}

    def run(count, program, *arguments, grace=5):
        return subprocess.run(
            command(count, program, arguments, grace),
            env=env, capture_output=True, text=True, timeout=58, check=False,
        )  # fmt: skip

    def heard():  # a shell that runs the tests in the background has its processes ignore interrupts
        signal.signal(signal.SIGINT, signal.SIG_DFL)

    def start(count, program, *arguments):
        return subprocess.Popen(
            command(count, program, arguments, 5),
            env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            preexec_fn=heard,
        )  # fmt: skip

    run.start = start
    return run
